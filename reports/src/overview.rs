//! Overview of a run: one line for each operation, lane and kind of check, for the first screen and the summary.

use crate::calls;
use crate::findings;
use crate::ledger::{Against, Coverage, Finding, LaneStatus, Ledger, Row};
use crate::left_out;
use crate::proofs;
use crate::self_checks::{self, SelfChecks};
use crate::text::{self, count, plural};
use crate::view::{self, Line};
use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};

/// Number of kernels, and number of inputs, summed over kernels and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) kernels: usize,
    pub(crate) inputs: u64,
}

/// Operation of a run.
pub(crate) struct Operation<'a> {
    pub(crate) op: &'a str,
    pub(crate) findings: usize,
    pub(crate) kernels: usize,
    pub(crate) lanes: usize,
    pub(crate) inputs: u64,
    pub(crate) coverage: &'static str,
    /// Number of kernels with a finding; mutants and controls do not count.
    failing: usize,
    /// Number of kernels with a lane in which no input was judged.
    unjudged: usize,
    /// True if any kernel is compared with a reference.
    referenced: bool,
    /// Deviations that contracts declare.
    deviating: Count,
    /// Differences from the reference, which no contract forbids.
    differing: Count,
    /// Classes of the differences in `differing`, the most frequent first; without a reference, classes of differences from contracts.
    classes: Vec<&'a str>,
}

/// Result of an operation against its contracts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Good,
    Bad,
}

impl<'a> Operation<'a> {
    fn new(ledger: &'a Ledger, op: &'a str, lines: &[Line<'a>]) -> Self {
        let rows: Vec<&Row> = ledger.rows.iter().filter(|row| row.op == op).collect();
        let findings: Vec<&Finding> = ledger.findings.iter().filter(|finding| finding.op == op).collect();
        let of_kernels = findings.iter().filter(|f| f.class != "self-check" && !f.kernel.is_empty());
        let broken = rows.iter().filter(|row| row.against == Against::Contract && row.differ > 0);
        let failing: BTreeSet<_> = of_kernels.map(|f| &f.kernel).chain(broken.map(|row| &row.kernel)).collect();
        let unjudged = left_out::unjudged(ledger).into_iter().filter(|[of, ..]| *of == op);
        let referenced = rows.iter().any(|row| row.against == Against::Reference && row.inputs > 0);
        Self {
            op,
            findings: findings::merged(ledger).iter().filter(|merged| merged.finding.op == op).count(),
            kernels: rows.iter().map(|row| &row.kernel).collect::<BTreeSet<_>>().len(),
            lanes: rows.iter().map(|row| &row.lane).collect::<BTreeSet<_>>().len(),
            inputs: lines.iter().filter(|line| line.row().op == op).map(Line::inputs).sum(),
            coverage: coverage(&rows),
            failing: failing.len(),
            unjudged: unjudged.map(|[_, kernel, _]| kernel).collect::<BTreeSet<_>>().len(),
            referenced,
            deviating: counted(&rows, |row| row.deviations.values().sum()),
            differing: counted(&rows, |row| if row.against == Against::Reference { row.differ } else { 0 }),
            classes: classes(&rows, referenced),
        }
    }

    /// Returns the result of the contracts in a few words, and good if they held on all judged inputs.
    pub(crate) fn contract(&self) -> (String, Outcome) {
        match self {
            Self { failing: 1, .. } => ("1 fails".to_owned(), Outcome::Bad),
            Self { failing, .. } if *failing > 0 => (format!("{failing} fail"), Outcome::Bad),
            Self { inputs: 0, .. } => ("not judged".to_owned(), Outcome::Bad),
            Self { unjudged, .. } if *unjudged > 0 => (format!("exact, {unjudged} not judged"), Outcome::Bad),
            Self { deviating, .. } if deviating.kernels > 0 => ("exact*".to_owned(), Outcome::Good),
            _ => ("exact".to_owned(), Outcome::Good),
        }
    }

    /// Returns the inputs and kernels that differ from the reference: `41,155,946 (12 kernels)`. No kernel has to equal it.
    pub(crate) fn reference(&self) -> String {
        match self.differing {
            _ if !self.referenced => "-".to_owned(),
            Count { kernels: 0, .. } => "none".to_owned(),
            Count { kernels, inputs } => format!("{} ({})", count(inputs), plural(kernels, "kernel")),
        }
    }

    pub(crate) fn differs(&self) -> bool {
        self.differing.kernels > 0
    }

    /// Returns the observed classes, with as many names as fit in `room` columns: `wrap, saturation and 3 more`.
    pub(crate) fn classes(&self, room: usize) -> String {
        let all = self.classes.len();
        let mut most_first = (1..=all).rev().map(|n| text::some(&self.classes, n));
        let fitting = most_first.find(|text| text.chars().count() <= room);
        fitting.unwrap_or_else(|| if all == 0 { String::new() } else { self.number_of_classes() })
    }

    fn number_of_classes(&self) -> String {
        match self.classes.len() {
            1 => "1 class".to_owned(),
            n => format!("{n} classes"),
        }
    }

    /// Returns `fpm: 20 kernels in 2 lanes, 651,030,930 inputs, sampled: exact, 12 differ from the reference on 41,155,946 (wrap, saturation)`,
    /// with up to `named` classes by name.
    pub(crate) fn sentence(&self, named: usize) -> String {
        let (kernels, lanes) = (plural(self.kernels, "kernel"), plural(self.lanes, "lane"));
        let findings = match self.findings {
            0 => String::new(),
            n => format!("{}, ", plural(n, "finding")),
        };
        let reference = match self.differing {
            _ if !self.referenced => String::new(),
            Count { kernels: 0, .. } => ", equal to the reference".to_owned(),
            Count { kernels: 1, inputs } => {
                format!(", 1 differs from the reference on {}", count(inputs))
            }
            Count { kernels, inputs } => {
                format!(", {kernels} differ from the reference on {}", count(inputs))
            }
        };
        let classes = match named {
            _ if self.classes.is_empty() => String::new(),
            0 => format!(" ({})", self.number_of_classes()),
            _ => format!(" ({})", text::some(&self.classes, named)),
        };
        let (inputs, contract) = (count(self.inputs), self.contract().0);
        let Self { op, coverage, .. } = self;
        format!("{op}: {findings}{kernels} in {lanes}, {inputs} inputs, {coverage}: {contract}{reference}{classes}")
    }

    /// Returns the result of the contracts, with the number of findings: `2 findings: 1 fails`.
    pub(crate) fn result(&self) -> String {
        match (self.findings, self.contract().0) {
            (0, contract) => contract,
            (n, contract) => format!("{}: {contract}", text::plural(n, "finding")),
        }
    }

    /// Returns [`Self::reference`] with up to `named` classes by name: `41,155,946 (12 kernels): wrap, saturation`.
    pub(crate) fn differing(&self, named: usize) -> String {
        let classes = match named {
            _ if self.classes.is_empty() => String::new(),
            0 => format!(": {}", self.number_of_classes()),
            _ => format!(": {}", text::some(&self.classes, named)),
        };
        format!("{}{classes}", self.reference())
    }
}

fn coverage(rows: &[&Row]) -> &'static str {
    match rows.iter().filter(|row| row.coverage == Coverage::Exhaustive).count() {
        0 => "sampled",
        n if n == rows.len() => "exhaustive",
        _ => "in part exhaustive",
    }
}

