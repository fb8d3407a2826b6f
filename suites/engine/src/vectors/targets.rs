//! Targets of vectors: known bugs, which run; other schemes and causes of differences, which are predicted.

use crate::erased::{Change, Domain, Mutant, Params, Scheme};
use crate::identify::schemes;
use crate::lane::Lane;
use crate::operation::case::Case;
use crate::operation::differs;
use crate::run::answers::outs;
use crate::vectors::pool::Entry;
use tiebreak_common::parallel;

/// Outcome of a known bug on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The case is outside the bug's domain.
    Outside,
    /// Every result is right.
    Same,
    /// A result is wrong.
    Differs,
    /// The bug gives no results, for this reason.
    Fails(String),
}

/// Runs a known bug on a case.
pub(super) fn seen(bug: &Mutant, entry: &Entry, lane: &Lane) -> Seen {
    if !entry.is_of(&bug.kernel.contract.domain) {
        return Seen::Outside;
    }
    match outs(&mut lane.lease(), bug.kernel.name, &entry.case, entry.expected.len()) {
        Ok(outs) if outs == entry.expected => Seen::Same,
        Ok(_) => Seen::Differs,
        Err(failure) => Seen::Fails(failure.to_string()),
    }
}

/// Runs each known bug on a list in order, and flags the cases that show it.
pub(super) fn in_order(bugs: &[&Mutant], list: &[&Entry], lane: &Lane) -> Vec<Vec<bool>> {
    parallel::map(bugs, |bug| list.iter().map(|entry| seen(bug, entry, lane) == Seen::Differs).collect())
}

/// Alternative to the scheme: another scheme, or the scheme with a change.
pub(super) struct Alternative {
    /// Name of the scheme, or description of the cause.
    pub(super) name: String,
    /// True if the alternative is a scheme.
    pub(super) is_scheme: bool,
    gives: Gives,
}

enum Gives {
    Scheme(Scheme),
    Change(Change),
}

impl Alternative {
    /// Returns the index of the first word of a case with another value.
    pub(super) fn first_difference(&self, case: &Case<Params>, expected: &[i32]) -> Option<usize> {
        let predicted = match &self.gives {
            Gives::Scheme(scheme) => scheme.expected(case).ok(),
            Gives::Change(change) => change.predict(case),
        }?;
        // A prediction without a value shows nothing.
        predicted.iter().zip(expected).position(|(other, right)| differs(&[*other], &[*right]))
    }

    /// True if an entry has another result.
    pub(super) fn differs(&self, entry: &Entry) -> bool {
        self.first_difference(&entry.case, &entry.expected).is_some()
    }
}

/// Returns every other scheme, and every change to the scheme that a kernel of a domain may make.
pub(super) fn alternatives(scheme: &Scheme, domain: &Domain) -> Vec<Alternative> {
    let own = scheme.label();
    let others = schemes(scheme.op()).into_iter().filter(|(_, name)| *name != own);
    let others = others.map(|(scheme, name)| Alternative { name, is_scheme: true, gives: Gives::Scheme(scheme) });
    let changed = scheme.changes(domain).into_iter().filter_map(|change| {
        let name = format!("{}: {}", change.class, change.because()?);
        Some(Alternative { name, is_scheme: false, gives: Gives::Change(change) })
    });
    others.chain(changed).collect()
}
