//! The harness checking itself: every mutant must die with its class, every control must come out equal.

use super::sampled::{Record, Settled, Subject, run_batch};
use super::shrink::{Freedom, shrink};
use super::tally::Account;
use super::yardstick::promised;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_common::parameters::grid;
use tiebreak_engine::count::Count;
use tiebreak_engine::lane::Lane;
use tiebreak_impls::contract::Contract;
use tiebreak_impls::fpm::{Channel, Kernel, Params};
use tiebreak_impls::mutants::{self, Mutant};
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{CheckKind, SelfCheck};

const OP: &str = "fpm";

/// Runs every mutant and control that `lane` has to offer.
pub fn run(lane: &Lane, seed: u64) -> Result<Vec<SelfCheck>, UnknownName> {
    let pairs = grid(Effort::Quick, seed);
    let mut checks = Vec::new();
    // A lane of the caller's own is asked for what it offers.
    let due = |kernel: &Kernel| lane.must_offer() || lane.isa_path(OP, kernel.name).is_some();
    for mutant in mutants::fpm::mutants().iter().filter(|mutant| due(&mutant.kernel)) {
        checks.push(check_mutant(mutant, lane, &pairs, seed)?);
    }
    for control in mutants::controls().iter().filter(|control| due(control.left)) {
        let contract =
            Contract { promise: control.against, domain: control.domain.clone(), ..control.left.contract.clone() };
        let kernel = Kernel { contract, ..control.left.clone() };
        let record = cases(&Subject::new(&kernel, lane, None)?, &pairs, seed);
        let Count { inputs, differ, .. } = record.contract.tally.count;
        let unseen = record.failures.first().map(|f| f.failure.to_string());
        checks.push(SelfCheck {
            op: OP.to_owned(),
            name: control.name.to_owned(),
            lane: lane.name.clone(),
            kind: CheckKind::Control,
            passed: differ == 0 && inputs > 0 && unseen.is_none(),
            expected_class: String::new(),
            seen: unseen.unwrap_or_else(|| match &record.contract.witness {
                None => format!("equal on {inputs} inputs"),
                Some(w) => format!("{differ} of {inputs} inputs differ, {}", crate::fpm::catalogue::line(w)),
            }),
            origin: promised(control.against)?.definition.source.to_owned(),
        });
    }
    Ok(checks)
}

/// All directed cases of the kernel's domain.
fn cases(subject: &Subject<'_>, pairs: &[Channel], seed: u64) -> Settled {
    let mut record = Record::default();
    let mut lease = subject.lane.lease();
    let domain = &subject.kernel.contract.domain;
    let budget = Effort::Quick.budget();
    for channel in pairs.iter().filter(|c| domain.contains(c.multiplier, c.shift, 31)) {
        let params = Params { q: 31, channels: vec![*channel] };
        let mut xs = accumulators(*channel, 31, &budget, seed);
        // Never a whole number of vectors: a tail that differs from the body must show.
        xs.truncate(xs.len() - (xs.len() + 1) % 4);
        xs.rotate_right(1);
        record.merge(run_batch(subject, &mut lease, &params, &xs, 0));
    }
    record.settle(subject)
}

/// Runs one mutant with these pairs.
pub fn check_mutant(mutant: &Mutant, lane: &Lane, pairs: &[Channel], seed: u64) -> Result<SelfCheck, UnknownName> {
    let subject = Subject::new(&mutant.kernel, lane, None)?;
    // The published witnesses first: a mutant that does not show them is not the bug.
    let mut missing = Vec::new();
    let mut lease = lane.lease();
    for w in mutant.witnesses {
        let params = Params { q: 31, channels: vec![Channel { multiplier: w.m, shift: w.s }] };
        let account = run_batch(&subject, &mut lease, &params, &[w.x; 5], 0).settle(&subject).contract;
        let shown =
            |a: &Account| a.kept.iter().any(|s| s.observation.got == w.got && s.expected == i64::from(w.expected));
        if !shown(&account) {
            missing.push(format!("x={} m={} s={} does not give {} for {}", w.x, w.m, w.s, w.got, w.expected));
        }
    }
    drop(lease);
    let account = cases(&subject, pairs, seed).contract;
    let named = account.tally.count.classes.keys().eq([&mutant.class.parse::<Class>()?]);
    let seen = match &account.witness {
        None => format!("alive after {} inputs", account.tally.count.inputs),
        Some(witness) => {
            let smallest = shrink(&subject, &subject.contract, witness, Freedom::Everything);
            let classes: Vec<&str> = account.tally.count.classes.keys().map(|class| class.name()).collect();
            let wrong = if named { String::new() } else { format!("; classes {}", classes.join(", ")) };
            format!("{}{wrong}", super::catalogue::line(&smallest))
        }
    };
    Ok(SelfCheck {
        op: OP.to_owned(),
        name: mutant.kernel.name.to_owned(),
        lane: lane.name.clone(),
        kind: CheckKind::Mutant,
        passed: named && missing.is_empty(),
        expected_class: mutant.class.to_owned(),
        seen: std::iter::once(seen).chain(missing).collect::<Vec<_>>().join("; "),
        origin: mutant.origin.to_owned(),
    })
}