fn counted(rows: &[&Row], inputs: impl Fn(&Row) -> u64) -> Count {
    let rows = || rows.iter().filter(|row| inputs(row) > 0);
    Count {
        kernels: rows().map(|row| &row.kernel).collect::<BTreeSet<_>>().len(),
        inputs: rows().map(|row| inputs(row)).sum(),
    }
}

/// Returns the classes of differences from the reference, or from contracts if there is no reference.
fn classes<'a>(rows: &[&'a Row], referenced: bool) -> Vec<&'a str> {
    let against = if referenced { Against::Reference } else { Against::Contract };
    let mut inputs: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, n) in rows.iter().filter(|row| row.against == against).flat_map(|row| &row.classes) {
        *inputs.entry(class).or_default() += n;
    }
    let mut classes: Vec<_> = inputs.into_iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    classes.into_iter().map(|(class, _)| class).collect()
}

/// Returns the operations of a run in order, those with findings first.
pub(crate) fn operations(ledger: &Ledger) -> Vec<Operation<'_>> {
    let named = ledger.rows.iter().map(|row| &row.op).chain(ledger.findings.iter().map(|finding| &finding.op));
    let ops: IndexSet<&str> = named.map(String::as_str).filter(|op| !op.is_empty()).collect();
    let lines = view::lines(ledger);
    let mut all: Vec<_> = ops.into_iter().map(|op| Operation::new(ledger, op, &lines)).collect();
    all.sort_by_key(|operation| operation.findings == 0);
    all
}

