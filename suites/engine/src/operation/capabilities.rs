//! What only some operations have beside the items of [`Operation`].

#![expect(clippy::type_complexity, reason = "the signature of a capability belongs in its field")]

use super::{
    Asked, Case, Change, Control, Element, Expected, Given, Kernel, Layer, NamedScheme, Observed, Operation, Parameter,
    PathStep, Promised, ReferenceOption, Spec, Sweep, Wanted, Witness, change, fault, observed, promise,
};
use crate::lane::runner::Runner;
use std::sync::Arc;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_mlir::Function;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::{ledger, text as words};

/// What only some operations have. An operation names the groups that it has and fills the rest with [`Capabilities::NONE`]; each group has the same constant.
pub struct Capabilities<O: Operation> {
    /// Tensors that are more than integers of [`Operation::range`].
    pub tensors: Tensors<O>,
    /// Deviations that contracts declare.
    pub deviations: Deviations<O>,
    /// Kernels that a compiler makes.
    pub compiled: Compiled<O>,
    /// Inputs that are run without exception.
    pub sweeps: Sweeps<O>,
    /// How differences are explained, beside [`Operation::changes`].
    pub causes: Causes<O>,
    /// What a caller may give in place of the plan.
    pub options: Options<O>,
    /// Self-checks beside mutants on a quick plan.
    pub self_checks: SelfChecks<O>,
    /// What the ledger counts of cases.
    pub counted: Counted<O>,
    /// How a single result reads.
    pub spelling: Spelling<O>,
    /// Which witnesses are simpler than others.
    pub witnesses: Witnesses<O>,
}

/// Tensors that are more than integers of [`Operation::range`] in sizes that the kernels state.
pub struct Tensors<O: Operation> {
    /// Whether parameter `len` is the number of elements of the first tensor.
    pub has_len: bool,
    /// Words read and written; an error if no case has these parameters.
    pub sizes: fn(&O::Domain, &O::Params) -> Result<Sizes, ShapeError>,
    /// Element type of a tensor (or of the result, for `t = TENSORS.len()`), as texts and reports write it.
    pub element: fn(&O::Domain, &O::Params, usize) -> Element,
}

