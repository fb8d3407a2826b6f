//! Differences with their causes, by group, each with a small witness.
//!
//! Evidence is gathered over the whole run before the explanation. Explaining each batch was tried first: at `m = 1`, or for three differing outputs,
//! a wrong cause often fits.

use crate::erased::{Domain, Params, Scheme};
use crate::explain::cause::{Explanation, explain_beside};
use crate::explain::whereabouts;
use crate::explain::witness::{Shown, any_difference, first_difference, shrink};
use crate::judge::lane_code::LaneCode;
use crate::judge::side::{Group, Side};
use crate::lane::Lane;
use crate::operation::observed::Witness;
use crate::operation::selection::CaseSelection;
use tiebreak_common::class::Class;

/// Differences of a group of results.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Number of the group.
    pub group: usize,
    /// Number of differing results.
    pub differ: u64,
    /// Cause of the differences.
    pub explanation: Explanation,
    /// Differing result, in the smallest case found.
    pub witness: Witness<Params>,
    /// Command that reproduces the difference, if the witness alone does not.
    pub command: Option<String>,
}

/// Inputs of an explanation.
pub struct Basis<'a> {
    /// Kernel name.
    pub kernel: &'static str,
    /// Code of the kernel in the lane; results that follow known faults of the code are no witnesses.
    pub code: Option<LaneCode<'a>>,
    /// Domain of the kernel.
    pub domain: &'a Domain,
    /// Contract of the kernel.
    pub contract: &'a Scheme,
    /// Scheme with different results: the contract's scheme, or the reference.
    pub scheme: &'a Scheme,
    /// True if the kernel keeps its contract, and differs from the reference.
    pub kept: bool,
    /// Request of the caller; a single case is not shrunk.
    pub selection: &'a CaseSelection,
}

impl Basis<'_> {
    /// Explains every group with differences, the group of the simplest witness first.
    pub fn explained(&self, lane: &Lane, side: &Side) -> Vec<Explained> {
        let differing = side.groups.iter().filter(|(_, seen)| !seen.differing.is_empty());
        let mut all: Vec<_> = differing.filter_map(|(group, seen)| self.of_group(lane, *group, seen)).collect();
        all.sort_by_cached_key(|explained| (self.domain.capabilities().witnesses.rank)(&explained.witness));
        all
    }

    fn of_group(&self, lane: &Lane, group: usize, seen: &Group) -> Option<Explained> {
        let Self { domain, contract, scheme, kept, selection, .. } = *self;
        let capabilities = domain.capabilities();
        let first = seen
            .differing
            .iter()
            .min_by_key(|seen| (seen.differ == 0, (capabilities.witnesses.shrink_priority)(seen)))?;
        let causes = contract.causes(group, scheme, domain, kept);
        let learnt: Vec<_> = seen.learnt.iter().collect();
        let mut explanation = explain_beside(&causes, &seen.own(), &learnt);
        let class = explanation.class;
        let shown = Shown { basis: self, causes: &causes, class, cause: explanation.cause };
        let unexcused =
            if selection.is_one_case() { first_difference(domain, first) } else { shrink(&shown, lane, first) };
        let witness = unexcused.or_else(|| any_difference(domain, first))?;
        if class == Class::Unexplained
            && let Some(place) = whereabouts::described(domain, &seen.evidence(), &witness)
        {
            explanation.because = format!("{}; {place}", explanation.because);
        }
        Some(Explained { group, differ: seen.differ, explanation, witness, command: None })
    }
}
