//! The ledger: what ran, what it covered, what was found. Every report is made from it and states nothing else.
//!
//! The JSON form is stable: fields are added, never renamed or given another meaning, within one [`FORMAT`].

mod contradictions;
mod figure;
mod network;
mod planned;
mod rewrite;
mod sums;
mod theorem;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

pub use figure::{Column, Environment, Figure, FigureKind};
pub use network::{AtLayer, Family, FirstDifference, LayerCount, Network, NetworkLayer};
pub use planned::{DropReason, Dropped, Planned, Position, Unchecked, Unit};
pub use rewrite::{Counts, Rewrite};
pub use theorem::{Proofs, Theorem};

/// Version of the JSON form.
pub const FORMAT: u32 = 4;

/// The oldest version that is read: since then fields were added only.
pub const OLDEST: u32 = 3;

/// One verification run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ledger {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// The command that runs it again.
    pub command: String,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: String,
    /// `holds` or `broken`; `unfinished` of a run that has none.
    pub verdict: Verdict,
    /// Why the run did not end, where it did not: then what follows is what it had until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// When and where it ran; nothing in ledgers of format 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// Lanes asked for, in order.
    pub lanes: Vec<Lane>,
    /// One row for each kernel, lane and scheme of comparison.
    pub rows: Vec<Row>,
    /// The corner catalogue, by operation and lane.
    #[serde(default)]
    pub catalogue: Vec<CatalogueRun>,
    /// Kernels compared to the bit, also where their contract gives no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// Safe bounds of each kernel: each shown to be right, and tight, by running the kernel at the bound and one past it.
    #[serde(default)]
    pub bounds: Vec<Bound>,
    /// Recorded proofs of the run's kernels and known bugs, for all inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Proofs>,
    /// Rewrites of the quant dialect, against what the project records of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<Rewrite>,
    /// Kernels not run because their domain holds none of the run's parameters.
    #[serde(default)]
    pub outside_domain: Vec<OutsideDomain>,
    /// What the caller gave and no kernel takes, such as a layer in floats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Planned and run inputs of each kernel in each lane, and dropped inputs with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Planned>,
    /// The results at the position that the caller's case names by `at`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// Lanes whose worker offers nothing that the harness checks itself by, for each operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// The harness checking itself: each mutant must die with its class, each control must come out equal.
    pub self_checks: Vec<SelfCheck>,
    /// Everything that breaks a contract; empty where the verdict is `holds`, and never where it is `broken`.
    pub findings: Vec<Finding>,
    /// Meaning of each class of the run's differences and findings, in a sentence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: BTreeMap<String, String>,
    /// The file with the code of each kernel that has a finding, by operation and kernel, `fpm tvm-relay`: a source file of the project, relative to its
    /// root, or the caller's library.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, String>,
    /// The network that `verify --model` ran, layer after layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The numbers of the figures of a report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

/// Part of the caller's input that no kernel takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The part, such as a layer of a model by its place in the file.
    pub item: String,
    /// Why no kernel takes it, and what to do.
    pub reason: String,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every contract held on everything the run covered.
    Holds,
    /// The run has at least one finding.
    Broken,
    /// None: the run goes on, or did not end.
    #[default]
    Unfinished,
}

/// One lane of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// `host`, `aarch64-qemu`, `aarch64-native`, or a name from the lanes file.
    pub name: String,
    /// Status of the lane.
    #[serde(flatten)]
    pub status: LaneStatus,
    /// The files that its kernels' code comes from, by content; none where it did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Content>,
}

/// A file that takes part in what a lane runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Content {
    /// Its purpose.
    pub role: Role,
    /// Its name, without directories.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal, as `sha256sum` prints it.
    pub sha256: String,
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs the kernels: this program, a worker, an emulator or interpreter of one, a module of it.
    Worker,
    /// Compiled or linked the modules.
    Tool,
    /// Is linked into the modules.
    Linked,
    /// Is loaded by one of those.
    Library,
}

impl Role {
    /// Name of the role in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Tool => "tool",
            Self::Linked => "linked",
            Self::Library => "library",
        }
    }
}

/// Status of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum LaneStatus {
    /// The lane ran.
    Ran {
        /// Architecture the kernels ran on.
        arch: String,
        /// Connection: `in process`, or the command of the worker.
        via: String,
    },
    /// The lane did not run.
    NotRun {
        /// Why.
        reason: String,
        /// True if the caller allowed it by name; otherwise the run is broken.
        allowed: bool,
    },
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

fn is_zero(n: &u64) -> bool {
    *n == 0
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

/// A value of an argument or a result: an integer, or a text where it is none (a type, a float).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// Anything else, without spaces.
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Arguments by name, in the order in which the operation takes them.
pub type Case = IndexMap<String, Value>;

/// The smallest input that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Witness {
    /// The case by argument, such as `x`, `m`, `s`.
    pub case: Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme; absent if the kernel gave no result to compare (a crash).
    pub expected: Option<Value>,
    /// Scheme that gives `expected`: the row's, or that of the declared deviation that binds this input.
    pub scheme: String,
    /// Class of the difference.
    pub class: String,
    /// Cause that reproduces the kernel's output, as text.
    pub because: String,
    /// Command that runs this case again.
    pub command: String,
}

