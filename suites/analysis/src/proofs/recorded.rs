//! Proofs of kernels that are recorded with the sources, as `cargo xtask prove --kernels --record FILE` writes them.

use super::ir::Row;
use tiebreak_reports::ledger::{Proofs, Theorem};

/// Returns the recorded proofs; stale if the sources of the kernels in this program differ. Empty if the file has no proofs.
pub fn recorded() -> Proofs {
    let proofs: Proofs = serde_json::from_str(include_str!("recorded.json")).unwrap_or_default();
    Proofs { stale: tiebreak_impls::sources::PROVED != Some(proofs.sources.as_str()), ..proofs }
}

/// Returns the record of rows whose code has terms.
pub fn record(rows: &[Row], solvers: Vec<String>) -> Proofs {
    let theorem = |row: &Row| Theorem {
        op: row.op.to_owned(),
        kernel: row.kernel.to_owned(),
        mutant: row.mutant,
        form: row.form.to_owned(),
        positions: row.positions.clone(),
        contract: row.scheme.clone(),
        proved: row.proved(),
        refuted: row.refuted(),
        verdict: row.lines(),
        terms: row.terms.clone(),
        seconds: (row.seconds * 10.0).round() / 10.0,
    };
    let sources = tiebreak_impls::sources::PROVED.unwrap_or_default().to_owned();
    Proofs {
        sources,
        stale: false,
        solvers,
        theorems: rows.iter().filter(|row| row.report.is_ok()).map(theorem).collect(),
    }
}