/// Returns the meaning of the star next to `exact`; `None` if no operation has one.
pub(crate) fn deviations(operations: &[Operation<'_>]) -> Option<String> {
    let sum = operations.iter().fold(Count::default(), |sum, operation| Count {
        kernels: sum.kernels + operation.deviating.kernels,
        inputs: sum.inputs + operation.deviating.inputs,
    });
    let inputs = count(sum.inputs);
    match sum.kernels {
        0 => None,
        1 => Some(format!("* 1 kernel deviates on {inputs} inputs, as its contract declares")),
        n => Some(format!("* {n} kernels deviate on {inputs} inputs, as their contracts declare")),
    }
}

/// Counts the inputs judged in a lane.
pub(crate) fn of_lane(ledger: &Ledger, lane: &str) -> Count {
    let lines = view::lines(ledger).into_iter().filter(|line| line.row().lane == lane && line.inputs() > 0);
    let (mut kernels, mut inputs) = (BTreeSet::new(), 0);
    for line in lines {
        kernels.insert((&line.row().op, &line.row().kernel));
        inputs += line.inputs();
    }
    Count { kernels: kernels.len(), inputs }
}

/// Returns the connection of a lane in at most `room` columns, without the arguments of the program if the text is too long.
pub(crate) fn reached(arch: &str, via: &str, room: usize) -> String {
    let whole = text::lane(&LaneStatus::Ran { arch: arch.to_owned(), via: via.to_owned() });
    if whole.chars().count() <= room {
        return whole;
    }
    let (command, rest) = via.split_once(", ").unwrap_or((via, ""));
    let program = command.split(' ').next().unwrap_or(command);
    let rest = if rest.is_empty() { String::new() } else { format!(", {rest}") };
    text::cut(&format!("{arch}, via {program}{rest}"), room)
}

/// Check other than that of kernels, in a sentence.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) sentence: String,
    pub(crate) passed: bool,
}

/// Returns the checks of a run, one line for each kind.
pub(crate) fn checks(ledger: &Ledger) -> Vec<Check> {
    let own = SelfChecks::of(ledger);
    let own = Check { name: "self-check", sentence: own.sentence(), passed: own.failed.is_empty() };
    [
        Some(own),
        corner_cases(ledger),
        bounds(ledger),
        proofs(ledger),
        rewrites(ledger),
        agreements(ledger),
        calls(ledger),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the failed checks, a line each.
pub(crate) fn failed_checks(ledger: &Ledger) -> Vec<String> {
    SelfChecks::of(ledger).failed.into_iter().map(self_checks::describe).collect()
}

fn corner_cases(ledger: &Ledger) -> Option<Check> {
    let judged: u64 = ledger.catalogue.iter().map(|run| run.judged).sum();
    let broken: u64 = ledger.catalogue.iter().map(|run| run.broken).sum();
    let mut cases: BTreeMap<&str, u64> = BTreeMap::new();
    for run in &ledger.catalogue {
        let known = cases.entry(&run.op).or_default();
        *known = run.cases.max(*known);
    }
    let unanswered: u64 = ledger.catalogue.iter().map(|run| run.unanswered).sum();
    let outcome = text::catalogue_outcome([judged, broken, unanswered]);
    let passed = broken == 0 && unanswered == 0;
    let cases = plural(cases.values().sum::<u64>() as usize, "kept case");
    let sentence = format!("{cases}, {} outputs, {outcome}", count(judged));
    (!ledger.catalogue.is_empty()).then_some(Check { name: "catalogue", sentence, passed })
}

fn bounds(ledger: &Ledger) -> Option<Check> {
    let passed = ledger.bounds.iter().all(|bound| bound.shown);
    let check = Check { name: "bounds", sentence: text::bounds(&ledger.bounds), passed };
    (!ledger.bounds.is_empty()).then_some(check)
}

/// Check of the recorded proofs, which do not affect the verdict.
fn proofs(ledger: &Ledger) -> Option<Check> {
    Some(Check { name: "proofs", sentence: proofs::sentence(ledger)?, passed: proofs::hold(ledger) })
}

/// Check of the rewrites of the quant dialect: the counts must equal the recorded counts.
fn rewrites(ledger: &Ledger) -> Option<Check> {
    let all = ledger.rewrites.len();
    let held = ledger.rewrites.iter().filter(|rewrite| rewrite.held()).count();
    let sentence = format!("{held} of {} of the quant dialect as recorded", plural(all, "rewrite"));
    (all > 0).then_some(Check { name: "rewrites", sentence, passed: held == all })
}

/// Check of the calls: the fault rate that they exclude.
fn calls(ledger: &Ledger) -> Option<Check> {
    Some(Check { name: "calls", sentence: calls::sentence(ledger)?, passed: true })
}

/// Check of bit-for-bit comparisons. Kernels do not promise to equal each other, so no difference here fails a run.
fn agreements(ledger: &Ledger) -> Option<Check> {
    let all = ledger.agreements.len();
    let differ = ledger.agreements.iter().filter(|a| a.differ + a.differ_open > 0).count();
    let inside = ledger.agreements.iter().filter(|a| a.differ > 0).count();
    let equal = all - differ;
    let outcome = match differ {
        0 => "all equal".to_owned(),
        _ if inside == 0 => format!("{equal} equal, {differ} differ if no contract gives a value"),
        _ => format!("{equal} equal, {differ} differ, {inside} also if a contract gives a value"),
    };
    let sentence = format!("{} of kernels or lanes: {outcome}", plural(all, "pair"));
    (all > 0).then_some(Check { name: "to the bit", sentence, passed: true })
}
