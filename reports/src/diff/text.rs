//! Two runs compared, in words: a line, a comment, the cells of a table.

use super::{Change, Count, Diff, Difference};
use crate::ledger::Against;
use std::fmt::Write;

/// Most differences that the Markdown shows: it is meant for a comment on a change.
const MOST: usize = 40;

impl Diff {
    /// All in one line.
    pub fn line(&self) -> String {
        let compared = crate::text::plural(self.compared, "comparison");
        let rows = format!("{compared} of a kernel in a lane with its contract or reference");
        if self.differences.is_empty() {
            return format!("equal: the same share of differences in every class, in {rows}");
        }
        let usual = |change: &Change| !matches!(change, Change::PlanChanged | Change::NotAsked);
        let shown = Change::ALL.into_iter().filter(|change| usual(change) || self.count(*change) > 0);
        let counts: Vec<String> = shown.map(|change| format!("{} {}", self.count(change), change.name())).collect();
        format!("{}, in {rows} that both runs have", counts.join(", "))
    }

    /// GitHub Markdown that fits a comment: the worst first, and how many more there are.
    pub fn markdown(&self) -> String {
        let mut out = format!("**{}**\n", crate::markdown::capital(&self.line()));
        if self.differences.is_empty() {
            return out;
        }
        out.push_str("\n| change | operation | kernel | lane | against | class | before | after |\n");
        out.push_str("| --- | --- | --- | --- | --- | --- | ---: | ---: |\n");
        for difference in self.differences.iter().take(MOST) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "| {} |", difference.cells().join(" | "));
        }
        if let Some(more) = self.differences.len().checked_sub(MOST).filter(|more| *more > 0) {
            let _ = writeln!(out, "\n`--format table` prints {} more.", crate::text::count(more as u64));
        }
        for (why, n) in self.reasons() {
            let _ = writeln!(out, "\n{}: {}", crate::text::plural(n, "row"), crate::markdown::plain(why));
        }
        for difference in self.differences.iter().filter(|d| d.change == Change::Worse).take(3) {
            if let (Some(says), Some(command)) = (&difference.says, &difference.command) {
                let _ = writeln!(out, "\n`{says}`\n\n```\n{command}\n```");
            }
        }
        out
    }
}

impl Difference {
    /// Change, operation, kernel, lane, what it is compared with, class, before, after.
    pub fn cells(&self) -> [String; 8] {
        let count = |count: Option<Count>| {
            let text = |c: Count| format!("{} of {}", crate::text::count(c.differ), crate::text::count(c.inputs));
            count.map_or_else(|| "-".to_owned(), text)
        };
        let against = match self.against {
            Some(Against::Contract) => "contract",
            Some(Against::Reference) => "reference",
            None => "-",
        };
        [
            self.change.name().to_owned(),
            self.op.clone(),
            self.kernel.clone(),
            self.lane.clone(),
            against.to_owned(),
            self.class.clone().unwrap_or_else(|| "-".to_owned()),
            count(self.old),
            count(self.new),
        ]
    }
}
