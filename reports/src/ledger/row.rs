//! One kernel in one lane against one scheme: what was judged, and what differs.

use super::{Example, LayerCount, Witness, is_zero};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of inputs, among all inputs of a row, that a known fault changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Extent {
    /// Upper bound on affected results.
    pub most: u64,
    /// True if the fault changes each of them: another number of deviations then breaks the run.
    pub each: bool,
    /// The arithmetic.
    pub because: String,
}

/// Side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The scheme of its own contract, where it must be exact.
    #[default]
    Contract,
    /// The operation's reference, where differences are counted and classified.
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

/// One kernel in one lane against one scheme.
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
    /// Scheme, with its overflow policy where it has one: `ties-up`, `sqrdmulh-srshl:wrap`.
    pub scheme: String,
    /// Parameter pairs (multiplier, shift) seen; 0 for an operation whose cases are shapes.
    pub parameters: u64,
    /// Inputs judged.
    pub inputs: u64,
    /// Calls of the kernel whose results were judged, or compared with those of the same call before; 0 in rows against the reference, and where a call
    /// failed to answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Coverage of the input space.
    pub coverage: Coverage,
    /// Inputs to which the scheme gives no int32 value, and which are therefore not compared.
    pub out_of_domain: u64,
    /// Inputs judged by kind, as the operation has kinds (`inside the clamp`, `subnormal`); one may be of several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, u64>,
    /// Sizes of the cases judged, by parameter, with the number of `results` and how far operands lie from a boundary (`misalign`); only in rows
    /// against the contract.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, Size>,
    /// Ranges of the other parameters, such as zero points and scales.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, Range>,
    /// Inputs on which the kernel differs.
    pub differ: u64,
    /// The differing inputs by `got - expected`, as decimal text; where there are very many, the rest under `other`.
    pub by_delta: BTreeMap<String, u64>,
    /// The differing inputs by class.
    pub classes: BTreeMap<String, u64>,
    /// Inputs that followed a declared deviation and differ from the contract's scheme there, by class.
    pub deviations: BTreeMap<String, u64>,
    /// Deviations that the contract declares, by class, each with its reason; empty in rows against the reference.
    #[serde(default)]
    pub declared: BTreeMap<String, String>,
    /// Number of inputs that known faults of the lane's code can change, by class, if the row covers all of them and arithmetic gives the number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extents: BTreeMap<String, Extent>,
    /// Path from the reference to the scheme of the contract, one change at a time, over all inputs; empty if the schemes are not compared so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// Smallest differing input.
    pub witness: Option<Witness>,
    /// A small input of each other class, as far as the run kept one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Of each layer of the network that the kernel was given, what was judged; only in rows against the contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerCount>,
    /// Seconds of lane and judge, summed over threads. Rows judged in one pass over the same outputs carry the same seconds.
    pub seconds: f64,
}

/// The values of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Size {
    /// The least.
    pub least: u64,
    /// The greatest.
    pub greatest: u64,
    /// Number of distinct remainders modulo 64: with 64 of them, each tail of each vector of up to 64 elements was run.
    pub remainders: u32,
}

/// The values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// Two schemes that differ in one thing, or a scheme and a kernel where it has no value to promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathStep {
    /// Class of what differs.
    pub class: String,
    /// The scheme before.
    pub from: String,
    /// The scheme after, or the kernel with its lane.
    pub to: String,
    /// Inputs on which they differ.
    pub differ: u64,
    /// Number of cases judged again by big rationals: all of them if they are few.
    #[serde(default)]
    pub rejudged: u64,
    /// The smallest of them, with both values.
    pub witness: Option<String>,
}
