//! Path from the reference to the contract's scheme, with counts over all patterns for each change.

use super::Plan;
use super::counted::Side;
use crate::quantize::parts::ideal_steps;
use tiebreak_common::Class;
use tiebreak_oracle::quantize::{Runs, Scheme, Stored};
use tiebreak_reports::ledger::PathStep;

/// Upper bound on inputs of a step that big rationals check.
const REJUDGED: usize = 4096;

impl Plan<'_> {
    /// Returns the path from the reference to the contract's scheme, with the number of differing inputs at each step.
    pub(super) fn path(&self, reference: &Side) -> Vec<PathStep> {
        let mut out = Vec::new();
        let case = self.params(1);
        let mut before = self.reference;
        for (class, scheme) in &self.path {
            out.extend(self.step(*class, &before, scheme));
            before = *scheme;
        }
        if let Some(steps) = ideal_steps(&self.contract.scheme, &self.reference) {
            out.extend(self.step(Class::step(case.quantized.expressed), &self.reference, &steps));
        }
        let poison = reference.count.classes.get(&Class::Poison).copied();
        out.extend(poison.map(|differ| PathStep {
            class: Class::Poison.into(),
            from: self.reference.label(),
            to: format!("{} in {}", self.kernel.name, self.lane.name),
            differ,
            rejudged: 0,
            witness: None,
        }));
        out
    }

    fn step(&self, class: Class, from: &Scheme, to: &Scheme) -> Option<PathStep> {
        let [a, b] = [from, to].map(|scheme| Runs::new(scheme, &self.q).ok());
        let (a, b) = (a?, b?);
        let differences = a.differ(&b);
        // Big rationals confirm the selected inputs of each count.
        let chosen = a.differing(&b, REJUDGED);
        for w in chosen.iter().chain(&differences.witness) {
            let exact = [from, to].map(|scheme| scheme.exact(&self.q, w.bits));
            assert_eq!([w.left, w.right], exact, "the oracle disagrees with itself at {:#x}", w.bits);
        }
        let witness = differences.witness.map(|w| {
            let shown = |stored: Stored| stored.value().map_or("-".to_owned(), |v| v.to_string());
            let x = tiebreak_engine::operation::element::float(self.q.format, w.bits);
            format!("x={x}: {} {}, {} {}", from.label(), shown(w.left), to.label(), shown(w.right))
        });
        let differ = u64::try_from(differences.differ()).unwrap_or(u64::MAX);
        Some(PathStep {
            class: class.into(),
            from: from.label(),
            to: to.label(),
            differ,
            rejudged: chosen.len() as u64,
            witness,
        })
    }
}

/// Describes a path.
pub(super) fn described(path: &[PathStep]) -> String {
    let one = |step: &PathStep| {
        let count = tiebreak_reports::text::count(step.differ);
        format!("{}: {} to {} on {count}", step.class, step.from, step.to)
    };
    path.iter().map(one).collect::<Vec<_>>().join("; ")
}
