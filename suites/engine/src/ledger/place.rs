//! Kernel in a lane, as named in rows, findings and mismatches of every operation.

use crate::count::{Count, FAR};
use crate::lane::runner::FailedBatch;
use crate::lane::{Failure, Lane};
use crate::run::subject::Subject;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{Against, Case, Coverage, Finding, Mismatch, Row, SelfCheck, Witness};
use tiebreak_reports::text;

/// Kernel of an operation in a lane.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Name of the operation.
    pub op: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Lane of the kernel.
    pub lane: &'a Lane,
}

impl Place<'_> {
    /// Builds a row from the counts against a scheme; fields of only some operations stay empty.
    pub fn row(&self, against: Against, scheme: String, count: &Count, coverage: Coverage) -> Row {
        Row {
            op: self.op.to_owned(),
            kernel: self.kernel.to_owned(),
            lane: self.lane.name.clone(),
            isa_path: self.lane.isa_path(self.op, self.kernel).unwrap_or("not offered").to_owned(),
            against,
            scheme,
            inputs: count.inputs,
            coverage,
            out_of_domain: count.out_of_domain,
            differ: count.differ,
            by_delta: by_delta(&count.by_delta.all()),
            classes: named(&count.classes),
            ..Row::default()
        }
    }

    /// Builds a finding, which breaks the run.
    pub fn finding(&self, class: impl Into<String>, message: String, witness: Option<Witness>) -> Finding {
        Finding { witness, ..finding((self.op, self.kernel, &self.lane.name), class, message) }
    }

    /// Formats a difference for `mismatches.csv`; `None` without an expected result.
    pub fn mismatch(&self, against: Against, witness: Witness) -> Option<Mismatch> {
        Some(Mismatch {
            op: self.op.to_owned(),
            kernel: self.kernel.to_owned(),
            lane: self.lane.name.clone(),
            against,
            scheme: witness.scheme,
            case: text::case(&witness.case),
            got: witness.got,
            expected: witness.expected?,
            class: witness.class,
            command: witness.command,
        })
    }

    /// Returns the findings of failed batches, by class: the simplest input of the class, and the number of failures.
    pub fn failed<W, K: Ord>(
        &self,
        failures: &[FailedBatch<W>],
        size: impl Fn(&W) -> K,
        spelled: impl Fn(&W) -> (Case, String),
    ) -> Vec<Finding> {
        let mut by_class: BTreeMap<Class, Vec<&FailedBatch<W>>> = BTreeMap::new();
        for failed in failures {
            by_class.entry(failed.failure.class()).or_default().push(failed);
        }
        let one = |same: &Vec<&FailedBatch<W>>| {
            let with = same.iter().filter(|failed| failed.witness.is_some());
            let simplest = with.min_by_key(|failed| failed.witness.as_ref().map(&size)).unwrap_or(&same[0]);
            let FailedBatch { failure, witness, during } = simplest;
            let again = if witness.is_some() { "" } else { "; a fresh worker answered the same batch" };
            let often = if same.len() > 1 { format!(", {} times in all", same.len()) } else { String::new() };
            let witness = witness.as_ref().map(|input| unanswered(failure, spelled(input)));
            self.finding(failure.class(), format!("{failure} (batch of {during}){again}{often}"), witness)
        };
        by_class.values().map(one).collect()
    }
}

/// Builds a finding about an operation, a kernel and a lane; empty names do not apply.
pub fn finding((op, kernel, lane): (&str, &str, &str), class: impl Into<String>, message: String) -> Finding {
    Finding {
        op: op.to_owned(),
        kernel: kernel.to_owned(),
        lane: lane.to_owned(),
        class: class.into(),
        message,
        witness: None,
    }
}

/// Builds the witness for an input without an output.
fn unanswered(failure: &Failure, (case, command): (Case, String)) -> Witness {
    Witness {
        case,
        got: 0.into(),
        expected: None,
        scheme: String::new(),
        class: failure.class().into(),
        because: failure.to_string(),
        command,
    }
}

/// Converts classes to names.
pub fn named(counts: &BTreeMap<Class, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(class, n)| (class.name().to_owned(), *n)).collect()
}

/// Number of distinct deltas in a ledger; further deltas are counted under `other`.
const DELTAS: usize = 16;

/// Orders small deltas first, then the most frequent; an intermediate that wraps gives thousands of deltas.
fn by_delta(all: &BTreeMap<i64, u64>) -> BTreeMap<String, u64> {
    let mut deltas: Vec<(i64, u64)> = all.iter().map(|(d, n)| (*d, *n)).filter(|(d, _)| *d != FAR).collect();
    deltas.sort_by_key(|(d, n)| (d.unsigned_abs() > 2, std::cmp::Reverse(*n), *d));
    let unnamed: u64 = deltas.iter().skip(DELTAS).map(|(_, n)| n).sum();
    let other = unnamed + all.get(&FAR).copied().unwrap_or(0);
    let named = deltas.into_iter().take(DELTAS).map(|(d, n)| (d.to_string(), n));
    named.chain((other > 0).then(|| ("other".to_owned(), other))).collect()
}

impl Subject {
    /// Returns the place of the kernel in a lane.
    pub(crate) fn place<'a>(&self, lane: &'a Lane) -> Place<'a> {
        Place { op: self.kernel.op().name(), kernel: self.kernel.name, lane }
    }
}

/// Returns the finding for a failed self-check.
pub fn failed_check(check: &SelfCheck) -> Finding {
    let message = tiebreak_reports::self_checks::describe(check);
    finding((&check.op, &check.name, &check.lane), Class::SelfCheck, message)
}
