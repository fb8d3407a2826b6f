//! Recorded proofs of the kernels and known bugs of a run.

use tiebreak_reports::ledger::{Ledger, Proofs, Theorem};

/// Returns the proofs of kernels that ran as this project's code. `is_own` is true for a lane with this code.
pub fn of(ledger: &Ledger, is_own: impl Fn(&str) -> bool) -> Option<Proofs> {
    let mut proofs = tiebreak_analysis::proofs::recorded();
    let ran = |theorem: &Theorem| {
        let judged = ledger.rows.iter().map(|row| (&row.op, &row.kernel, &row.lane));
        let checked = ledger.self_checks.iter().map(|check| (&check.op, &check.name, &check.lane));
        let mut all = judged.chain(checked);
        all.any(|(op, name, lane)| (op, name) == (&theorem.op, &theorem.kernel) && is_own(lane))
    };
    proofs.theorems.retain(ran);
    (!proofs.theorems.is_empty()).then_some(proofs)
}
