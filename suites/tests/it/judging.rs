//! Invariant 1: no tolerance. One output that is off by one, anywhere, is one difference.

use crate::common::{channel, kernel, lane, params, posed, scheme};
use crate::sweeps::{deltas, witness};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::Channel;
use tiebreak_suites::engine::erased::{Kernel, Scheme, op};
use tiebreak_suites::engine::explain::witness::first_difference;
use tiebreak_suites::engine::judge::record::judged;
use tiebreak_suites::engine::run::answers::Answers;
use tiebreak_suites::engine::run::sweep::{Blocks, ChunkOutcome};
use tiebreak_suites::fpm::sweep::one_by_one::Judged;
use tiebreak_suites::fpm::sweep::{BLOCK_IN_PROCESS, Plan};
use tiebreak_suites::fpm::{FixedPointMultiply, case};
use tiebreak_suites::lane::runner::Runner;

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Returns outputs of the kernel's portable form.
fn outputs(name: &str, channel: Channel, xs: &[i32]) -> Vec<i32> {
    let mut outs = vec![0; xs.len()];
    kernel(name).run(Form::Portable)(&params(channel), xs, &mut outs);
    outs
}

#[test]
fn one_output_off_by_one_is_one_difference() {
    let (host, kernels) = (lane("host"), op::<FixedPointMultiply>().kernels());
    let strategy =
        (0..kernels.len(), any::<prop::sample::Index>(), any::<bool>(), prop::collection::vec(any::<i32>(), 1..300));
    let at = channel(1_395_864_320, -8);
    let tested = runner(300).run(&strategy, |(which, index, up, xs)| {
        let kernel = &kernels[which];
        let contract = kernel.scheme().expect("known schemes");
        let mut outs = outputs(kernel.name, at, &xs);
        let len = xs.len();
        let posed = [posed(kernel, None, case(31, vec![at], xs))];
        let judge = |outs: &[i32]| {
            let answers = Answers::of(vec![Some(outs.to_vec())]);
            judged(&host, kernel, &contract, &[], &posed, &answers).contract
        };
        prop_assert_eq!(judge(&outs).count.differ, 0);
        let index = index.index(len);
        let delta = if up { 1 } else { -1 };
        outs[index] += delta;
        let side = judge(&outs);
        let in_domain = posed[0].contract[index].is_some();
        prop_assert_eq!(side.count.seen(), len as u64);
        prop_assert_eq!(side.count.differ, u64::from(in_domain));
        if in_domain {
            prop_assert_eq!(side.count.by_delta.all(), BTreeMap::from([(i64::from(delta), 1)]));
            let first = first_difference(&kernel.contract.domain, side.smallest().expect("one"));
            prop_assert_eq!(first.expect("it differs").index, index);
        }
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A sweep counts a block with randomly changed outputs exactly as single judging does, for near and far differences.
#[test]
fn a_changed_block_is_counted_exactly() {
    let host = lane("host");
    // Under saturation, whole blocks are expected at an end of the word.
    let reference = scheme("ties-up:saturate");
    let against = Scheme::of::<FixedPointMultiply>(reference.clone());
    // Changes: by a little, by any amount, by an amount that wraps to one, or to an end of the word.
    let steps = prop_oneof![Just(Some(1i32)), Just(Some(-1)), Just(Some(2)), any::<i32>().prop_map(Some), Just(None)];
    let changes = prop::collection::vec((0..BLOCK_IN_PROCESS, steps), 0..40);
    let pairs = prop::sample::select(vec![
        ("gemmlowp-scalar", channel(1_395_864_371, -8)),
        ("gemmlowp-scalar", channel(1 << 30, 0)),
        ("tvm-relay", channel(1_518_500_250, 2)),
        ("tosa-apply-scale-32-double", channel(1 << 30, -2)),
        ("xnnpack-rndnu-neon", channel((1 << 30) + 128, 5)),
    ]);
    let ats = (-(1i64 << 31) / BLOCK_IN_PROCESS as i64..(1i64 << 31) / BLOCK_IN_PROCESS as i64)
        .prop_map(|b| b * BLOCK_IN_PROCESS as i64);
    let ats = prop_oneof![ats, Just(0), Just(-(BLOCK_IN_PROCESS as i64))];
    let tested = runner(300).run(&(pairs, ats, changes), |((name, channel), at, changes)| {
        let (kernel, runner) = (kernel(name), Runner::new(&host));
        let xs: Vec<i32> = (at..at + BLOCK_IN_PROCESS as i64).map(|x| x as i32).collect();
        let mut outs = outputs(name, channel, &xs);
        for (index, step) in changes {
            let out = &mut outs[index];
            *out = step.map_or(if *out < 0 { i32::MAX } else { i32::MIN }, |delta| out.wrapping_add(delta));
        }
        let plan = Plan::new(kernel, &runner, channel, Some(&reference.scheme)).expect("known schemes");
        let mut swept = ChunkOutcome::default();
        plan.judge(at, &outs, &mut swept.seen);
        let settled = plan.settle(swept);
        let posed = posed(&Kernel::of::<FixedPointMultiply>(kernel), Some(&against), case(31, vec![channel], xs));
        for (side, expected) in settled.sides.iter().zip([Some(&posed.contract), posed.reference.as_ref()]) {
            let one_by_one = Judged::of(&posed.case.tensors[0], &outs, expected.expect("given"));
            let (count, other) = (&side.count, &one_by_one.count);
            prop_assert_eq!(
                (count.inputs, count.out_of_domain, count.differ),
                (other.inputs, other.out_of_domain, other.differ)
            );
            prop_assert_eq!(deltas(&count.by_delta), deltas(&other.by_delta));
            prop_assert_eq!(witness(side), one_by_one.smallest);
        }
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The two ends of the word differ by 2^32 - 1, although the difference wraps to one.
#[test]
fn the_ends_of_the_word_are_far_apart() {
    let host = lane("host");
    let reference = scheme("ties-up:saturate");
    let (kernel, runner) = (kernel("tvm-relay"), Runner::new(&host));
    let plan = Plan::new(kernel, &runner, channel(1_518_500_250, 2), Some(&reference.scheme)).expect("known schemes");
    let mut outs = vec![i32::MAX; BLOCK_IN_PROCESS];
    outs[BLOCK_IN_PROCESS / 2] = i32::MIN;
    let mut swept = ChunkOutcome::default();
    plan.judge((1 << 31) - BLOCK_IN_PROCESS as i64, &outs, &mut swept.seen);
    let count = &plan.settle(swept).sides[1].count;
    assert_eq!((count.inputs, count.differ), (BLOCK_IN_PROCESS as u64, 1));
    assert_eq!(deltas(&count.by_delta), (BTreeMap::new(), 1), "{:?}", count.by_delta);
}

/// If an input violates a REQUIRE of TOSA, its kernels promise nothing. The value of a saturating reference is then not compared.
#[test]
fn what_the_contract_refuses_no_reference_expects() {
    let run = crate::common::verify(&[
        "--op=fpm",
        "--lane=host",
        "--effort=quick",
        "--kernel=tosa-apply-scale-32-single",
        "--kernel=tosa-apply-scale-32-double",
        "--reference=gemmlowp-double:saturate",
    ]);
    assert_eq!(run.code, 0, "{}", run.printed());
    let swept = crate::common::verify(&[
        "--op=fpm",
        "--lane=host",
        "--effort=exhaustive",
        "--kernel=tosa-apply-scale-32-double",
        "--multiplier=2147483647",
        "--shift=20",
        "--reference=gemmlowp-double:saturate",
        "--format=json",
    ]);
    assert_eq!(swept.code, 0, "{}", swept.printed());
    let summary: serde_json::Value = serde_json::from_str(&swept.stdout).expect("JSON");
    let rows = summary["rows"].as_array().expect("rows").iter();
    let swept: Vec<_> = rows.filter(|row| row["coverage"] == "exhaustive").collect();
    assert_eq!(swept.len(), 2);
    for row in swept {
        // A shift of 11 leaves room for values of 11 bits.
        assert_eq!(
            (row["inputs"].as_u64(), row["out_of_domain"].as_u64()),
            (Some(1 << 11), Some((1 << 32) - (1 << 11)))
        );
    }
}
