//! Comparison of two runs: results of the second that are worse, better, new or missing. Every number is in one of the two ledgers. Counts are
//! compared only if both runs planned the same cases, because otherwise they do not describe the kernel.

mod asked;
mod kernels;
mod plan;
mod text;

use crate::drawable;
use crate::ledger::{Against, Coverage, Finding, Ledger, Row, Verdict};
use crate::named::named;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

pub use asked::is_same_request;
pub use kernels::KernelChange;

named! {
    /// Change of a result from the first run to the second.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Change {
        /// New finding, or class with more differences for each input.
        Worse = "worse",
        /// Kernel, operation or lane that the second run should have, but lacks.
        Gone = "gone",
        /// Different plan in the second run; the counts are not compared.
        PlanChanged = "plan changed",
        /// Kernel, operation or lane that was not requested of the second run.
        NotAsked = "not asked",
        /// Kernel or lane that the first run does not have.
        New = "new",
        /// Finding that is gone, or class with fewer differences for each input.
        Better = "better",
    }
    /// `worse`, `gone`, `plan changed`, `not asked`, `new`, `better`: the worst first.
    pub fn name;
}

/// Number of differences and of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// Inputs that differ; for a class, inputs that differ in this class.
    pub differ: u64,
    /// Inputs that were judged.
    pub inputs: u64,
}

impl Count {
    fn of(row: &Row) -> Self {
        Self { differ: row.differ, inputs: row.inputs }
    }

    /// True if a larger share of the inputs differs.
    fn is_more_than(self, other: Self) -> bool {
        u128::from(self.differ) * u128::from(other.inputs.max(1))
            > u128::from(other.differ) * u128::from(self.inputs.max(1))
    }
}

/// Changed result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Kind of the change.
    pub change: Change,
    /// Operation.
    pub op: String,
    /// Kernel or mutant.
    pub kernel: String,
    /// Lane.
    pub lane: String,
    /// Contract or reference of the comparison; `None` for a finding.
    pub against: Option<Against>,
    /// Class; `None` for a kernel as a whole.
    pub class: Option<String>,
    /// Value in the first run.
    pub old: Option<Count>,
    /// Value in the second run.
    pub new: Option<Count>,
    /// Witness of the run that has one, message of the finding, changed part of the plan, or reason why the result was not requested.
    pub says: Option<String>,
    /// Command that reproduces the result.
    pub command: Option<String>,
}

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diff {
    /// Verdict of the first run.
    pub old: Verdict,
    /// Verdict of the second run.
    pub new: Verdict,
    /// Rows with the same plan in both runs.
    pub compared: usize,
    /// Changes, the worst first.
    pub differences: Vec<Difference>,
}

/// Operation, kernel, lane, comparison, coverage, and position among rows that are equal in all of these (as for the stored values of each type).
type Key<'a> = (&'a str, &'a str, &'a str, Against, Coverage, usize);

fn rows(ledger: &Ledger) -> BTreeMap<Key<'_>, &Row> {
    let mut rows = BTreeMap::new();
    for row in &ledger.rows {
        let key = |n| (&*row.op, &*row.kernel, &*row.lane, row.against, row.coverage, n);
        let alike = rows.range(key(0)..=key(usize::MAX)).count();
        rows.insert(key(alike), row);
    }
    rows
}

/// Compares two runs.
pub fn diff(old: &Ledger, new: &Ledger) -> Diff {
    let [old, new] = [old, new].map(drawable::ledger);
    let (old, new) = (&*old, &*new);
    let mut differences = findings(old, new);
    let (old_rows, new_rows) = (rows(old), rows(new));
    let mut compared = 0;
    for key in old_rows.keys().chain(new_rows.keys()).collect::<BTreeSet<_>>() {
        // The contract row, if there is one, represents the kernel in its lane.
        let stands_for = |rows: &BTreeMap<Key<'_>, &Row>| {
            let contract = (key.0, key.1, key.2, Against::Contract, key.4, key.5);
            key.3 == Against::Contract || !rows.contains_key(&contract)
        };
        match (old_rows.get(key), new_rows.get(key)) {
            (Some(before), Some(after)) => match plan::change((old, before), (new, after)) {
                Some(why) => {
                    differences.push(Difference { says: Some(why), ..of_rows(Change::PlanChanged, before, after) })
                }
                None => {
                    compared += 1;
                    differences.extend(classes(before, after));
                }
            },
            (Some(row), None) if stands_for(&old_rows) => differences.push(gone(old, new, row)),
            (None, Some(row)) if stands_for(&new_rows) => {
                differences.push(Difference { new: Some(Count::of(row)), ..of_row(Change::New, row) });
            }
            _ => {}
        }
    }
    differences.sort_by_key(|difference| difference.change);
    Diff { old: old.verdict, new: new.verdict, compared, differences }
}

