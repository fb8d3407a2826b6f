//! What the operations on tensors share: cases, judging, explaining, shrinking, rows.
//! An operation says what its cases are, what its schemes expect, and which changes to a scheme a kernel may make.

pub mod agreement;
pub mod answers;
mod asked;
mod case;
pub mod catalogue;
pub mod change;
pub mod element;
mod errors;
pub mod explain;
pub mod explained;
pub mod fault;
pub mod fill;
mod further;
pub mod given;
pub mod judge;
pub mod plans;
mod scheme;
pub mod self_check;
mod sequences;
pub mod shrink;
pub mod side;
pub mod spans;
mod structured;
mod swept;
pub mod text;
mod whereabouts;

use crate::runner::Runner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tiebreak_common::budget::{Budget, Effort};
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_impls::mutants::tensor::Mutant;
use tiebreak_impls::operation::{self as impls, TensorOperation};
use tiebreak_impls::protocol::Job;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_mlir::Function;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{self, Value};
use tiebreak_reports::text as words;

pub use asked::{Asked, Layer, Parameter, ReferenceOption, Wanted};
pub use case::{Case, Frames, Spec, Turn, by, in_turns};
pub use change::{Change, Lead, PathStep};
pub use element::Element;
pub use errors::{CaseError, Unposable};
use explain::Observed;
pub use given::Given;
pub use scheme::{NamedScheme, overflow, promised};
use shrink::Witness;
pub use swept::{Sweep, SweptSide, SweptWitness};

/// A kernel in another's clothes that is equal to a promise not its own: where the harness finds a difference, it is wrong.
pub struct Control<O: Operation> {
    /// Name in reports.
    pub name: &'static str,
    /// The kernel, under the contract that it must keep.
    pub kernel: Kernel<O::Run, O::Domain>,
    /// Where the promise comes from.
    pub origin: &'static str,
}

/// What a scheme gives: for each word of the result a value, or nothing where the case is outside its domain.
pub type Expected = Vec<Option<i32>>;

