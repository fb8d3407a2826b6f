//! Facts on a ledger that several reports need: the rows that belong together, and the totals.

use crate::findings;
use crate::ledger::{Against, Bound, Coverage, Lane, LaneStatus, Ledger, Row, Verdict, Witness};
use crate::left_out;
use crate::text;
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeSet, HashMap};

/// Kernel in a lane: the rows that were judged over the same outputs.
pub(crate) struct Line<'a> {
    pub(crate) contract: Option<&'a Row>,
    pub(crate) reference: Option<&'a Row>,
}

impl<'a> Line<'a> {
    fn new(row: &'a Row) -> Self {
        let mut line = Self { contract: None, reference: None };
        *line.slot(row.against) = Some(row);
        line
    }

    /// Returns the row that names the kernel, the lane and the path.
    pub(crate) fn row(&self) -> &'a Row {
        self.contract.or(self.reference).expect("a line is made from a row")
    }

    fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.contract.into_iter().chain(self.reference)
    }

    /// Returns the number of inputs that the contract judged. Inputs with a value of the reference only do not count.
    pub(crate) fn inputs(&self) -> u64 {
        self.rows().map(Row::judged).sum()
    }

    /// Returns the number of parameter pairs: the maximum, not a sum, because the rows of a line are judged in one pass.
    pub(crate) fn parameters(&self) -> u64 {
        self.rows().map(|row| row.parameters).max().unwrap_or(0)
    }

    /// Returns the seconds: the maximum, too.
    pub(crate) fn seconds(&self) -> f64 {
        self.rows().map(|row| row.seconds).fold(0.0, f64::max)
    }

    fn slot(&mut self, against: Against) -> &mut Option<&'a Row> {
        match against {
            Against::Contract => &mut self.contract,
            Against::Reference => &mut self.reference,
        }
    }
}

/// Returns the properties that the rows of a line share.
fn key(row: &Row) -> (&str, &str, &str, &str, Coverage) {
    (&row.op, &row.kernel, &row.lane, &row.isa_path, row.coverage)
}

/// Merges the rows of a ledger into lines, in order. Every row is in exactly one line.
pub(crate) fn lines(ledger: &Ledger) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    // Lines of a key, in order. A row goes to the first line whose slot is free.
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for row in &ledger.rows {
        let same = places.entry(key(row)).or_default();
        match same.iter().find(|at| lines[**at].slot(row.against).is_none()) {
            Some(at) => *lines[*at].slot(row.against) = Some(row),
            None => {
                same.push(lines.len());
                lines.push(Line::new(row));
            }
        }
    }
    lines
}

/// Returns the value that all items share, if they do.
pub(crate) fn shared<T: PartialEq>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.all(|item| item == first).then_some(first)
}

/// Returns the scheme of the reference rows, if they share one.
pub(crate) fn reference(ledger: &Ledger) -> Option<&str> {
    let rows = ledger.rows.iter().filter(|row| row.against == Against::Reference);
    shared(rows.map(|row| row.scheme.as_str()))
}

/// Returns the label of a kernel in a table, with its operation if the ledger has several.
pub(crate) fn kernel_label(ledger: &Ledger, row: &Row) -> String {
    label(ledger, &row.op, &row.kernel)
}

/// Returns the label of a kernel without a row.
pub(crate) fn label(ledger: &Ledger, op: &str, kernel: &str) -> String {
    match shared(ledger.rows.iter().map(|row| &row.op)) {
        Some(_) => kernel.to_owned(),
        None => format!("{op} {kernel}"),
    }
}

/// Difference from the reference, with the lanes that have the same witness.
pub(crate) struct Shown<'a> {
    pub(crate) row: &'a Row,
    pub(crate) witness: &'a Witness,
    pub(crate) lanes: Vec<&'a str>,
    /// Rows, one for each lane.
    rows: Vec<&'a Row>,
}

