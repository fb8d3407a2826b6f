//! Counts of the harness's self-checks. A harness that misses a known bug proves nothing when it finds no difference.

use crate::ledger::{CheckKind, Ledger, SelfCheck};
use crate::text;
use indexmap::IndexMap;
use serde::Serialize;

/// Results of the self-checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfChecks<'a> {
    /// Known bugs that must be detected.
    pub mutants: Mutants,
    /// Forms that must be equal.
    pub controls: Controls,
    /// Failed checks.
    pub failed: Vec<&'a SelfCheck>,
}

/// Mutants, counted once for each lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mutants {
    /// Mutants detected with their required class.
    pub killed: usize,
    /// Mutants that ran.
    pub total: usize,
}

/// Controls, counted once for each lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Controls {
    /// Number of equal controls.
    pub equal: usize,
    /// Controls that ran.
    pub total: usize,
}

impl<'a> SelfChecks<'a> {
    /// Counts the checks of a ledger.
    pub fn of(ledger: &'a Ledger) -> Self {
        let passed = |kind| {
            let of_kind = ledger.self_checks.iter().filter(move |check| check.kind == kind);
            (of_kind.clone().filter(|check| check.passed).count(), of_kind.count())
        };
        let (killed, mutants) = passed(CheckKind::Mutant);
        let (equal, controls) = passed(CheckKind::Control);
        Self {
            mutants: Mutants { killed, total: mutants },
            controls: Controls { equal, total: controls },
            failed: ledger.self_checks.iter().filter(|check| !check.passed).collect(),
        }
    }

    /// True if a self-check ran.
    pub fn ran(&self) -> bool {
        self.mutants.total + self.controls.total > 0
    }

    /// Returns `mutants 14/14 killed, controls 8/8 equal`, or the condition for a run of self-checks.
    pub fn sentence(&self) -> String {
        let Self { mutants, controls, .. } = self;
        if !self.ran() {
            return "not run: self-checks run only with all kernels of an operation, on its own plan".to_owned();
        }
        format!(
            "mutants {}/{} killed, controls {}/{} equal",
            mutants.killed, mutants.total, controls.equal, controls.total
        )
    }
}

/// Returns all sentences: the results of the checks, and the lanes without checks.
pub(crate) fn sentences(ledger: &Ledger) -> Vec<String> {
    let checks = SelfChecks::of(ledger);
    let ran = (checks.ran() || ledger.unchecked.is_empty()).then(|| checks.sentence());
    let mut ops: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for unchecked in &ledger.unchecked {
        ops.entry(&unchecked.lane).or_default().push(&unchecked.op);
    }
    let without = ops.iter().map(|(lane, ops)| {
        format!(
            "self-checks did not run in lane {lane} ({}): its worker offers no mutant and no control",
            ops.join(", ")
        )
    });
    ran.into_iter().chain(without).collect()
}

/// Returns a failed check in one line: `fpm mutant ties-down aarch64-qemu: equal on all inputs (must be class tie-direction)`.
pub fn describe(check: &SelfCheck) -> String {
    let SelfCheck { op, name, lane, seen, .. } = check;
    let (kind, must) = match check.kind {
        CheckKind::Mutant => ("mutant", format!("must be class {}", check.expected_class)),
        CheckKind::Control => ("control", "must be equal".to_owned()),
    };
    let origin = match check.origin.as_str() {
        "" => String::new(),
        origin => format!("; from {origin}"),
    };
    text::one_line(&format!("{op} {kind} {name} {lane}: {seen} ({must}{origin})"))
}
