//! Invariant 1: no tolerance. One output that is off by one, anywhere, is one difference.

use crate::common::{channel, kernel, lane, params};
use crate::sweeps::deltas;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::{Channel, kernels};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_suites::engine::sweep::{Blocks, Swept};
use tiebreak_suites::fpm::judge::judge;
use tiebreak_suites::fpm::sampled::Subject;
use tiebreak_suites::fpm::sweep::{BLOCK_IN_PROCESS, Plan};
use tiebreak_suites::fpm::yardstick::{Norm, Yardstick};

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Outputs of the kernel's portable form.
fn outputs(name: &str, channel: Channel, xs: &[i32]) -> Vec<i32> {
    let mut outs = vec![0; xs.len()];
    kernel(name).run(Form::Portable)(&params(channel), xs, &mut outs);
    outs
}

#[test]
fn one_output_off_by_one_is_one_difference() {
    let strategy =
        (0..kernels().len(), any::<prop::sample::Index>(), any::<bool>(), prop::collection::vec(any::<i32>(), 1..300));
    let at = channel(1_395_864_320, -8);
    let tested = runner(300).run(&strategy, |(which, index, up, xs)| {
        let kernel = &kernels()[which];
        let yardstick = Yardstick::contract(&kernel.contract).expect("known schemes");
        let mut outs = outputs(kernel.name, at, &xs);
        prop_assert_eq!(judge(&yardstick, &params(at), &xs, &outs).count.differ, 0);
        let index = index.index(xs.len());
        let delta = if up { 1 } else { -1 };
        outs[index] += delta;
        let tally = judge(&yardstick, &params(at), &xs, &outs);
        let count = &tally.count;
        let in_domain = yardstick.expected(&tiebreak_suites::fpm::case(&params(at), &xs, index)).1.is_some();
        prop_assert_eq!(count.seen(), xs.len() as u64);
        prop_assert_eq!(count.differ, u64::from(in_domain));
        if in_domain {
            prop_assert_eq!(count.by_delta.all(), BTreeMap::from([(i64::from(delta), 1)]));
            prop_assert_eq!(tally.smallest.expect("it differs").0.case.index, index);
        }
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A sweep's block with outputs changed at random counts as judging one by one does, near and far differences alike.
#[test]
fn a_changed_block_is_counted_exactly() {
    let host = lane("host");
    // Where it saturates whole blocks are expected at an end of the word.
    let reference = Norm::new(Scheme::parse("ties-up:saturate").expect("known"));
    // Off by a little, by anything, by what wraps to one, or at an end of the word.
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
        let subject = Subject::new(kernel(name), &host, Some(&reference)).expect("known schemes");
        let xs: Vec<i32> = (at..at + BLOCK_IN_PROCESS as i64).map(|x| x as i32).collect();
        let mut outs = outputs(name, channel, &xs);
        for (index, step) in changes {
            let out = &mut outs[index];
            *out = step.map_or(if *out < 0 { i32::MAX } else { i32::MIN }, |delta| out.wrapping_add(delta));
        }
        let plan = Plan::new(&subject, channel);
        let mut swept = Swept::default();
        plan.judge(at, &outs, &mut swept.seen);
        let settled = plan.settle(swept);
        for (account, yardstick) in
            [(&settled.contract, &subject.contract), (&settled.reference, subject.reference.as_ref().expect("given"))]
        {
            let one_by_one = judge(yardstick, &params(channel), &xs, &outs);
            let (tally, count) = (&account.tally, &account.tally.count);
            prop_assert_eq!(
                (count.inputs, count.out_of_domain, count.differ),
                (one_by_one.count.inputs, one_by_one.count.out_of_domain, one_by_one.count.differ)
            );
            prop_assert_eq!(deltas(&count.by_delta), deltas(&one_by_one.count.by_delta));
            let smallest =
                |s: &Option<(tiebreak_suites::fpm::classify::Observation, i64)>| s.map(|(o, e)| (o.case.x, o.got, e));
            prop_assert_eq!(smallest(&tally.smallest), smallest(&one_by_one.smallest));
        }
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}

/// One end of the word given where the other is expected differs by 2^32 - 1, though the difference wraps to one.
#[test]
fn the_ends_of_the_word_are_far_apart() {
    let host = lane("host");
    let reference = Norm::new(Scheme::parse("ties-up:saturate").expect("known"));
    let subject = Subject::new(kernel("tvm-relay"), &host, Some(&reference)).expect("known schemes");
    let plan = Plan::new(&subject, channel(1_518_500_250, 2));
    let mut outs = vec![i32::MAX; BLOCK_IN_PROCESS];
    outs[BLOCK_IN_PROCESS / 2] = i32::MIN;
    let mut swept = Swept::default();
    plan.judge((1 << 31) - BLOCK_IN_PROCESS as i64, &outs, &mut swept.seen);
    let tally = plan.settle(swept).reference.tally.count;
    assert_eq!((tally.inputs, tally.differ), (BLOCK_IN_PROCESS as u64, 1));
    assert_eq!(deltas(&tally.by_delta), (BTreeMap::new(), 1), "{:?}", tally.by_delta);
}

/// Where TOSA REQUIREs what an input is not, its kernels promise nothing: a reference that saturates has a value there, but
/// nothing to compare it with.
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
    assert_eq!(run.code, 0, "{}", run.told());
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
    assert_eq!(swept.code, 0, "{}", swept.told());
    let summary: serde_json::Value = serde_json::from_str(&swept.stdout).expect("JSON");
    for row in summary["rows"].as_array().expect("rows") {
        // A shift of 11 leaves room for values of 11 bits.
        assert_eq!(
            (row["inputs"].as_u64(), row["out_of_domain"].as_u64()),
            (Some(1 << 11), Some((1 << 32) - (1 << 11)))
        );
    }
}
