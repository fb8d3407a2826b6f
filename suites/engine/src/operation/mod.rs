//! What every operation gives the engine: its cases, what its schemes expect of them, and which changes to a scheme a kernel may make.

pub mod arguments;
pub mod asked;
pub mod capabilities;
pub mod case;
pub mod change;
pub mod command;
pub mod element;
pub mod errors;
pub mod expected;
pub mod fault;
pub mod fields;
pub mod fill;
pub mod given;
pub mod meaning;
pub mod names;
pub mod observed;
pub mod offered;
pub mod outside;
pub mod promise;
pub mod request;
pub mod scheme;
pub mod swept;
pub mod worked;

use ::tiebreak_impls as impls;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::protocol::Job;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::Value;

pub use arguments::Arguments;
pub use asked::{Asked, Block, Layer, Parameter, ReferenceOption, Stage, Wanted};
pub use capabilities::{
    Capabilities, Causes, Compiled, Counted, Counts, Deviations, Options, SelfChecks, Spelling, Sweeps, Tensors, Trial,
    Witnesses,
};
pub use case::{Case, Frames, Spec, Turn, by, in_turns};
pub use change::{Change, Lead, PathStep};
pub use command::Command;
pub use element::Element;
pub use errors::{CaseError, Unposable};
pub use expected::{Expected, differs};
pub use given::Given;
pub use observed::{Observed, Witness};
pub use outside::Outside;
pub use promise::{Promised, Tail};
pub use request::Request;
pub use scheme::{NamedScheme, overflow, promised};
pub use swept::{Sweep, SweptSide, SweptWitness};

/// A kernel, with the types of its operation.
pub type Kernel<O> = impls::kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// A known bug, with the types of its operation.
pub type Mutant<O> = impls::mutants::tensor::Mutant<<O as Operation>::Run, <O as Operation>::Domain>;

/// A negative control: a kernel that equals a contract which is not its own. A difference is a fault of the harness.
pub struct Control<O: Operation> {
    /// Name in reports.
    pub name: &'static str,
    /// The kernel, under the contract that it must keep.
    pub kernel: Kernel<O>,
    /// Source of the promise.
    pub origin: &'static str,
}

/// One operation: its cases, what its schemes expect of them, and which changes to a scheme a kernel may make. What only some operations have is in
/// [`Capabilities`].
pub trait Operation: Sized + Send + Sync + 'static {
    /// Kernels and known bugs of the operation.
    type Impl: TensorOperation<Params = Self::Params, Domain = Self::Domain, Run = Self::Run>;
    /// Shape, offsets, ...
    type Params: Clone + Debug + Eq + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// What a contract's domain is made of.
    type Domain: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Function type of the kernels.
    type Run: Copy + Send + Sync + 'static;
    /// A mathematical definition with its overflow policy.
    type Scheme: NamedScheme;
    /// Name in every room.
    const OP: &'static str = Self::Impl::OP;
    /// Names of the input tensors.
    const TENSORS: &'static [&'static str];
    /// The corner catalogue.
    const CATALOGUE: &'static str;
    /// What this operation has beside the items of this trait.
    const CAPABILITIES: Capabilities<Self> = Capabilities::NONE;

    /// Dimensions of tensor `t` (or of the result, for `t = TENSORS.len()`), row-major.
    fn dimensions(domain: &Self::Domain, params: &Self::Params, t: usize) -> Vec<usize>;
    /// Values that a case may hold in tensor `t`.
    fn range(_domain: &Self::Domain, _t: usize) -> RangeInclusive<i32> {
        i32::MIN..=i32::MAX
    }
    /// The domain of everything to which a scheme gives values, for elements of a type, which no kernel restricts. What the type implies for
    /// a case is added to its arguments.
    fn open(scheme: &Self::Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Self::Domain, CaseError>;
    /// Whether the contract covers the parameters.
    fn covers(domain: &Self::Domain, params: &Self::Params) -> bool;
    /// The domain in words.
    fn domain_text(domain: &Self::Domain) -> String;

    /// The results, by machine integers.
    fn expected(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// The results, by big integers.
    fn exact(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// The exact value of each result, which no step has rounded, wrapped or clamped; none of a result that has none, such as that of a NaN. No list if the
    /// operation rounds nothing.
    fn rational(_scheme: &Self::Scheme, _case: &Case<Self::Params>) -> Option<Vec<Option<Rational>>> {
        None
    }
    /// Name of the scheme that differences of a kernel are counted against, beside its contract; none if there is no such scheme.
    fn reference(kernel: &Kernel<Self>, wanted: &Wanted) -> Option<String>;

    /// The operation's own cases of a plan; [`plans::whole`] adds those that every plan has.
    fn own_plan(domain: &Self::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Self::Params>>;
    /// The element of tensor `t` that adds nothing to a result: its zero point.
    fn nothing(_params: &Self::Params, _t: usize) -> i32 {
        0
    }

    /// Every change to `scheme` that a kernel may make, in the order of preference: causes, paths and explanations are looked for in this list.
    fn changes(scheme: &Self::Scheme, domain: &Self::Domain) -> Vec<Change<Self>>;
    /// Smaller cases of the same kind, the smallest first.
    fn smaller(case: &Case<Self::Params>, domain: &Self::Domain) -> Vec<Case<Self::Params>>;

    /// The parameters by name, in the order in which a reader wants them.
    fn arguments(params: &Self::Params) -> Vec<(String, Value)>;
    /// Parameters from names and values; a parameter that is not named has its usual value.
    fn from_arguments(arguments: &Arguments) -> Result<Self::Params, CaseError>;
}

/// Every kernel, in the order of reports.
pub fn kernels<O: Operation>() -> &'static [Kernel<O>] {
    O::Impl::kernels()
}

/// Known bugs.
pub fn mutants<O: Operation>() -> &'static [Mutant<O>] {
    O::Impl::mutants()
}

/// A kernel or mutant of that name, or a kernel of somebody else's.
pub fn find<O: Operation>(name: &str) -> Option<&'static Kernel<O>> {
    <O::Impl as impls::operation::Operation>::known(name).ok()
}

