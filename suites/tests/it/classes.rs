//! Invariants 5 and 6: a mismatch is named by a hypothesis that reproduces all of it, and every name is one that a known bug, or a
//! kernel of this file where no bug of that kind is known, is given.

use crate::common::{lane, params};
use rayon::prelude::*;
use std::collections::BTreeSet;
use tiebreak_impls::contract::{Contract, Deviation, Domain, Overflow, Promise, Region};
use tiebreak_impls::fpm::{self, Channel, Kernel, Params};
use tiebreak_impls::instruction::model;
use tiebreak_impls::mutants;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Scheme, integer};
use tiebreak_oracle::word;
use tiebreak_reports::ledger::Against;
use tiebreak_suites::accumulators::accumulators;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::fpm::classify::Observation;
use tiebreak_suites::fpm::hypotheses::{Hypothesis, hypotheses};
use tiebreak_suites::fpm::judge::judge;
use tiebreak_suites::fpm::parameters;
use tiebreak_suites::fpm::sampled::{Record, Settled, Subject};
use tiebreak_suites::fpm::tally::{Regime, Side, Tally};
use tiebreak_suites::fpm::yardstick::{Norm, Yardstick, Zone, promised};
use tiebreak_suites::parameters::grid;

/// Classes of which no known bug exists; a kernel below is given each.
const SHOWN_HERE: [Class; 3] = [Class::Saturation, Class::StaleDeviation, Class::Unexplained];

fn wrapping(definition: &'static tiebreak_oracle::fpm::scheme::Definition) -> Scheme {
    Scheme { definition, overflow: word::Overflow::Wrap }
}

#[test]
fn every_class_is_shown_by_a_mutant() {
    let policies = [word::Overflow::Wrap, word::Overflow::Saturate];
    let schemes = DEFINITIONS.iter().flat_map(|d| policies.map(|overflow| Scheme { definition: d, overflow }));
    let mut classes: BTreeSet<Class> = schemes.flat_map(|s| hypotheses(&s)).map(|h| h.class).collect();
    classes.extend([Class::Position, Class::StaleDeviation, Class::Unexplained]);
    let mutants: BTreeSet<Class> = mutants::fpm::mutants().iter().map(|m| m.class.parse().expect("a class")).collect();
    assert!(mutants.is_subset(&classes), "{mutants:?} of {classes:?}");
    let others: BTreeSet<Class> = classes.difference(&mutants).copied().collect();
    assert_eq!(others, BTreeSet::from(SHOWN_HERE), "a class that nothing shows, or one that is shown twice");
    println!("{} classes: {} by mutants, {others:?} here", classes.len(), mutants.len());
}

/// Every scheme that a contract names is one that the oracle knows.
#[test]
fn contracts_name_known_schemes() {
    let kernels = fpm::kernels().iter().chain(mutants::fpm::mutants().iter().map(|m| &m.kernel));
    let kernels = kernels.chain(mutants::process());
    let mut promises: Vec<Promise> = mutants::controls().iter().map(|c| c.against).collect();
    for kernel in kernels {
        promises.push(kernel.contract.promise);
        promises.extend(kernel.contract.deviations.iter().map(|d| d.instead));
    }
    for promise in &promises {
        assert!(promised(*promise).is_ok(), "{promise:?}");
    }
    assert!(promises.len() >= 40, "only {} promises", promises.len());
}

/// A kernel of this file: no lane knows it, so its code is called here and its outputs are judged like those of any other.
fn kernel(promise: Promise, domain: Domain, deviations: &'static [Deviation], portable: fpm::Run) -> Kernel {
    let contract = Contract { promise, domain, deviations, source: "a test" };
    Kernel { name: "local", summary: "a test", contract, portable, native: None }
}

const TIES_UP: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };

fn settled(kernel: &Kernel) -> Settled {
    let host = lane("host");
    let reference = Norm::new(Scheme::parse("ties-away").expect("known"));
    let subject = Subject::new(kernel, &host, Some(&reference)).expect("known schemes");
    let mut record: Record = Record::default();
    for channel in grid(Effort::Quick, 1) {
        if !kernel.contract.domain.contains(channel.multiplier, channel.shift, 31) {
            continue;
        }
        // An odd number of inputs, the smallest last: a tail shows.
        let mut xs = accumulators(channel, 31, &Effort::Quick.budget(), 1);
        xs.sort_unstable_by_key(|x| std::cmp::Reverse(x.unsigned_abs()));
        xs.truncate(xs.len() - (xs.len() + 1) % 4);
        let mut outs = vec![0; xs.len()];
        (kernel.portable)(&params(channel), &xs, &mut outs);
        record.contract.merge(judge(&subject.contract, &params(channel), &xs, &outs));
        record.reference.merge(judge(subject.reference.as_ref().expect("given"), &params(channel), &xs, &outs));
        record.parameters += 1;
    }
    assert!(record.contract.count.inputs > 1000);
    record.settle(&subject)
}

