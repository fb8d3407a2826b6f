//! Why a kernel differs: the first change to the scheme whose prediction reproduces every gathered output.

use crate::operation::Operation;
use crate::operation::change::Change;
use crate::operation::expected::Expected;
use crate::operation::observed::Observed;
use std::borrow::Cow;
use tiebreak_common::class::Class;

/// Cases in which the nearest cause is looked for.
const FEW: usize = 8;

/// Class of a difference, with what reproduces it, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The class.
    pub class: Class,
    /// What reproduces the outputs.
    pub because: String,
    /// Place of the cause in the list, where one does.
    pub cause: Option<usize>,
}

/// How a cause fits what was seen.
#[derive(Clone, Copy, Default)]
struct Share {
    /// Words that differ and are as it predicts them.
    right: usize,
    /// Words that differ.
    all: usize,
    /// Words that do not differ, and would by its prediction.
    beside: usize,
}

impl Share {
    /// Whether at least half of what differs or should is as predicted: what fits less would mislead.
    fn is_near(self) -> bool {
        self.right > 0 && 2 * self.right >= self.all + self.beside
    }

    /// Whether all but few of what differs or should is as predicted: at least nine of ten.
    fn is_all_but_few(self) -> bool {
        10 * self.right >= 9 * (self.all + self.beside)
    }

    /// What is right of all that differs or should, in millionths.
    fn agreement(self) -> usize {
        self.right * 1_000_000 / (self.all + self.beside).max(1)
    }
}

/// How a cause fits some cases; nothing where it has no words by itself.
fn share<O: Operation>(cause: &Change<O>, evidence: &[&Observed<O::Params>]) -> Option<Share> {
    cause.because()?;
    let predicted = evidence.iter().map(|seen| cause.predict(&seen.case).map(Cow::Owned));
    Some(of_predictions::<O>(evidence, predicted))
}

/// Fit of predictions to the cases that they were made for.
fn of_predictions<'a, O: Operation>(
    evidence: &[&Observed<O::Params>],
    predicted: impl Iterator<Item = Option<Cow<'a, Expected>>>,
) -> Share {
    let of = |mut share: Share, (seen, predicted): (&&Observed<O::Params>, Option<Cow<'a, Expected>>)| {
        let predicted = predicted.filter(|predicted| predicted.len() == seen.outs.len());
        let differing = differing(seen);
        share.all += differing.len();
        let Some(predicted) = predicted else { return share };
        let is = |at: usize| match predicted[at] {
            None => (O::CAPABILITIES.causes.stands_for_none)(&seen.case.params, &seen.outs, at) == Some(true),
            Some(value) => value == seen.outs[at],
        };
        share.right += differing.iter().filter(|at| is(**at)).count();
        let words = seen.words();
        let equal = |at: &usize| seen.expected[*at] == Some(seen.outs[*at]) && !seen.is_faulty(at / words);
        let should = |at: &usize| predicted[*at].is_some_and(|value| value != seen.outs[*at]);
        share.beside += (0..seen.outs.len()).filter(|at| equal(at) && should(at)).count();
        share
    };
    evidence.iter().zip(predicted).fold(Share::default(), of)
}

/// The words that differ and follow no known fault.
pub(crate) fn differing<P>(seen: &Observed<P>) -> Vec<usize> {
    let words = seen.words();
    let differs = |at: &usize| seen.expected[*at].is_some_and(|right| right != seen.outs[*at]);
    (0..seen.outs.len()).filter(|at| differs(at) && !seen.is_faulty(at / words)).collect()
}

/// The cause that comes nearest where no cause reproduces everything: it names no class, but says where to look. A share of few cases finds it; of all the
/// evidence it is counted.
fn nearest<O: Operation>(causes: &[Change<O>], evidence: &[&Observed<O::Params>]) -> Option<(Share, String)> {
    let differing = evidence.iter().filter(|seen| seen.differ > 0).take(FEW);
    let few: Vec<_> = differing.chain(evidence.iter().filter(|seen| seen.differ == 0).take(FEW)).copied().collect();
    let shares = causes.iter().filter_map(|cause| Some((share(cause, &few)?, cause))).rev();
    let near = shares.filter(|(share, _)| share.is_near());
    let (_, cause) = near.max_by_key(|(share, _)| share.agreement())?;
    let share = share(cause, evidence).filter(|share| share.is_near())?;
    let Share { right, all, beside } = share;
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

/// `all 17,557 results examined`; of a case that the caller gave its own results, and those of the plan that told causes apart.
fn examined(own: usize, learnt: usize) -> String {
    let one = |n: usize| if n == 1 { "the one result".to_owned() } else { format!("all {} results", count(n)) };
    match learnt {
        0 => format!("{} examined", one(own)),
        n => format!("{} of this run, and {} of a quick plan that tell causes apart", one(own), count(n)),
    }
}

fn results<P>(evidence: &[&Observed<P>]) -> usize {
    evidence.iter().map(|seen| seen.expected.iter().flatten().count()).sum()
}

/// The first cause that reproduces all of the evidence.
pub fn explain<O: Operation>(causes: &[Change<O>], evidence: &[&Observed<O::Params>]) -> Explanation {
    explain_beside(causes, evidence, &[])
}

/// The first cause that reproduces the evidence of a run and what another run saw beside it. The sentence counts both apart.
pub fn explain_beside<O: Operation>(
    causes: &[Change<O>],
    own: &[&Observed<O::Params>],
    learnt: &[&Observed<O::Params>],
) -> Explanation {
    let evidence = [own, learnt].concat();
    let examined = examined(results(own), results(learnt));
    for (at, cause) in causes.iter().enumerate() {
        let Some((because, predicted)) = cause.reproduces(&evidence) else { continue };
        let predicted = predicted.iter().map(|predicted| Some(Cow::Borrowed(predicted)));
        let share = cause.because().map(|_| of_predictions::<O>(&evidence, predicted));
        let because = match share {
            // What it leaves undefined it does not explain.
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
