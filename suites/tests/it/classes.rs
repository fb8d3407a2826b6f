//! Invariants 5 and 6: the class of a mismatch is a hypothesis that reproduces all of it. Each class is given to a known bug, or, if no bug of that
//! kind is known, to a kernel of this file.

use crate::common::{lane, params, posed, scheme};
use rayon::prelude::*;
use std::collections::BTreeSet;
use tiebreak_impls::contract::{Contract, Deviation, Domain, Overflow, Promise, Region};
use tiebreak_impls::fpm::{self, Channel, Kernel};
use tiebreak_impls::instruction::model;
use tiebreak_impls::mutants;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Scheme, integer};
use tiebreak_oracle::word;
use tiebreak_suites::accumulators::accumulators;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::erased::{self, Params};
use tiebreak_suites::engine::explain::cause::explain;
use tiebreak_suites::engine::explain::groups::Explained;
use tiebreak_suites::engine::judge::record::judged;
use tiebreak_suites::engine::judge::side::Side;
use tiebreak_suites::engine::operation::Change;
use tiebreak_suites::engine::run::answers::Answers;
use tiebreak_suites::engine::self_check::mutants as self_check;
use tiebreak_suites::fpm::changes::{changes_in, possible};
use tiebreak_suites::fpm::hypotheses::{Hypothesis, hypotheses};
use tiebreak_suites::fpm::promised::{Promised, ShiftDirection};
use tiebreak_suites::fpm::{FixedPointMultiply, case, parameters};
use tiebreak_suites::operation::{Observed, Operation, promised};
use tiebreak_suites::parameters::grid;

/// Classes without a known bug; each is given to a kernel below.
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

/// The oracle knows every scheme that a contract names.
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
        assert!(promised::<Scheme>(*promise).is_ok(), "{promise:?}");
    }
    assert!(promises.len() >= 40, "only {} promises", promises.len());
}

/// Kernel of this file. No lane has the kernel, so its code is called here and its outputs are judged in the usual way.
fn kernel(promise: Promise, domain: Domain, deviations: &'static [Deviation], portable: fpm::Run) -> Kernel {
    let contract = Contract { promise, domain, deviations, source: "a test" };
    Kernel { name: "local", summary: "a test", contract, portable, native: None }
}

const TIES_UP: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };

/// Judged results of a kernel of this file, on the pairs of a quick run.
struct Settled {
    contract: Side,
    explained: Vec<Explained>,
    /// Number of results that follow a declared deviation.
    deviating: u64,
}

fn settled(kernel: &Kernel) -> Settled {
    let host = lane("host");
    let erased = erased::Kernel::of::<FixedPointMultiply>(kernel);
    let contract = erased.scheme().expect("known schemes");
    let budget = Effort::Quick.budget();
    let covered = grid(&budget, 1).into_iter().filter(|c| kernel.contract.domain.contains(c.multiplier, c.shift, 31));
    let (mut cases, mut outs) = (Vec::new(), Vec::new());
    for channel in covered {
        // The number of inputs is odd, with the smallest last, so that a tail fault is visible.
        let mut xs = accumulators(channel, 31, &budget, 1);
        xs.sort_unstable_by_key(|x| std::cmp::Reverse(x.unsigned_abs()));
        xs.truncate(xs.len() - (xs.len() + 1) % 4);
        let mut out = vec![0; xs.len()];
        (kernel.portable)(&params(channel), &xs, &mut out);
        cases.push(posed(&erased, None, case(31, vec![channel], xs)));
        outs.push(Some(out));
    }
    let record = judged(&host, &erased, &contract, &[], &cases, &Answers::of(outs));
    assert!(record.contract.count.inputs > 1000);
    let explained = self_check::explained(&erased, &contract, &host, &record.contract);
    let deviating = record.faults.values().map(|sighting| sighting.results).sum();
    Settled { contract: record.contract, explained, deviating }
}

fn classes(settled: &Settled) -> Vec<Class> {
    let classes: BTreeSet<Class> = settled.explained.iter().map(|explained| explained.explanation.class).collect();
    classes.into_iter().collect()
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
    let because = &settled.explained.first().expect("it differs").explanation.because;
    assert!(because.starts_with("the result saturates"), "{because}");
}

/// The declared tail rounds once, but the code's tail rounds twice, like the body.
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
    assert_eq!(sound.contract.count.differ, 0, "without the declaration it keeps its contract");
    let stale = settled(&kernel(promise, Domain::ALL, TAIL, twice));
    assert_eq!(classes(&stale), [Class::StaleDeviation]);
    assert_eq!(stale.deviating, 0);
    let witness = &stale.explained.first().expect("it differs").witness;
    let case = witness.case.typed::<FixedPointMultiply>();
    let len = case.params.len;
    assert!(witness.index >= len - len % 4, "{witness:?}");
    let expected = scheme("ties-up:wrap");
    let expected = FixedPointMultiply::expected(&expected, &case).expect("values")[witness.index];
    assert_eq!(Some(witness.expected.clone()), expected.map(Into::into), "what the declaration says");
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

