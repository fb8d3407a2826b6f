//! Order of findings in reports: the most likely cause of other findings comes first. A finding of several lanes is shown once, with
//! the names of the lanes; the ledger and the JUnit file have one finding for each lane.

use crate::ledger::{Finding, Ledger};
use crate::text;
use indexmap::IndexSet;
use std::collections::BTreeMap;

/// Finding, with the lanes that have it.
#[derive(Clone, Debug)]
pub(crate) struct Merged<'a> {
    /// Finding of the first lane.
    pub(crate) finding: &'a Finding,
    /// Names of the lanes, without empty names.
    pub(crate) lanes: Vec<&'a str>,
}

impl Merged<'_> {
    /// Returns the finding in one line, with all of its lanes.
    pub(crate) fn line(&self) -> String {
        text::finding_in(self.finding, &self.lanes.join(", "))
    }
}

/// Returns the findings of a ledger in its order. Findings that differ only in their lane are merged.
pub(crate) fn merged(ledger: &Ledger) -> Vec<Merged<'_>> {
    let mut out: Vec<Merged<'_>> = Vec::new();
    let mut known: BTreeMap<[String; 4], usize> = BTreeMap::new();
    for finding in &ledger.findings {
        let lane = Some(finding.lane.as_str()).filter(|lane| !lane.is_empty());
        // A finding about a lane as a whole stays separate for each lane.
        let at = (!finding.kernel.is_empty()).then(|| *known.entry(identity(finding)).or_insert(out.len()));
        match at.and_then(|at| out.get_mut(at)) {
            Some(same) if lane.is_some_and(|lane| same.lanes.contains(&lane)) => {
                out.push(Merged { finding, lanes: lane.into_iter().collect() });
            }
            Some(same) => same.lanes.extend(lane),
            None => out.push(Merged { finding, lanes: lane.into_iter().collect() }),
        }
    }
    out
}

/// Returns the common part of findings to merge: the results of the witness, or the message if there is none.
/// Counts in a message and the command of a witness depend on the lane.
fn identity(finding: &Finding) -> [String; 4] {
    let seen = match &finding.witness {
        Some(seen) if seen.expected.is_some() => text::witness(seen),
        Some(seen) => format!("{}: {}", text::case(&seen.case), finding.message),
        None => finding.message.clone(),
    };
    [finding.op.clone(), finding.kernel.clone(), finding.class.clone(), seen]
}

/// Returns the number of findings, as reports count them.
pub(crate) fn number(ledger: &Ledger) -> usize {
    merged(ledger).len()
}

/// Returns the findings by severity: kernels with a wrong result or none, other findings about kernels, lanes, the harness itself. Within a
/// severity, the first finding of each kernel comes before any second one, so that a short list names many kernels.
pub(crate) fn by_severity(ledger: &Ledger) -> Vec<Merged<'_>> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut keyed = Vec::new();
    for merged in merged(ledger) {
        let nth = seen.entry((&merged.finding.op, &merged.finding.kernel)).or_default();
        keyed.push(((severity(merged.finding), *nth), merged));
        *nth += 1;
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, merged)| merged).collect()
}

fn severity(finding: &Finding) -> u8 {
    match finding {
        Finding { class, .. } if class == "self-check" => 3,
        Finding { kernel, .. } if kernel.is_empty() => 2,
        Finding { witness: None, .. } => 1,
        _ => 0,
    }
}

/// Smallest number of kernels for which equal findings are attributed to shared code.
const SIBLINGS: usize = 4;

/// Classes of results that depend on earlier calls, or on chance. The number of calls needed differs between kernels.
const OF_CALLS: [&str; 2] = ["depends-on-history", "nondeterministic"];

/// Finding, grouped with findings of other kernels and lanes that have the same class and reason.
pub(crate) struct Alike<'a> {
    /// First finding of the group.
    pub(crate) first: Merged<'a>,
    /// Number of findings in the group.
    pub(crate) count: usize,
    /// Sentence on the kernels that share the finding; `None` for a single finding.
    pub(crate) others: Option<String>,
}

/// Returns the findings by severity. Findings of one class and reason are grouped if at least four kernels have them.
pub(crate) fn alike(ledger: &Ledger) -> Vec<Alike<'_>> {
    let mut groups: BTreeMap<(&str, String), Vec<Merged<'_>>> = BTreeMap::new();
    for merged in merged(ledger) {
        if let Some(reason) = reason(merged.finding) {
            groups.entry((&merged.finding.class, reason)).or_default().push(merged);
        }
    }
    groups.retain(|_, all| distinct(all.iter().map(|merged| &*merged.finding.kernel)).len() >= SIBLINGS);
    let mut out = Vec::new();
    let mut shown = Vec::new();
    for first in by_severity(ledger) {
        let key = reason(first.finding).map(|reason| (first.finding.class.as_str(), reason));
        let Some((key, all)) = key.and_then(|key| groups.get(&key).map(|all| (key, all))) else {
            out.push(Alike { first, count: 1, others: None });
            continue;
        };
        if !shown.contains(&key) {
            out.push(Alike { first, count: all.len(), others: Some(shared(all)) });
            shown.push(key);
        }
    }
    out
}

/// `the same in 13 kernels of conv2d and matmul (host, aarch64-qemu): examine the shared code first; a, b, c and 10 more`.
fn shared(all: &[Merged<'_>]) -> String {
    let ops = distinct(all.iter().map(|merged| &*merged.finding.op)).join(" and ");
    let lanes = distinct(all.iter().flat_map(|merged| merged.lanes.iter().copied())).join(", ");
    let kernels = distinct(all.iter().map(|merged| &*merged.finding.kernel));
    let named = text::some(&kernels, 3);
    format!("the same in {} kernels of {ops} ({lanes}): examine the shared code first; {named}", kernels.len())
}

/// Returns each name once, in order, without empty names.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.filter(|name| !name.is_empty()).collect::<IndexSet<_>>().into_iter().collect()
}

/// Returns why a result differs, without counts: the hypothesis that reproduces the result, or its place.
fn reason(finding: &Finding) -> Option<String> {
    let because = &finding.witness.as_ref()?.because;
    let reason = match COUNTS_OF_CAUSES.iter().find_map(|counts| because.split_once(counts)) {
        Some((reason, _)) => reason.to_owned(),
        None if OF_CALLS.contains(&&*finding.class) => finding.class.to_string(),
        None => without_counts(&because[because.find("; only ")?..]),
    };
    (!finding.kernel.is_empty() && finding.class != "self-check").then_some(reason)
}

/// Beginnings of the counts that follow a cause.
const COUNTS_OF_CAUSES: [&str; 2] = [" (reproduces ", " (explains "];

/// Removes the numbers of cases from the description of a place: `only where k >= 2 (all 9 cases kept that differ, ..)`.
fn without_counts(place: &str) -> String {
    let Some((place, counts)) = place.split_once(" (all ") else { return place.to_owned() };
    let rest = counts.split_once(')').map_or("", |(_, rest)| rest);
    format!("{place}{rest}")
}
