//! The network of a model, layer after layer: what was judged of each layer, and what becomes of the outputs.

use super::{Against, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A network that ran on the exact oracle, with each kernel on the exact input of each layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Network {
    /// The file.
    pub model: String,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
    /// Number of inputs; an input has a value for each input tensor of the model.
    pub inputs: usize,
    /// The inputs' source: `random`, or the file.
    pub source: String,
    /// The arithmetic of the exact network: the contracts of these kernels, by operation.
    pub exact: Vec<String>,
    /// The layers whose results are compared after all layers: those of the outputs, or the last ones before a layer whose results are drawn.
    pub ends: Vec<usize>,
    /// One for each operator of the model, in its order.
    pub layers: Vec<NetworkLayer>,
    /// Kernels through all layers, each on what the kernels before gave.
    pub families: Vec<Family>,
}

/// An operator of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetworkLayer {
    /// Its number in the model, from 0.
    pub layer: usize,
    /// The operator, as the model calls it.
    pub operator: String,
    /// Shape of its first input.
    pub input: Vec<usize>,
    /// Shape of its output.
    pub output: Vec<usize>,
    /// The operation that its kernels claim; none if no kernel is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Blocks into which the layer was cut, because one call does not take all of it; 1 of other layers.
    pub blocks: usize,
    /// Why no kernel is judged: the operator moves values, or its results are drawn at random because its arithmetic is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// The layers before whose results are drawn at random, so that the inputs are no values of the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn_from: Vec<usize>,
    /// Kernels judged, each once for all lanes.
    pub kernels: usize,
    /// Results judged, in all lanes.
    pub outputs: u64,
    /// Results that differ from the contract of their kernel.
    pub differ: u64,
    /// The first difference of the first kernel that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstDifference>,
}

/// A difference, with its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstDifference {
    /// The kernel.
    pub kernel: String,
    /// The lane.
    pub lane: String,
    /// The place.
    #[serde(flatten)]
    pub at: AtLayer,
}

/// A result of a layer that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AtLayer {
    /// The input of the network, from 0.
    pub input: usize,
    /// The result, by its place in the row-major output of the layer.
    pub at: usize,
    /// Result of the kernel: the stored value, or the bits of a float.
    pub got: i32,
    /// Result of its contract.
    pub expected: i32,
}

/// What a kernel gave for a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LayerCount {
    /// The layer, by its number in the model.
    pub layer: usize,
    /// Results judged.
    pub outputs: u64,
    /// Results that differ from the contract.
    pub differ: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<AtLayer>,
}

/// Kernels of one system through all layers on the host: each layer's input is what the kernels before gave, so that differences accumulate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Its kernels that ran.
    pub kernels: Vec<String>,
    /// Layers that its kernels computed; the exact arithmetic computed the others.
    pub layers: usize,
    /// Layers whose kernel is judged, and that no kernel of the family takes.
    pub exact_layers: usize,
    /// Results of the layers `ends`, over all inputs.
    pub outputs: u64,
    /// Values that differ from those of the exact network.
    pub differ: u64,
    /// The largest difference of an output, in stored values; of floats in units of the last place.
    pub largest: u64,
    /// Inputs of the network with a differing output.
    pub inputs_that_differ: usize,
    /// Inputs whose greatest output is another one.
    pub argmax_changes: usize,
    /// The first layer whose result differs for some input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_layer: Option<usize>,
}

impl Network {
    /// With what the rows of a run judged of each layer.
    pub fn judged(mut self, rows: &[Row]) -> Self {
        for layer in &mut self.layers {
            let mut kernels = BTreeSet::new();
            (layer.outputs, layer.differ, layer.first) = (0, 0, None);
            for row in rows.iter().filter(|row| row.against == Against::Contract) {
                let Some(count) = row.layers.iter().find(|count| count.layer == layer.layer) else { continue };
                kernels.insert(&row.kernel);
                layer.outputs += count.outputs;
                layer.differ += count.differ;
                let first = |at| FirstDifference { kernel: row.kernel.clone(), lane: row.lane.clone(), at };
                layer.first = layer.first.take().or_else(|| count.first.map(first));
            }
            layer.kernels = kernels.len();
        }
        self
    }
}
