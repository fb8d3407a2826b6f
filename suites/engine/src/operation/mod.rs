//! Interface between an operation and the engine: cases, expected results of schemes, and changes that a kernel may make to a scheme.

pub mod arguments;
pub mod capabilities;
pub mod case;
pub mod case_cache;
pub mod change;
pub mod command;
pub mod element;
pub mod errors;
pub mod expected;
pub mod fault;
pub mod fields;
pub mod fill;
pub mod meaning;
pub mod names;
pub mod observed;
pub mod operands;
pub mod outside;
pub mod parameter_coverage;
pub mod promise;
pub mod request;
pub mod scheme;
pub mod selection;
pub mod sweep_outcome;
pub mod types;

use ::tiebreak_impls as impls;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::Value;
use tiebreak_worker::protocol::{Job, MakesJob};

pub use arguments::Arguments;
pub use capabilities::{
    Capabilities, Causes, Compiled, Counted, Counts, Deviations, Options, SelfChecks, SharedCode, Spelling, Sweeps,
    Tensors, Trial, Witnesses,
};
pub use case::{Case, Frames, Spec, Turn, by, in_turns};
pub use change::{Change, Lead, PathStep};
pub use command::Command;
pub use element::Element;
pub use errors::{CaseError, Unposable};
pub use expected::{Expected, differs};
pub use fields::Field;
pub use fill::Fill;
pub use observed::{Observed, Witness};
pub use operands::Operands;
pub use outside::Outside;
pub use parameter_coverage::ParameterCoverage;
pub use promise::{Promised, Tail};
pub use request::Request;
pub use scheme::{NamedScheme, overflow, promised};
pub use selection::{Block, CaseSelection, Layer, Parameter, ReferenceOption, Stage, Wanted};
pub use sweep_outcome::{SweepOutcome, SweptSide, SweptWitness};
pub use types::Types;

/// Kernel, with the types of the operation.
pub type Kernel<O> = impls::kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// Known bug, with the types of the operation.
pub type Mutant<O> = impls::mutants::tensor::Mutant<<O as Operation>::Run, <O as Operation>::Domain>;

/// Negative control: a kernel under the contract of another kernel, with equal results. A difference is a fault of the harness.
pub struct Control<O: Types> {
    /// Name in reports.
    pub name: &'static str,
    /// Kernel, under the contract that it must keep.
    pub kernel: O::Kernel,
    /// Source of the promise.
    pub origin: &'static str,
}

/// Operation: cases, expected results of schemes, and changes that a kernel may make to a scheme. Optional items are in [`Capabilities`].
pub trait Operation: Sized + Send + Sync + 'static {
    /// Kernels and known bugs of the operation.
    type Impl: TensorOperation<Params = Self::Params, Domain = Self::Domain, Run = Self::Run> + MakesJob<Self::Params>;
    /// Parameters: shape, offsets, ...
    type Params: Clone + Debug + Eq + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Domain of a contract.
    type Domain: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Function type of the kernels.
    type Run: Copy + Send + Sync + 'static;
    /// Mathematical definition with overflow policy.
    type Scheme: NamedScheme;
    /// Name in every room.
    const OP: &'static str = Self::Impl::OP;
    /// Names of the input tensors.
    const TENSORS: &'static [&'static str];
    /// Corner catalogue, as text.
    const CATALOGUE: &'static str;
    /// Items that only some operations have.
    const CAPABILITIES: Capabilities<Self> = Capabilities::NONE;

    /// Returns the dimensions of tensor `t` (or of the result, for `t = TENSORS.len()`), row-major.
    fn dimensions(domain: &Self::Domain, params: &Self::Params, t: usize) -> Vec<usize>;
    /// Returns the values that a case may hold in tensor `t`.
    fn range(_domain: &Self::Domain, _t: usize) -> RangeInclusive<i32> {
        i32::MIN..=i32::MAX
    }
    /// Returns the domain of all cases to which a scheme gives values, for elements of type `ty`, without a kernel's limits. Adds the arguments that
    /// the type implies.
    fn widest_domain(
        scheme: &Self::Scheme,
        ty: Option<&str>,
        arguments: &mut Arguments,
    ) -> Result<Self::Domain, CaseError>;
    /// True if the contract covers the parameters.
    fn covers(domain: &Self::Domain, params: &Self::Params) -> bool;
    /// Describes the domain as text.
    fn domain_text(domain: &Self::Domain) -> String;

    /// Computes the results by machine integers.
    fn expected(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// Computes the results by big integers.
    fn exact(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// Returns the exact value of each result, before any rounding, wrapping or clamping; `None` for results without an exact value (NaN). The whole
    /// list is `None` if the operation rounds nothing.
    fn rational(_scheme: &Self::Scheme, _case: &Case<Self::Params>) -> Option<Vec<Option<Rational>>> {
        None
    }
    /// Returns the name of the reference, against which differences of a kernel are counted in addition to the contract, if any.
    fn reference(kernel: &Kernel<Self>, wanted: &Wanted) -> Option<String>;

    /// Returns the operation's own cases of a plan; [`whole`](crate::plan::plans::whole) adds the cases that every plan has.
    fn own_plan(
        domain: &Self::Domain,
        selection: &CaseSelection,
        budget: &Budget,
        seed: u64,
    ) -> Vec<Spec<Self::Params>>;
    /// Returns the neutral element of tensor `t`: the zero point, which adds nothing to a result.
    fn neutral_element(_params: &Self::Params, _t: usize) -> i32 {
        0
    }

    /// Lists every change to `scheme` that a kernel may make, in the order of preference. The list is searched for causes, paths and explanations.
    fn changes(scheme: &Self::Scheme, domain: &Self::Domain) -> Vec<Change<Self>>;
    /// Returns smaller cases of the same kind, the smallest first.
    fn shrink_candidates(case: &Case<Self::Params>, domain: &Self::Domain) -> Vec<Case<Self::Params>>;

    /// Returns the parameters by name, in the order for readers.
    fn arguments(params: &Self::Params) -> Vec<(String, Value)>;
    /// Parses parameters from names and values; a missing value means the default.
    fn from_arguments(arguments: &Arguments) -> Result<Self::Params, CaseError>;
}

/// Returns every kernel, in the order of reports.
pub fn kernels<O: Operation>() -> &'static [Kernel<O>] {
    O::Impl::kernels()
}

