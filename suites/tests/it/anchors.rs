//! The judging form of the oracle works in machine integers. Injected faults in this form stop a run, also in cases other than the smallest, and
//! on the side of the reference alone. A correct form does not stop a run.

use crate::common::LANES;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::ledger::{Value, Verdict};
use tiebreak_suites::budget::{Budget, Effort};
use tiebreak_suites::engine::erased::{self, Params, op};
use tiebreak_suites::engine::pipeline::Pipeline;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::operation::{Arguments, Case, CaseError, CaseSelection, Change, Expected, Operation};
use tiebreak_suites::operation::{Capabilities, Causes, Compiled, Deviations, Tensors, label};
use tiebreak_suites::operation::{Spec, Unposable, Wanted};
use tiebreak_suites::verify::{Command, PartialRun, Registry, Request};
use tiebreak_suites::{elementwise::Add, matmul::Matmul, quantize::Quantize, requantize::Requantize};

const SEED: u64 = 1;

/// Place where the judging form is wrong: its last result is one too high.
#[derive(Clone, Debug)]
enum Fault {
    Nowhere,
    /// Cases whose work is not in this set.
    Beside(BTreeSet<usize>),
    /// All cases of the scheme with this label.
    Scheme(String),
}

static FAULT: RwLock<Fault> = RwLock::new(Fault::Nowhere);

/// Returns the number of results times the elements of the largest input.
fn work<P>(results: usize, case: &Case<P>) -> usize {
    results * case.tensors.iter().map(Vec::len).max().unwrap_or(0)
}

/// Returns the work of the smallest case of each chunk. A run that checks only these cases detects no other fault.
fn smallest(kernel: &erased::Kernel) -> BTreeSet<usize> {
    let domain = &kernel.contract.domain;
    let mut specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), SEED);
    specs.retain(|spec| domain.covers(&spec.params));
    let work = |spec: &Spec<Params>| {
        let results = domain.sizes(&spec.params).expect("it is covered").outputs;
        Some(work(results, &spec.case(domain, SEED)?)).filter(|_| results > 0)
    };
    let works: Vec<Option<usize>> = specs.iter().map(work).collect();
    works.chunks(64).filter_map(|chunk| chunk.iter().flatten().min()).copied().collect()
}

/// Operation `O` with a fault in the judging form of the oracle.
struct Faulty<O>(PhantomData<O>);

