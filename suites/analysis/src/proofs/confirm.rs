//! Check of verdicts by a solver that shares no code with them.

use super::Proofs;
use super::smt::{self, Queries};
use super::solver::{Answer, Solver};
use anyhow::{Result, bail};
use rayon::prelude::*;

/// Time limit of a query, in seconds.
const SECONDS: u32 = 60;

/// Outcome of a solver's check at one shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No integer contradicts the statement, and its assumptions do not contradict each other.
    Confirmed,
    /// An integer contradicts the statement.
    Contradicted,
    /// The assumptions contradict each other, so that any statement would follow.
    Vacuous,
    /// The solver gave up.
    Unanswered,
    /// The verdict makes no statement about products at this shift.
    NotPosed,
}

/// Outcomes of a solver for a pair.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// Solver of the check.
    pub solver: Solver,
    /// First line of the solver's version.
    pub version: String,
    /// Outcome for each shift.
    pub outcomes: Vec<(i32, Outcome)>,
}

impl Confirmation {
    /// Returns the number of shifts with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.iter().filter(|(_, other)| *other == outcome).count()
    }

    /// True if no statement is contradicted, and no assumptions contradict each other.
    pub fn agrees(&self) -> bool {
        self.count(Outcome::Contradicted) == 0 && self.count(Outcome::Vacuous) == 0
    }
}

/// Checks each statement of a pair with a solver, after the axioms that all statements rest on.
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