/// Two faults in one kernel give two classes, or one that reproduces both, but never the class of one fault for all results.
#[test]
fn a_class_covers_everything_it_names() {
    let two: fpm::Run = |params, x, out| {
        let (m, s) = params.first();
        for (x, out) in x.iter().zip(out) {
            // Ties down, but truncation for a large accumulator.
            let nudge = if x.unsigned_abs() > 1 << 20 { 0 } else { (1i64 << (30 - s)) - 1 };
            *out = ((i64::from(*x) * i64::from(m) + nudge) >> (31 - s)) as i32;
        }
    };
    let domain = Domain { shifts: -31..=0, ..Domain::ALL };
    let settled = settled(&kernel(TIES_UP, domain, &[], two));
    let contract = scheme("ties-up:wrap");
    for Explained { group, explanation, .. } in &settled.explained {
        let causes = changes_in(*group, &contract, &contract, &Domain::ALL, false);
        let Some(cause) = explanation.cause.map(|at| &causes[at]) else { continue };
        for seen in settled.contract.groups[group].evidence() {
            assert!(cause.explains(&[&seen.typed::<FixedPointMultiply>()]).is_some(), "{seen:?}");
        }
    }
    assert!(
        !classes(&settled).contains(&Class::TieDirection) || classes(&settled).len() > 1,
        "{:?}",
        classes(&settled)
    );
}

/// A kernel that computes a hypothesis exactly is given its class, or the class of an earlier hypothesis that agrees on all but a few inputs.
#[test]
fn a_hypothesis_is_recognised_by_its_outputs() {
    let channels: Vec<Channel> = grid(&Effort::Quick.budget(), 3).into_iter().step_by(5).collect();
    let budget = Effort::Quick.budget();
    let inputs: Vec<(Channel, Vec<i32>)> =
        channels.iter().map(|c| (*c, accumulators(*c, 31, &budget, 3).into_iter().step_by(3).collect())).collect();
    let counts: Vec<(u64, u64)> = DEFINITIONS
        .par_iter()
        .map(|definition| {
            let contract = Promised::plain(wrapping(definition));
            let (mut named, mut own) = (0, 0);
            for hypothesis in hypotheses(&contract.scheme) {
                let (differing, same) = recognised(&contract, &hypothesis, &inputs);
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

/// Counts the shift directions in which the hypothesis differs from the scheme, and those that are given its class.
fn recognised(contract: &Promised, hypothesis: &Hypothesis, inputs: &[(Channel, Vec<i32>)]) -> (u64, u64) {
    let predicted = |h: &Hypothesis, c: &Channel, x: i32| h.predicts(x.into(), &parameters(*c, 31));
    let (mut differing, mut same) = (0, 0);
    for direction in ShiftDirection::ALL {
        let mut all: Vec<Observed<Params>> = Vec::new();
        for (channel, xs) in inputs.iter().filter(|(c, _)| ShiftDirection::of(c.shift) == direction) {
            // Inputs without a prediction of the hypothesis get the scheme's value.
            let outs: Option<Vec<i32>> =
                xs.iter().map(|x| predicted(hypothesis, channel, *x).map(|v| v as i32)).collect();
            let Some(outs) = outs else { continue };
            let case = case(31, vec![*channel], xs.clone());
            let expected = FixedPointMultiply::expected(contract, &case).expect("values");
            let differ = expected.iter().zip(&outs).filter(|(e, out)| e.is_some_and(|e| e != **out)).count();
            let seen = Observed { case, outs, expected, differ, faulty: Vec::new(), due: Vec::new() };
            all.push(Observed::of::<FixedPointMultiply>(seen));
        }
        if all.iter().all(|seen| seen.differ == 0) {
            continue;
        }
        let group = contract.group(contract.rest(), direction);
        // As in a run, the evidence is a sample spread over all cases.
        let evidence: Vec<&Observed<Params>> =
            all.iter().step_by(2).chain(all.iter().filter(|s| s.differ > 0)).collect();
        let causes = changes_in(group, contract, contract, &Domain::ALL, false);
        let causes: Vec<_> = causes.into_iter().map(Change::erased).collect();
        let found = explain(&causes, &evidence);
        let what = format!("{}: {} ({direction:?})", contract.scheme.label(), hypothesis.because);
        assert_ne!(found.class, Class::Unexplained, "{what}");
        if found.class == hypothesis.class {
            same += 1;
        } else {
            // Explanations are checked on a sample of outputs, which may lack the outputs that distinguish two hypotheses.
            let at = found.cause.unwrap_or_else(|| panic!("{what}: {found:?}"));
            let taken = possible(group, contract, contract, false).swap_remove(at);
            let pairs = || {
                all.iter().flat_map(|seen| {
                    let channel = seen.case.params.typed::<FixedPointMultiply>().params.channels[0];
                    seen.case.tensors[0].iter().zip(&seen.outs).map(move |(x, got)| (channel, *x, *got))
                })
            };
            let wrong = pairs().filter(|(c, x, got)| predicted(&taken, c, *x) != Some((*got).into())).count();
            assert!(wrong * 1000 < pairs().count(), "{what}: taken for {}, wrong on {wrong}", taken.because);
        }
        differing += 1;
    }
    (differing, same)
}

/// Hypotheses run the oracle's own steps. Without a change, they are the scheme.
#[test]
fn the_scheme_itself_is_the_null_hypothesis() {
    for definition in DEFINITIONS {
        let scheme = wrapping(definition);
        let null = Hypothesis::of(&scheme, Class::Unexplained, String::new());
        let mut compared = 0;
        for channel in grid(&Effort::Quick.budget(), 5).into_iter().step_by(11) {
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
        assert!(
            compared > 1000
                && integer::run(&null.steps, 0, &parameters(grid(&Effort::Quick.budget(), 5)[0], 31)).is_some()
        );
    }
}