impl<O: Operation> Operation for Faulty<O> {
    type Impl = O::Impl;
    type Params = O::Params;
    type Domain = O::Domain;
    type Run = O::Run;
    type Scheme = O::Scheme;
    const TENSORS: &'static [&'static str] = O::TENSORS;
    const CATALOGUE: &'static str = O::CATALOGUE;
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { element: O::CAPABILITIES.tensors.element, ..Tensors::NONE },
        deviations: Deviations { contract: O::CAPABILITIES.deviations.contract, ..Deviations::NONE },
        compiled: Compiled { is: O::CAPABILITIES.compiled.is, ..Compiled::NONE },
        causes: Causes {
            undefined_class: O::CAPABILITIES.causes.undefined_class,
            path: |_, _, _| Vec::new(),
            ..Causes::NONE
        },
        ..Capabilities::NONE
    };

    fn expected(scheme: &O::Scheme, case: &Case<O::Params>) -> Result<Expected, Unposable> {
        let mut right = O::expected(scheme, case)?;
        let is_faulty = match &*FAULT.read().unwrap_or_else(PoisonError::into_inner) {
            Fault::Nowhere => false,
            Fault::Beside(works) => !works.contains(&work(right.len(), case)),
            Fault::Scheme(name) => label::<O>(scheme) == *name,
        };
        if let Some(last) = right.iter_mut().flatten().last().filter(|_| is_faulty) {
            *last = last.wrapping_add(1);
        }
        Ok(right)
    }

    fn exact(scheme: &O::Scheme, case: &Case<O::Params>) -> Result<Expected, Unposable> {
        O::exact(scheme, case)
    }

    fn dimensions(domain: &O::Domain, params: &O::Params, t: usize) -> Vec<usize> {
        O::dimensions(domain, params, t)
    }
    fn range(domain: &O::Domain, t: usize) -> RangeInclusive<i32> {
        O::range(domain, t)
    }
    fn widest_domain(scheme: &O::Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<O::Domain, CaseError> {
        O::widest_domain(scheme, ty, arguments)
    }

    fn covers(domain: &O::Domain, params: &O::Params) -> bool {
        O::covers(domain, params)
    }
    fn domain_text(domain: &O::Domain) -> String {
        O::domain_text(domain)
    }
    fn reference(kernel: &Kernel<O::Run, O::Domain>, wanted: &Wanted) -> Option<String> {
        O::reference(kernel, wanted)
    }
    fn own_plan(domain: &O::Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<O::Params>> {
        O::own_plan(domain, selection, budget, seed)
    }
    fn changes(_: &O::Scheme, _: &O::Domain) -> Vec<Change<Self>> {
        Vec::new()
    }
    fn shrink_candidates(_: &Case<O::Params>, _: &O::Domain) -> Vec<Case<O::Params>> {
        Vec::new()
    }
    fn arguments(params: &O::Params) -> Vec<(String, Value)> {
        O::arguments(params)
    }
    fn from_arguments(arguments: &Arguments) -> Result<O::Params, CaseError> {
        O::from_arguments(arguments)
    }
}

/// Runs a quick verification of a kernel with this fault in the oracle.
fn verified<O: Operation>(kernel: &str, fault: Fault) -> Result<Verdict, String> {
    *FAULT.write().unwrap_or_else(PoisonError::into_inner) = fault;
    let registry =
        Registry { operations: Box::leak(Box::new([Pipeline::of::<Faulty<O>>()])), bounds: |_, _| Ok(Vec::new()) };
    let request = Request {
        ops: vec![O::OP.to_owned()],
        kernels: vec![kernel.to_owned()],
        lanes: vec!["host".to_owned()],
        ops_named: true,
        allow_not_run: Vec::new(),
        allow_outside_domain: false,
        fail_fast: false,
        effort: Effort::Quick,
        selection: CaseSelection::default(),
        left_out: Vec::new(),
        reference: "ties-up".to_owned(),
        rounding: RoundingRule::TiesEven,
        seed: SEED,
        command: Command::default(),
        known_lanes: LANES.clone(),
        network: None,
    };
    let ended = tiebreak_suites::engine::verification::run(&request, &registry, &PartialRun::default());
    ended.map(|outcome| outcome.ledger.verdict).map_err(|error| format!("{error:#}"))
}

/// A fault outside the smallest case of each chunk stops a run of this kernel, and so does a fault on the side of the reference.
#[track_caller]
fn stops<O: Operation>(name: &str) {
    verified::<O>(name, Fault::Nowhere).unwrap_or_else(|said| panic!("{name} without a fault in the oracle: {said}"));
    let kernel = op::<O>().find(name).expect("a kernel");
    let contract = kernel.scheme().expect("a scheme").label();
    let reference = op::<O>().reference(kernel, &Wanted::default()).expect("it is held against a reference");
    let reference = op::<O>().scheme(&reference).expect("a scheme").label();
    assert_ne!(contract, reference, "{name} has one side only");
    let beside = Fault::Beside(smallest(kernel));
    for (fault, scheme) in [(beside, contract), (Fault::Scheme(reference.clone()), reference)] {
        let said = verified::<O>(name, fault.clone());
        let said = said.expect_err(&format!("{name} with a fault in the oracle: {fault:?}"));
        let wanted = format!("the oracle disagrees with itself on {} by {scheme}", O::OP);
        assert!(said.contains(&wanted), "{name}, {fault:?}: {said}");
    }
}

/// A single test, because the fault is global to the process.
#[test]
fn a_wrong_form_of_the_oracle_stops_a_run() {
    stops::<FixedPointMultiply>("tvm-neon-rfc");
    stops::<Add>("tflite-add-i8");
    stops::<Requantize>("tflite-requantize-i8");
    stops::<Quantize>("onnx-quantizelinear");
    stops::<Matmul>("arm-umlal-fast");
}