/// An input that differs, beside the smallest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Example {
    /// Class of the difference.
    pub class: String,
    /// The case, as `mismatches.csv` has it.
    pub case: String,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
    /// Command that runs this case again.
    pub command: String,
}

/// One mutant or control in one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfCheck {
    /// Operation.
    pub op: String,
    /// Mutant or control name.
    pub name: String,
    /// Lane.
    pub lane: String,
    /// `mutant` or `control`.
    pub kind: CheckKind,
    /// True if the result is the required one.
    pub passed: bool,
    /// Class the mutant must be given; empty for a control.
    pub expected_class: String,
    /// Observed class and witness, or the reason why none was observed.
    pub seen: String,
    /// Repository and issue the defect comes from.
    pub origin: String,
}

/// Kind of a self-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A known bug that must be caught.
    Mutant,
    /// Two forms that must come out equal.
    Control,
}

/// Something outside a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Operation.
    pub op: String,
    /// Kernel, or empty when the finding is about a lane.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Class: of the mismatch, or `crash`, `hang`, `wrong-length`, `stale-deviation`, `not-run`, `self-check`,
    /// `outside-domain` (parameters given that a named kernel did not run), `nothing-judged`.
    pub class: String,
    /// Error in one line, without kernel, lane and case, which every report puts before it.
    pub message: String,
    /// Witness, where there is one.
    pub witness: Option<Witness>,
}

/// One kept mismatch, a line of `mismatches.csv`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Contract or reference.
    pub against: Against,
    /// Scheme.
    pub scheme: String,
    /// The whole case, such as `x=-1 m=1073741825 s=-1`; `at` is the result that differs, where there are several.
    pub case: String,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
    /// Class.
    pub class: String,
    /// Command that runs this case again.
    pub command: String,
}

/// The corner catalogue, run first, through one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatalogueRun {
    /// Operation.
    pub op: String,
    /// Lane.
    pub lane: String,
    /// Kept cases.
    pub cases: u64,
    /// Cases that no kernel of the run accepts in this lane.
    #[serde(default)]
    pub not_taken: u64,
    /// Outputs judged: cases by kernels whose domain holds them.
    pub judged: u64,
    /// Outputs outside a contract; each kernel's smallest is a finding.
    pub broken: u64,
    /// Cases by kernels whose domain holds them, and that gave no answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u64,
}

/// Two kernels that promise one scheme, or one in two lanes, compared to the bit on the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Its lane.
    pub lane: String,
    /// The other kernel; the same one where it is compared with itself in another lane.
    pub other: String,
    /// The other's lane.
    pub other_lane: String,
    /// Results compared.
    pub results: u64,
    /// Results not compared: the domain of the other kernel does not hold their case.
    #[serde(default)]
    pub not_compared: u64,
    /// Compared results to which the contract gives no value: poison.
    pub open: u64,
    /// Results that differ where the contract gives a value.
    pub differ: u64,
    /// Results that differ where it gives none.
    pub differ_open: u64,
    /// Results that differ, by stored and expressed type: `i8:f32`.
    pub types: BTreeMap<String, u64>,
    /// A small input on which they differ.
    pub witness: Option<AgreementWitness>,
}

/// An input on which two differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgreementWitness {
    /// The case by argument.
    pub case: Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the other side.
    pub other: Value,
    /// Command that runs this case again.
    pub command: String,
}

/// Bound of a quantity, up to which a kernel's results equal those of unbounded integers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bound {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Lane in which it was shown.
    pub lane: String,
    /// Bounded quantity: a depth, the values of an operand, the number of certain products in one lane.
    pub quantity: String,
    /// The largest value (for a lower end the smallest) that is always safe; `None` where every value is.
    pub bound: Option<i64>,
    /// The arithmetic that gives it.
    pub because: String,
    /// The extreme input at the bound: the kernel is right.
    pub witness_at_bound: Option<BoundWitness>,
    /// Case one past the bound: the kernel is wrong.
    pub witness_past_bound: Option<BoundWitness>,
    /// True if both cases gave the required results.
    pub shown: bool,
}

/// An input at or past a bound, run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundWitness {
    /// The input, in words that `--case` takes where it is small.
    pub case: String,
    /// Result of the kernel.
    pub got: i64,
    /// Result of unbounded integers.
    pub exact: i64,
    /// Command that runs it again.
    pub command: String,
}

/// A kernel that promises nothing for any parameter of the run, and was therefore not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutsideDomain {
    /// Operation.
    pub op: String,
    /// Kernel.
    pub kernel: String,
    /// Domain of the kernel, as text.
    pub domain: String,
}
