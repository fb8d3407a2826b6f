//! Network of a model, layer after layer: the judged results of each layer, and the effect of differences on the outputs.

use super::{Against, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Network that ran on the exact oracle, with each kernel on the exact input of each layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Network {
    /// File of the model.
    pub model: String,
    /// SHA-256 of the file in hexadecimal.
    pub sha256: String,
    /// Number of inputs; an input has a value for each input tensor of the model.
    pub inputs: usize,
    /// Source of the inputs: `random`, or a file.
    pub source: String,
    /// Arithmetic of the exact network: the contracts of these kernels, by operation.
    pub exact: Vec<String>,
    /// Layers whose results are compared after all layers: layers that give an output, or the last before a layer with results drawn at random.
    pub ends: Vec<usize>,
    /// Operators of the model, in its order.
    pub layers: Vec<NetworkLayer>,
    /// Kernel families through all layers; each kernel takes the results of the kernels before.
    pub families: Vec<Family>,
}

/// Operator of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetworkLayer {
    /// Number in the model, from 0.
    pub layer: usize,
    /// Operator, as the model names it.
    pub operator: String,
    /// Shape of the first input.
    pub input: Vec<usize>,
    /// Shape of the output.
    pub output: Vec<usize>,
    /// Operation of the layer's kernels; `None` if no kernel is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Number of blocks into which the layer was cut because one call cannot take all of it; otherwise 1.
    pub blocks: usize,
    /// Reason why no kernel is judged: the operator moves values, or its arithmetic is unknown and its results are drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Earlier layers with results drawn at random. The inputs of this layer are then no values of the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn_from: Vec<usize>,
    /// Number of judged kernels; a kernel in several lanes counts once.
    pub kernels: usize,
    /// Number of judged results, in all lanes.
    pub outputs: u64,
    /// Number of results that differ from the contract of their kernel.
    pub differ: u64,
    /// First difference of the first kernel that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstDifference>,
}

/// Difference, with its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstDifference {
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Place of the difference.
    #[serde(flatten)]
    pub at: AtLayer,
}

/// Result of a layer that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AtLayer {
    /// Input of the network, from 0.
    pub input: usize,
    /// Index of the result in the row-major output of the layer.
    pub at: usize,
    /// Result of the kernel: the stored value, or the bits of a float.
    pub got: i32,
    /// Result of the kernel's contract.
    pub expected: i32,
}

/// Counts of a kernel's results for a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LayerCount {
    /// Layer, by its number in the model.
    pub layer: usize,
    /// Number of judged results.
    pub outputs: u64,
    /// Number of results that differ from the contract.
    pub differ: u64,
    /// First result that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<AtLayer>,
}

/// Kernels of one system through all layers on the host. Each layer takes the results of the kernels before, so that differences accumulate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Family {
    /// Name.
    pub name: String,
    /// Kernels of the family that ran.
    pub kernels: Vec<String>,
    /// Number of layers that these kernels computed; exact arithmetic computed the other layers.
    pub layers: usize,
    /// Number of layers with judged kernels, but none of the family.
    pub exact_layers: usize,
    /// Number of results of the layers `ends`, over all inputs.
    pub outputs: u64,
    /// Number of results that differ from those of the exact network.
    pub differ: u64,
    /// Largest difference of a result, in stored values; for floats, in units of the last place.
    pub largest: u64,
    /// Number of network inputs with a differing result.
    pub inputs_that_differ: usize,
    /// Number of network inputs with another index of the largest output.
    pub argmax_changes: usize,
    /// First layer with a result that differs for some input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_layer: Option<usize>,
}

impl Network {
    /// Returns the network with the counts of each layer from the rows of a run.
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