/// Describes all classes of a difference with their counts if there are several, because a witness shows only one:
/// `33,683 differ: wrap 21,276, double-rounding 12,407`. There is one line for all lanes if they agree, otherwise one for each.
pub(crate) fn all_classes(shown: &Shown<'_>) -> Vec<String> {
    if shown.rows.iter().all(|row| row.classes.len() < 2) {
        return Vec::new();
    }
    let line = |row: &Row| vec![text::all_classes(row.differ, &row.classes)];
    let together = lanes_together(shown.rows.iter().map(|row| (line(row), row.lane.as_str())));
    let several = together.len() > 1;
    let lines = together.into_iter().map(|(line, lanes)| match several {
        true => format!("{}: {}", lanes.join(", "), line.concat()),
        false => line.concat(),
    });
    lines.collect()
}

/// Returns the smallest witness of each kernel that differs from the reference. Lanes with the same witness share an entry. Differences
/// from a contract are findings, and not included.
pub(crate) fn witnesses(ledger: &Ledger) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    let mut places = HashMap::new();
    for row in ledger.rows.iter().filter(|row| row.against == Against::Reference) {
        let Some(witness) = &row.witness else {
            continue;
        };
        let place = *places.entry((&row.op, &row.kernel, text::witness(witness))).or_insert(shown.len());
        match shown.get_mut(place) {
            Some(known) => {
                known.lanes.push(&row.lane);
                known.rows.push(row);
            }
            None => shown.push(Shown { row, witness, lanes: vec![&row.lane], rows: vec![row] }),
        }
    }
    shown
}

/// Totals of a run.
pub(crate) struct Totals {
    pub(crate) inputs: u64,
    kernels: usize,
    /// Number of kernels that differ from their reference somewhere, which no contract forbids.
    differ: usize,
    /// Number of kernels without an input judged by their contract in any lane.
    unjudged: usize,
    lanes: usize,
    not_run: usize,
}

impl Totals {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let kernels: BTreeSet<_> = ledger.rows.iter().map(|row| (&row.op, &row.kernel)).collect();
        let differs = |row: &&Row| row.against == Against::Reference && row.differ > 0;
        let differ: BTreeSet<_> = ledger.rows.iter().filter(differs).map(|row| (&row.op, &row.kernel)).collect();
        let judged = ledger.rows.iter().filter(|row| row.judged() > 0).map(|row| (&row.op, &row.kernel));
        let judged = judged.collect::<BTreeSet<_>>().len();
        let ran = |lane: &&Lane| matches!(lane.status, LaneStatus::Ran { .. });
        let lanes = ledger.lanes.iter().filter(ran).count();
        Self {
            inputs: lines(ledger).iter().map(Line::inputs).sum(),
            kernels: kernels.len(),
            differ: differ.len(),
            unjudged: kernels.len() - judged,
            lanes,
            not_run: ledger.lanes.len() - lanes,
        }
    }

    /// `17,179,869,184 inputs, 3 kernels (1 differs from its reference), 2 lanes (1 not run), 38.4 s`
    pub(crate) fn sentence(&self, seconds: f64) -> String {
        let inputs = match self.inputs {
            1 => "1 input".to_owned(),
            n => format!("{} inputs", text::count(n)),
        };
        format!("{inputs}, {}", self.what(seconds))
    }

    /// Returns the sentence without the inputs.
    pub(crate) fn what(&self, seconds: f64) -> String {
        let differ = match self.differ {
            0 => None,
            1 => Some("1 differs from its reference".to_owned()),
            n => Some(format!("{n} differ from their references")),
        };
        let unjudged = (self.unjudged > 0).then(|| format!("{} not judged", self.unjudged));
        let some: Vec<String> = differ.into_iter().chain(unjudged).collect();
        let some = if some.is_empty() { String::new() } else { format!(" ({})", some.join(", ")) };
        let kernels = text::plural(self.kernels, "kernel") + &some;
        let lanes = text::plural(self.lanes, "lane");
        let not_run = match self.not_run {
            0 => String::new(),
            n => format!(" ({n} not run)"),
        };
        let seconds = text::seconds(seconds);
        format!("{kernels}, {lanes}{not_run}, {seconds} s")
    }
}

