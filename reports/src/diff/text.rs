//! Text of a comparison of two runs: a line, a comment, the cells of a table.

use super::{Change, Diff, KernelChange};
use std::fmt::Write;

/// Upper bound on kernels in the Markdown, which is meant for a comment on a change.
const MOST: usize = 40;

impl Diff {
    /// Returns one line that counts the kernels by their worst change.
    pub fn line(&self) -> String {
        let compared = crate::text::plural(self.compared, "comparison");
        let rows = format!("{compared} of a kernel in a lane with its contract or reference");
        if self.differences.is_empty() {
            return format!("equal: the same share of differences in every class, in {rows}");
        }
        let kernels = self.kernels();
        let number = |change| kernels.iter().filter(|kernel| kernel.change == change).count();
        let usual = |change: &Change| !matches!(change, Change::PlanChanged | Change::NotAsked);
        let shown = Change::ALL.into_iter().filter(|change| usual(change) || number(*change) > 0);
        let counts: Vec<String> = shown.map(|change| format!("{} {}", number(change), change.name())).collect();
        format!("{}, in {rows} that both runs have", counts.join(", "))
    }

    /// Returns GitHub Markdown that fits a comment: the worst changes, and the number of the rest.
    pub fn markdown(&self) -> String {
        let mut out = format!("**{}**\n", crate::markdown::capital(&self.line()));
        if self.differences.is_empty() {
            return out;
        }
        let kernels = self.kernels();
        let _ =
            writeln!(out, "\n| {} |\n|{}", KernelChange::HEADS.join(" | "), " --- |".repeat(KernelChange::HEADS.len()));
        for kernel in kernels.iter().take(MOST) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "| {} |", kernel.cells().map(|cell| crate::markdown::plain(&cell)).join(" | "));
        }
        if let Some(more) = kernels.len().checked_sub(MOST).filter(|more| *more > 0) {
            let _ = writeln!(out, "\n`--format table` prints {} more.", crate::text::count(more as u64));
        }
        for (why, n) in self.reasons() {
            let _ = writeln!(out, "\n{}: {}", crate::text::plural(n, "row"), crate::markdown::plain(why));
        }
        for kernel in kernels.iter().filter(|kernel| kernel.change == Change::Worse).take(3) {
            if let (Some(says), Some(command)) = (kernel.says, kernel.command) {
                let _ = writeln!(out, "\n`{says}`\n\n```\n{command}\n```");
            }
        }
        out
    }
}
