//! Result of one kernel in one lane against one scheme: judged and differing inputs.

use super::{Example, LayerCount, Witness, is_zero};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of inputs, among all inputs of a row, that a known fault changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Extent {
    /// Upper bound on affected results.
    pub most: u64,
    /// True if the fault changes exactly this number of inputs. Any other number of deviations then breaks the run.
    pub each: bool,
    /// Arithmetic that gives the number.
    pub because: String,
}

/// Side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Scheme of the kernel's own contract. The kernel must equal it exactly.
    #[default]
    Contract,
    /// Reference of the operation. Differences from it are counted and classified.
    Reference,
}

/// Coverage of a row's input space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// Every accumulator of every parameter pair of the row.
    Exhaustive,
    /// Directed and random cases.
    #[default]
    Sampled,
}

/// Result of one kernel in one lane against one scheme.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Executed code, such as `neon: sqrdmulh, srshl`.
    pub isa_path: String,
    /// Contract or reference.
    pub against: Against,
    /// Scheme, with its overflow policy if it has one: `ties-up`, `sqrdmulh-srshl:wrap`.
    pub scheme: String,
    /// Number of parameter pairs (multiplier, shift); 0 for an operation whose cases are shapes.
    pub parameters: u64,
    /// Number of judged inputs.
    pub inputs: u64,
    /// Number of kernel calls whose results were judged, or compared with an earlier equal call; 0 in rows against the reference, and if a call
    /// failed to answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Coverage of the input space.
    pub coverage: Coverage,
    /// Inputs without an int32 value of the scheme, which are not compared.
    pub out_of_domain: u64,
    /// Judged inputs by kind, if the operation has kinds (`inside the clamp`, `subnormal`); an input may have several kinds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, u64>,
    /// Sizes of the judged cases, by parameter, with the number of `results` and the distance of operands from an alignment boundary (`misalign`);
    /// only in rows against the contract.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, Size>,
    /// Ranges of the other parameters, such as zero points and scales.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, Range>,
    /// Number of inputs on which the kernel differs.
    pub differ: u64,
    /// Differing inputs by `got - expected`, as decimal text; for very many deltas, the rest are under `other`.
    pub by_delta: BTreeMap<String, u64>,
    /// Differing inputs by class.
    pub classes: BTreeMap<String, u64>,
    /// Inputs that followed a declared deviation and differ from the contract's scheme there, by class.
    pub deviations: BTreeMap<String, u64>,
    /// Deviations that the contract declares, by class, each with its reason; empty in rows against the reference.
    #[serde(default)]
    pub declared: BTreeMap<String, String>,
    /// Number of inputs that known faults of the lane's code can change, by class; only if the row covers all inputs and a closed form is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extents: BTreeMap<String, Extent>,
    /// Path from the reference to the scheme of the contract, one change at a time, over all inputs; empty without such a comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// Smallest differing input.
    pub witness: Option<Witness>,
    /// Small input of each other class, if the run kept one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Counts of each network layer that the kernel was given; only in rows against the contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerCount>,
    /// Seconds of lane and judge, summed over threads. Rows judged in one pass over the same outputs have the same seconds.
    pub seconds: f64,
}

/// Values of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Size {
    /// Smallest value.
    pub least: u64,
    /// Largest value.
    pub greatest: u64,
    /// Number of distinct remainders modulo 64. With 64 remainders, each tail of each vector of up to 64 elements was run.
    pub remainders: u32,
}

/// Values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Range {
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub greatest: f64,
}

/// Step between two schemes that differ in one property, or between a scheme and a kernel on inputs without a value of the scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathStep {
    /// Class of the difference.
    pub class: String,
    /// Scheme before the step.
    pub from: String,
    /// Scheme after the step, or the kernel with its lane.
    pub to: String,
    /// Inputs on which both differ.
    pub differ: u64,
    /// Number of cases judged again with big rationals: all of them if there are few.
    #[serde(default)]
    pub rejudged: u64,
    /// Smallest differing input, with both values.
    pub witness: Option<String>,
}
