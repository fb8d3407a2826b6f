//! Recorded proofs of kernels, in a sentence and as a table.

use crate::ledger::{Ledger, Proofs, Theorem};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns kernels or known bugs with proofs; true if all forms of the kernel are proved, or one form of the known bug is refuted.
pub fn counted(proofs: &Proofs, mutants: bool) -> BTreeMap<(&str, &str), bool> {
    let mut names: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for theorem in proofs.theorems.iter().filter(|theorem| theorem.mutant == mutants) {
        let holds = names.entry((&theorem.op, &theorem.kernel)).or_insert(!mutants);
        *holds = if mutants { *holds || theorem.refuted } else { *holds && theorem.proved };
    }
    names
}

/// Counts the proved kernels, and warns if the proofs are of other sources.
pub fn sentence(ledger: &Ledger) -> Option<String> {
    let proofs = ledger.proofs.as_ref()?;
    let [kernels, mutants] = [false, true].map(|mutants| counted(proofs, mutants));
    let part = |names: &BTreeMap<(&str, &str), bool>, what: &str| {
        let held = names.values().filter(|held| **held).count();
        (!names.is_empty()).then(|| format!("{held} of {} {what}", names.len()))
    };
    let parts = [part(&kernels, "kernels proved for all inputs"), part(&mutants, "mutants refuted")];
    let said = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let stale = if proofs.stale { "STALE, recorded for other sources: " } else { "" };
    (!said.is_empty()).then(|| format!("{stale}{said}"))
}

/// True if the proofs are current, and every kernel and known bug has the required verdict.
pub(crate) fn hold(ledger: &Ledger) -> bool {
    let Some(proofs) = &ledger.proofs else { return true };
    !proofs.stale && [false, true].iter().all(|mutants| counted(proofs, *mutants).into_values().all(|held| held))
}

/// Returns the form and its positions, such as `portable: 0, 1, 2`.
pub(crate) fn form(theorem: &Theorem) -> String {
    let positions: Vec<String> = theorem.positions.iter().map(ToString::to_string).collect();
    format!("{}: {}", theorem.form, positions.join(", "))
}

/// Returns all theorems as a Markdown table.
pub fn markdown(proofs: &Proofs) -> String {
    let mut out =
        String::from("| Kernel | Form: positions | Contract | Verdict | Seconds |\n| --- | --- | --- | --- | --: |\n");
    for theorem in &proofs.theorems {
        let verdict = theorem.verdict.join("; ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {} | `{}` | {verdict} | {:.1} |",
            theorem.kernel,
            form(theorem),
            theorem.contract,
            theorem.seconds
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(stale: bool, proved: bool) -> Ledger {
        let kernel = |kernel: &str, proved| Theorem { kernel: kernel.to_owned(), proved, ..Theorem::default() };
        let mutant = |refuted| Theorem { mutant: true, refuted, proved: !refuted, ..kernel("bug", false) };
        let theorems = vec![kernel("a", true), kernel("a", proved), kernel("b", true), mutant(false), mutant(true)];
        let proofs = Proofs { stale, theorems, ..Proofs::default() };
        Ledger { proofs: Some(proofs), ..Ledger::default() }
    }

    /// A kernel counts if all its forms are proved, and a mutant if one form is refuted. The sentence on a stale record begins with a warning.
    #[test]
    fn forms_are_counted_and_stale_is_said() {
        let said = |stale, proved| sentence(&ledger(stale, proved)).expect("a sentence");
        assert_eq!(said(false, true), "2 of 2 kernels proved for all inputs, 1 of 1 mutants refuted");
        assert!(said(false, false).starts_with("1 of 2 kernels proved"));
        assert!(said(true, true).starts_with("STALE"));
        assert!(hold(&ledger(false, true)) && !hold(&ledger(true, true)) && !hold(&ledger(false, false)));
    }
}
