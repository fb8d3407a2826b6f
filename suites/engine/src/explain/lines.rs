//! Differences for `mismatches.csv`, each with a complete case.

use crate::case::text::{self, Draft};
use crate::erased::Params;
use crate::explain::comparison::Comparison;
use crate::explain::groups::Explained;
use crate::explain::witness::{any_difference, first_difference};
use crate::judge::record::{classify_by_path, run};
use crate::judge::side::Side;
use crate::lane::Lane;
use crate::operation::case::{Case, Spec};
use crate::operation::observed::{Observed, Witness};
use crate::run::answers::lacks;
use crate::run::subject::sized;
use std::collections::BTreeSet;
use std::sync::Arc;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against};

/// Number of mismatches for the CSV file, for each side.
const KEPT: usize = 64;

/// Number of differences from the reference for the CSV file of a quick run, besides the first of each further class: they fail no run, and their
/// texts take as long as the kernels.
const KEPT_BY_QUICK: usize = 8;

/// Difference with the case as text.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) witness: Witness<Params>,
    /// Case that reproduces the difference.
    pub(crate) case: ledger::Case,
    pub(crate) class: Class,
    /// Index of the result, if the case does not contain it.
    pub(crate) at: Option<usize>,
    /// Command that reproduces the difference, if the case alone does not.
    pub(crate) command: Option<String>,
}

/// Returns the smallest cases of a side, each with the first difference. `specs` are the sources of the cases.
pub(crate) fn lines(
    comparison: &Comparison<'_>,
    side: &Side,
    specs: &[Arc<Spec<Params>>],
    explained: &[Explained],
) -> Vec<Line> {
    let capabilities = comparison.domain().capabilities();
    let mut smallest: Vec<_> =
        side.groups.iter().flat_map(|(group, seen)| seen.differing.iter().map(move |seen| (*group, seen))).collect();
    smallest.sort_by_cached_key(|(_, seen)| (capabilities.witnesses.shrink_priority)(seen));
    let quick = comparison.against == Against::Reference && comparison.request.effort == Effort::Quick;
    let few = if quick { KEPT_BY_QUICK } else { KEPT };
    let mut classes = BTreeSet::new();
    let row = |(at, (group, seen)): (usize, (usize, &Observed<Params>))| {
        let unexcused = first_difference(comparison.domain(), seen);
        let first = unexcused.or_else(|| any_difference(comparison.domain(), seen))?;
        let of_group = explained.iter().find(|explained| explained.group == group)?;
        let class = class(comparison, seen, first.index).unwrap_or(of_group.explanation.class);
        let is_new = classes.insert(class);
        if at >= few && !is_new {
            return None;
        }
        // A difference that depends on earlier calls is reproduced only by them.
        let after_others = of_group.explanation.class.is_of_calls();
        let command = of_group.command.clone().filter(|_| after_others);
        let spelled =
            |witness: &Witness<Params>, class| (capabilities.spelling.result)(&witness.case, witness.index, class);
        let Some(case) = spelled(&first, Some(class)) else {
            let (witness, case) = complete(comparison, specs, first)?;
            let at = Some(witness.index);
            return Some(Line { witness, case, class, at, command });
        };
        // The printed place must be the place in the shortest case.
        let says_place = spelled(&first, None).as_ref() != Some(&case);
        let alone = if says_place { alone(comparison, &first, |witness| spelled(witness, Some(class))) } else { None };
        let (witness, case) = alone.unwrap_or((first, case));
        Some(Line { witness, case, class, at: None, command })
    };
    smallest.into_iter().take(KEPT).enumerate().filter_map(row).collect()
}

/// Returns the class of a single difference from the reference, if a known change explains it.
fn class(comparison: &Comparison<'_>, seen: &Observed<Params>, index: usize) -> Option<Class> {
    if comparison.against != Against::Reference || comparison.subject.path.is_empty() {
        return None;
    }
    if !seen.due.is_empty() {
        return seen.due.get(index).copied().flatten();
    }
    let expected_case = comparison.subject.expect_case(seen.case.clone()).ok()?;
    let element = comparison.domain().result_element(&seen.case.params);
    classify_by_path(&comparison.subject.path, &element, &expected_case, &seen.outs, &seen.faulty)
        .get(index)
        .copied()
        .flatten()
}

/// Returns a difference with its case as text. In order of preference: a small case written out, the caller's text, a case reduced to the operands of
/// this result if the kernel gives the same result, and the case with the fills of its tensors.
fn complete(
    comparison: &Comparison<'_>,
    specs: &[Arc<Spec<Params>>],
    witness: Witness<Params>,
) -> Option<(Witness<Params>, ledger::Case)> {
    let domain = comparison.domain();
    if let Some(case) = text::arguments(domain, &witness.case) {
        return Some((witness, case));
    }
    let is_it = |text: &&String| text::parse(text, domain).is_ok_and(|case| case == witness.case);
    if let Some(given) = comparison.request.selection.cases.iter().find(is_it) {
        return Draft::described(given).map(|case| (witness, case));
    }
    if let Some(alone) = alone(comparison, &witness, |alone| text::arguments(domain, &alone.case)) {
        return Some(alone);
    }
    let of = |spec: &Arc<Spec<Params>>| {
        let same = (&spec.params, spec.misalign) == (&witness.case.params, witness.case.misalign);
        let make = || spec.case(domain, comparison.request.seed).map(sized);
        let made = same.then(|| spec.cache.case(make)).flatten()?;
        (*made == witness.case).then(|| spec.made(comparison.request.seed))
    };
    let made = specs.iter().find_map(of).unwrap_or_default();
    text::complete(domain, &witness.case, &made).map(|case| (witness, case))
}

/// Returns the difference in a case reduced to the operands of the result, as text, if the kernel gives the same result.
fn alone(
    comparison: &Comparison<'_>,
    witness: &Witness<Params>,
    spelled: impl Fn(&Witness<Params>) -> Option<ledger::Case>,
) -> Option<(Witness<Params>, ledger::Case)> {
    comparison.domain().isolate_result(&witness.case, witness.index).into_iter().find_map(|(case, index)| {
        let case = spelled(&Witness { case: case.clone(), index, ..witness.clone() }).map(|spelled| (case, spelled));
        let (case, spelled) = case?;
        let same = |alone: &Witness<Params>| {
            (alone.index, &alone.got, &alone.expected) == (index, &witness.got, &witness.expected)
        };
        Some((shown(comparison, comparison.lane, case).filter(same)?, spelled))
    })
}

/// Returns the first difference of a single case, judged like a run.
fn shown(comparison: &Comparison<'_>, lane: &Lane, case: Case<Params>) -> Option<Witness<Params>> {
    let subject = comparison.subject;
    if !comparison.domain().covers(&case.params) || lacks(lane, &case.params) {
        return None;
    }
    let expected_case = subject.expect_case(case).ok()?;
    let record = run(lane, subject.kernel, &subject.contract, &subject.path, &[expected_case]);
    let side = if comparison.against == Against::Contract { &record.contract } else { &record.reference };
    let seen = side.smallest()?;
    first_difference(comparison.domain(), seen).or_else(|| any_difference(comparison.domain(), seen))
}
