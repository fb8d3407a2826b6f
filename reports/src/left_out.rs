//! Sentences on uncovered inputs: parameters outside a kernel's domain, kernels that a lane does not offer, kernels and lanes without a
//! judged input.

use crate::ledger::{CatalogueRun, DropReason, Dropped, LaneStatus, Ledger, Planned, Position, Unit};
use crate::text;
use crate::view;
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;

/// Upper bound on the bytes of a refused case in a sentence.
const CASE: usize = 120;

/// Returns all sentences, the most important first.
pub(crate) fn sentences(ledger: &Ledger) -> Vec<String> {
    let spared = spared(ledger, usize::MAX);
    let given: Vec<String> = given(ledger, usize::MAX).into_iter().collect();
    [given, dropped(ledger, None), not_offered(ledger), kernels_unjudged(ledger), lanes_unjudged(ledger), spared]
        .concat()
}

/// Names the parts of the caller's input that no kernel takes, such as layers in floats, up to `most`.
pub(crate) fn given(ledger: &Ledger, most: usize) -> Option<String> {
    let items: Vec<&str> = ledger.left_out.iter().map(|one| one.item.as_str()).collect();
    let first = ledger.left_out.first()?;
    Some(format!(
        "{} that no kernel takes: {}: {}",
        text::plural(items.len(), "part"),
        text::some(&items, most),
        first.reason
    ))
}

/// Names parameters of the caller and cases of the plan that some kernel did not run. Each sentence names up to `most` kernels and counts
/// the rest. Without a limit, each sentence names all kernels.
pub(crate) fn dropped(ledger: &Ledger, most: Option<usize>) -> Vec<String> {
    let mut groups: IndexMap<String, (IndexSet<String>, IndexSet<&str>)> = IndexMap::new();
    let is_listed = |planned: &Planned, dropped: &Dropped| match dropped.why {
        // A kernel that ran nothing is listed as outside the parameters of the run.
        DropReason::OutsideDomain => planned.given && planned.run > 0,
        DropReason::NotOffered | DropReason::NothingNew => false,
        DropReason::NoSuchCase | DropReason::GivenUp | DropReason::Refused => true,
    };
    for planned in &ledger.planned {
        for dropped in planned.dropped.iter().filter(|dropped| is_listed(planned, dropped)) {
            let (kernels, lanes) = groups.entry(share(planned, dropped)).or_default();
            kernels.insert(format!("{} {}", planned.op, planned.kernel));
            lanes.insert(&planned.lane);
        }
    }
    let sentence = |(share, (kernels, lanes)): (String, (IndexSet<String>, IndexSet<&str>))| {
        let kernels = text::some(&kernels.into_iter().collect::<Vec<_>>(), most.unwrap_or(usize::MAX));
        format!("{kernels} ({}): {share}", lanes.into_iter().collect::<Vec<_>>().join(", "))
    };
    groups.into_iter().map(sentence).collect()
}

/// `999 of 1,000 pairs given not run, the first m=5 s=31: outside its domain, ...`
pub fn share(planned: &Planned, dropped: &Dropped) -> String {
    let Planned { unit, given, .. } = planned;
    let all = text::plural(planned.planned as usize, unit.name());
    let given = if *given { " given" } else { "" };
    let first = match dropped.first.as_str() {
        "" => String::new(),
        case if dropped.why == DropReason::Refused => format!(", such as {}", text::cut(&text::one_line(case), CASE)),
        first => format!(", the first {first}"),
    };
    let (what, why) = match dropped.why {
        DropReason::OutsideDomain => ("not run", "outside its domain, "),
        DropReason::Refused => ("refused by the kernel as outside its domain", ""),
        DropReason::NotOffered | DropReason::NoSuchCase | DropReason::GivenUp | DropReason::NothingNew => {
            ("not run", "")
        }
    };
    format!("{} of {all}{given} {what}{first}: {why}{}", text::count(dropped.count), text::one_line(&dropped.because))
}

/// Omitted cases and planned cases of a lane, and the kernels by operation.
type Spared<'a> = ([u64; 2], IndexMap<&'a str, Vec<&'a str>>);

/// Counts the cases that quick effort omits in further lanes, with a sentence for each lane that names up to `most` kernels.
pub(crate) fn spared(ledger: &Ledger, most: usize) -> Vec<String> {
    let mut lanes: IndexMap<&str, Spared<'_>> = IndexMap::new();
    for planned in ledger.planned.iter().filter(|planned| planned.unit == Unit::Case) {
        for dropped in planned.dropped.iter().filter(|dropped| dropped.why == DropReason::NothingNew) {
            let ([spared, all], ops) = lanes.entry(&planned.lane).or_default();
            *spared += dropped.count;
            *all += planned.planned;
            ops.entry(&planned.op).or_default().push(&planned.kernel);
        }
    }
    let sentence = |(lane, ([spared, all], ops)): (&str, Spared<'_>)| {
        let kernels = ops.iter().flat_map(|(op, kernels)| kernels.iter().map(move |kernel| format!("{op} {kernel}")));
        let kernels: Vec<String> = kernels.collect();
        let cases = format!("{} of {}", text::count(spared), text::plural(all as usize, "case"));
        let (number, named) = (text::plural(kernels.len(), "kernel"), text::some(&kernels, most));
        let why = "their code also runs in another lane or operation, and equals the first lane in the cases that ran";
        format!("{lane}: {} effort left out {cases} of {number} ({named}): {why}", ledger.effort)
    };
    lanes.into_iter().map(sentence).collect()
}

