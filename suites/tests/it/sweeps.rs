//! A sweep steps and skips, while single judging does neither. Both have the same counts.

use crate::common::{channel, kernel, lane, scheme};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tiebreak_impls::fpm::{Channel, Kernel};
use tiebreak_reports::ledger::Value;
use tiebreak_suites::engine::count::Deltas;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::fpm::promised::Promised;
use tiebreak_suites::fpm::sweep::one_by_one::Judged;
use tiebreak_suites::fpm::sweep::{CHUNK, Plan, SPACE};
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::runner::Runner;
use tiebreak_suites::operation::SweptSide;

/// Accumulators of a batch: whole vectors, so that no element is in a tail.
const BATCH: i64 = 1 << 14;
/// Bound on deltas, of either sign, that are compared individually; all others are compared by their number.
const SMALL: u64 = 16;

/// Judges every accumulator of a chunk separately, against contract and reference.
fn one_by_one(kernel: &Kernel, lane: &Lane, reference: &Promised, channel: Channel, start: i64) -> [Judged; 2] {
    let contract = FixedPointMultiply::contract(kernel).expect("known schemes");
    let starts: Vec<i64> = (start..start + CHUNK).step_by(BATCH as usize).collect();
    let one = |at: &i64| Judged::batch(kernel, lane, (&contract, reference), channel, *at..*at + BATCH);
    let parts: Vec<[Judged; 2]> = starts.par_iter().map(|at| one(at).expect("the lane answers")).collect();
    parts.into_iter().fold(Default::default(), |[mut contract, mut reference]: [Judged; 2], [c, r]| {
        contract.merge(c);
        reference.merge(r);
        [contract, reference]
    })
}

/// Returns small deltas individually, and the number of all others, which a sweep does not distinguish.
pub(crate) fn deltas(all: &Deltas) -> (BTreeMap<i64, u64>, u64) {
    let all = all.all();
    let small = all.iter().filter(|(delta, _)| delta.unsigned_abs() <= SMALL).map(|(delta, n)| (*delta, *n));
    let small: BTreeMap<i64, u64> = small.collect();
    let far = all.values().sum::<u64>() - small.values().sum::<u64>();
    (small, far)
}

fn same(what: &str, swept: &SweptSide, judged: &Judged) {
    let (s, j) = (&swept.count, &judged.count);
    assert_eq!(s.inputs + s.out_of_domain, CHUNK as u64, "{what}");
    assert_eq!((s.inputs, s.out_of_domain, s.differ), (j.inputs, j.out_of_domain, j.differ), "{what}");
    assert_eq!(deltas(&s.by_delta), deltas(&j.by_delta), "{what}");
    assert_eq!(s.by_delta.all().values().sum::<u64>(), s.differ, "{what}");
    assert_eq!(witness(swept), judged.smallest, "{what}");
    assert_eq!(s.classes.values().sum::<u64>(), s.differ, "{what}");
}

/// Returns accumulator, result and expected result.
pub(crate) fn witness(swept: &SweptSide) -> Option<(i32, i32, i32)> {
    let number = |value: &Value| value.to_string().parse().expect("an integer");
    swept.witness.as_ref().map(|w| (number(&w.case["x"]), number(&w.got), number(&w.expected)))
}

fn agree(lane: &Lane, name: &str, channel: Channel, reference: &str, starts: &[i64]) -> u64 {
    let (kernel, against, runner) = (kernel(name), scheme(reference), Runner::new(lane));
    let plan = Plan::new(kernel, &runner, channel, Some(&against.scheme)).expect("known schemes");
    let mut differ = 0;
    for &start in starts {
        let swept = plan.settle(plan.chunk(start));
        let [contract, other] = one_by_one(kernel, lane, &against, channel, start);
        let what = format!("{name} in {} {channel:?} from {start}", lane.name);
        assert!(swept.failures.is_empty(), "{what}");
        same(&format!("{what} against its contract"), &swept.sides[0], &contract);
        same(&format!("{what} against {reference}"), &swept.sides[1], &other);
        differ += contract.count.differ + other.count.differ;
    }
    differ
}

const FIRST: i64 = i32::MIN as i64;
const LAST: i64 = i32::MAX as i64 + 1 - CHUNK;

#[test]
fn a_sweep_counts_what_judging_one_by_one_counts() {
    let host = lane("host");
    let ends = [FIRST, -CHUNK, 0, LAST];
    let cases: [(&str, Channel, &str, &[i64], bool); 10] = [
        ("tvm-neon-rfc", channel(1_395_864_371, -8), "ties-up", &ends, true),
        ("tvm-neon-fixup", channel(1_395_864_371, -1), "ties-up", &[-CHUNK, 0], true),
        ("gemmlowp-scalar", channel(-1_518_500_250, 0), "ties-away", &[FIRST, 0], false),
        ("gemmlowp-scalar", channel(i32::MIN, 2), "ties-up:saturate", &[FIRST, 0], true),
        ("tvm-relay", channel(1_395_864_371, 3), "ties-up:out-of-domain", &[FIRST, -CHUNK], false),
        ("xnnpack-rndnu-neon", channel((1 << 30) + 128, 5), "ties-up:wrap", &[-CHUNK, LAST], true),
        ("tosa-apply-scale-32-double", channel(1 << 30, -2), "ties-up", &[FIRST, 0], true),
        ("mutant-no-saturation", channel(i32::MIN, 0), "ties-up", &[FIRST], true),
        ("mutant-fixup-lost", channel(1_583_594_044, -9), "ties-up", &[-CHUNK], true),
        ("mutant-power-of-two-wrap", channel(1 << 30, -3), "gemmlowp-double", &[LAST], true),
    ];
    let mut compared = 0;
    for (name, channel, reference, starts, differs) in cases {
        let differ = agree(&host, name, channel, reference, starts);
        assert!(!differs || differ > 0, "{name} {channel:?} does not differ: nothing was compared but equality");
        compared += starts.len();
        println!("{name} {channel:?}: {differ} differ");
    }
    println!("{compared} chunks of {CHUNK} accumulators");
}

/// The counts are the same if the blocks come from another process.
#[test]
fn a_sweep_in_a_worker_counts_the_same() {
    let differ = agree(&lane("host-worker"), "tvm-neon-rfc", channel(1_395_864_371, -8), "ties-up", &[0]);
    assert!(differ > 0);
}

/// The chunks are a partition of all accumulators.
#[test]
fn chunks_are_a_partition() {
    let starts: Vec<i64> = SPACE.chunks().collect();
    assert_eq!(starts.len() as i64 * CHUNK, 1 << 32);
    assert_eq!((starts[0], *starts.last().expect("some")), (FIRST, LAST));
    assert!(starts.windows(2).all(|w| w[1] - w[0] == CHUNK));
}
