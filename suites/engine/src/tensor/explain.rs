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
    let none = |at: usize| O::stands_for_none(&seen.case.params, &seen.outs, at) != Some(false);
    let is = |at, predicted: Option<i32>, out| predicted.map_or_else(|| none(at), |predicted| predicted == out);
    let mut results = predicted.iter().zip(&seen.outs).enumerate();
    results.all(|(at, (predicted, out))| is_open(at) || seen.is_faulty(at / words) || is(at, *predicted, *out))
}

/// How many of the words that differ are as a cause predicts them, and how many differ.
fn share<O: Operation>(cause: &Change<O>, evidence: &[&Observed<O::Params>]) -> Option<(usize, usize)> {
    cause.because()?;
    let of = |seen: &&Observed<O::Params>| {
        let predicted = cause.predict(&seen.case).filter(|predicted| predicted.len() == seen.outs.len());
        let is = |at: usize| match predicted.as_ref().map(|predicted| predicted[at]) {
            None => false,
            Some(None) => O::stands_for_none(&seen.case.params, &seen.outs, at) == Some(true),
            Some(value) => value == Some(seen.outs[at]),
        };
        let differing = differing(seen);
        (differing.iter().filter(|at| is(**at)).count(), differing.len())
    };
    Some(evidence.iter().map(of).fold((0, 0), |(n, all), (more, others)| (n + more, all + others)))
}

/// The words that differ and follow no known fault.
fn differing<P>(seen: &Observed<P>) -> Vec<usize> {
    let words = seen.words();
    let differs = |at: &usize| seen.expected[*at].is_some_and(|right| right != seen.outs[*at]);
    (0..seen.outs.len()).filter(|at| differs(at) && !seen.is_faulty(at / words)).collect()
}

/// What comes nearest where no cause reproduces everything: it names no class, but says where to look. What explains less than half would mislead.
fn nearest<O: Operation>(causes: &[Change<O>], evidence: &[&Observed<O::Params>]) -> Option<String> {
    let differing: Vec<_> = evidence.iter().filter(|seen| seen.differ > 0).copied().take(FEW).collect();
    let shares = causes.iter().filter_map(|cause| Some((share(cause, &differing)?, cause))).rev();
    let ((n, all), cause) = shares.max_by_key(|((n, _), _)| *n).filter(|((n, all), _)| *n > 0 && 2 * n >= *all)?;
    let because = cause.because()?;
    Some(format!("the nearest, {} ({because}), explains {n} of {all} that differ", cause.class))
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
            Some((0, all)) if all > 0 => continue,
            Some((n, all)) if n < all => {
                format!("{because} (explains {n} of {all} that differ, and leaves the others undefined)")
            }
            _ => format!("{because} (reproduces {})", examined(results)),
        };
        return Explanation { class: cause.class, because, cause: Some(at) };
    }
    let nearest = nearest(causes, evidence).map_or_else(String::new, |nearest| format!("; {nearest}"));
    let because = format!("no known cause reproduces {}{nearest}", examined(results));
    Explanation { class: Class::Unexplained, because, cause: None }
}
