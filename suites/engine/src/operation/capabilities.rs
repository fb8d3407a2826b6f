//! Items that only some operations have, in addition to [`Operation`].

#![expect(clippy::type_complexity, reason = "the signature of a capability belongs in its field")]

use super::{
    Case, CaseSelection, Change, Control, Element, Expected, Layer, NamedScheme, Observed, Operation, Parameter,
    ParameterCoverage, PathStep, Promised, ReferenceOption, Spec, SweepOutcome, Types, Wanted, Witness, change, fault,
    observed, promise,
};
use crate::lane::runner::Runner;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_mlir::Function;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::{ledger, text as words};

/// Items that only some operations have. An operation sets its own groups and takes the rest from [`Capabilities::NONE`]; each group has a `NONE`.
pub struct Capabilities<O: Types> {
    /// Tensors with other elements than integers of [`Operation::range`].
    pub tensors: Tensors<O>,
    /// Deviations that contracts declare.
    pub deviations: Deviations<O>,
    /// Kernels made by a compiler.
    pub compiled: Compiled<O>,
    /// Kernel of another operation that runs the vector code of a kernel.
    pub shared_code: fn(&O::Kernel) -> Option<SharedCode>,
    /// Sweeps over all inputs of a kind.
    pub sweeps: Sweeps<O>,
    /// Explanation of differences, in addition to [`Operation::changes`].
    pub causes: Causes<O>,
    /// Parameters that a caller may give in place of the plan.
    pub options: Options<O>,
    /// Self-checks in addition to mutants on a quick plan.
    pub self_checks: SelfChecks<O>,
    /// Counts of cases in the ledger.
    pub counted: Counted<O>,
    /// Text of a single result.
    pub spelling: Spelling<O>,
    /// Order of witnesses by simplicity.
    pub witnesses: Witnesses<O>,
}

/// Kernel of another operation with the same vector code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCode {
    /// Name of the operation.
    pub op: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
}

/// Tensors with other elements than integers of [`Operation::range`], or other sizes than kernels state.
pub struct Tensors<O: Types> {
    /// True if parameter `len` is the number of elements of the first tensor.
    pub has_len: bool,
    /// Number of words read and written; an error if no case has the parameters.
    pub sizes: fn(&O::Domain, &O::Params) -> Result<Sizes, ShapeError>,
    /// Element type of a tensor (or of the result, for `t = TENSORS.len()`) in texts and reports.
    pub element: fn(&O::Domain, &O::Params, usize) -> Element,
}

