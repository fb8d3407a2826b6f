//! Verdicts put to a solver that shares nothing with them.

use super::Proofs;
use super::smt::{self, Queries};
use super::solver::{Answer, Solver};
use anyhow::{Result, bail};
use rayon::prelude::*;

/// Longest time for one query.
const SECONDS: u32 = 60;

/// A solver's answer to the statement of one shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No integer contradicts the statement, and its assumptions do not contradict each other.
    Confirmed,
    /// An integer contradicts the statement.
    Contradicted,
    /// The assumptions contradict each other, so that anything would follow.
    Vacuous,
    /// The solver gave up.
    Unanswered,
    /// The verdict makes no statement about products at this shift.
    NotPosed,
}

/// A solver's answers about a pair.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// The solver.
    pub solver: Solver,
    /// The first line of its version.
    pub version: String,
    /// One outcome for each shift.
    pub outcomes: Vec<(i32, Outcome)>,
}

impl Confirmation {
    /// The shifts of an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.iter().filter(|(_, other)| *other == outcome).count()
    }

    /// Whether the solver contradicts nothing, and shares every assumption.
    pub fn agrees(&self) -> bool {
        self.count(Outcome::Contradicted) == 0 && self.count(Outcome::Vacuous) == 0
    }
}

/// Puts each statement of a pair to a solver, and first the axioms that all of them rest on.
pub fn confirm(proofs: &Proofs, solver: Solver, version: &str) -> Result<Confirmation> {
    match solver.ask(&smt::axioms(), SECONDS)? {
        Answer::Unsatisfiable => {}
        answer => bail!("{} does not prove the axioms of the product x*m: {answer:?}", solver.name),
    }
    let outcome = |(s, verdict)| {
        let queries = smt::queries(&proofs.left, &proofs.right, s, verdict);
        Ok((s, queries.map_or(Ok(Outcome::NotPosed), |queries| answer(solver, &queries))?))
    };
    let outcomes = proofs.verdicts.par_iter().map(|(s, verdict)| outcome((*s, verdict))).collect::<Result<_>>()?;
    Ok(Confirmation { solver, version: version.to_owned(), outcomes })
}

fn answer(solver: Solver, queries: &Queries) -> Result<Outcome> {
    Ok(match (solver.ask(&queries.vacuity, SECONDS)?, solver.ask(&queries.counterexample, SECONDS)?) {
        (Answer::Unsatisfiable, _) => Outcome::Vacuous,
        (_, Answer::Satisfiable) => Outcome::Contradicted,
        (Answer::Satisfiable, Answer::Unsatisfiable) => Outcome::Confirmed,
        _ => Outcome::Unanswered,
    })
}