fn classes(settled: &Settled) -> Vec<Class> {
    settled.contract.tally.count.classes.keys().copied().collect()
}

fn rounded(x: i32, m: i32, s: i32) -> i128 {
    let product = i128::from(x) * i128::from(m);
    if s == 31 { product } else { (product + (1 << (30 - s))) >> (31 - s) }
}

#[test]
fn a_saturation_that_is_not_promised() {
    let saturates: fpm::Run = |params, x, out| {
        let (m, s) = params.first();
        for (x, out) in x.iter().zip(out) {
            *out = rounded(*x, m, s).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
    };
    let settled = settled(&kernel(TIES_UP, Domain::ALL, &[], saturates));
    assert_eq!(classes(&settled), [Class::Saturation]);
    let witness = settled.contract.witness.expect("it differs");
    assert!(witness.explanation.because.starts_with("the result saturates"), "{}", witness.explanation.because);
}

/// The tail is declared to round once, and rounds twice as the body does.
#[test]
fn a_declared_deviation_that_is_not_there() {
    const TAIL: &[Deviation] =
        &[Deviation { class: "position", region: Region::VectorTail { lanes: 4 }, instead: TIES_UP, reason: "a test" }];
    let twice: fpm::Run = |params, x, out| {
        let (m, s) = params.first();
        for (x, out) in x.iter().zip(out) {
            let y = model::sqrdmulh::<32>(i64::from(x.wrapping_shl(s.max(0) as u32)), i64::from(m)).0;
            *out = model::srshl::<32>(y, i64::from(s.min(0))).0 as i32;
        }
    };
    let promise = Promise { scheme: "sqrdmulh-srshl", overflow: Overflow::Wrap };
    let sound = settled(&kernel(promise, Domain::ALL, &[], twice));
    assert_eq!(sound.contract.tally.count.differ, 0, "without the declaration it keeps its contract");
    let stale = settled(&kernel(promise, Domain::ALL, TAIL, twice));
    assert_eq!(classes(&stale), [Class::StaleDeviation]);
    assert!(stale.contract.tally.deviations.is_empty());
    let witness = stale.contract.witness.expect("it differs");
    assert!(witness.case().is_in_tail(4));
    assert_eq!(witness.scheme, "ties-up:wrap", "what the declaration says");
}

#[test]
fn what_nothing_reproduces_is_unexplained() {
    let scrambled: fpm::Run = |params, x, out| {
        let (m, s) = params.first();
        for (x, out) in x.iter().zip(out) {
            *out = rounded(*x, m, s) as i32 ^ (*x >> 3 & 0x55);
        }
    };
    let domain = Domain { shifts: -31..=0, ..Domain::ALL };
    let settled = settled(&kernel(TIES_UP, domain, &[], scrambled));
    assert!(classes(&settled).contains(&Class::Unexplained), "{:?}", classes(&settled));
}

/// Two wrongs in one kernel are two classes, or one that reproduces both; never the name of one of them for all.
#[test]
fn a_class_covers_everything_it_names() {
    let two: fpm::Run = |params, x, out| {
        let (m, s) = params.first();
        for (x, out) in x.iter().zip(out) {
            // Ties down, except that a large accumulator is truncated.
            let nudge = if x.unsigned_abs() > 1 << 20 { 0 } else { (1i64 << (30 - s)) - 1 };
            *out = ((i64::from(*x) * i64::from(m) + nudge) >> (31 - s)) as i32;
        }
    };
    let domain = Domain { shifts: -31..=0, ..Domain::ALL };
    let settled = settled(&kernel(TIES_UP, domain, &[], two));
    for seen in &settled.contract.kept {
        assert!(seen.explanation.covers(&seen.observation), "{seen:?}");
    }
    assert!(
        !classes(&settled).contains(&Class::TieDirection) || classes(&settled).len() > 1,
        "{:?}",
        classes(&settled)
    );
}

/// A kernel that computes exactly what a hypothesis says is given its class, or that of another hypothesis that comes first
/// and says the same on all but a handful of inputs.
#[test]
fn a_hypothesis_is_recognised_by_its_outputs() {
    let channels: Vec<Channel> = grid(Effort::Quick, 3).into_iter().step_by(5).collect();
    let budget = Effort::Quick.budget();
    let inputs: Vec<(Channel, Vec<i32>)> =
        channels.iter().map(|c| (*c, accumulators(*c, 31, &budget, 3).into_iter().step_by(3).collect())).collect();
    let counts: Vec<(u64, u64)> = DEFINITIONS
        .par_iter()
        .map(|definition| {
            let scheme = wrapping(definition);
            let zone = Zone { region: None, norm: Norm::new(scheme), own: scheme };
            let domain = tiebreak_impls::contract::Domain::ALL;
            let yardstick = Yardstick { against: Against::Contract, zones: vec![zone], own: scheme, domain };
            let (mut named, mut own) = (0, 0);
            for hypothesis in &yardstick.rest().norm.hypotheses {
                let (differing, same) = recognised(&yardstick, hypothesis, &inputs);
                named += differing;
                own += same;
            }
            (named, own)
        })
        .collect();
    let (named, own) = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    assert!(named > 1000 && own * 10 > named * 7, "{own} of {named} by their own class");
    println!("{named} hypotheses in a regime of a scheme, {own} of them given their own class");
}

/// Regimes in which the hypothesis differs from the scheme, and those of them that are given its class.
fn recognised(yardstick: &Yardstick, hypothesis: &Hypothesis, inputs: &[(Channel, Vec<i32>)]) -> (u64, u64) {
    let predicted = |h: &Hypothesis, c: &Channel, x: i32| h.predicts(x.into(), &parameters(*c, 31));
    let (mut differing, mut same) = (0, 0);
    for regime in [Regime::Right, Regime::None, Regime::Left] {
        let mut tally = Tally::default();
        let mut all: Vec<Observation> = Vec::new();
        for (channel, xs) in inputs.iter().filter(|(c, _)| Regime::of(c.shift) == regime) {
            let params = Params { q: 31, channels: vec![*channel] };
            // What a hypothesis says nothing of, the scheme says.
            let value = |x: i32| {
                let told = predicted(hypothesis, channel, x);
                told.or_else(|| yardstick.own.fast(x.into(), &parameters(*channel, 31))).expect("wraps") as i32
            };
            if xs.iter().any(|x| predicted(hypothesis, channel, *x).is_none()) {
                continue;
            }
            let outs: Vec<i32> = xs.iter().map(|x| value(*x)).collect();
            tally.merge(judge(yardstick, &params, xs, &outs));
            let case = |(index, got): (usize, &i32)| Observation {
                case: tiebreak_suites::fpm::case(&params, xs, index),
                got: *got,
            };
            all.extend(outs.iter().enumerate().map(case));
        }
        let account = tally.settle(yardstick, false);
        let what = format!("{}: {} ({regime:?})", yardstick.own.label(), hypothesis.because);
        assert!(
            !account.tally.count.classes.contains_key(&Class::Unexplained),
            "{what}: {:?}",
            account.tally.count.classes
        );
        let Some(witness) = &account.witness else { continue };
        let found = witness.explanation.hypothesis.as_ref().unwrap_or_else(|| panic!("{what}: {witness:?}"));
        if found.class == hypothesis.class {
            same += 1;
        } else {
            // Explanations are held against a selection of outputs: what tells two hypotheses apart may not be in it.
            let reproduced = |o: &&Observation| predicted(found, &o.case.channel, o.case.x) == Some(o.got.into());
            let wrong = all.len() - all.iter().filter(reproduced).count();
            assert!(wrong * 1000 < all.len(), "{what}: taken for {}, wrong on {wrong} of {}", found.because, all.len());
        }
        differing += 1;
    }
    (differing, same)
}

/// Hypotheses run the oracle's own steps: unchanged, they are the scheme.
#[test]
fn the_scheme_itself_is_the_null_hypothesis() {
    for definition in DEFINITIONS {
        let scheme = wrapping(definition);
        let null = Hypothesis::of(&scheme, Class::Unexplained, String::new());
        let mut compared = 0;
        for channel in grid(Effort::Quick, 5).into_iter().step_by(11) {
            let p = parameters(channel, 31);
            for x in accumulators(channel, 31, &Effort::Quick.budget(), 5).into_iter().step_by(7) {
                assert_eq!(
                    null.predicts(x.into(), &p),
                    scheme.exact(x.into(), &p),
                    "{} x={x} {channel:?}",
                    definition.name
                );
                compared += 1;
            }
        }
        assert!(compared > 1000 && integer::run(&null.steps, 0, &parameters(grid(Effort::Quick, 5)[0], 31)).is_some());
    }
}
