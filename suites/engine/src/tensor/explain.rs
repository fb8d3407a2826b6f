//! Why a kernel differs: the first cause whose prediction reproduces every gathered output.

use super::fault::Faulty;
use super::judge::differs;
use super::{Case, Expected, Operation};
use tiebreak_common::class::Class;

/// A case with what a kernel gave for it.
#[derive(Clone, Debug)]
pub struct Observed<P> {
    /// The case.
    pub case: Case<P>,
    /// The kernel's results.
    pub outs: Vec<i32>,
    /// Results that differ from the scheme judged against, and follow no known fault.
    pub differ: usize,
    /// Results that follow a known fault, of which no cause has to give account.
    pub faulty: Faulty,
}

impl<P> Observed<P> {
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
}

/// What a kernel would give if the cause were at work; nothing where it says nothing about the case.
type Predict<O> = Box<dyn Fn(&Case<<O as Operation>::Params>) -> Option<Expected> + Send + Sync>;
/// Looks at all outputs at once, for causes that are many: the permutation that a layout is off by.
type Search<O> = Box<dyn Fn(&[&Observed<<O as Operation>::Params>]) -> Option<String> + Send + Sync>;

/// What may be the cause of a difference.
pub struct Cause<O: Operation> {
    /// Class of differences that it makes.
    pub class: Class,
    kind: Kind<O>,
}

enum Kind<O: Operation> {
    Predicts(String, Predict<O>),
    Found(Search<O>),
}

impl<O: Operation> Cause<O> {
    /// A cause that predicts every output.
    pub fn predicts(
        class: Class,
        because: impl Into<String>,
        predict: impl Fn(&Case<O::Params>) -> Option<Expected> + Send + Sync + 'static,
    ) -> Self {
        Self { class, kind: Kind::Predicts(because.into(), Box::new(predict)) }
    }

    /// A cause by another scheme.
    pub fn scheme(class: Class, because: impl Into<String>, scheme: O::Scheme) -> Self {
        Self::predicts(class, because, move |case| O::expected(&scheme, case).ok())
    }

    /// A cause that is looked for in the outputs; what is found is told in words.
    pub fn found(
        class: Class,
        search: impl Fn(&[&Observed<O::Params>]) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { class, kind: Kind::Found(Box::new(search)) }
    }

    /// What reproduces the evidence, in words; nothing where this cause does not.
    pub fn explains(&self, evidence: &[&Observed<O::Params>]) -> Option<String> {
        match &self.kind {
            Kind::Predicts(because, predict) => {
                let reproduces = |seen: &&Observed<O::Params>| reproduces(&predict(&seen.case), seen);
                // A prediction that says nothing of any case explains nothing.
                let speaks = evidence.iter().any(|seen| predict(&seen.case).is_some());
                (speaks && evidence.iter().all(reproduces)).then(|| because.clone())
            }
            Kind::Found(search) => search(evidence),
        }
    }
}

fn reproduces<P>(predicted: &Option<Expected>, seen: &Observed<P>) -> bool {
    let Some(predicted) = predicted.as_ref().filter(|predicted| predicted.len() == seen.outs.len()) else {
        return false;
    };
    let words = if seen.faulty.is_empty() { 1 } else { (seen.outs.len() / seen.faulty.len()).max(1) };
    let mut results = predicted.chunks(words).zip(seen.outs.chunks(words)).enumerate();
    results.all(|(index, (predicted, out))| seen.is_faulty(index) || !differs(predicted, out))
}

/// `all 17,557 results examined`.
fn examined(results: usize) -> String {
    match results {
        1 => "the one result examined".to_owned(),
        n => format!("all {} results examined", tiebreak_reports::text::count(n as u64)),
    }
}

/// The first cause that reproduces all of the evidence.
pub fn explain<O: Operation>(causes: &[Cause<O>], evidence: &[&Observed<O::Params>]) -> Explanation {
    let results: usize = evidence.iter().map(|seen| seen.outs.len()).sum();
    for cause in causes {
        if let Some(because) = cause.explains(evidence) {
            let because = format!("{because} (reproduces {})", examined(results));
            return Explanation { class: cause.class, because };
        }
    }
    Explanation { class: Class::Unexplained, because: format!("no known cause reproduces {}", examined(results)) }
}
