//! Bounds of narrow lanes, and differences of casts, proved for all inputs.
//!
//! A statement is a list of questions, each with the answer that it needs of every solver: no counterexample within the bound, a counterexample just
//! beyond it, and an input that the assumptions allow. A counterexample is computed again here, in machine integers or floats.

mod casts;
mod lanes;

use super::solver::{Answer, Solver};
use anyhow::Result;
use rayon::prelude::*;
use std::time::Instant;

/// The values of the variables of a question, by name.
pub(super) type Values = Vec<(String, u128)>;

/// What is asked.
pub(super) struct Asked {
    /// In words, such as `beyond the bound`.
    pub(super) what: String,
    /// SMT-LIB, up to the question itself.
    pub(super) text: String,
    /// The answer that the statement needs.
    pub(super) needs: Answer,
    /// Variables whose values a counterexample is made of.
    pub(super) variables: &'static [&'static str],
    /// The counterexample in words, if the values are one.
    pub(super) replayed: fn(&Values) -> Option<String>,
}

/// A statement for all inputs.
pub(super) struct Statement {
    /// Name of the instruction or the cast.
    pub(super) name: &'static str,
    /// What holds.
    pub(super) claim: String,
    pub(super) asked: Vec<Asked>,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The question in words.
    pub what: String,
    /// The answer of each solver, in their order.
    pub answers: Vec<Answer>,
    /// Whether every solver gave the answer that the statement needs, and a needed counterexample was found again.
    pub held: bool,
    /// The counterexample, if one was needed.
    pub witness: Option<String>,
}

/// What came of a statement.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Name of the instruction or the cast.
    pub name: &'static str,
    /// What the statement says.
    pub claim: String,
    /// Its questions.
    pub answered: Vec<Answered>,
    /// Seconds, wall clock.
    pub seconds: f64,
}

impl Bound {
    /// Whether every question was answered as the statement needs.
    pub fn proved(&self) -> bool {
        self.answered.iter().all(|answered| answered.held)
    }
}

/// Puts every statement to every solver, each question for at most so many seconds.
pub fn bounds(solvers: &[Solver], seconds: u32) -> Result<Vec<Bound>> {
    let statements: Vec<Statement> = lanes::all().into_iter().chain(casts::all()).collect();
    statements.par_iter().map(|statement| statement.settle(solvers, seconds)).collect()
}

impl Statement {
    fn settle(&self, solvers: &[Solver], seconds: u32) -> Result<Bound> {
        let begun = Instant::now();
        let answered = self.asked.iter().map(|asked| asked.settle(solvers, seconds)).collect::<Result<_>>()?;
        Ok(Bound { name: self.name, claim: self.claim.clone(), answered, seconds: begun.elapsed().as_secs_f64() })
    }
}

impl Asked {
    fn settle(&self, solvers: &[Solver], seconds: u32) -> Result<Answered> {
        let query = format!("{}(check-sat)\n", self.text);
        let answers = solvers.iter().map(|solver| solver.ask(&query, seconds)).collect::<Result<Vec<_>>>()?;
        let agreed = answers.len() > 1 && answers.iter().all(|answer| *answer == self.needs);
        let witness = match agreed && self.needs == Answer::Satisfiable && !self.variables.is_empty() {
            true => self.witness(solvers, seconds)?,
            false => None,
        };
        let found = self.variables.is_empty() || self.needs == Answer::Unsatisfiable || witness.is_some();
        Ok(Answered { what: self.what.clone(), answers, held: agreed && found, witness })
    }

    /// A counterexample that was computed again, of the first solver that has one.
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

/// A value of a counterexample; 0 of a variable that does not matter.
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
            let needs = |wanted| statement.asked.iter().any(|asked| asked.needs == wanted);
            assert!(needs(Answer::Unsatisfiable) && needs(Answer::Satisfiable), "{}", statement.name);
        }
        assert!(all.len() >= 9, "{}", all.len());
    }
}
