//! Which schemes and multiplier derivations are consistent with observed outputs of a library, and the next input that separates
//! the remaining ones.

pub mod candidates;
pub mod difference;
pub mod observations;
pub mod search;
pub mod text;

use candidates::Candidate;
use observations::{Observation, Observations};
use search::{Group, Next};

/// What the observations say.
#[derive(Debug)]
pub struct Fingerprint {
    /// All candidates, in the order of the registries.
    pub candidates: Vec<Candidate>,
    /// For each candidate, the first observation that excludes it with what it gives there, or nothing.
    pub excluded: Vec<Option<Exclusion>>,
    /// For each candidate, how many observations it explains.
    pub explained: Vec<usize>,
    /// Consistent candidates, those together that give the same outputs.
    pub groups: Vec<Group>,
    /// The input that separates the most groups, if there are several.
    pub next: Option<Next>,
}

/// Why a candidate is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exclusion {
    /// Index of the observation.
    pub observation: usize,
    /// The candidate's output; `None` if it gives no int32.
    pub expected: Option<i32>,
}

impl Fingerprint {
    /// Tries every candidate on every observation, and looks for the next input to run.
    pub fn of(observations: &Observations) -> Self {
        let candidates = candidates::all(observations);
        let gives = |candidate: &Candidate, row: &Observation| candidate.at(observations, row.setting, row.x);
        let differs = |candidate: &Candidate| {
            let mut rows = observations.rows.iter().enumerate();
            rows.find_map(|(observation, row)| {
                let expected = gives(candidate, row);
                (expected != Some(row.observed)).then_some(Exclusion { observation, expected })
            })
        };
        let explains = |candidate: &Candidate| {
            observations.rows.iter().filter(|row| gives(candidate, row) == Some(row.observed)).count()
        };
        let excluded: Vec<_> = candidates.iter().map(differs).collect();
        let explained = candidates.iter().map(explains).collect();
        let left: Vec<usize> = (0..candidates.len()).filter(|i| excluded[*i].is_none()).collect();
        let (groups, next) = search::groups(observations, &candidates, &left);
        Self { candidates, excluded, explained, groups, next }
    }

    /// Whether a candidate is left.
    pub fn is_consistent(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The candidates that explain most observations, and how many those are.
    pub fn best(&self) -> (Vec<usize>, usize) {
        let most = self.explained.iter().copied().max().unwrap_or(0);
        ((0..self.candidates.len()).filter(|i| self.explained[*i] == most).collect(), most)
    }
}
