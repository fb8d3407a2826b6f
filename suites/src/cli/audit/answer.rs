//! Sentences that answer an audit: counts and unexamined operators of each comparison.

use super::rows::share;
use crate::audit::report::{Audit, Comparison, NotAudited, Totals};
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_reports::text;

/// Maximum number of unexamined operators that are named.
const NAMED: usize = 4;

/// Limit of counts per layer.
const NO_BOUND: &str =
    "Later layers can enlarge a change: counts of single layers are no bound for the outputs of the whole network.";

/// Returns the answer to each comparison. Counts refer to one layer at a time: both sides read equal inputs.
pub(super) fn answers(audit: &Audit) -> Vec<String> {
    let each = audit.comparisons.iter().map(|c| [counted(audit, c), unexamined(audit, c)].concat());
    let changes = audit.comparisons.iter().any(|c| c.totals.differ > 0);
    each.chain(changes.then(|| NO_BOUND.to_owned())).collect()
}

fn counted(audit: &Audit, c: &Comparison) -> String {
    let Totals { channels, channels_that_differ, inputs, inside, differ, differ_inside, largest } = c.totals;
    let (left, right) = (&c.left, &c.right);
    if c.layers.is_empty() {
        return format!("{left} to {right}: nothing of this model could be compared.");
    }
    let channels = text::plural(channels as usize, "channel");
    if differ == 0 {
        let layers = match all_unexamined(audit, c).next() {
            None => "any layer".to_owned(),
            Some(_) => format!("the {} examined", text::plural(c.layers.len(), "layer")),
        };
        return format!(
            "{left} to {right}: no change in {layers}. On all {} reachable inputs of {channels} both give the same.",
            text::count(inputs)
        );
    }
    format!(
        "{left} to {right}: results change. Each layer alone, given equal inputs: {} of {} reachable inputs ({}; {} of those not clamped) give another value, in {} of {channels}, by at most {largest}.",
        text::count(differ),
        text::count(inputs),
        share(differ, inputs),
        share(differ_inside, inside),
        text::count(channels_that_differ),
    )
}

fn all_unexamined<'a>(audit: &'a Audit, c: &'a Comparison) -> impl Iterator<Item = &'a NotAudited> {
    audit.not_audited.iter().chain(&c.not_compared)
}

/// Names the operators that no count covers.
fn unexamined(audit: &Audit, c: &Comparison) -> String {
    let mut by_name = BTreeMap::<&str, usize>::new();
    all_unexamined(audit, c).for_each(|n| *by_name.entry(&n.op).or_default() += 1);
    let count: usize = by_name.values().sum();
    if count == 0 {
        return String::new();
    }
    let mut names: Vec<_> = by_name.into_iter().collect();
    names.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let more = if names.len() > NAMED { ", .." } else { "" };
    let named: Vec<String> = names.iter().take(NAMED).map(|(op, n)| format!("{n} {op}")).collect();
    let apart = all_unexamined(audit, c).any(|n| n.reason.contains(crate::model::operators::ELSEWHERE));
    let apart = if apart { " Values in another file were not read: save the model as one file." } else { "" };
    format!(
        " Not examined, and possibly changed: {} ({}{more}).{apart}",
        text::plural(count, "operator"),
        named.join(", ")
    )
}

/// Returns the versions of the runtimes, grouped by version. `None` if only schemes are compared.
pub(super) fn versions(audit: &Audit) -> Option<String> {
    let mut by_version = BTreeMap::<&str, BTreeSet<&str>>::new();
    for c in &audit.comparisons {
        for (version, name) in [(c.left_version, &c.left), (c.right_version, &c.right)] {
            if let Some(version) = version {
                by_version.entry(version).or_default().insert(name);
            }
        }
    }
    let each = |(version, names): (&str, BTreeSet<&str>)| {
        format!("{} ({version})", names.into_iter().collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = by_version.into_iter().map(each).collect();
    (!all.is_empty()).then(|| format!("Runtimes: {}.", all.join("; ")))
}

/// Says that these comparisons compared no layer, with the reasons.
pub(super) fn nothing(audit: &Audit, empty: &[&Comparison]) -> String {
    let names: Vec<String> = empty.iter().map(|c| format!("{} to {}", c.left, c.right)).collect();
    let all = audit.not_audited.iter().chain(empty.iter().flat_map(|c| &c.not_compared));
    let reasons: BTreeSet<String> = all.map(|n| format!("\n  {}: {}", n.op, n.reason)).collect();
    let why = match reasons.is_empty() {
        true => ", because no operator of the model has arithmetic".to_owned(),
        false => format!(":{}", reasons.into_iter().collect::<String>()),
    };
    format!("{}: no layer could be compared{why}", names.join(", "))
}
