//! Two runs compared: what the second does worse, better, for the first time or no longer. Every number is one of the two ledgers.

use crate::drawable;
use crate::ledger::{Against, Ledger, Row, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most differences that the Markdown shows: it is meant for a comment on a change.
const MOST: usize = 40;

/// What became of something from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A finding that was not there, or a class with more differences for each input.
    Worse,
    /// A kernel or lane that the second run does not have.
    Gone,
    /// A kernel or lane that the first run does not have.
    New,
    /// A finding that is no longer there, or a class with fewer differences for each input.
    Better,
}

impl Change {
    /// `worse`, `gone`, `new`, `better`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Gone => "gone",
            Self::New => "new",
            Self::Better => "better",
        }
    }
}

/// Differences among inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Inputs that differ, in the class.
    pub differ: u64,
    /// Inputs that were judged.
    pub inputs: u64,
}

impl Count {
    /// Whether more of the inputs differ.
    fn is_more_than(self, other: Self) -> bool {
        u128::from(self.differ) * u128::from(other.inputs.max(1))
            > u128::from(other.differ) * u128::from(self.inputs.max(1))
    }
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What became of it.
    pub change: Change,
    /// Operation.
    pub op: String,
    /// Kernel or mutant.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// What it was compared with; none of a finding.
    pub against: Option<Against>,
    /// Class; none of a kernel as a whole.
    pub class: Option<String>,
    /// In the first run.
    pub old: Option<Count>,
    /// In the second run.
    pub new: Option<Count>,
    /// The witness of the run that has it, or what the finding says.
    pub says: Option<String>,
    /// Shows it again.
    pub command: Option<String>,
}

/// Two runs compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Verdict of the first run.
    pub old: Verdict,
    /// Verdict of the second run.
    pub new: Verdict,
    /// Rows that both runs have.
    pub compared: usize,
    /// What changed, the worst first.
    pub differences: Vec<Difference>,
}

/// Operation, kernel, lane, and what it is compared with.
type Key<'a> = (&'a str, &'a str, &'a str, Against);

fn rows(ledger: &Ledger) -> BTreeMap<Key<'_>, &Row> {
    ledger.rows.iter().map(|row| ((&*row.op, &*row.kernel, &*row.lane, row.against), row)).collect()
}

/// Compares two runs.
pub fn diff(old: &Ledger, new: &Ledger) -> Diff {
    let [old, new] = [old, new].map(drawable::ledger);
    let (old, new) = (&*old, &*new);
    let mut differences = findings(old, new);
    let (old_rows, new_rows) = (rows(old), rows(new));
    let mut compared = 0;
    for key in old_rows.keys().chain(new_rows.keys()).collect::<BTreeSet<_>>() {
        match (old_rows.get(key), new_rows.get(key)) {
            (Some(old), Some(new)) => {
                compared += 1;
                differences.extend(classes(old, new));
            }
            // Its contract stands for the kernel.
            (Some(row), None) if row.against == Against::Contract => differences.push(whole(Change::Gone, row)),
            (None, Some(row)) if row.against == Against::Contract => differences.push(whole(Change::New, row)),
            _ => {}
        }
    }
    differences.sort_by_key(|difference| difference.change);
    Diff { old: old.verdict, new: new.verdict, compared, differences }
}

/// Findings of one run that the other does not have.
fn findings(old: &Ledger, new: &Ledger) -> Vec<Difference> {
    let keys = |ledger: &Ledger| -> BTreeSet<[String; 4]> {
        let key = |f: &crate::ledger::Finding| [&f.op, &f.kernel, &f.lane, &f.class].map(String::clone);
        ledger.findings.iter().map(key).collect()
    };
    let (before, after) = (keys(old), keys(new));
    let of = |ledger: &Ledger, known: &BTreeSet<[String; 4]>, change| -> Vec<Difference> {
        let mut seen = known.clone();
        let other =
            ledger.findings.iter().filter(|f| seen.insert([&f.op, &f.kernel, &f.lane, &f.class].map(String::clone)));
        let difference = |f: &crate::ledger::Finding| Difference {
            change,
            op: f.op.clone(),
            kernel: f.kernel.clone(),
            lane: f.lane.clone(),
            against: None,
            class: Some(f.class.clone()),
            old: None,
            new: None,
            says: Some(f.message.clone()),
            command: f.witness.as_ref().map(|witness| witness.command.clone()),
        };
        other.map(difference).collect()
    };
    [of(new, &before, Change::Worse), of(old, &after, Change::Better)].concat()
}

/// A kernel in a lane that only one of the runs has.
fn whole(change: Change, row: &Row) -> Difference {
    let count = Some(Count { differ: row.differ, inputs: row.inputs });
    let (old, new) = if change == Change::Gone { (count, None) } else { (None, count) };
    let (op, kernel, lane) = (row.op.clone(), row.kernel.clone(), row.lane.clone());
    Difference { change, op, kernel, lane, against: None, class: None, old, new, says: None, command: None }
}

/// Classes of a row with more or fewer differences for each input.
fn classes<'a>(old: &'a Row, new: &'a Row) -> impl Iterator<Item = Difference> + 'a {
    let names: BTreeSet<&String> = old.classes.keys().chain(new.classes.keys()).collect();
    names.into_iter().filter_map(move |class| {
        let count = |row: &Row| Count { differ: row.classes.get(class).copied().unwrap_or(0), inputs: row.inputs };
        let (before, after) = (count(old), count(new));
        let (change, row) = match () {
            () if after.is_more_than(before) => (Change::Worse, new),
            () if before.is_more_than(after) => (Change::Better, old),
            () => return None,
        };
        let witness = row.witness.as_ref().filter(|witness| witness.class == *class);
        Some(Difference {
            change,
            op: new.op.clone(),
            kernel: new.kernel.clone(),
            lane: new.lane.clone(),
            against: Some(new.against),
            class: Some(class.clone()),
            old: Some(before),
            new: Some(after),
            says: witness.map(crate::text::witness),
            command: witness.map(|witness| witness.command.clone()),
        })
    })
}

impl Diff {
    /// Whether the second run is worse: exit code 1.
    pub fn is_worse(&self) -> bool {
        self.count(Change::Worse) > 0 || (self.old == Verdict::Holds && self.new == Verdict::Broken)
    }

    /// Differences of one kind.
    pub fn count(&self, change: Change) -> usize {
        self.differences.iter().filter(|difference| difference.change == change).count()
    }

    /// All in one line.
    pub fn line(&self) -> String {
        let compared = crate::text::plural(self.compared, "comparison");
        let rows = format!("{compared} of a kernel in a lane with its contract or reference");
        if self.differences.is_empty() {
            return format!("equal: the same share of differences in every class, in {rows}");
        }
        let kinds = [Change::Worse, Change::Gone, Change::New, Change::Better];
        let counts = kinds.map(|change| format!("{} {}", self.count(change), change.name()));
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
            let _ = writeln!(
                out,
                "\n{} more are in the table that `--format table` prints.",
                crate::text::count(more as u64)
            );
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
