//! Fingerprint of a library: schemes and multiplier derivations that are consistent with observed outputs, and the next input that separates the
//! remaining candidates.

pub mod candidates;
pub mod difference;
pub mod observations;
pub mod search;
pub mod text;

use candidates::{Candidate, Family, functions};
use observations::Observations;
use search::{Group, Next};
use std::collections::BTreeMap;

/// Result of trying all candidates on the observations.
#[derive(Debug)]
pub struct Fingerprint {
    /// All candidates, in the order of the registries.
    pub candidates: Vec<Candidate>,
    /// First observation that excludes each candidate, with the candidate's result; `None` for a consistent candidate.
    pub excluded: Vec<Option<Exclusion>>,
    /// Number of observations that each candidate explains.
    pub explained: Vec<usize>,
    /// Groups of consistent candidates; candidates of a group give the same outputs.
    pub groups: Vec<Group>,
    /// Input that separates the most groups, if there are several.
    pub next: Option<Next>,
    /// First observation of each family that no candidate of the family gives.
    pub given_by_none: BTreeMap<Family, usize>,
}

/// Reason why a candidate is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exclusion {
    /// Index of the observation.
    pub observation: usize,
    /// Output of the candidate; `None` if it gives no int32.
    pub expected: Option<i32>,
}

impl Fingerprint {
    /// Tries every candidate on every observation, and searches the next input.
    pub fn of(observations: &Observations) -> Self {
        let candidates = candidates::all(observations);
        let mut excluded: Vec<Option<Exclusion>> = vec![None; candidates.len()];
        let mut explained = vec![0; candidates.len()];
        let mut given_by_none: BTreeMap<Family, usize> = BTreeMap::new();
        // One setting after another, because the functions of all settings may not fit into memory.
        let mut order: Vec<usize> = (0..observations.rows.len()).collect();
        order.sort_by_key(|at| observations.rows[*at].setting);
        for rows in order.chunk_by(|a, b| observations.rows[*a].setting == observations.rows[*b].setting) {
            let setting = &observations.settings[observations.rows[rows[0]].setting];
            let functions = functions(&candidates, setting);
            for &observation in rows {
                let row = &observations.rows[observation];
                let mut giving = [None; Family::ALL.len()];
                for (i, function) in functions.iter().enumerate() {
                    let expected = function.at(row.x, &setting.output);
                    let gives = expected == Some(row.observed);
                    let family = &mut giving[candidates[i].family as usize];
                    *family = Some(gives || *family == Some(true));
                    explained[i] += usize::from(gives);
                    if !gives && excluded[i].is_none_or(|known| observation < known.observation) {
                        excluded[i] = Some(Exclusion { observation, expected });
                    }
                }
                for (family, _) in Family::ALL.iter().zip(giving).filter(|(_, gives)| *gives == Some(false)) {
                    let first = given_by_none.entry(*family).or_insert(observation);
                    *first = observation.min(*first);
                }
            }
        }
        let left: Vec<usize> = (0..candidates.len()).filter(|i| excluded[*i].is_none()).collect();
        let (groups, next) = search::groups(observations, &candidates, &left);
        Self { candidates, excluded, explained, groups, next, given_by_none }
    }

    /// True if a candidate is left.
    pub fn is_consistent(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns the candidates that explain most observations, and the number of these observations.
    pub fn best(&self) -> (Vec<usize>, usize) {
        let most = self.explained.iter().copied().max().unwrap_or(0);
        ((0..self.candidates.len()).filter(|i| self.explained[*i] == most).collect(), most)
    }
}
