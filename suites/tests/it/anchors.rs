//! The form of the oracle that judges works in machine integers. Planted faults in it stop a run: in cases that are not the smallest, and
//! on the side of the reference alone. What is right does not stop it.

use crate::common::LANES;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::ledger::Value;
use tiebreak_suites::budget::{Budget, Effort};
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::verify::tensor_op::Tensor;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::tensor::text::Arguments;
use tiebreak_suites::tensor::{Asked, Case, CaseError, Change, Element, Expected, Operation, PathStep};
use tiebreak_suites::tensor::{Spec, Unposable, Wanted};
use tiebreak_suites::verify::{Command, Kept, Outcome, Registry, Request, Verifies};
use tiebreak_suites::{add::Add, matmul::Matmul, quantize::Quantize, requantize::Requantize};

/// Where the form that judges is wrong: its last result is one higher there.
#[derive(Clone, Debug)]
enum Fault {
    Nowhere,
    /// In cases of more results than that.
    Beyond(usize),
    /// Wherever a scheme has that label.
    Scheme(String),
}

static FAULT: RwLock<Fault> = RwLock::new(Fault::Nowhere);

/// The operation `O` with a fault in the form of the oracle that judges.
struct Faulty<O>(PhantomData<O>);

impl<O: Operation> Operation for Faulty<O> {
    type Impl = O::Impl;
    type Params = O::Params;
    type Domain = O::Domain;
    type Run = O::Run;
    type Scheme = O::Scheme;
    const TENSORS: &'static [&'static str] = O::TENSORS;
    const OPEN: Option<Class> = O::OPEN;
    const CATALOGUE: &'static str = O::CATALOGUE;

    fn expected(scheme: &O::Scheme, case: &Case<O::Params>) -> Result<Expected, Unposable> {
        let mut right = O::expected(scheme, case)?;
        let strikes = match &*FAULT.read().unwrap_or_else(PoisonError::into_inner) {
            Fault::Nowhere => false,
            Fault::Beyond(results) => right.len() > *results,
            Fault::Scheme(label) => O::label(scheme) == *label,
        };
        if let Some(last) = right.iter_mut().flatten().last().filter(|_| strikes) {
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
    fn element(domain: &O::Domain, params: &O::Params, t: usize) -> Element {
        O::element(domain, params, t)
    }
    fn covers(domain: &O::Domain, params: &O::Params) -> bool {
        O::covers(domain, params)
    }
    fn domain_text(domain: &O::Domain) -> String {
        O::domain_text(domain)
    }
    fn contract(kernel: &Kernel<O::Run, O::Domain>) -> Result<O::Scheme, UnknownName> {
        O::contract(kernel)
    }
    fn reference(kernel: &Kernel<O::Run, O::Domain>, wanted: &Wanted) -> Option<String> {
        O::reference(kernel, wanted)
    }
    fn compiled(domain: &O::Domain) -> bool {
        O::compiled(domain)
    }
    fn plan(domain: &O::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<O::Params>> {
        O::plan(domain, asked, budget, seed)
    }
    fn path(_: &O::Scheme, _: &O::Scheme, _: &O::Domain) -> Vec<PathStep<Self>> {
        Vec::new()
    }
    fn changes(_: &O::Scheme, _: &O::Domain) -> Vec<Change<Self>> {
        Vec::new()
    }
    fn smaller(_: &Case<O::Params>, _: &O::Domain) -> Vec<Case<O::Params>> {
        Vec::new()
    }
    fn arguments(params: &O::Params) -> Vec<(String, Value)> {
        O::arguments(params)
    }
    fn from_arguments(arguments: &Arguments) -> Result<O::Params, CaseError> {
        O::from_arguments(arguments)
    }
}

/// What a quick run of a kernel says with that fault in the oracle.
fn verified<O: Operation>(kernel: &str, fault: Fault) -> Result<Outcome, String> {
    *FAULT.write().unwrap_or_else(PoisonError::into_inner) = fault;
    let operation: &'static dyn Verifies = &const { Tensor::<Faulty<O>>::NEW };
    let registry = Registry { operations: Box::leak(Box::new([operation])), bounds: |_, _| Ok(Vec::new()) };
    let request = Request {
        ops: vec![O::OP.to_owned()],
        kernels: vec![kernel.to_owned()],
        lanes: vec!["host".to_owned()],
        ops_named: true,
        allow_not_run: Vec::new(),
        allow_outside_domain: false,
        fail_fast: false,
        effort: Effort::Quick,
        asked: Asked::default(),
        reference: Scheme::parse("ties-up").expect("a scheme"),
        rounding: RoundingRule::TiesEven,
        seed: 1,
        command: Command::default(),
        known_lanes: LANES.clone(),
        kept: Kept::default(),
    };
    tiebreak_suites::engine::verify::run(&request, &registry).map_err(|error| format!("{error:#}"))
}

/// A fault in cases of more results than that stops a run of this kernel, and one on the side of the reference, where there is one.
#[track_caller]
fn stops<O: Operation>(name: &str, smallest: usize, sides: usize) {
    verified::<O>(name, Fault::Nowhere).unwrap_or_else(|said| panic!("{name} without a fault in the oracle: {said}"));
    let kernel = tiebreak_suites::tensor::find::<O>(name).expect("a kernel");
    let contract = O::label(&O::contract(kernel).expect("a scheme"));
    let reference = O::reference(kernel, &Wanted::default()).map(|name| O::label(&O::scheme(&name).expect("a scheme")));
    let mut faults = vec![(Fault::Beyond(smallest), contract.clone())];
    let others = reference.filter(|reference| *reference != contract);
    faults.extend(others.map(|reference| (Fault::Scheme(reference.clone()), reference)));
    assert_eq!(faults.len(), sides, "{name}: {faults:?}");
    for (fault, scheme) in faults {
        let said = verified::<O>(name, fault.clone());
        let said = said.expect_err(&format!("{name} with a fault in the oracle: {fault:?}"));
        let wanted = format!("the oracle disagrees with itself on {} by {scheme}", O::OP);
        assert!(said.contains(&wanted), "{name}, {fault:?}: {said}");
    }
}

/// One test, because the fault is that of the whole process.
#[test]
fn a_wrong_form_of_the_oracle_stops_a_run() {
    stops::<FixedPointMultiply>("tvm-neon-rfc", 64, 2);
    stops::<Add>("tflite-add-i8", 4, 2);
    stops::<Requantize>("tflite-requantize-i8", 4, 2);
    stops::<Quantize>("onnx-quantizelinear", 4, 2);
    stops::<Matmul>("arm-umlal-fast", 1, 2);
}
