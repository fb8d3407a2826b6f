//! Uncovered inputs of a run, counted by reason, for the first screen and the summary. Unplanned gaps without permission come first. The
//! details name every kernel.

use crate::ledger::{Against, Coverage, DropReason, LaneStatus, Ledger, Row};
use crate::left_out;
use crate::spans;
use crate::text::{self, count, plural};
use crate::view;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Number of kernels that a sentence names before it counts the rest.
const NAMED: usize = 3;
/// Number of lanes that a sentence names before it counts the rest.
const LANES: usize = 6;

/// Reason for a gap in coverage.
pub(crate) struct Uncovered {
    /// Subject of the gap.
    pub(crate) subject: &'static str,
    pub(crate) sentence: String,
    /// True if the gap was neither planned nor allowed.
    pub(crate) unexpected: bool,
}

/// Returns all gaps by reason, the unexpected first.
pub(crate) fn all(ledger: &Ledger) -> Vec<Uncovered> {
    let entry = |subject, unexpected| {
        move |sentence: String| Uncovered { subject, sentence: text::one_line(&sentence), unexpected }
    };
    let [expected, unexpected] = [true, false].map(|allowed| absent_lanes(ledger, allowed));
    let mut out: Vec<Uncovered> = unexpected.into_iter().map(entry("lanes", true)).collect();
    out.extend(idle_lanes(ledger).map(entry("lanes", true)));
    out.extend(unjudged(ledger).map(entry("kernels", true)));
    out.extend(left_out::dropped(ledger, Some(NAMED)).into_iter().map(entry("parameters", true)));
    out.extend(not_offered(ledger).into_iter().map(entry("kernels", true)));
    out.extend(unchecked(ledger).into_iter().map(entry("self-check", true)));
    out.extend(expected.into_iter().map(entry("lanes", false)));
    out.extend(left_out::given(ledger, NAMED).map(entry("model", false)));
    out.extend(outside_domain(ledger).map(entry("kernels", false)));
    out.extend(plan(ledger).map(entry("plan", false)));
    out.extend(left_out::spared(ledger, NAMED).into_iter().map(entry("plan", false)));
    out.extend(not_taken(ledger).map(entry("catalogue", false)));
    out.extend(without_value(ledger).map(entry("values", false)));
    out.extend(portable(ledger).map(entry("models", false)));
    out.extend(sampled(ledger).map(entry("inputs", false)));
    out.extend(spans::unreached(ledger).map(entry("inputs", false)));
    out.extend(spans::largest(ledger).map(entry("sizes", false)));
    out
}

/// Returns lanes that did not run, grouped by reason.
pub(crate) fn absent_lanes(ledger: &Ledger, may_be: bool) -> Vec<String> {
    let mut reasons: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for lane in &ledger.lanes {
        if let LaneStatus::NotRun { reason, allowed } = &lane.status
            && *allowed == may_be
        {
            reasons.entry(reason).or_default().push(&lane.name);
        }
    }
    let allowed = if may_be { " (allowed)" } else { "" };
    let sentence =
        |(reason, lanes): (&str, Vec<&str>)| format!("{} not run: {reason}{allowed}", text::some(&lanes, LANES));
    reasons.into_iter().map(sentence).collect()
}

fn idle_lanes(ledger: &Ledger) -> Option<String> {
    let idle = left_out::idle_lanes(ledger);
    let apart = left_out::kept_apart(ledger, None, &idle);
    let lanes = || format!("{}: {}", plural(idle.len(), "lane"), some(&idle));
    (!idle.is_empty()).then(|| format!("{apart}no contract judged an input in {}", lanes()))
}

fn unjudged(ledger: &Ledger) -> Option<String> {
    let mut kernels: IndexMap<[&str; 2], Vec<&str>> = IndexMap::new();
    for [op, kernel, lane] in left_out::unjudged(ledger) {
        kernels.entry([op, kernel]).or_default().push(lane);
    }
    let names = kernels.iter().map(|([op, kernel], lanes)| format!("{op} {kernel} ({})", lanes.join(", ")));
    let names: Vec<String> = names.collect();
    let each = kernels.iter().map(|([op, _], lanes)| left_out::kept_apart(ledger, Some(op), lanes));
    let apart = each.max_by_key(|apart| apart.len()).unwrap_or_default();
    // The longer sentence names fewer kernels, so that the screen has room for its count.
    let most = if apart.is_empty() { NAMED } else { NAMED - 1 };
    let named = || format!("{}: {}", plural(names.len(), "kernel"), text::some(&names, most));
    (!names.is_empty()).then(|| format!("{apart}no contract judged an input of {}", named()))
}

/// Returns a sentence on each lane whose worker lacks kernels.
fn not_offered(ledger: &Ledger) -> Vec<String> {
    let mut lanes: IndexMap<&str, [BTreeSet<[&str; 2]>; 2]> = IndexMap::new();
    for planned in &ledger.planned {
        let missing = planned.dropped.iter().any(|dropped| dropped.why == DropReason::NotOffered);
        let [offered, others] = lanes.entry(&planned.lane).or_default();
        if missing { others } else { offered }.insert([&planned.op, &planned.kernel]);
    }
    let lanes = lanes.into_iter().filter(|(_, [_, others])| !others.is_empty());
    let sentence = |(lane, [offered, others]): (&str, [BTreeSet<_>; 2])| {
        let all = plural(offered.len() + others.len(), "kernel");
        format!("{lane}: the worker offers {} of {all}; other kernels did not run there", count(offered.len() as u64))
    };
    lanes.map(sentence).collect()
}

