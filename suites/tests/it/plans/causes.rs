//! Causes of differences in a requantization.

use crate::plans::Planned;
use tiebreak_impls::requantize::Params;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::erased::{AnyCase, op};
use tiebreak_suites::engine::explain::cause::explain;
use tiebreak_suites::operation::{Case, Observed};
use tiebreak_suites::requantize::Requantize;
use tiebreak_suites::requantize::changes::with_narrowed;

/// Returns the class of results that equal those of changed cases.
fn class(kernel: &str, changed: impl Fn(&Case<Params>) -> Case<Params>) -> Class {
    let planned = Planned::<Requantize>::of(kernel, Effort::Quick);
    let kernel = op::<Requantize>().find(kernel).expect("a kernel");
    let scheme = kernel.promise().expect("a scheme");
    let observed = planned.0.into_iter().step_by(7).take(80).map(|(case, expected)| {
        let [changed, case] = [changed(&case), case].map(AnyCase::of::<Requantize>);
        let outs = scheme.expected(&changed).expect("in the domain");
        let outs: Vec<i32> = outs.into_iter().map(Option::unwrap_or_default).collect();
        let differ = expected.iter().zip(&outs).filter(|(right, out)| **right != Some(**out)).count();
        Observed { case, outs, expected, differ, faulty: Vec::new(), due: Vec::new() }
    });
    let observed: Vec<_> = observed.collect();
    assert!(observed.iter().any(|seen| seen.differ > 0), "nothing differs");
    explain(&scheme.changes(&kernel.contract.domain), &observed.iter().collect::<Vec<_>>()).class
}

#[test]
fn a_narrowed_multiplier_is_named_so() {
    for kernel in ["tflite-requantize-i8", "tvm-requantize-i8", "xnnpack-rndnu-u8"] {
        for (bits, rounds) in [(7, true), (8, false), (15, true), (16, false), (16, true), (20, true)] {
            let class = class(kernel, |case| with_narrowed(case, bits, rounds));
            assert_eq!(class, Class::MultiplierNarrowed, "{kernel} without {bits} low bits, rounded {rounds}");
        }
    }
}

/// A cause must reproduce all results: two changes at once are explained by neither of them.
#[test]
fn two_faults_are_unexplained() {
    let class = class("tflite-requantize-i8", |case| {
        let mut both = with_narrowed(case, 16, false);
        both.params.bias.iter_mut().for_each(|bias| *bias = bias.wrapping_add(1000));
        both
    });
    assert_eq!(class, Class::Unexplained);
}