/// Returns the verdict with the totals: `every contract held on ...`, `3 findings on ...`, or the reason why there is no verdict.
pub(crate) fn verdict(ledger: &Ledger) -> String {
    let what = match ledger.verdict {
        Verdict::Holds => "every contract held".to_owned(),
        Verdict::Broken => text::plural(findings::number(ledger), "finding"),
        Verdict::Unfinished => {
            let why = ledger.unfinished.as_deref().unwrap_or("no reason is recorded");
            let findings = text::plural(findings::number(ledger), "finding");
            text::one_line(&format!("no verdict, because the run did not end: {why}; until then {findings}"))
        }
    };
    let refused = left_out::refused(ledger).map_or(String::new(), |refused| format!("; {refused}"));
    format!("{what} on {}{refused}", Totals::of(ledger).sentence(ledger.seconds))
}

/// Deviation that the contract of a row declares.
pub(crate) struct Declared<'a> {
    pub(crate) row: &'a Row,
    pub(crate) class: &'a str,
    /// Reason of the contract; `None` in ledgers of versions that did not record it.
    reason: Option<&'a str>,
    inputs: u64,
}

impl Declared<'_> {
    /// `seen on 159 inputs: the rule holds for int32x4 only`. A deviation that was not seen may still have been covered, by inputs on which
    /// it makes no difference.
    pub(crate) fn sentence(&self) -> String {
        let seen = match self.inputs {
            0 => "not seen in this run".to_owned(),
            n if self.row.coverage == Coverage::Exhaustive => {
                format!("seen on {} of all {} inputs", text::count(n), text::count(self.row.inputs))
            }
            1 => "seen on 1 input".to_owned(),
            n => format!("seen on {} inputs", text::count(n)),
        };
        match self.reason {
            Some(reason) => format!("{seen}: {}", text::one_line(reason)),
            None => seen,
        }
    }
}

/// Returns declared or observed deviations, by row and class.
pub(crate) fn deviations(ledger: &Ledger) -> impl Iterator<Item = Declared<'_>> {
    ledger.rows.iter().flat_map(|row| {
        let classes: BTreeSet<&String> = row.declared.keys().chain(row.deviations.keys()).collect();
        classes.into_iter().map(move |class| Declared {
            row,
            class,
            reason: row.declared.get(class).map(String::as_str),
            inputs: row.deviations.get(class).copied().unwrap_or(0),
        })
    })
}

/// Returns rows with inputs without a value of their scheme.
pub(crate) fn rows_out_of_domain(ledger: &Ledger) -> impl Iterator<Item = &Row> {
    ledger.rows.iter().filter(|row| row.out_of_domain > 0)
}

/// Returns inputs without a scheme value as lines with their lane: kernel, scheme and number. Many kernels of one operation and scheme share a line.
pub(crate) fn out_of_domain(ledger: &Ledger) -> Vec<(Vec<String>, &str)> {
    let mut out = Vec::new();
    let key = |row: &Row| (row.op.clone(), row.lane.clone(), row.scheme.clone());
    let mut done = BTreeSet::new();
    for row in rows_out_of_domain(ledger) {
        let same: Vec<&Row> = rows_out_of_domain(ledger).filter(|other| key(other) == key(row)).collect();
        if same.len() <= MANY {
            let kernel = kernel_label(ledger, row);
            out.push((vec![kernel, row.scheme.clone(), text::count(row.out_of_domain)], row.lane.as_str()));
        } else if done.insert(key(row)) {
            let kernels = text::plural(same.len(), "kernel");
            let (least, most) = same
                .iter()
                .fold((u64::MAX, 0), |(least, most), r| (least.min(r.out_of_domain), most.max(r.out_of_domain)));
            let number = format!("{} to {}", text::count(least), text::count(most));
            out.push((vec![label(ledger, &row.op, &kernels), row.scheme.clone(), number], row.lane.as_str()));
        }
    }
    out
}