/// Deviations that contracts declare.
pub struct Deviations<O: Operation> {
    /// Scheme of a kernel's contract, with its deviations.
    pub contract: fn(&Kernel<O>) -> Result<O::Scheme, UnknownName>,
    /// Class and reason of each deviation that a contract declares.
    pub declared: fn(&O::Scheme) -> Vec<(Class, &'static str)>,
    /// For each result of a case the declared deviation that changes it, if one does; empty if none does.
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

/// Kernels that a compiler makes, and what is wrong with that compiler.
pub struct Compiled<O: Operation> {
    /// Whether only lanes of compiled modules have kernels of this domain; other kernels run in all other lanes.
    pub is: fn(&O::Domain) -> bool,
    /// Whether kernels of one promise are compared to the bit, also for results to which the contract gives no value.
    pub compared: bool,
    /// Function that a module must hold, so that a compiled kernel can be given these parameters.
    pub function: fn(&O::Params) -> Option<Function>,
    /// Classes of the known faults of a kernel's code in a lane for these parameters: kernel, lane, parameters.
    pub faults: fn(&str, &str, &O::Params) -> Vec<Class>,
    /// Known faults of a kernel's code in a lane at one case: kernel, lane, contract, case.
    pub at_fault: fn(&str, &str, &O::Scheme, &Case<O::Params>) -> Vec<fault::Fault>,
}

/// Inputs that are run without exception.
pub struct Sweeps<O: Operation> {
    /// Whether the plan holds every input of a domain.
    pub exhaustive: fn(&O::Domain) -> bool,
    /// Parameters that sweeps give a kernel beside the plan's: a module must hold their functions.
    pub params: fn(&O::Domain, &Asked) -> Vec<O::Params>,
    /// Sweeps that are small enough for every run.
    pub few: fn(&'static Kernel<O>, &Runner<'_>, &Asked) -> Vec<Sweep>,
    /// Sweeps of an exhaustive run.
    pub all: fn(&'static Kernel<O>, &Runner<'_>, &Asked, &Wanted) -> Vec<Sweep>,
}

/// How differences are explained, beside [`Operation::changes`].
pub struct Causes<O: Operation> {
    /// Class of a result to which the contract gives no value and the reference gives one; none if no reference is held against such results.
    pub open: Option<Class>,
    /// Path from the reference to a contract's scheme, one change at a time (contract, reference, domain): the causes of the differences of a kernel that
    /// keeps its contract. Empty if differences have one cause.
    pub path: fn(&O::Scheme, &O::Scheme, &O::Domain) -> Vec<PathStep<O>>,
    /// Change that distinguishes a kernel that keeps its contract from the reference (contract, reference), if no cause is more telling than its own scheme.
    pub own: fn(&O::Scheme, &O::Scheme) -> Option<Change<O>>,
    /// Whether a word (parameters, results, index) is of a result that a prediction without a value stands for: a scheme gives NaN, and any NaN will do. None
    /// if such a prediction is neither right nor wrong: what code makes of poison is the target's.
    pub stands_for_none: fn(&O::Params, &[i32], usize) -> Option<bool>,
    /// For each result of a case (contract, parameters, number of results) the group in which its difference is explained; empty if there is one group.
    pub groups: fn(&O::Scheme, &O::Params, usize) -> Vec<usize>,
    /// Causes of differences from a scheme in a group: group, contract, scheme, domain, and whether the kernel keeps its contract and `scheme` is the
    /// reference.
    pub in_group: fn(usize, &O::Scheme, &O::Scheme, &O::Domain, bool) -> Vec<Change<O>>,
}

/// Count of what the caller gave: domain, what was asked, the cases that run, budget and seed.
pub type Counts<O> =
    fn(&<O as Operation>::Domain, &Asked, &[Arc<Spec<<O as Operation>::Params>>], (&Budget, u64)) -> Option<Given>;

/// What a caller may give in place of the plan, beside a case.
pub struct Options<O: Operation> {
    /// Parameters that are taken.
    pub takes: &'static [Parameter],
    /// Whether a layer is of use, if models are taken.
    pub takes_layer: fn(&Layer) -> bool,
    /// The case of a network's layer on the types of a domain, if that has others: no result changes but by what lies between the types.
    pub on_types: fn(&O::Domain, Case<O::Params>) -> Case<O::Params>,
    /// The option by which a caller chooses what differences are counted against.
    pub reference: ReferenceOption,
    /// What the caller gave in place of the plan and how much of it the cases run, or how much of what the plan counts beside cases. None if nothing is
    /// counted.
    pub given: Counts<O>,
    /// Whether parameters are among those that the caller gave, so that a witness may have them.
    pub is_asked: fn(&Asked, &O::Params) -> bool,
}

/// A self-check's cases of a domain, for a seed.
pub type Trial<O> = fn(&<O as Operation>::Domain, u64) -> Vec<Spec<<O as Operation>::Params>>;

/// Self-checks beside mutants on a quick plan.
pub struct SelfChecks<O: Operation> {
    /// Pairs that must be equal.
    pub controls: fn() -> Vec<Control<O>>,
    /// The cases, if they are not those of the quick plan that every kernel runs.
    pub trial: Option<Trial<O>>,
    /// Case of a published witness, and index of the result in it.
    pub published: fn(&Published) -> Option<(Case<O::Params>, usize)>,
}

/// What the ledger counts of cases.
pub struct Counted<O: Operation> {
    /// Number of results of each kind, of a case whose contract expects these results: what the inputs of a run spanned.
    pub kinds: fn(&O::Scheme, &Case<O::Params>, &Expected) -> Vec<(&'static str, u64)>,
    /// Multipliers and shifts, each with its fractional bits.
    pub pairs: fn(&O::Params) -> Vec<(Channel, u32)>,
    /// Multiply-accumulates of a call, beside one operation for each element read and written: what the patience with a worker is measured by.
    pub products: fn(&O::Params) -> u64,
}

/// How a single result reads.
pub struct Spelling<O: Operation> {
    /// Result `index` of a case in words of the operation's own, if it has any; the class of its difference if that is known.
    pub result: fn(&Case<O::Params>, usize, Option<Class>) -> Option<ledger::Case>,
    /// Whether those words alone show the result again, whatever its position and its neighbours are.
    pub stands_alone: fn(&Case<O::Params>) -> bool,
    /// The command-line arguments that run a case in words.
    pub command: fn(&ledger::Case) -> String,
}

/// Which witnesses are simpler than others. Orders are lexicographic, the smaller is the simpler.
pub struct Witnesses<O: Operation> {
    /// Cases that keep of the operands little more than what one result (case, domain, index) is computed from, the plainest first, each with the index of
    /// that result in it. The caller has to see whether a kernel gives the same there. Empty if each result is computed from many elements.
    pub alone: fn(&Case<O::Params>, &O::Domain, usize) -> Vec<(Case<O::Params>, usize)>,
    /// Simpler cases than a witness, the simplest first.
    pub simpler: fn(&Witness<O::Params>, &O::Domain) -> Vec<Case<O::Params>>,
    /// Order of differing cases: the search for a small witness starts from the least.
    pub start: fn(&Observed<O::Params>) -> Vec<u64>,
    /// Order of the witnesses of several groups.
    pub rank: fn(&Witness<O::Params>) -> Vec<u64>,
}

impl<O: Operation> Capabilities<O> {
    /// None of them.
    pub const NONE: Self = Self {
        tensors: Tensors::NONE,
        deviations: Deviations::NONE,
        compiled: Compiled::NONE,
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
    /// Integers of the operation's range, and results of any int32, in the sizes that the kernels state.
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
    /// A contract is its promise.
    pub const NONE: Self = Self { contract: promise::<O>, declared: |_| Vec::new(), in_case: |_, _| Vec::new() };
}

impl<O: Operation> Compiled<O> {
    /// Kernels are code of this project, and no fault of a compiler is known.
    pub const NONE: Self = Self {
        is: |_| false,
        compared: false,
        function: |_| None,
        faults: |_, _, _| Vec::new(),
        at_fault: |_, _, _, _| Vec::new(),
    };
}

impl<O: Operation> Sweeps<O> {
    /// Everything is sampled.
    pub const NONE: Self = Self {
        exhaustive: |_| false,
        params: |_, _| Vec::new(),
        few: |_, _, _| Vec::new(),
        all: |_, _, _, _| Vec::new(),
    };
}

impl<O: Operation> Causes<O> {
    /// All results in one group, explained by [`Operation::changes`]; a result without a value by the contract is poison.
    pub const NONE: Self = Self {
        open: Some(Class::Poison),
        path: change::path,
        own: |_, _| None,
        stands_for_none: |_, _, _| Some(false),
        groups: |_, _, _| Vec::new(),
        in_group: |_, contract, scheme, domain, kept| {
            let own = if kept { (O::CAPABILITIES.causes.own)(contract, scheme) } else { None };
            own.into_iter().chain(O::changes(scheme, domain)).collect()
        },
    };
}

impl<O: Operation> Options<O> {
    /// Cases alone; differences are counted against a scheme.
    pub const NONE: Self = Self {
        takes: &[],
        takes_layer: |_| true,
        on_types: |_, case| case,
        reference: ReferenceOption::Reference,
        given: |_, _, _, _| None,
        is_asked: |asked, params| {
            let function = || (O::CAPABILITIES.compiled.function)(params);
            asked.types.is_empty() || function().is_some_and(|f| asked.types.contains(&f.params.quantized))
        },
    };
}

impl<O: Operation> SelfChecks<O> {
    /// Mutants on a quick plan.
    pub const NONE: Self = Self { controls: Vec::new, trial: None, published: |_| None };
}

impl<O: Operation> Counted<O> {
    /// Nothing.
    pub const NONE: Self = Self { kinds: |_, _, _| Vec::new(), pairs: |_| Vec::new(), products: |_| 0 };
}

impl<O: Operation> Spelling<O> {
    /// A result reads as its case with an index.
    pub const NONE: Self = Self {
        result: |_, _, _| None,
        stands_alone: |_| true,
        command: |case| format!("--case '{}'", words::case(case)),
    };
}

impl<O: Operation> Witnesses<O> {
    /// Fewer elements are simpler.
    pub const NONE: Self = Self {
        alone: |_, _, _| Vec::new(),
        simpler: |witness, domain| O::smaller(&witness.case, domain),
        start: |seen| vec![observed::elements(&seen.case, &seen.outs) as u64],
        rank: |witness| vec![witness.case.tensors.iter().map(Vec::len).sum::<usize>() as u64],
    };
}
