//! Small witnesses of a difference, with the same cause.

use crate::activity::doing;
use crate::erased::{Change, Domain, Params};
use crate::explain::groups::Basis;
use crate::lane::{Lane, Lease};
use crate::operation::case::Case;
use crate::operation::expected::differs;
use crate::operation::fault::Faulty;
use crate::operation::observed::{Observed, Witness};
use crate::run::answers::tried;
use crate::run::shrink::shrink_by;
use crate::run::subject::expected_masked;
use tiebreak_common::class::Class;

/// Number of timeouts after which shrinking stops.
const WAITED_FOR: usize = 2;

/// Difference and cause that a witness must show.
pub struct Shown<'a> {
    /// Kernel, and scheme with different results.
    pub basis: &'a Basis<'a>,
    /// All known causes.
    pub causes: &'a [Change],
    /// Class of the difference.
    pub class: Class,
    /// Place, in `causes`, of the printed cause.
    pub cause: Option<usize>,
}

impl Shown<'_> {
    /// Runs a case, and returns a witness if the case shows the difference.
    fn by(&self, lease: &mut Lease<'_>, case: &Case<Params>) -> Option<Witness<Params>> {
        let Basis { kernel, code, domain, contract, scheme, .. } = *self.basis;
        let outs = tried(lease, kernel, domain, case)?;
        let words = domain.result_element(&case.params).words();
        let faulty = code.map_or_else(Faulty::new, |code| code.among(case, words, &outs));
        let expected = expected_masked(contract, scheme, case).ok()?;
        let observed = Observed { case: case.clone(), outs, expected, differ: 1, faulty, due: Vec::new() };
        let witness = first_difference(domain, &observed)?;
        self.class_holds(&observed, witness.index).then_some(witness)
    }

    /// True if the printed cause still reproduces case and printed result. Without a printed cause: true if some cause of the class does, if any is
    /// known.
    fn class_holds(&self, observed: &Observed<Params>, index: usize) -> bool {
        if let Some(cause) = self.cause.and_then(|at| self.causes.get(at)) {
            return cause.explains(&[observed]).is_some() && self.is_predicted(cause, observed, index);
        }
        let mut same = self.causes.iter().filter(|cause| cause.class == self.class).peekable();
        same.peek().is_none() || same.any(|cause| cause.explains(&[observed]).is_some())
    }

    /// True if a cause predicts a result; undefined results are no witnesses. A prediction without a value may stand for NaN of any pattern.
    fn is_predicted(&self, cause: &Change, observed: &Observed<Params>, index: usize) -> bool {
        let words = self.basis.domain.result_element(&observed.case.params).words();
        let Some(predicted) = cause.predict(&observed.case) else { return true };
        let stands = |at| observed.case.params.matches_undefined(&observed.outs, at);
        (index * words..(index + 1) * words).all(|at| predicted[at].is_some() || stands(at) == Some(true))
    }
}

/// Returns the smallest case found with the same difference, starting from `seen`.
pub fn shrink(shown: &Shown<'_>, lane: &Lane, seen: &Observed<Params>) -> Option<Witness<Params>> {
    let mut lease = lane.lease();
    let Basis { domain, selection, kernel, .. } = *shown.basis;
    let _doing = doing(|| {
        format!("{} {kernel} in lane {}: a smaller input that differs is looked for", domain.op().name(), lane.name)
    });
    let mut shows = |case: &Case<Params>| {
        if lease.hung() < WAITED_FOR { shown.by(&mut lease, case) } else { None }
    };
    let first = shows(&seen.case).or_else(|| first_difference(domain, seen))?;
    Some(shrink_by(domain, selection, first, &mut shows))
}

/// Returns the first differing result of a case that follows no known fault.
pub fn first_difference(domain: &Domain, seen: &Observed<Params>) -> Option<Witness<Params>> {
    first_where(domain, seen, |index| !seen.is_faulty(index))
}

/// Returns the first differing result of a case, known faults included.
pub fn any_difference(domain: &Domain, seen: &Observed<Params>) -> Option<Witness<Params>> {
    first_where(domain, seen, |_| true)
}

fn first_where(domain: &Domain, seen: &Observed<Params>, counts: impl Fn(usize) -> bool) -> Option<Witness<Params>> {
    let expected = &seen.expected;
    let element = domain.result_element(&seen.case.params);
    let mut results = expected.chunks(element.words()).zip(seen.outs.chunks(element.words())).enumerate();
    let (index, _) = results.find(|(index, (expected, out))| counts(*index) && differs(expected, out))?;
    let at = index * element.words()..(index + 1) * element.words();
    let right: Option<Vec<i32>> = expected[at.clone()].iter().copied().collect();
    let (got, expected) = (element.described(&seen.outs[at]), element.described(&right?));
    Some(Witness { case: seen.case.clone(), index, got, expected })
}