/// Returns the known bugs.
pub fn mutants<O: Operation>() -> &'static [Mutant<O>] {
    O::Impl::mutants()
}

/// Returns the kernel or mutant of a name, or the caller's kernel.
pub fn find<O: Operation>(name: &str) -> Option<&'static Kernel<O>> {
    <O::Impl as impls::operation::Operation>::known(name).ok()
}

/// Builds the job of a kernel.
pub fn job<O: Operation>(kernel: &str, params: &O::Params) -> Job {
    O::Impl::job(kernel, params)
}

/// Returns the number of words that a case reads and writes. Fails if no case has the parameters.
pub fn sizes<O: Operation>(domain: &O::Domain, params: &O::Params) -> Result<Sizes, ShapeError> {
    (O::CAPABILITIES.tensors.sizes)(domain, params)
}

/// Parses the name of a scheme, `NAME` or `NAME:POLICY`.
pub fn scheme_named<O: Operation>(text: &str) -> Result<O::Scheme, UnknownName> {
    O::Scheme::named(text)
}

/// Returns name and policy of a scheme.
pub fn label<O: Operation>(scheme: &O::Scheme) -> String {
    scheme.label()
}

/// Returns the scheme of a contract, without deviations.
pub fn promise<O: Operation>(kernel: &Kernel<O>) -> Result<O::Scheme, UnknownName> {
    promised(kernel.contract.promise)
}

/// Returns the scheme of a kernel's contract, with the declared deviations.
pub fn contract<O: Operation>(kernel: &Kernel<O>) -> Result<O::Scheme, UnknownName> {
    (O::CAPABILITIES.deviations.contract)(kernel)
}

/// True if only lanes of compiled modules have kernels of the domain.
pub fn is_compiled<O: Operation>(domain: &O::Domain) -> bool {
    (O::CAPABILITIES.compiled.is)(domain)
}

/// Returns the number of multiply-accumulates of a call.
pub fn products<O: Operation>(params: &O::Params) -> u64 {
    (O::CAPABILITIES.counted.products)(params)
}

/// Returns the path from a reference to a contract's scheme; see [`Causes::path`].
pub fn path<O: Operation>(contract: &O::Scheme, reference: &O::Scheme, domain: &O::Domain) -> Vec<PathStep<O>> {
    (O::CAPABILITIES.causes.path)(contract, reference, domain)
}

/// Returns the causes of differences in a group; see [`Causes::in_group`].
pub fn changes_in<O: Operation>(
    group: usize,
    contract: &O::Scheme,
    scheme: &O::Scheme,
    domain: &O::Domain,
    kept: bool,
) -> Vec<Change<O>> {
    (O::CAPABILITIES.causes.in_group)(group, contract, scheme, domain, kept)
}