/// Deviations that contracts declare.
pub struct Deviations<O: Types> {
    /// Scheme of a kernel's contract, with the deviations.
    pub contract: fn(&O::Kernel) -> Result<O::Scheme, UnknownName>,
    /// Class and reason of each deviation that a contract declares.
    pub declared: fn(&O::Scheme) -> Vec<(Class, &'static str)>,
    /// Class of the declared deviation that changes each result of a case; empty if no result changes.
    pub in_case: fn(&O::Scheme, &Case<O::Params>) -> Vec<Option<Class>>,
}

impl<S: NamedScheme, O: Operation<Scheme = Promised<S>>> Deviations<O> {
    /// Deviations in the results after the last whole vector of a row.
    pub const IN_TAIL: Self = Self {
        contract: |kernel| Promised::by(&kernel.contract),
        declared: Promised::declared,
        in_case: Promised::deviations::<O>,
    };
}

/// Kernels made by a compiler, and the known faults of the compiler.
pub struct Compiled<O: Types> {
    /// True if only lanes of compiled modules have kernels of the domain; other kernels run in all other lanes.
    pub is: fn(&O::Domain) -> bool,
    /// True if kernels with the same promise are compared to the bit, including results for which the contract gives no value.
    pub compared: bool,
    /// Function required in a module so that a compiled kernel takes the parameters.
    pub function: fn(&O::Params) -> Option<Function>,
    /// Classes of the known faults in a kernel's code; arguments: kernel, lane, parameters.
    pub faults: fn(&str, &str, &O::Params) -> Vec<Class>,
    /// Known faults in a kernel's code at a case; arguments: kernel, lane, contract, case.
    pub at_fault: fn(&str, &str, &O::Scheme, &Case<O::Params>) -> Vec<fault::KnownFault>,
}

/// Sweeps over all inputs of a kind.
pub struct Sweeps<O: Types> {
    /// True if the plan has every input of a domain.
    pub exhaustive: fn(&O::Domain) -> bool,
    /// Parameters of sweeps, in addition to the plan's; a module must have their functions.
    pub params: fn(&O::Domain, &CaseSelection) -> Vec<O::Params>,
    /// Sweeps small enough for every run.
    pub small_sweeps: fn(&'static O::Kernel, &Runner<'_>, &CaseSelection) -> Vec<SweepOutcome>,
    /// Sweeps of an exhaustive run.
    pub all: fn(&'static O::Kernel, &Runner<'_>, &CaseSelection, &Wanted) -> Vec<SweepOutcome>,
}

/// Explanation of differences, in addition to [`Operation::changes`].
pub struct Causes<O: Types> {
    /// Class of a result with a value by the reference and no value by the contract; `None` if no reference is compared with such results.
    pub undefined_class: Option<Class>,
    /// Path from the reference to a contract's scheme, in single changes (arguments: contract, reference, domain): the causes of differences of a
    /// kernel that keeps the contract. Empty if differences have a single cause.
    pub path: fn(&O::Scheme, &O::Scheme, &O::Domain) -> Vec<PathStep<O>>,
    /// Change from the reference to the scheme of a kernel that keeps the contract (arguments: contract, reference), if no cause is more specific.
    pub contract_cause: fn(&O::Scheme, &O::Scheme) -> Option<Change<O>>,
    /// True if a prediction without a value matches a word (arguments: parameters, results, index): a scheme gives NaN, and every NaN matches. `None`
    /// if such a prediction is neither right nor wrong, because the target decides the result of poison.
    pub matches_undefined: fn(&O::Params, &[i32], usize) -> Option<bool>,
    /// Group of each result of a case for explanation (arguments: contract, parameters, number of results); empty without groups.
    pub groups: fn(&O::Scheme, &O::Params, usize) -> Vec<usize>,
    /// Causes of differences from a scheme in a group; arguments: group, contract, scheme, domain, and true if the contract is kept and `scheme` is
    /// the reference.
    pub in_group: fn(usize, &O::Scheme, &O::Scheme, &O::Domain, bool) -> Vec<Change<O>>,
}

/// Counts of the caller's parameters; arguments: domain, request, parameters of each case that runs, budget and seed.
pub type Counts<O> =
    fn(&<O as Types>::Domain, &CaseSelection, &[&<O as Types>::Params], (&Budget, u64)) -> Option<ParameterCoverage>;

/// Parameters that a caller may give in place of the plan, in addition to cases.
pub struct Options<O: Types> {
    /// Kinds of parameters that the operation takes.
    pub takes: &'static [Parameter],
    /// True if the operation takes a layer of a model.
    pub takes_layer: fn(&Layer) -> bool,
    /// Converts a case of a network's layer to the types of a domain; the value of a result changes only by the difference between the types.
    pub on_types: fn(&O::Domain, Case<O::Params>) -> Case<O::Params>,
    /// Option by which a caller chooses the reference.
    pub reference: ReferenceOption,
    /// Number of the caller's parameters, and of those left out by the cases; without a request, of parameters counted in addition to cases.
    pub caller_coverage: Counts<O>,
    /// Fields of the domain that limit the kernels of this project and not the schemes: a caller's kernel may have `true` for `false`.
    pub widened: &'static [&'static str],
    /// True if a witness may have the parameters, because the caller gave them.
    pub is_asked: fn(&CaseSelection, &O::Params) -> bool,
}

/// Cases of a self-check, for a domain and a seed.
pub type Trial<O> = fn(&<O as Types>::Domain, u64) -> Vec<Spec<<O as Types>::Params>>;

/// Self-checks in addition to mutants on a quick plan.
pub struct SelfChecks<O: Types> {
    /// Negative controls, which must be equal.
    pub controls: fn() -> Vec<Control<O>>,
    /// Cases of a self-check, in place of the quick plan.
    pub trial: Option<Trial<O>>,
    /// Case of a published witness, and index of the result.
    pub published: fn(&Published) -> Option<(Case<O::Params>, usize)>,
}