/// Whether a kernel is somebody else's: only lanes that offer it can have it.
pub fn is_elsewhere<O: Operation>(kernel: &Kernel<O>) -> bool {
    <O::Impl as impls::operation::Operation>::find(kernel.name).is_err()
}

/// Names of all kernels and known bugs.
pub fn every<O: Operation>() -> Vec<&'static str> {
    let mutants = mutants::<O>().iter().map(|mutant| mutant.kernel.name);
    kernels::<O>().iter().map(|kernel| kernel.name).chain(mutants).collect()
}

/// The job of a kernel.
pub fn job<O: Operation>(kernel: &str, params: &O::Params) -> Job {
    O::Impl::job(kernel, params)
}

/// Words that a case reads and writes; an error if no case has these parameters.
pub fn sizes<O: Operation>(domain: &O::Domain, params: &O::Params) -> Result<Sizes, ShapeError> {
    (O::CAPABILITIES.tensors.sizes)(domain, params)
}

/// Element type of tensor `t`, or of the result, as [`Tensors::element`] has it.
pub fn element<O: Operation>(domain: &O::Domain, params: &O::Params, t: usize) -> Element {
    (O::CAPABILITIES.tensors.element)(domain, params, t)
}

/// Element type of the result.
pub fn result_element<O: Operation>(domain: &O::Domain, params: &O::Params) -> Element {
    element::<O>(domain, params, O::TENSORS.len())
}

/// Cases of one result, as [`Witnesses::alone`] has them.
pub fn alone<O: Operation>(case: &Case<O::Params>, domain: &O::Domain, index: usize) -> Vec<(Case<O::Params>, usize)> {
    (O::CAPABILITIES.witnesses.alone)(case, domain, index)
}

/// The scheme of that name, `NAME` or `NAME:POLICY`.
pub fn scheme_named<O: Operation>(text: &str) -> Result<O::Scheme, UnknownName> {
    O::Scheme::named(text)
}

/// Name and policy of a scheme.
pub fn label<O: Operation>(scheme: &O::Scheme) -> String {
    scheme.label()
}

/// The scheme of a contract, without its deviations.
pub fn promise<O: Operation>(kernel: &Kernel<O>) -> Result<O::Scheme, UnknownName> {
    promised(kernel.contract.promise)
}

/// The scheme of a kernel's contract, with the deviations that it declares.
pub fn contract<O: Operation>(kernel: &Kernel<O>) -> Result<O::Scheme, UnknownName> {
    (O::CAPABILITIES.deviations.contract)(kernel)
}

/// Whether only lanes of compiled modules have kernels of this domain.
pub fn is_compiled<O: Operation>(domain: &O::Domain) -> bool {
    (O::CAPABILITIES.compiled.is)(domain)
}

/// Multiply-accumulates of a call with these parameters.
pub fn products<O: Operation>(params: &O::Params) -> u64 {
    (O::CAPABILITIES.counted.products)(params)
}

/// Path from a reference to a contract's scheme, as [`Causes::path`] has it.
pub fn path<O: Operation>(contract: &O::Scheme, reference: &O::Scheme, domain: &O::Domain) -> Vec<PathStep<O>> {
    (O::CAPABILITIES.causes.path)(contract, reference, domain)
}

/// Causes of differences in a group, as [`Causes::in_group`] has them.
pub fn changes_in<O: Operation>(
    group: usize,
    contract: &O::Scheme,
    scheme: &O::Scheme,
    domain: &O::Domain,
    kept: bool,
) -> Vec<Change<O>> {
    (O::CAPABILITIES.causes.in_group)(group, contract, scheme, domain, kept)
}
