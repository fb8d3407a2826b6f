//! Text of the network of a run, for every report: a row for each layer, and a row for each system of kernels.

use crate::ledger::{Family, Ledger, NetworkLayer};
use crate::text;

/// Table with heading, columns and rows.
pub(crate) struct Table {
    /// Heading.
    pub(crate) heading: String,
    /// Names of the columns.
    pub(crate) columns: Vec<&'static str>,
    /// Cells, as many as columns.
    pub(crate) rows: Vec<Vec<String>>,
    /// Sentences beneath the table.
    pub(crate) notes: Vec<String>,
}

/// Returns the layers, then the systems through all layers; empty for a run without a network.
pub(crate) fn tables(ledger: &Ledger) -> Vec<Table> {
    let Some(network) = &ledger.network else { return Vec::new() };
    let judged = network.layers.iter().filter(|layer| layer.kernels > 0).count();
    let layers = Table {
        heading: format!(
            "Network {}: {judged} of {} layers judged on {}, from {}",
            network.model,
            network.layers.len(),
            text::plural(network.inputs, "input"),
            network.source
        ),
        columns: vec![
            "layer",
            "operator",
            "input",
            "output",
            "operation",
            "kernels",
            "results",
            "differ",
            "first difference, or why no kernel is judged",
        ],
        rows: network.layers.iter().map(layer).collect(),
        notes: network.layers.iter().filter_map(drawn).collect(),
    };
    let families = Table {
        heading: format!(
            "Outputs of {}, by kernels of one system through all layers on the host: differences accumulate",
            ends(&network.ends)
        ),
        columns: vec![
            "kernels of",
            "layers",
            "exact",
            "outputs",
            "differ",
            "largest",
            "inputs",
            "argmax",
            "first layer",
        ],
        rows: network.families.iter().map(family).collect(),
        notes: Vec::new(),
    };
    [layers, families].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn ends(layers: &[usize]) -> String {
    let layers: Vec<String> = layers.iter().map(|layer| format!("layer {layer}")).collect();
    layers.join(", ")
}

fn shape(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    if sizes.is_empty() { "-".to_owned() } else { sizes.join("x") }
}

fn layer(layer: &NetworkLayer) -> Vec<String> {
    let first = layer.first.as_ref().map(|first| {
        let place = first.at;
        format!(
            "{} in {}: input {}, result {}: {} instead of {}",
            first.kernel, first.lane, place.input, place.at, place.got, place.expected
        )
    });
    let blocks = (layer.blocks > 1).then(|| format!("in {} blocks", layer.blocks));
    let why = first.or_else(|| layer.not_judged.clone()).or(blocks).unwrap_or_default();
    vec![
        layer.layer.to_string(),
        layer.operator.clone(),
        shape(&layer.input),
        shape(&layer.output),
        layer.op.clone().unwrap_or_else(|| "-".to_owned()),
        layer.kernels.to_string(),
        text::count(layer.outputs),
        text::count(layer.differ),
        why,
    ]
}

/// Returns a note on a judged layer with random inputs instead of values of the network.
fn drawn(layer: &NetworkLayer) -> Option<String> {
    let from: Vec<String> = layer.drawn_from.iter().map(usize::to_string).collect();
    (layer.op.is_some() && !from.is_empty()).then(|| {
        format!(
            "layer {}: its inputs are drawn at random, because layer {} is not judged",
            layer.layer,
            from.join(", layer ")
        )
    })
}

fn family(family: &Family) -> Vec<String> {
    let mut cells = vec![family.name.clone()];
    cells.extend([family.layers, family.exact_layers].map(|n| n.to_string()));
    cells.extend([family.outputs, family.differ, family.largest].map(text::count));
    cells.extend([family.inputs_that_differ, family.argmax_changes].map(|n| n.to_string()));
    cells.push(family.first_layer.map_or_else(|| "-".to_owned(), |layer| layer.to_string()));
    cells
}
