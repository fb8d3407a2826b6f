//! Cause of a difference: the first change to the scheme whose prediction reproduces all evidence.

use crate::erased::{Change, Params};
use crate::operation::change::smallest_first;
use crate::operation::expected::Expected;
use crate::operation::observed::Observed;
use std::borrow::Cow;
use tiebreak_common::class::Class;

/// Number of differing, and of agreeing, cases in the search for the nearest cause.
const FEW: usize = 8;

/// Largest number of results of a case in the search for the nearest cause: each of some hundred causes predicts each result.
const HINTED: usize = 1 << 17;

/// Class of a difference, with a description of the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Class of the difference.
    pub class: Class,
    /// Description of the cause.
    pub because: String,
    /// Place of the cause in the list; `None` if no cause was found.
    pub cause: Option<usize>,
}

/// Fit of a cause to the evidence.
#[derive(Clone, Copy, Default)]
struct Share {
    /// Number of differing words with the predicted value.
    right: usize,
    /// Number of differing words.
    all: usize,
    /// Number of equal words for which the cause predicts a difference.
    false_differences: usize,
}

impl Share {
    /// True if at least half of the actual and predicted differences match; a worse fit would mislead.
    fn is_near(self) -> bool {
        self.right > 0 && 2 * self.right >= self.all + self.false_differences
    }

    /// True if at least nine of ten actual and predicted differences match.
    fn is_all_but_few(self) -> bool {
        10 * self.right >= 9 * (self.all + self.false_differences)
    }

    /// Adds the fit to other evidence.
    fn add(&mut self, other: &Self) {
        self.right += other.right;
        self.all += other.all;
        self.false_differences += other.false_differences;
    }

    /// Returns the share of matches among actual and predicted differences, in millionths.
    fn agreement(self) -> usize {
        self.right * 1_000_000 / (self.all + self.false_differences).max(1)
    }
}

/// Measures the fit of a cause to some cases with `all` differing words; `None` if the cause is not near, or if the description depends on the outputs.
/// The smallest cases come first, and the measurement ends at the first case after which the cause cannot be near.
fn share(cause: &Change, evidence: &[&Observed<Params>], all: usize) -> Option<Share> {
    cause.because()?;
    let mut share = Share::default();
    for at in smallest_first(evidence) {
        let seen = evidence[at];
        share.add(&of_predictions(&[seen], std::iter::once(cause.predict(&seen.case).map(Cow::Owned))));
        if share.false_differences > all {
            return None;
        }
    }
    share.is_near().then_some(share)
}

/// Counts the differing words that follow no known fault.
fn count_differing(evidence: &[&Observed<Params>]) -> usize {
    evidence.iter().map(|seen| differing(seen).len()).sum()
}

/// Measures the fit of predictions to their cases.
fn of_predictions<'a>(
    evidence: &[&Observed<Params>],
    predicted: impl Iterator<Item = Option<Cow<'a, Expected>>>,
) -> Share {
    let of = |mut share: Share, (seen, predicted): (&&Observed<Params>, Option<Cow<'a, Expected>>)| {
        let predicted = predicted.filter(|predicted| predicted.len() == seen.outs.len());
        let differing = differing(seen);
        share.all += differing.len();
        let Some(predicted) = predicted else { return share };
        let is = |at: usize| match predicted[at] {
            None => seen.case.params.matches_undefined(&seen.outs, at) == Some(true),
            Some(value) => value == seen.outs[at],
        };
        share.right += differing.iter().filter(|at| is(**at)).count();
        let words = seen.words();
        let equal = |at: &usize| seen.expected[*at] == Some(seen.outs[*at]) && !seen.is_faulty(at / words);
        let should = |at: &usize| predicted[*at].is_some_and(|value| value != seen.outs[*at]);
        share.false_differences += (0..seen.outs.len()).filter(|at| equal(at) && should(at)).count();
        share
    };
    evidence.iter().zip(predicted).fold(Share::default(), of)
}

