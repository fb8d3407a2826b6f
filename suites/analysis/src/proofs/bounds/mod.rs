//! Bounds of narrow lanes, and differences of casts, proved for all inputs.
//!
//! A statement is a list of questions with the answer required of every solver: no counterexample within the bound, a counterexample just beyond it,
//! and an input that the assumptions allow. A counterexample is computed again here, in machine integers or floats.

mod casts;
mod lanes;

use super::solver::{Answer, Solver};
use anyhow::Result;
use rayon::prelude::*;
use std::time::Instant;

/// Values of the variables of a question, by name.
pub(super) type Values = Vec<(String, u128)>;

/// Question to the solvers.
pub(super) struct Question {
    /// Description, such as `beyond the bound`.
    pub(super) what: String,
    /// SMT-LIB text before `(check-sat)`.
    pub(super) text: String,
    /// Answer that the statement requires.
    pub(super) needs: Answer,
    /// Variables whose values form a counterexample.
    pub(super) variables: &'static [&'static str],
    /// Function that describes the counterexample, or returns `None` if the values are no counterexample.
    pub(super) replayed: fn(&Values) -> Option<String>,
}

/// Statement about all inputs.
pub(super) struct Statement {
    /// Name of the instruction or the cast.
    pub(super) name: &'static str,
    /// Text of the statement.
    pub(super) claim: String,
    pub(super) questions: Vec<Question>,
}

/// Result of a question.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Description of the question.
    pub what: String,
    /// Answer of each solver, in order.
    pub answers: Vec<Answer>,
    /// True if every solver gave the required answer, and a required counterexample was confirmed.
    pub confirmed: bool,
    /// Counterexample, if the question requires one.
    pub witness: Option<String>,
}

/// Result of a statement.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Name of the instruction or the cast.
    pub name: &'static str,
    /// Text of the statement.
    pub claim: String,
    /// Results of the questions.
    pub answered: Vec<Answered>,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

impl Bound {
    /// True if every question has the required answer.
    pub fn proved(&self) -> bool {
        self.answered.iter().all(|answered| answered.confirmed)
    }
}

/// Checks every statement with every solver. `seconds` limits each question.
pub fn bounds(solvers: &[Solver], seconds: u32) -> Result<Vec<Bound>> {
    let statements: Vec<Statement> = lanes::all().into_iter().chain(casts::all()).collect();
    statements.par_iter().map(|statement| statement.settle(solvers, seconds)).collect()
}

impl Statement {
    fn settle(&self, solvers: &[Solver], seconds: u32) -> Result<Bound> {
        let begun = Instant::now();
        let answered = self.questions.iter().map(|asked| asked.settle(solvers, seconds)).collect::<Result<_>>()?;
        Ok(Bound { name: self.name, claim: self.claim.clone(), answered, seconds: begun.elapsed().as_secs_f64() })
    }
}

impl Question {
    fn settle(&self, solvers: &[Solver], seconds: u32) -> Result<Answered> {
        let query = format!("{}(check-sat)\n", self.text);
        let answers = solvers.iter().map(|solver| solver.ask(&query, seconds)).collect::<Result<Vec<_>>>()?;
        let agreed = answers.len() > 1 && answers.iter().all(|answer| *answer == self.needs);
        let witness = match agreed && self.needs == Answer::Satisfiable && !self.variables.is_empty() {
            true => self.witness(solvers, seconds)?,
            false => None,
        };
        let found = self.variables.is_empty() || self.needs == Answer::Unsatisfiable || witness.is_some();
        Ok(Answered { what: self.what.clone(), answers, confirmed: agreed && found, witness })
    }

    /// Returns the first solver's counterexample that a second computation confirms.
    fn witness(&self, solvers: &[Solver], seconds: u32) -> Result<Option<String>> {
        let query = format!("{}(check-sat)\n(get-value ({}))\n", self.text, self.variables.join(" "));
        for solver in solvers {
            if let Some(found) = solver.model(&query, seconds)?.and_then(|values| (self.replayed)(&values)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Returns a value of a counterexample; 0 for an irrelevant variable.
pub(super) fn value(values: &Values, name: &str) -> u128 {
    values.iter().find(|(other, _)| other == name).map_or(0, |(_, bits)| *bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_has_a_bound_and_shows_that_it_says_something() {
        let all: Vec<Statement> = lanes::all().into_iter().chain(casts::all()).collect();
        for statement in &all {
            let needs = |wanted| statement.questions.iter().any(|asked| asked.needs == wanted);
            assert!(needs(Answer::Unsatisfiable) && needs(Answer::Satisfiable), "{}", statement.name);
        }
        assert!(all.len() >= 9, "{}", all.len());
    }
}
