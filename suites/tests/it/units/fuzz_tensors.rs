//! Made-up cases of tensor operations, run through every kernel.

use std::collections::BTreeSet;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::{Form, mutants};
use tiebreak_suites::engine::case::catalogue;
use tiebreak_suites::engine::case::text::parse;
use tiebreak_suites::engine::erased::{Domain, op};
use tiebreak_suites::fpm::{self, FixedPointMultiply};
use tiebreak_suites::fuzzing::numbers::Numbers;
use tiebreak_suites::fuzzing::tensor::{Fuzzed, FuzzedCase, hold, kernels, made, read, run};
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::{self, differs, job, mutants, promise};
use tiebreak_suites::stream::{int32, stream};
use tiebreak_suites::verify::{Visitor, visit_tensors};
use tiebreak_worker::execute::execute;

/// Returns bytes as from a fuzzer.
fn bytes(purpose: &str, i: usize) -> Vec<u8> {
    let mut rng = stream(i as u64, purpose);
    (0..1 + i % 50).flat_map(|_| int32(&mut rng).to_le_bytes()).collect()
}

fn keep<O: Fuzzed>() {
    assert_eq!(run::<O>(&[]), Ok(()));
    let mut chosen = BTreeSet::new();
    for i in 0..800 {
        let bytes = bytes(O::OP, i);
        chosen.extend(read::<O>(&kernels::<O>(), &bytes).map(|FuzzedCase { kernel, .. }| kernel.name));
        assert_eq!(run::<O>(&bytes), Ok(()), "{bytes:?}");
    }
    assert_eq!(chosen.len(), kernels::<O>().len());
}

#[test]
fn kernels_keep_their_contracts() {
    struct Keep;
    impl Visitor for Keep {
        fn visit<O: Fuzzed>(&mut self) {
            keep::<O>();
        }
    }
    visit_tensors(&mut Keep);
}

/// Most made-up cases are in the domain.
fn few_are_lost<O: Fuzzed>() {
    for kernel in operation::kernels::<O>() {
        let made = (0..100).filter(|i| made::<O>(&kernel.contract.domain, Numbers::new(&bytes("lost", *i))).is_some());
        assert!(made.count() > 90, "{} {}", O::OP, kernel.name);
    }
}

#[test]
fn made_up_parameters_are_in_the_domain() {
    struct Few;
    impl Visitor for Few {
        fn visit<O: Fuzzed>(&mut self) {
            few_are_lost::<O>();
        }
    }
    visit_tensors(&mut Few);
}

/// Returns the mutants that no made-up case detects.
fn alive<O: Fuzzed>() -> Vec<&'static str> {
    let shows = |kernel: &'static tiebreak_impls::kernel::Kernel<O::Run, O::Domain>, i| {
        let contract = promise::<O>(kernel).expect("a contract names schemes that there are");
        let Some(case) = made::<O>(&kernel.contract.domain, Numbers::new(&bytes("mutant", i))) else { return false };
        let expected = O::expected(&contract, &case).expect("the shape has been checked");
        let mut outs = vec![0; expected.len()];
        let job = job::<O>(kernel.name, &case.params);
        execute(&job, Form::Portable, &case.payload(), &mut outs, case.misalign).expect("it runs");
        differs(&expected, &outs)
    };
    let mutants = mutants::<O>().iter().map(|mutant| &mutant.kernel);
    mutants.filter(|kernel| !(0..2000).any(|i| shows(kernel, i))).map(|kernel| kernel.name).collect()
}