/// Counts of cases in the ledger.
pub struct Counted<O: Types> {
    /// Number of results of each kind, for a case and its expected results by the contract; shows what the inputs of a run span.
    pub kinds: fn(&O::Scheme, &Case<O::Params>, &Expected) -> Vec<(&'static str, u64)>,
    /// Multipliers and shifts, with their fractional bits.
    pub pairs: fn(&O::Params) -> Vec<(Channel, u32)>,
    /// Multiply-accumulates of a call, without an operation for each element read and written; decides the time limit of a worker.
    pub products: fn(&O::Params) -> u64,
}

/// Text of a single result.
pub struct Spelling<O: Types> {
    /// Text of result `index` in the operation's own form, if any; with the class of the difference if known.
    pub result: fn(&Case<O::Params>, usize, Option<Class>) -> Option<ledger::Case>,
    /// True if the text reproduces the result regardless of position and neighbours.
    pub is_replayable: fn(&Case<O::Params>) -> bool,
    /// Command-line arguments that run a case given as text.
    pub command: fn(&ledger::Case) -> String,
}

/// Order of witnesses by simplicity: lexicographic, simplest first.
pub struct Witnesses<O: Types> {
    /// Cases reduced to the operands of a single result (arguments: case, domain, index), simplest first, with the new index of the result. The
    /// caller must check that a kernel gives the same result there. Empty if each result depends on many elements.
    pub isolate_result: fn(&Case<O::Params>, &O::Domain, usize) -> Vec<(Case<O::Params>, usize)>,
    /// Cases simpler than a witness, simplest first.
    pub simpler: fn(&Witness<O::Params>, &O::Domain) -> Vec<Case<O::Params>>,
    /// Order of differing cases; shrinking starts from the least.
    pub shrink_priority: fn(&Observed<O::Params>) -> Vec<u64>,
    /// Order of the witnesses of several groups.
    pub rank: fn(&Witness<O::Params>) -> Vec<u64>,
    /// Channel of each result, of this number of results; empty if there is one channel.
    pub channels: fn(&O::Params, usize) -> Vec<usize>,
}

impl<O: Operation> Capabilities<O> {
    /// No items.
    pub const NONE: Self = Self {
        tensors: Tensors::NONE,
        deviations: Deviations::NONE,
        compiled: Compiled::NONE,
        shared_code: |_| None,
        sweeps: Sweeps::NONE,
        causes: Causes::NONE,
        options: Options::NONE,
        self_checks: SelfChecks::NONE,
        counted: Counted::NONE,
        spelling: Spelling::NONE,
        witnesses: Witnesses::NONE,
    };
}

impl<O: Operation> Tensors<O> {
    /// Integers of the operation's range, int32 results, and sizes as the kernels state.
    pub const NONE: Self = Self {
        has_len: false,
        sizes: O::Impl::sizes,
        element: |domain, _, t| {
            let results = i32::MIN..=i32::MAX;
            let range = if t < O::TENSORS.len() { O::range(domain, t) } else { results };
            Element::Integer((*range.start()).into()..=(*range.end()).into())
        },
    };
}

impl<O: Operation> Deviations<O> {
    /// No deviations: the contract is the promise.
    pub const NONE: Self = Self { contract: promise::<O>, declared: |_| Vec::new(), in_case: |_, _| Vec::new() };
}

impl<O: Operation> Compiled<O> {
    /// No compiled kernels, and no known faults.
    pub const NONE: Self = Self {
        is: |_| false,
        compared: false,
        function: |_| None,
        faults: |_, _, _| Vec::new(),
        at_fault: |_, _, _, _| Vec::new(),
    };
}

impl<O: Operation> Sweeps<O> {
    /// No sweeps: all inputs are sampled.
    pub const NONE: Self = Self {
        exhaustive: |_| false,
        params: |_, _| Vec::new(),
        small_sweeps: |_, _, _| Vec::new(),
        all: |_, _, _, _| Vec::new(),
    };
}

impl<O: Operation> Causes<O> {
    /// Single group of results, explained by [`Operation::changes`]; a result without a value by the contract is poison.
    pub const NONE: Self = Self {
        undefined_class: Some(Class::Poison),
        path: change::path,
        contract_cause: |_, _| None,
        matches_undefined: |_, _, _| Some(false),
        groups: |_, _, _| Vec::new(),
        in_group: |_, contract, scheme, domain, kept| {
            let own = if kept { (O::CAPABILITIES.causes.contract_cause)(contract, scheme) } else { None };
            own.into_iter().chain(O::changes(scheme, domain)).collect()
        },
    };
}

impl<O: Operation> Options<O> {
    /// Cases only; differences are counted against a scheme.
    pub const NONE: Self = Self {
        takes: &[],
        takes_layer: |_| true,
        on_types: |_, case| case,
        reference: ReferenceOption::Reference,
        caller_coverage: |_, _, _, _| None,
        widened: &[],
        is_asked: |selection, params| {
            let function = || (O::CAPABILITIES.compiled.function)(params);
            selection.types.is_empty() || function().is_some_and(|f| selection.types.contains(&f.params.quantized))
        },
    };
}

impl<O: Operation> SelfChecks<O> {
    /// Mutants on a quick plan only.
    pub const NONE: Self = Self { controls: Vec::new, trial: None, published: |_| None };
}

impl<O: Operation> Counted<O> {
    /// No counts.
    pub const NONE: Self = Self { kinds: |_, _, _| Vec::new(), pairs: |_| Vec::new(), products: |_| 0 };
}

impl<O: Operation> Spelling<O> {
    /// The case with the index of the result.
    pub const NONE: Self = Self {
        result: |_, _, _| None,
        is_replayable: |_| true,
        command: |case| format!("--case '{}'", words::case(case)),
    };
}

impl<O: Operation> Witnesses<O> {
    /// Witnesses with fewer elements are simpler.
    pub const NONE: Self = Self {
        isolate_result: |_, _, _| Vec::new(),
        simpler: |witness, domain| O::shrink_candidates(&witness.case, domain),
        shrink_priority: |seen| vec![observed::elements(&seen.case, &seen.outs) as u64],
        rank: |witness| vec![witness.case.tensors.iter().map(Vec::len).sum::<usize>() as u64],
        channels: |_, _| Vec::new(),
    };
}
