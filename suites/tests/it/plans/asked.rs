//! Plan of a caller's multipliers and shifts. The plan of a million pairs once took 6.8 GB, because it held all accumulators at once.

use std::collections::BTreeSet;
use tiebreak_impls::fpm::Channel;
use tiebreak_suites::accumulators::accumulators;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::engine::erased::{Op, Params, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::operation::fill::Fill;
use tiebreak_suites::operation::{CaseSelection, Spec};
use tiebreak_suites::requantize::Requantize;

fn asked(pairs: usize) -> CaseSelection {
    let channels = (0..pairs as i32).map(|i| Channel { multiplier: (1 << 30) + 7 * i, shift: -(i % 32) });
    CaseSelection { channels: channels.collect(), ..CaseSelection::default() }
}

/// Returns the plan, and the number of elements that it holds.
fn held(op: Op, kernel: &str, pairs: usize) -> (Vec<Spec<Params>>, usize) {
    let kernel = op.find(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let specs = plans::whole(&kernel.contract.domain, &asked(pairs), &Effort::Quick.budget(), 1);
    let elements = |spec: &Spec<Params>| {
        spec.fills.iter().map(|fill| if let Fill::Given(all) = fill { all.len() } else { 0 }).sum::<usize>()
    };
    let all = specs.iter().map(elements).sum();
    (specs, all)
}

/// Ten times as many pairs give ten times as many cases, but no more elements in the plan.
#[test]
fn a_plan_of_many_pairs_holds_no_accumulators_of_theirs() {
    for kernel in ["tvm-relay", "tvm-relay-per-channel"] {
        let [(few, little), (many, more)] =
            [1_000, 10_000].map(|pairs| held(op::<FixedPointMultiply>(), kernel, pairs));
        assert!(many.len() > few.len() + 1_900 && more < 2 * little && more < 400_000, "{kernel}: {little} {more}");
    }
    for kernel in ["tflite-requantize-i8", "gemmlowp-pipeline-i8"] {
        let (specs, elements) = held(op::<Requantize>(), kernel, 10_000);
        assert!(specs.len() > 1_000 && elements == 0, "{kernel}: {elements}");
    }
}

/// The cases of such a plan have every pair with each of its accumulators.
#[test]
fn the_cases_of_such_a_plan_have_every_accumulator_of_every_pair() {
    let budget = Effort::Quick.budget();
    for name in ["tvm-relay", "tvm-relay-per-channel"] {
        let kernel = op::<FixedPointMultiply>().find(name).expect("a kernel");
        let (specs, _) = held(op::<FixedPointMultiply>(), name, 100);
        let mut met: BTreeSet<(Channel, i32)> = BTreeSet::new();
        for spec in specs.iter() {
            let case = spec.case(&kernel.contract.domain, 1).expect("a case").typed::<FixedPointMultiply>();
            let channels = &case.params.params.channels;
            assert_eq!(case.params.len, case.tensors[0].len());
            assert!(kernel.covers(&spec.params));
            met.extend(case.tensors[0].iter().zip(channels.iter().cycle()).map(|(x, channel)| (*channel, *x)));
        }
        for channel in asked(100).channels {
            for x in accumulators(channel, 31, &budget, 1) {
                assert!(met.contains(&(channel, x)), "{name}: {channel:?} x={x}");
            }
        }
    }
}
