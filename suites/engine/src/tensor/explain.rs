//! Why a kernel differs: the first change to the scheme whose prediction reproduces every gathered output.

use super::fault::Faulty;
use super::{Case, Change, Expected, Operation};
use tiebreak_common::class::Class;

/// Cases in which the nearest cause is looked for.
const FEW: usize = 8;

/// A case with what a kernel gave for it.
#[derive(Clone, Debug)]
pub struct Observed<P> {
    /// The case.
    pub case: Case<P>,
    /// The kernel's results.
    pub outs: Vec<i32>,
    /// What the scheme judged against expects. Where it gives no value, no cause has to.
    pub expected: Expected,
    /// Results that differ from the scheme judged against, and follow no known fault.
    pub differ: usize,
    /// Results that follow a known fault, of which no cause has to give account.
    pub faulty: Faulty,
}

impl<P> Observed<P> {
    /// Words of a result, as far as it matters: 1 where no result follows a known fault.
    fn words(&self) -> usize {
        if self.faulty.is_empty() { 1 } else { (self.outs.len() / self.faulty.len()).max(1) }
    }

    /// Whether the result at an index follows a known fault.
    pub fn is_faulty(&self, index: usize) -> bool {
        self.faulty.get(index).is_some_and(Option::is_some)
    }
}

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

/// Whether every result of which the scheme expects a value is what a cause predicts. A prediction without a value reproduces nothing.
pub(super) fn reproduces<O: Operation>(predicted: &Option<Expected>, seen: &Observed<O::Params>) -> bool {
    let Some(predicted) = predicted.as_ref().filter(|predicted| predicted.len() == seen.outs.len()) else {
        return false;
    };
    let words = seen.words();
    let is_open = |at: usize| seen.expected[at].is_none();
    let none = |at: usize| (O::CAPABILITIES.causes.stands_for_none)(&seen.case.params, &seen.outs, at) != Some(false);
    let is = |at, predicted: Option<i32>, out| predicted.map_or_else(|| none(at), |predicted| predicted == out);
    let mut results = predicted.iter().zip(&seen.outs).enumerate();
    results.all(|(at, (predicted, out))| is_open(at) || seen.is_faulty(at / words) || is(at, *predicted, *out))
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

    /// What is right of all that differs or should, in millionths.
    fn agreement(self) -> usize {
        self.right * 1_000_000 / (self.all + self.beside).max(1)
    }
}

/// How a cause fits some cases; nothing where it has no words by itself.
fn share<O: Operation>(cause: &Change<O>, evidence: &[&Observed<O::Params>]) -> Option<Share> {
    cause.because()?;
    let of = |mut share: Share, seen: &&Observed<O::Params>| {
        let predicted = cause.predict(&seen.case).filter(|predicted| predicted.len() == seen.outs.len());
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
    Some(evidence.iter().fold(Share::default(), of))
}

/// The words that differ and follow no known fault.
pub(super) fn differing<P>(seen: &Observed<P>) -> Vec<usize> {
    let words = seen.words();
    let differs = |at: &usize| seen.expected[*at].is_some_and(|right| right != seen.outs[*at]);
    (0..seen.outs.len()).filter(|at| differs(at) && !seen.is_faulty(at / words)).collect()
}

/// What comes nearest where no cause reproduces everything: it names no class, but says where to look.
fn nearest<O: Operation>(causes: &[Change<O>], evidence: &[&Observed<O::Params>]) -> Option<String> {
    let differing = evidence.iter().filter(|seen| seen.differ > 0).take(FEW);
    let few: Vec<_> = differing.chain(evidence.iter().filter(|seen| seen.differ == 0).take(FEW)).copied().collect();
    let shares = causes.iter().filter_map(|cause| Some((share(cause, &few)?, cause))).rev();
    let near = shares.filter(|(share, _)| share.is_near());
    let (Share { right, all, beside }, cause) = near.max_by_key(|(share, _)| share.agreement())?;
    let because = cause.because()?;
    let count = |n: usize| tiebreak_reports::text::count(n as u64);
    let others = match beside {
        0 => String::new(),
        1 => ", and predicts 1 difference that did not occur".to_owned(),
        n => format!(", and predicts {} differences that did not occur", count(n)),
    };
    let (right, all) = (count(right), count(all));
    Some(format!("the nearest, {} ({because}), explains {right} of {all} that differ{others}", cause.class))
}

/// `all 17,557 results examined`.
fn examined(results: usize) -> String {
    match results {
        1 => "the one result examined".to_owned(),
        n => format!("all {} results examined", tiebreak_reports::text::count(n as u64)),
    }
}

/// The first cause that reproduces all of the evidence.
pub fn explain<O: Operation>(causes: &[Change<O>], evidence: &[&Observed<O::Params>]) -> Explanation {
    let results: usize = evidence.iter().map(|seen| seen.expected.iter().flatten().count()).sum();
    for (at, cause) in causes.iter().enumerate() {
        let Some(because) = cause.explains(evidence) else { continue };
        let because = match share(cause, evidence) {
            // What it leaves undefined it does not explain.
            Some(Share { right: 0, all, .. }) if all > 0 => continue,
            Some(Share { right, all, .. }) if right < all => {
                format!("{because} (explains {right} of {all} that differ, and leaves the others undefined)")
            }
            _ => format!("{because} (reproduces {})", examined(results)),
        };
        return Explanation { class: cause.class, because, cause: Some(at) };
    }
    let nearest = nearest(causes, evidence).map_or_else(String::new, |nearest| format!("; {nearest}"));
    let because = format!("no known cause reproduces {}{nearest}", examined(results));
    Explanation { class: Class::Unexplained, because, cause: None }
}