/// Returns a sentence for each lane: `mine: offers 1 of 20 kernels of fpm`.
fn not_offered(ledger: &Ledger) -> Vec<String> {
    let mut lanes: IndexMap<&str, IndexMap<&str, [BTreeSet<&str>; 2]>> = IndexMap::new();
    for planned in &ledger.planned {
        let missing = planned.dropped.iter().any(|dropped| dropped.why == DropReason::NotOffered);
        let [offered, others] = lanes.entry(&planned.lane).or_default().entry(&planned.op).or_default();
        if missing { others } else { offered }.insert(&planned.kernel);
    }
    let sentence = |(lane, ops): (&&str, &IndexMap<&str, [BTreeSet<&str>; 2]>)| {
        let missing = ops.iter().filter(|(_, [_, others])| !others.is_empty());
        let counts = missing.map(|(op, [offered, others])| {
            let all = text::plural(offered.len() + others.len(), "kernel");
            format!(
                "{} of {all} of {op}",
                if offered.is_empty() { "none".to_owned() } else { text::count(offered.len() as u64) }
            )
        });
        let counts: Vec<_> = counts.collect();
        (!counts.is_empty())
            .then(|| format!("{lane}: the worker offers {}; other kernels do not run there", counts.join(", ")))
    };
    lanes.iter().filter_map(sentence).collect()
}

/// Returns `the kernel refused 637 of 654 cases`, if any kernel did. The total counts only the plans of such kernels.
pub(crate) fn refused(ledger: &Ledger) -> Option<String> {
    let (mut kernels, mut refused, mut planned, mut units) = (BTreeSet::new(), 0, 0, BTreeSet::new());
    for plan in &ledger.planned {
        let count: u64 = plan.dropped.iter().filter(|d| d.why == DropReason::Refused).map(|d| d.count).sum();
        if count > 0 {
            kernels.insert([&plan.op, &plan.kernel]);
            units.insert(plan.unit.name());
            (refused, planned) = (refused + count, planned + plan.planned);
        }
    }
    let unit = if units.len() == 1 { units.first().copied().unwrap_or_default() } else { "parameter" };
    let who = match kernels.len() {
        0 => return None,
        1 => "the kernel".to_owned(),
        n => text::plural(n, "kernel"),
    };
    let all = text::plural(planned as usize, unit);
    Some(format!("{who} refused {} of {all} as outside the domain", text::count(refused)))
}

/// Returns the kernels that ran in a lane without an input judged by their contract there.
pub fn unjudged(ledger: &Ledger) -> Vec<[&str; 3]> {
    let mut inputs: IndexMap<[&str; 3], u64> = IndexMap::new();
    for row in &ledger.rows {
        *inputs.entry([&row.op, &row.kernel, &row.lane]).or_default() += row.judged();
    }
    inputs.into_iter().filter(|(_, n)| *n == 0).map(|(place, _)| place).collect()
}

/// Returns the lanes that ran without an input judged by a contract.
pub fn idle_lanes(ledger: &Ledger) -> Vec<&str> {
    let ran = ledger.lanes.iter().filter(|lane| matches!(lane.status, LaneStatus::Ran { .. }));
    let judged = |lane: &str| ledger.rows.iter().any(|row| row.lane == lane && row.judged() > 0);
    ran.map(|lane| lane.name.as_str()).filter(|lane| !judged(lane)).collect()
}

fn kernels_unjudged(ledger: &Ledger) -> Vec<String> {
    let lines = unjudged(ledger).into_iter().map(|[op, kernel, lane]| {
        (vec![view::label(ledger, op, kernel), nothing_judged(ledger, Some(op), lane)], lane)
    });
    let together = view::lanes_together(lines).into_iter();
    together.map(|(cells, lanes)| format!("{} ({}): {}", cells[0], lanes.join(", "), cells[1])).collect()
}

/// Sentence on a kernel that ran without an input judged by its contract.
pub const NOTHING_JUDGED: &str = "no input was judged by a contract, so its status is unknown";

/// Returns the sentence on a kernel or a lane without a judged input.
pub fn nothing_judged(ledger: &Ledger, op: Option<&str>, lane: &str) -> String {
    format!("{}{NOTHING_JUDGED}", kept_apart(ledger, op, &[lane]))
}

/// Returns `kept cases apart, ` if kept cases were judged in one of these lanes, because the catalogue counts them separately.
pub(crate) fn kept_apart(ledger: &Ledger, op: Option<&str>, lanes: &[&str]) -> &'static str {
    let of = |run: &&CatalogueRun| op.is_none_or(|op| run.op == op) && lanes.contains(&run.lane.as_str());
    if ledger.catalogue.iter().filter(of).any(|run| run.judged > 0) { "kept cases apart, " } else { "" }
}

fn lanes_unjudged(ledger: &Ledger) -> Vec<String> {
    idle_lanes(ledger).into_iter().map(|lane| format!("{lane}: {}", nothing_judged(ledger, None, lane))).collect()
}

/// `matmul arm-uadalp host, at=3: got 5, exact:wrap 5, exact 5`: with policies, because schemes may differ only in their policy.
pub(crate) fn position(position: &Position) -> String {
    let Position { op, kernel, lane, at, got, expected } = position;
    let values = expected.iter().map(|(scheme, value)| match value {
        Some(value) => format!("{scheme} {value}"),
        None => format!("{scheme} has no value"),
    });
    format!("{op} {kernel} {lane}, at={at}: got {got}, {}", values.collect::<Vec<_>>().join(", "))
}