#[test]
fn every_mutant_is_caught() {
    struct Alive(Vec<&'static str>);
    impl Visitor for Alive {
        fn visit<O: Fuzzed>(&mut self) {
            self.0.extend(alive::<O>());
        }
    }
    let mut all = Alive(Vec::new());
    visit_tensors(&mut all);
    // Mutants that only a declared deviation reveals, by which made-up cases are not judged: those whose elements after whole vectors take the
    // vectors' code. Requantize mutants without a made-up case: one product in 2^64 saturates, and ties at full width are rare, as are double
    // roundings in a tail. Add: few quotients of scales take a sum beyond 16 bits. Pool: no window has 258 elements, whose sum needs more than 16
    // bits. Qconv2d: few made-up cases have sums beyond int32, and none has 517 products of one sign. Qmatmul: the largest input of `tanh` needs one
    // amplitude; 512 products of -32768 by -128 are not made up; products that f32 takes to a tie are rare. Conv2d: no made-up filter has the 519
    // products of a sum beyond 2^24. The plans have the corners that detect these mutants.
    let rare =
        ["mutant-no-saturation", "mutant-ties-away", "mutant-sqrdmulh-no-saturation", "mutant-requantize-tail-by-rule"];
    let of_qconv2d = ["mutant-qconv-odd-pixel-in-32-bits", "mutant-qconv-transpose-in-32-bits"];
    let of_qmatmul = [
        "mutant-qmatmul-tanh-wraps",
        "mutant-qmatmul-512-products",
        "mutant-qmatmul-f32-ties-away",
        "mutant-qmatmul-in-f64",
    ];
    let others = ["mutant-qadd-16-bit-result", "mutant-pool-16-bit-sum", "mutant-s8s8-through-f32"];
    let of_quantize = ["mutant-tflite-neon-padded"];
    let all_rare = [&rare[..], &of_qconv2d, &of_qmatmul, &others, &of_quantize].concat();
    assert_eq!(all.0.iter().collect::<BTreeSet<_>>(), all_rare.iter().collect::<BTreeSet<_>>(), "{:?}", all.0);
}

#[test]
fn a_mutant_is_reported_with_its_smallest_witness() {
    let mutant = tiebreak_suites::operation::find::<Matmul>("mutant-u8-pair-wrap").expect("a mutant");
    let text = "m=3 n=5 k=37 lhs=255 rhs=254 lhs_offset=-7 misalign=3";
    let domain = Domain::of::<Matmul>(mutant.contract.domain.clone());
    let case = parse(text, &domain).expect("a case").typed::<Matmul>();
    let report = hold::<Matmul>(mutant, &case).unwrap_err();
    let lines: Vec<&str> = report.lines().collect();
    let case = "m=1 n=1 k=9 lhs[0,0]=4 lhs[0,8]=255 rhs[0,0]=192 rhs[8,0]=254";
    assert_eq!(
        lines,
        [
            format!("matmul mutant-u8-pair-wrap host {case} at=0: got 2, exact:wrap 65538, class 16-bit-wrap"),
            format!("catalogue: {case} out[0]: exact:wrap=65538 exact=65538 # mutant-u8-pair-wrap, found by fuzzing"),
            format!("again: cargo xtask verify --op matmul --kernel mutant-u8-pair-wrap --lane host --case '{case}'"),
        ]
    );
    let kept = lines[1].trim_start_matches("catalogue: ");
    assert_eq!(catalogue::read(op::<Matmul>(), kept).expect("a line of the catalogue").len(), 1);
}

/// The witness of a fixed point multiply has its own text and command.
#[test]
fn a_multiplication_is_reported_with_its_own_command() {
    let mutant = mutants::fpm::find("mutant-double-rounding").expect("a mutant");
    let case = fpm::case(31, vec![Channel { multiplier: 1_583_594_044, shift: -9 }], vec![0, 0, 7984, 0]);
    let report = hold::<FixedPointMultiply>(&mutant.kernel, &case).unwrap_err();
    assert_eq!(
        report.lines().collect::<Vec<_>>(),
        [
            "fpm mutant-double-rounding host x=1 m=1073741824 s=-1: got 1, ties-up:wrap 0, class double-rounding",
            "catalogue: m=1073741824 s=-1 x=1 out[0]: ties-up:wrap=0 ties-up=0 # mutant-double-rounding, found by fuzzing",
            "again: cargo xtask verify --op fpm --kernel mutant-double-rounding --lane host --multiplier=1073741824 --shift=-1 --x=1",
            "explain: cargo xtask explain fpm --kernel mutant-double-rounding --multiplier=1073741824 --shift=-1 --x=1",
        ]
    );
}

#[test]
fn every_mutant_is_caught_at_its_published_witnesses() {
    for mutant in mutants::fpm::mutants() {
        for w in mutant.witnesses {
            let case = fpm::case(31, vec![Channel { multiplier: w.m, shift: w.s }], vec![w.x; 5]);
            let caught = hold::<FixedPointMultiply>(&mutant.kernel, &case);
            assert!(caught.is_err(), "{} at x={} m={} s={}", mutant.kernel.name, w.x, w.m, w.s);
        }
    }
}