/// Merges equal lines of several lanes, in the order of their first appearance.
pub(crate) fn lanes_together<'a>(
    lines: impl Iterator<Item = (Vec<String>, &'a str)>,
) -> Vec<(Vec<String>, Vec<&'a str>)> {
    // Two kernels of a lane may have equal lines.
    let mut together: IndexMap<Vec<String>, IndexSet<&str>> = IndexMap::new();
    for (cells, lane) in lines {
        together.entry(cells).or_default().insert(lane);
    }
    together.into_iter().map(|(cells, lanes)| (cells, lanes.into_iter().collect())).collect()
}

/// Number of an operation's kernels above which rows without differences are summed up.
const MANY: usize = 8;

/// Returns the ledger for a person to read: an operation that is exact throughout, has no reference and very many kernels gets one row for
/// each lane. The files keep every row.
pub(crate) fn condensed(ledger: &Ledger) -> Ledger {
    let mut out = ledger.clone();
    let ops: BTreeSet<&String> = ledger.rows.iter().map(|row| &row.op).collect();
    for op in ops {
        let rows: Vec<&Row> = ledger.rows.iter().filter(|row| row.op == *op).collect();
        let quiet = |row: &&Row| {
            let differs = row.differ > 0 || row.out_of_domain > 0 || !row.deviations.is_empty();
            !differs && row.against == Against::Contract
        };
        let kernels: BTreeSet<&String> = rows.iter().map(|row| &row.kernel).collect();
        if rows.iter().all(quiet) && kernels.len() > MANY {
            out.rows.retain(|row| row.op != *op);
            out.rows.extend(summed_up(&rows, kernels.len()));
        }
    }
    out
}

/// Splits the ledger by operation, in the order of their first rows; a ledger without rows stays whole.
pub(crate) fn by_op(ledger: &Ledger) -> Vec<Ledger> {
    let ops: IndexSet<&String> = ledger.rows.iter().map(|row| &row.op).collect();
    if ops.is_empty() {
        return vec![ledger.clone()];
    }
    let part = |op: &&String| {
        let rows = ledger.rows.iter().filter(|row| row.op == **op).cloned().collect();
        Ledger { rows, ..ledger.clone() }
    };
    ops.iter().map(part).collect()
}

/// Sums up rows into one row for each lane.
fn summed_up(rows: &[&Row], kernels: usize) -> Vec<Row> {
    let mut sums: Vec<Row> = Vec::new();
    for row in rows {
        match sums.iter_mut().find(|sum| sum.lane == row.lane) {
            Some(sum) => {
                sum.inputs += row.inputs;
                sum.seconds += row.seconds;
                sum.parameters = sum.parameters.max(row.parameters);
                if sum.coverage != row.coverage {
                    sum.coverage = Coverage::Sampled;
                }
                if sum.isa_path != row.isa_path {
                    let family = sum.isa_path.split(':').next().unwrap_or_default();
                    sum.isa_path = format!("{family}: each its own");
                }
            }
            None => sums.push(Row {
                kernel: format!("({kernels} kernels)"),
                scheme: "the definition of each".to_owned(),
                ..(*row).clone()
            }),
        }
    }
    sums
}

/// Returns the bounds; equal bounds of several lanes are merged.
pub(crate) fn bounds(ledger: &Ledger) -> Vec<(&Bound, Vec<&str>)> {
    let mut out: IndexMap<_, (&Bound, Vec<&str>)> = IndexMap::new();
    for bound in &ledger.bounds {
        let key = (&bound.op, &bound.kernel, &bound.quantity, bound.bound, bound.shown);
        out.entry(key).or_insert((bound, Vec::new())).1.push(&bound.lane);
    }
    out.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 31, item 11: a list of lanes contained `host, host`.
    #[test]
    fn a_lane_that_says_the_same_twice_is_named_once() {
        let line = |lane| (vec!["tvm-relay".to_owned()], lane);
        let together = lanes_together([line("host"), line("host"), line("mine"), line("host")].into_iter());
        assert_eq!(together, [(vec!["tvm-relay".to_owned()], vec!["host", "mine"])]);
    }
}
