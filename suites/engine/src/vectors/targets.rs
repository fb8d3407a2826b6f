//! What vectors are to show: known bugs, which run; other schemes and causes of differences, which are predicted.

use crate::identify::schemes;
use crate::lane::Lane;
use crate::operation::case::Case;
use crate::operation::{Change, Mutant, Operation, differs, label};
use crate::run::answers::outs;
use crate::vectors::pool::Entry;
use tiebreak_common::parallel;

/// What a known bug does on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Its domain does not have the case.
    Outside,
    /// Every result is right.
    Same,
    /// A result is wrong.
    Differs,
    /// It gives no results, for this reason.
    Fails(String),
}

/// Runs a known bug on a case.
pub(super) fn seen<O: Operation>(bug: &Mutant<O>, entry: &Entry<O>, lane: &Lane) -> Seen {
    if !entry.is_of(&bug.kernel.contract.domain) {
        return Seen::Outside;
    }
    match outs::<O>(&mut lane.lease(), bug.kernel.name, &entry.case, entry.expected.len()) {
        Ok(outs) if outs == entry.expected => Seen::Same,
        Ok(_) => Seen::Differs,
        Err(failure) => Seen::Fails(failure.to_string()),
    }
}

/// Which cases of a list show each known bug, when it runs the list in its order.
pub(super) fn in_order<O: Operation>(bugs: &[&Mutant<O>], list: &[&Entry<O>], lane: &Lane) -> Vec<Vec<bool>> {
    parallel::map(bugs, |bug| list.iter().map(|entry| seen(bug, entry, lane) == Seen::Differs).collect())
}

/// What a kernel of another scheme would give, or one with something done otherwise than the scheme says.
pub(super) struct Alternative<O: Operation> {
    /// Name of the scheme, or the cause in words.
    pub(super) name: String,
    /// Whether it is a scheme.
    pub(super) is_scheme: bool,
    gives: Gives<O>,
}

enum Gives<O: Operation> {
    Scheme(O::Scheme),
    Change(Change<O>),
}

impl<O: Operation> Alternative<O> {
    /// The first result of a case that is another, if one is.
    pub(super) fn first_difference(&self, case: &Case<O::Params>, expected: &[i32]) -> Option<usize> {
        let predicted = match &self.gives {
            Gives::Scheme(scheme) => O::expected(scheme, case).ok(),
            Gives::Change(change) => change.predict(case),
        }?;
        // A prediction without a value says nothing.
        predicted.iter().zip(expected).position(|(other, right)| differs(&[*other], &[*right]))
    }

    /// Whether a result of an entry is another.
    pub(super) fn differs(&self, entry: &Entry<O>) -> bool {
        self.first_difference(&entry.case, &entry.expected).is_some()
    }
}

/// Every other scheme, and every change to the scheme that a kernel of a domain may make.
pub(super) fn alternatives<O: Operation>(scheme: &O::Scheme, domain: &O::Domain) -> Vec<Alternative<O>> {
    let own = label::<O>(scheme);
    let others = schemes::<O>().into_iter().filter(|(_, name)| *name != own);
    let others = others.map(|(scheme, name)| Alternative { name, is_scheme: true, gives: Gives::Scheme(scheme) });
    let changed = O::changes(scheme, domain).into_iter().filter_map(|change| {
        let name = format!("{}: {}", change.class, change.because()?);
        Some(Alternative { name, is_scheme: false, gives: Gives::Change(change) })
    });
    others.chain(changed).collect()
}
