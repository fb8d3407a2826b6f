//! Axioms of a product, proved in the run that uses them: at the corners of boxes, and by a solver over integers.
//!
//! `a * b` is monotone in each factor while the other factor keeps its sign, so its extremes on a box of factors are at corners. Sixteen boxes cover
//! all pairs of words: each factor is the least word, negative, zero or positive.

use super::super::solver::{Answer, Solver};
use super::query;
use anyhow::{Result, bail};

/// Time limit of an axiom, in seconds.
const SECONDS: u32 = 5;
const LEAST: i128 = i32::MIN as i128;
const FACTORS: [(i128, i128); 4] = [(LEAST, LEAST), (LEAST + 1, -1), (0, 0), (1, i32::MAX as i128)];

/// True or false axiom, and its result.
#[derive(Clone, Debug)]
pub struct Axiom {
    /// Description of the axiom.
    pub name: &'static str,
    /// True for an axiom to prove, false for a range to refuse.
    pub is_true: bool,
    /// Answer to the negated axiom.
    pub answer: Answer,
}

impl Axiom {
    /// True if a true axiom is proved, or a false axiom is refused.
    pub fn held(&self) -> bool {
        self.answer == if self.is_true { Answer::Unsatisfiable } else { Answer::Satisfiable }
    }
}

/// Returns every axiom, then two false axioms, each with the first definite answer of a solver.
pub fn axioms(solvers: &[Solver]) -> Result<Vec<Axiom>> {
    let real = query::axioms().into_iter().map(|axiom| (axiom, true));
    let all = real.chain(query::false_axioms().into_iter().map(|axiom| (axiom, false)));
    all.map(|((name, text), is_true)| Ok(Axiom { name, is_true, answer: answer(solvers, &text)? })).collect()
}

/// Proves every axiom at corners, and by the first solver with a definite answer. The same check must refuse false axioms.
pub fn prove_axioms(solvers: &[Solver]) -> Result<()> {
    if !by_corners() {
        bail!("the axioms of the product do not hold at the corners of their boxes");
    }
    match axioms(solvers)?.into_iter().find(|axiom| !axiom.held()) {
        None => Ok(()),
        Some(Axiom { name, is_true: true, answer }) => bail!("no solver proves the axiom of {name}: {answer:?}"),
        Some(Axiom { name, answer, .. }) => {
            bail!("the check of axioms does not refuse what is none: {name}: {answer:?}")
        }
    }
}

/// Returns the first definite answer, beginning with the last solver: cvc5 decides each axiom in a tenth of a second, and z3 4.8.12 gives up on
/// products.
fn answer(solvers: &[Solver], text: &str) -> Result<Answer> {
    for solver in solvers.iter().rev() {
        match solver.ask(text, SECONDS)? {
            Answer::Unknown => {}
            answer => return Ok(answer),
        }
    }
    Ok(Answer::Unknown)
}

/// Checks the four axioms on each box.
fn by_corners() -> bool {
    let (top, most) = (1i128 << 62, (1i128 << 62) - (1 << 31));
    FACTORS.iter().all(|a| {
        FACTORS.iter().all(|b| {
            let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            let (low, high) = (corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0));
            let both_least = a.0 == LEAST && a.1 == LEAST && b.0 == LEAST && b.1 == LEAST;
            let (signs, zero) = (a.1.signum() * b.1.signum(), a.1 == 0 && a.0 == 0 || b.1 == 0 && b.0 == 0);
            let gap = if both_least { low == top && high == top } else { -most <= low && high <= most };
            let sign = match signs {
                -1 => high < 0,
                _ => low >= 0,
            };
            gap && sign && if zero { low == 0 && high == 0 } else { low > 0 || high < 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axioms_hold_at_corners() {
        assert!(by_corners());
    }
}
