//! Decision of open goals by solvers. A proof needs the same answer of all solvers; without a proof, a counterexample is searched.

use super::super::solver::{Answer, Solver};
use super::decide::{Open, Verdict};
use super::query::Products;
use anyhow::Result;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Solvers and their time limits.
#[derive(Clone, Copy, Debug)]
pub struct Prover<'a> {
    /// At least two solvers.
    pub solvers: &'a [Solver],
    /// Longest time for one query, in seconds.
    pub query: u32,
    /// Longest time for all shifts of one function, in seconds.
    pub proof: u32,
}

/// Time for the first searches for a counterexample, in seconds: first with free integers in place of products, then with products.
const FIRST: u32 = 5;

/// Deadline of a proof.
struct Deadline(Instant);

impl Deadline {
    /// Returns the whole seconds left, at most `most`.
    fn left(&self, most: u32) -> u32 {
        let left = self.0.saturating_duration_since(Instant::now()).as_secs();
        u32::try_from(left).unwrap_or(u32::MAX).min(most)
    }
}

/// Runs all solvers on all open goals, and searches a counterexample for each goal without a proof.
pub(super) fn settle(open: &mut [Open], prover: &Prover<'_>) -> Result<Vec<Verdict>> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let deadline = Deadline(Instant::now() + Duration::from_secs(prover.proof.into()));
    let queries: Vec<String> =
        open.iter_mut().map(|open| open.goal.counterexample(Products::Abstract).ask(&[])).collect();
    let ask = |solver: &Solver| solver.ask_all(&queries, prover.query, prover.proof);
    let answers = prover.solvers.par_iter().map(ask).collect::<Result<Vec<_>>>()?;
    let one = |(n, open): (usize, &mut Open)| {
        let answers: Vec<Answer> = answers.iter().map(|of| of[n]).collect();
        if !open.satisfied && !satisfiable(open, prover)? {
            return Ok(Verdict::Unknown("the assumptions are not shown to be satisfiable".to_owned()));
        }
        match answers.iter().all(|a| *a == Answer::Unsatisfiable) {
            true if answers.len() < 2 => Ok(Verdict::Unknown("one solver alone proves nothing here".to_owned())),
            true => Ok(Verdict::Proved { same_term: false }),
            false => refuted(open, prover, &deadline, &answers),
        }
    };
    open.par_iter_mut().enumerate().map(one).collect()
}

/// True if every solver finds an input for which the contract has a value. Needed only if no tried input has a value.
fn satisfiable(open: &mut Open, prover: &Prover<'_>) -> Result<bool> {
    let query = open.goal.vacuity().ask(&[]);
    let ask = |solver: &Solver| Ok(solver.ask(&query, prover.query)? == Answer::Satisfiable);
    Ok(prover.solvers.iter().map(ask).collect::<Result<Vec<_>>>()?.into_iter().all(|found| found))
}

/// Searches a counterexample with the solvers, and confirms it by evaluating the terms.
fn refuted(open: &mut Open, prover: &Prover<'_>, deadline: &Deadline, answers: &[Answer]) -> Result<Verdict> {
    let names = open.goal.needed(&["x", "m"]);
    let searches = [(Products::Abstract, FIRST), (Products::Full, 2 * FIRST), (Products::Full, prover.query)];
    for (products, seconds) in searches {
        let text = open.goal.counterexample(products).ask(&names);
        for solver in prover.solvers {
            let seconds = deadline.left(seconds.min(prover.query));
            if seconds == 0 {
                break;
            }
            let Some(values) = solver.model(&text, seconds)? else { continue };
            let value = |name: &str| values.iter().find(|(other, _)| other == name).map_or(0, |(_, bits)| *bits);
            let (x, m) = (value("x") as u32 as i32, value("m") as u32 as i32);
            if let Some(found) = open.goal.values().at(x, m, open.s).wrong {
                return Ok(Verdict::Refuted(found));
            }
        }
    }
    let said = prover.solvers.iter().zip(answers).map(|(solver, answer)| match answer {
        Answer::Unsatisfiable => format!("{} proves it", solver.name),
        Answer::Satisfiable => format!("{} finds integers that are no products", solver.name),
        Answer::Unknown => format!("{} has no answer", solver.name),
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let limit = match deadline.left(1) {
        0 => format!("{} s for a function", prover.proof),
        _ => format!("{} s for a query", prover.query),
    };
    Ok(Verdict::Unknown(format!("no verdict within {limit}: {said}, and no counterexample was found")))
}