/// Returns the differing words that follow no known fault.
pub(crate) fn differing(seen: &Observed<Params>) -> Vec<usize> {
    let words = seen.words();
    let differs = |at: &usize| seen.expected[*at].is_some_and(|right| right != seen.outs[*at]);
    (0..seen.outs.len()).filter(|at| differs(at) && !seen.is_faulty(at / words)).collect()
}

/// Returns the nearest cause if no cause reproduces all evidence: a hint, without a class. A few cases find the cause, and all evidence gives the
/// share.
fn nearest(causes: &[Change], evidence: &[&Observed<Params>]) -> Option<(Share, String)> {
    let differing = evidence.iter().filter(|seen| seen.differ > 0 && seen.outs.len() <= HINTED).take(FEW);
    let few: Vec<_> = differing.chain(evidence.iter().filter(|seen| seen.differ == 0).take(FEW)).copied().collect();
    let all = count_differing(&few);
    if all == 0 {
        return None;
    }
    let near = causes.iter().filter_map(|cause| Some((share(cause, &few, all)?, cause))).rev();
    let (_, cause) = near.max_by_key(|(share, _)| share.agreement())?;
    let share = share(cause, evidence, count_differing(evidence))?;
    let Share { right, all, false_differences: beside } = share;
    let others = match beside {
        0 => String::new(),
        1 => ", and predicts 1 difference that did not occur".to_owned(),
        n => format!(", and predicts {} differences that did not occur", count(n)),
    };
    let words = format!(
        "{} ({}), explains {} of {} that differ{others}",
        cause.class,
        cause.because()?,
        count(right),
        count(all)
    );
    Some((share, words))
}

fn count(n: usize) -> String {
    tiebreak_reports::text::count(n as u64)
}

/// Describes the evidence: `all 17,557 results examined, of which 478 differ`; for a caller's case, the results of the case and of the quick plan.
fn examined(own: &[&Observed<Params>], learnt: &[&Observed<Params>]) -> String {
    let differ: usize = own.iter().chain(learnt).map(|seen| seen.differ).sum();
    let one = |n: usize| if n == 1 { "the one result".to_owned() } else { format!("all {} results", count(n)) };
    match (results(own), results(learnt)) {
        (1, 0) => "the one result examined".to_owned(),
        (n, 0) => format!("{} examined, of which {} differ", one(n), count(differ)),
        (n, more) => format!("{} of this run, and {} of a quick plan that tell causes apart", one(n), count(more)),
    }
}

fn results(evidence: &[&Observed<Params>]) -> usize {
    evidence.iter().map(|seen| seen.expected.iter().flatten().count()).sum()
}

/// Returns the first cause that reproduces all evidence.
pub fn explain(causes: &[Change], evidence: &[&Observed<Params>]) -> Explanation {
    explain_beside(causes, evidence, &[])
}

/// Returns the first cause that reproduces the evidence of a run and of another run; the description counts the two separately.
pub fn explain_beside(causes: &[Change], own: &[&Observed<Params>], learnt: &[&Observed<Params>]) -> Explanation {
    let evidence = [own, learnt].concat();
    let examined = examined(own, learnt);
    for (at, cause) in causes.iter().enumerate() {
        let Some((because, predicted)) = cause.reproduces(&evidence) else { continue };
        let predicted = predicted.iter().map(|predicted| Some(Cow::Borrowed(predicted)));
        let share = cause.because().map(|_| of_predictions(&evidence, predicted));
        let because = match share {
            // A cause does not explain words that it leaves undefined.
            Some(Share { right: 0, all, .. }) if all > 0 => continue,
            Some(Share { right, all, .. }) if right < all => {
                format!("{because} (explains {right} of {all} that differ, and leaves the others undefined)")
            }
            _ => format!("{because} (reproduces {examined})"),
        };
        return Explanation { class: cause.class, because, cause: Some(at) };
    }
    let none = format!("no known cause reproduces {examined}");
    let because = match nearest(causes, &evidence) {
        Some((share, words)) if share.is_all_but_few() => format!("nearly: {words}; {none}"),
        Some((_, words)) => format!("{none}; the nearest, {words}"),
        None => none,
    };
    Explanation { class: Class::Unexplained, because, cause: None }
}