/// One operation on tensors.
pub trait Operation: Sized + Send + Sync + 'static {
    /// Its kernels.
    type Impl: TensorOperation<Params = Self::Params, Domain = Self::Domain, Run = Self::Run>;
    /// Shape, offsets, ...
    type Params: Clone + Debug + Eq + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// What a contract's domain is made of.
    type Domain: Debug + Send + Sync + 'static;
    /// Function type of its kernels.
    type Run: Copy + Send + Sync + 'static;
    /// Name in every room.
    const OP: &'static str = Self::Impl::OP;
    /// Names of the input tensors.
    const TENSORS: &'static [&'static str];
    /// Class of a result to which the contract gives no value where the reference gives one; `None` where no reference is held against it.
    const OPEN: Option<Class> = Some(Class::Poison);
    /// A mathematical definition with its overflow policy.
    type Scheme: NamedScheme;

    /// Every kernel, in the order of reports.
    fn kernels() -> &'static [Kernel<Self::Run, Self::Domain>] {
        Self::Impl::kernels()
    }
    /// Known bugs.
    fn mutants() -> &'static [Mutant<Self::Run, Self::Domain>] {
        Self::Impl::mutants()
    }
    /// The job of a kernel.
    fn job(kernel: &str, params: &Self::Params) -> Job {
        Self::Impl::job(kernel, params)
    }
    /// Words read and written.
    fn sizes(domain: &Self::Domain, params: &Self::Params) -> Result<Sizes, ShapeError> {
        Self::Impl::sizes(domain, params)
    }
    /// Dimensions of tensor `t` (or of the result, for `t = TENSORS.len()`), row-major.
    fn dimensions(domain: &Self::Domain, params: &Self::Params, t: usize) -> Vec<usize>;
    /// Values that a case may hold in tensor `t`.
    fn range(_domain: &Self::Domain, _t: usize) -> RangeInclusive<i32> {
        i32::MIN..=i32::MAX
    }
    /// How elements of tensor `t` (or of the result) are written.
    fn element(domain: &Self::Domain, _params: &Self::Params, t: usize) -> Element {
        let results = i32::MIN..=i32::MAX;
        let range = if t < Self::TENSORS.len() { Self::range(domain, t) } else { results };
        Element::Integer((*range.start()).into()..=(*range.end()).into())
    }
    /// Whether the contract covers the parameters.
    fn covers(domain: &Self::Domain, params: &Self::Params) -> bool;

    /// The domain in words.
    fn domain_text(domain: &Self::Domain) -> String;

    /// The scheme of that name, `NAME` or `NAME:POLICY`.
    fn scheme(text: &str) -> Result<Self::Scheme, UnknownName> {
        Self::Scheme::named(text)
    }
    /// Name and policy of a scheme.
    fn label(scheme: &Self::Scheme) -> String {
        scheme.label()
    }
    /// What a kernel's contract says, with its deviations where the operation has any.
    fn contract(kernel: &Kernel<Self::Run, Self::Domain>) -> Result<Self::Scheme, UnknownName> {
        promise::<Self>(kernel)
    }
    /// The deviations that a contract declares, each with its reason.
    fn declared(_contract: &Self::Scheme) -> Vec<(Class, &'static str)> {
        Vec::new()
    }
    /// Of each result of a case the declared deviation that changes it, where one does; nothing at all where none does.
    fn deviations(_contract: &Self::Scheme, _case: &Case<Self::Params>) -> Vec<Option<Class>> {
        Vec::new()
    }
    /// The results, by machine integers.
    fn expected(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// The results, by big integers.
    fn exact(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// What differences of a kernel are counted against, beside its contract.
    fn reference(kernel: &Kernel<Self::Run, Self::Domain>, wanted: &Wanted) -> Option<String>;

    /// How the reference becomes a contract's scheme, one change at a time: what each difference of a kernel that keeps its contract is due to. None where
    /// differences have one cause.
    fn path(contract: &Self::Scheme, reference: &Self::Scheme, domain: &Self::Domain) -> Vec<PathStep<Self>> {
        change::path(contract, reference, domain)
    }

    /// Whether only lanes of compiled modules have kernels of this domain; the others run in all other lanes.
    fn compiled(_domain: &Self::Domain) -> bool {
        false
    }
    /// Whether kernels of one promise are compared to the bit, also where the contract gives no value.
    const COMPARED: bool = false;
    /// What a module must hold, so that a compiled kernel can be given these parameters.
    fn function(_params: &Self::Params) -> Option<Function> {
        None
    }
    /// What a caller may give in place of the plan, beside a case.
    const TAKES: &'static [Parameter] = &[];
    /// Whether it has a use for a layer, where it takes models.
    fn takes_layer(_layer: &Layer) -> bool {
        true
    }
    /// The option by which a caller chooses what differences are counted against.
    const REFERENCE: ReferenceOption = ReferenceOption::Reference;

    /// Known faults of what made a kernel's code in a lane for these parameters, each by its class.
    fn faults(_kernel: &str, _lane: &str, _params: &Self::Params) -> Vec<Class> {
        Vec::new()
    }
    /// The known faults of what made a kernel's code in a lane, at one case.
    fn at_fault(_kernel: &str, _lane: &str, _contract: &Self::Scheme, _case: &Case<Self::Params>) -> Vec<fault::Fault> {
        Vec::new()
    }

    /// The corner catalogue.
    const CATALOGUE: &'static str;

    /// What is tried that the operation chooses itself.
    fn own_plan(domain: &Self::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Self::Params>>;
    /// What is tried.
    fn plan(domain: &Self::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Self::Params>> {
        let mut specs = Self::own_plan(domain, asked, budget, seed);
        // A compiled module is made for each of its parameters, and where every input is tried there is nothing else.
        if asked.is_nothing() && !Self::compiled(domain) && !Self::exhaustive(domain) {
            specs.extend(further::plan::<Self>(domain, &specs, budget, seed));
        }
        specs
    }
    /// The element of tensor `t` that adds nothing to a result: its zero point.
    fn nothing(_params: &Self::Params, _t: usize) -> i32 {
        0
    }
    /// Whether the plan holds every input there is of a domain.
    fn exhaustive(_domain: &Self::Domain) -> bool {
        false
    }
    /// What the caller gave in place of the plan, and how much of it these cases run; or how much of what the plan counts beside cases. Nothing where there is no such count. What is tried is that of a budget and a seed.
    fn given(
        _domain: &Self::Domain,
        _asked: &Asked,
        _specs: &[Spec<Self::Params>],
        _tried: (&Budget, u64),
    ) -> Option<Given> {
        None
    }
    /// What sweeps give a kernel beside the plan's: a compiled kernel has to hold it.
    fn swept(_domain: &Self::Domain, _asked: &Asked) -> Vec<Self::Params> {
        Vec::new()
    }
    /// Everything there is of some kind, where it is so little that every run sweeps it.
    fn few(_kernel: &'static Kernel<Self::Run, Self::Domain>, _runner: &Runner<'_>, _asked: &Asked) -> Vec<Sweep> {
        Vec::new()
    }
    /// Everything there is of some kind, where it can be swept.
    fn sweeps(
        _kernel: &'static Kernel<Self::Run, Self::Domain>,
        _runner: &Runner<'_>,
        _asked: &Asked,
        _wanted: &Wanted,
    ) -> Vec<Sweep> {
        Vec::new()
    }
    /// Of the results of a case, so many of each kind: what the inputs of a run spanned. The scheme is that of the contract, and the results are its.
    fn kinds(_scheme: &Self::Scheme, _case: &Case<Self::Params>, _expected: &Expected) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Every change to `scheme` that a kernel may make, in the order of preference: causes, paths and explanations are looked for in this list.
    fn changes(scheme: &Self::Scheme, domain: &Self::Domain) -> Vec<Change<Self>>;
    /// Of each result of a case the group in which its difference is explained; nothing at all where there is one group.
    fn groups(_contract: &Self::Scheme, _params: &Self::Params, _results: usize) -> Vec<usize> {
        Vec::new()
    }
    /// What may be the cause of differences from `scheme` in a group. `kept` says that the kernel keeps its contract and `scheme` is the reference.
    fn changes_in(
        _group: usize,
        contract: &Self::Scheme,
        scheme: &Self::Scheme,
        domain: &Self::Domain,
        kept: bool,
    ) -> Vec<Change<Self>> {
        let own = if kept { Self::own(contract, scheme) } else { None };
        own.into_iter().chain(Self::changes(scheme, domain)).collect()
    }
    /// Whether a word is of a result that a prediction without a value stands for: where a scheme gives NaN, of which any will do. Nothing where such a prediction
    /// is neither right nor wrong: what code makes of poison is the target's.
    fn stands_for_none(_params: &Self::Params, _outs: &[i32], _word: usize) -> Option<bool> {
        Some(false)
    }
    /// How a kernel that keeps its contract is distinguished from the reference, where no cause is more telling than its own scheme.
    fn own(_contract: &Self::Scheme, _reference: &Self::Scheme) -> Option<Change<Self>> {
        None
    }
    /// Cases that keep of the operands little more than what result `index` is computed from, the plainest first, each with the place of
    /// that result in it. Whether a kernel gives there what it gives in the whole case is for the caller to see. None where each result
    /// is computed from many elements.
    fn alone(_case: &Case<Self::Params>, _domain: &Self::Domain, _index: usize) -> Vec<(Case<Self::Params>, usize)> {
        Vec::new()
    }
    /// Smaller cases of the same kind, the smallest first.
    fn smaller(case: &Case<Self::Params>, domain: &Self::Domain) -> Vec<Case<Self::Params>>;
    /// Simpler cases than a witness, the simplest first.
    fn simpler(witness: &Witness<Self::Params>, domain: &Self::Domain) -> Vec<Case<Self::Params>> {
        Self::smaller(&witness.case, domain)
    }
    /// Smaller is simpler: from which of the cases that differ a small one is looked for.
    fn start(seen: &Observed<Self::Params>) -> Vec<u64> {
        vec![side::elements(&seen.case, &seen.outs) as u64]
    }
    /// Smaller is simpler: the order in which witnesses of several groups are preferred.
    fn rank(witness: &Witness<Self::Params>) -> Vec<u64> {
        vec![witness.case.tensors.iter().map(Vec::len).sum::<usize>() as u64]
    }
    /// Whether parameters are of those that the caller gave, so that a witness may have them.
    fn is_asked(asked: &Asked, params: &Self::Params) -> bool {
        asked.types.is_empty() || Self::function(params).is_some_and(|f| asked.types.contains(&f.params.quantized))
    }

    /// Pairs that must be equal.
    fn controls() -> Vec<Control<Self>> {
        Vec::new()
    }
    /// What a self-check runs.
    fn trial(domain: &Self::Domain, seed: u64) -> plans::Shared<Self::Params> {
        let plan = plans::plan::<Self>(domain, &Asked::default(), &Effort::Quick.budget(), seed);
        // Known bugs are many, and large cases are slow.
        Arc::new(plan.iter().filter(|spec| spec.turn.is_all()).cloned().collect())
    }
    /// The case of a published witness, and the result in it.
    fn published(_witness: &Published) -> Option<(Case<Self::Params>, usize)> {
        None
    }
    /// Multipliers and shifts of a case, each with its fractional bits, where the ledger counts them.
    fn pairs(_params: &Self::Params) -> Vec<(Channel, u32)> {
        Vec::new()
    }

    /// A result of a case as a reader has it, where the operation has words of its own for it.
    fn spelled(_case: &Case<Self::Params>, _index: usize, _class: Option<Class>) -> Option<ledger::Case> {
        None
    }
    /// Whether those words alone show a result of a case again, wherever it lies and whatever lies beside it.
    fn stands_alone(_case: &Case<Self::Params>) -> bool {
        true
    }
    /// The arguments that run a case in words again.
    fn command(case: &ledger::Case) -> String {
        format!("--case '{}'", words::case(case))
    }
    /// The parameters by name, in the order in which a reader wants them.
    fn arguments(params: &Self::Params) -> Vec<(String, Value)>;
    /// Parameters from names and values; what is not named is as usual.
    fn from_arguments(arguments: &text::Arguments) -> Result<Self::Params, CaseError>;
}

/// A kernel or mutant of that name.
pub fn find<O: Operation>(name: &str) -> Option<&'static Kernel<O::Run, O::Domain>> {
    <O::Impl as impls::Operation>::find(name).ok()
}

/// The scheme of a contract, without its deviations.
pub fn promise<O: Operation>(kernel: &Kernel<O::Run, O::Domain>) -> Result<O::Scheme, UnknownName> {
    promised(kernel.contract.promise)
}