type FindingKey<'a> = [&'a str; 4];

fn finding_key(f: &Finding) -> FindingKey<'_> {
    [&f.op, &f.kernel, &f.lane, &f.class]
}

/// Compares the findings. A finding that is gone counts as better only if the second run planned the same cases.
fn findings(old: &Ledger, new: &Ledger) -> Vec<Difference> {
    let of = |ledger: &Ledger, other: &Ledger, change: Change| -> Vec<Difference> {
        let mut seen: BTreeSet<FindingKey<'_>> = other.findings.iter().map(finding_key).collect();
        let missing = ledger.findings.iter().filter(|finding| seen.insert(finding_key(finding)));
        missing.map(|finding| of_finding(change, finding)).collect()
    };
    let mut lost = of(old, new, Change::Better);
    for difference in &mut lost {
        if let Some(why) = changed_plan(old, new, difference) {
            difference.change = Change::PlanChanged;
            difference.says = Some(why);
        }
    }
    [of(new, old, Change::Worse), lost].concat()
}

/// Returns the changed part of the plan for the kernel and lane of a finding that is gone.
fn changed_plan(old: &Ledger, new: &Ledger, lost: &Difference) -> Option<String> {
    let about = |row: &&Row| (&row.op, &row.kernel, &row.lane) == (&lost.op, &lost.kernel, &lost.lane);
    let (before, after) = (rows(old), rows(new));
    let of_row = |(key, row): (&Key<'_>, &&Row)| match after.get(key) {
        Some(now) => plan::change((old, row), (new, now)),
        None => Some("the second run does not have it".to_owned()),
    };
    let mut of_kernel = before.iter().filter(|(_, row)| about(row));
    plan::of_runs(old, new).or_else(|| of_kernel.find_map(of_row))
}

fn of_finding(change: Change, f: &Finding) -> Difference {
    Difference {
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
    }
}

/// Difference without counts, for a kernel in a lane as a whole.
fn of_row(change: Change, row: &Row) -> Difference {
    let (op, kernel, lane) = (row.op.clone(), row.kernel.clone(), row.lane.clone());
    Difference { change, op, kernel, lane, against: None, class: None, old: None, new: None, says: None, command: None }
}

fn of_rows(change: Change, before: &Row, after: &Row) -> Difference {
    let (old, new) = (Some(Count::of(before)), Some(Count::of(after)));
    Difference { against: Some(after.against), old, new, ..of_row(change, after) }
}

/// Difference for a kernel in a lane that the second run does not have.
fn gone(old: &Ledger, new: &Ledger, row: &Row) -> Difference {
    let why = asked::why_not(old, new, row);
    let change = if why.is_some() { Change::NotAsked } else { Change::Gone };
    Difference { old: Some(Count::of(row)), says: why, ..of_row(change, row) }
}

/// Returns the classes with more or fewer differences for each input.
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
            class: Some(class.clone()),
            old: Some(before),
            new: Some(after),
            says: witness.map(crate::text::witness),
            command: witness.map(|witness| witness.command.clone()),
            ..of_rows(change, old, new)
        })
    })
}

impl Diff {
    /// True if the second run is worse or lacks a result; the exit code is then 1.
    pub fn is_worse(&self) -> bool {
        let lost = self.count(Change::Worse) + self.count(Change::Gone) > 0;
        lost || (self.old == Verdict::Holds && self.new == Verdict::Broken)
    }

    /// Returns the reason why nothing was compared if the plans of all common rows differ.
    pub fn nothing_compared(&self) -> Option<&str> {
        let changed = self.differences.iter().find(|difference| difference.change == Change::PlanChanged)?;
        (self.compared == 0).then(|| changed.says.as_deref().unwrap_or_default())
    }

    /// Counts the differences of one kind.
    pub fn count(&self, change: Change) -> usize {
        self.differences.iter().filter(|difference| difference.change == change).count()
    }

    /// Returns changed parts of plans and missing requests, each with the number of differences that it explains, the most frequent first.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        let explained = |d: &&Difference| matches!(d.change, Change::PlanChanged | Change::NotAsked);
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for why in self.differences.iter().filter(explained).filter_map(|difference| difference.says.as_deref()) {
            *reasons.entry(why).or_default() += 1;
        }
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        reasons
    }
}