/// Returns lanes whose worker has no mutant and no control, grouped by operations.
fn unchecked(ledger: &Ledger) -> Vec<String> {
    let mut ops: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for unchecked in &ledger.unchecked {
        ops.entry(&unchecked.lane).or_default().push(&unchecked.op);
    }
    let mut lanes: IndexMap<Vec<&str>, Vec<&str>> = IndexMap::new();
    for (lane, ops) in ops {
        lanes.entry(ops).or_default().push(lane);
    }
    let sentence = |(ops, lanes): (Vec<&str>, Vec<&str>)| {
        format!("no mutant and no control in {} ({})", text::some(&lanes, LANES), text::some(&ops, NAMED))
    };
    lanes.into_iter().map(sentence).collect()
}

/// Names kernels for which the run has no parameter or no lane, with the reason if they share it.
fn outside_domain(ledger: &Ledger) -> Option<String> {
    let names = ledger.outside_domain.iter().map(|outside| format!("{} {}", outside.op, outside.kernel));
    let names: Vec<String> = names.collect();
    let reason = view::shared(ledger.outside_domain.iter().map(|outside| &outside.domain));
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let kernels = plural(names.len(), "kernel");
    (!names.is_empty())
        .then(|| format!("{kernels} did not run, with no parameter or lane of this run{reason}: {}", some(&names)))
}

/// Counts planned parameters outside the domains of kernels.
fn plan(ledger: &Ledger) -> Option<String> {
    let planned = ledger.planned.iter().filter(|planned| !planned.given && planned.run > 0);
    let (mut all, mut outside, mut kernels) = (0, 0, BTreeSet::new());
    for planned in planned {
        all += planned.planned;
        for dropped in planned.dropped.iter().filter(|dropped| dropped.why == DropReason::OutsideDomain) {
            outside += dropped.count;
            kernels.insert((&planned.op, &planned.kernel));
        }
    }
    let kernels = plural(kernels.len(), "kernel");
    let (outside, all) = (count(outside), count(all));
    (outside != "0").then(|| format!("{outside} of {all} planned parameters are outside the domains of {kernels}"))
}

fn not_taken(ledger: &Ledger) -> Option<String> {
    let cases: u64 = ledger.catalogue.iter().map(|run| run.not_taken).sum();
    (cases > 0).then(|| format!("{} accepted by no kernel (summed over lanes)", plural(cases as usize, "kept case")))
}

fn without_value(ledger: &Ledger) -> Option<String> {
    let results: u64 = view::rows_out_of_domain(ledger).map(|row| row.out_of_domain).sum();
    let results = count(results);
    let ops: BTreeSet<&String> = view::rows_out_of_domain(ledger).map(|row| &row.op).collect();
    let ops = plural(ops.len(), "operation");
    let without_policy =
        view::rows_out_of_domain(ledger).find(|row| row.against == Against::Contract && !row.scheme.contains(':'));
    let policy = without_policy
        .map_or(String::new(), |row| format!("; the policy {}:wrap gives a value to those that overflow", row.scheme));
    (results != "0")
        .then(|| format!("{results} results in {ops} are not compared: the scheme gives no value there{policy}"))
}

/// Path of a kernel that ran as a portable model of its vector instructions.
const PORTABLE: &str = "portable";

fn portable(ledger: &Ledger) -> Option<String> {
    let mut lanes: IndexMap<&str, BTreeSet<[&str; 2]>> = IndexMap::new();
    for row in ledger.rows.iter().filter(|row| row.isa_path == PORTABLE) {
        lanes.entry(&row.lane).or_default().insert([&row.op, &row.kernel]);
    }
    let lanes = lanes.iter().map(|(lane, kernels)| format!("{} in {lane}", plural(kernels.len(), "kernel")));
    let lanes: Vec<String> = lanes.collect();
    (!lanes.is_empty()).then(|| format!("vector code ran as a portable model: {}", text::some(&lanes, NAMED)))
}

fn sampled(ledger: &Ledger) -> Option<String> {
    let place = |row: &Row| [row.op.clone(), row.kernel.clone(), row.lane.clone()];
    let judged = || ledger.rows.iter().filter(|row| row.judged() > 0);
    let all = judged().map(place).collect::<BTreeSet<_>>().len();
    let sampled = judged().filter(|row| row.coverage == Coverage::Sampled).map(place).collect::<BTreeSet<_>>().len();
    (sampled > 0).then(|| match all {
        all if all == sampled => "all kernels ran on samples of their inputs".to_owned(),
        _ => format!("{sampled} of {all} pairs of kernel and lane ran on samples of their inputs"),
    })
}

fn some<T: AsRef<str>>(names: &[T]) -> String {
    text::some(names, NAMED)
}
