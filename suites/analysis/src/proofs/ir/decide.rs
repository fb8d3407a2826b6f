//! A function against a scheme, for all accumulators and all multipliers of each shift.

use super::super::solver::{Answer, Solver};
use super::contract::{Expected, expected, oracle};
use super::eval::Program;
use super::execute::{Translated, translate};
use super::inputs::inputs;
use super::module::Module;
use super::query::{Products, Query};
use super::term::{Op, Term, Terms, signed};
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::pieces::Output;

/// What stands for a parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The accumulator.
    Accumulator,
    /// The multiplier.
    Multiplier,
    /// A constant, `a * s + b` with the shift `s`.
    Shift(i32, i32),
    /// Any integer: another lane of a vector.
    Free,
}

/// A statement about code: on every input that the scheme has a value for, the function returns it.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The code.
    pub module: &'a Module,
    /// The function in it; it returns an int32.
    pub function: &'a str,
    /// What each of its parameters is.
    pub arguments: &'a [Argument],
    /// The contract, with the policy for results that do not fit.
    pub scheme: Scheme,
    /// Zero point and clamp of a requantization, applied after the scheme.
    pub output: Option<Output>,
    /// Multipliers of the contract's domain, each a multiple of this power of two.
    pub multipliers: RangeInclusive<i32>,
    /// See above.
    pub multiple_of: i32,
}

/// An input on which the code is wrong, by the terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Accumulator.
    pub x: i32,
    /// Multiplier.
    pub m: i32,
    /// Shift.
    pub s: i32,
    /// The function's result; `None` if the code is undefined there.
    pub got: Option<i32>,
    /// The contract's value.
    pub expected: i32,
}

/// The verdict on one shift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// True for all inputs; both sides may be one term, for which no solver is asked.
    Proved {
        /// Whether both sides are one term.
        same_term: bool,
    },
    /// Wrong on an input.
    Refuted(Counterexample),
    /// The contract has no value at this shift.
    NotPromised,
    /// Neither proved nor refuted, for this reason.
    Unknown(String),
}

/// The terms of a question at one shift.
pub(crate) struct Goal {
    pub(crate) terms: Terms,
    code: Translated,
    expected: Expected,
    /// Inputs about which the contract says something.
    promised: Term,
    /// Inputs among them on which the code is wrong.
    wrong: Term,
}

/// Time for one query, and for the search of one counterexample.
const SECONDS: u32 = 60;

impl Question<'_> {
    /// The terms at shift `s`.
    pub(crate) fn goal(&self, s: i32) -> Result<Goal> {
        let mut terms = Terms::default();
        let t = &mut terms;
        let (x, m) = (t.variable("x", 32), t.variable("m", 32));
        let mut arguments = Vec::new();
        for (n, argument) in self.arguments.iter().enumerate() {
            arguments.push(match argument {
                Argument::Accumulator => x,
                Argument::Multiplier => m,
                Argument::Shift(a, b) => t.constant(i128::from(a * s + b), 32),
                Argument::Free => t.variable(&format!("other{n}"), 32),
            });
        }
        let code = translate(t, self.module, self.function, &arguments)?;
        if t.width(code.result) != 32 {
            bail!("{} returns i{}, and a contract needs i32", self.function, t.width(code.result));
        }
        let expected = expected(t, &self.scheme, self.output.as_ref(), x, m, s)?;
        let (low, high) =
            (t.constant((*self.multipliers.start()).into(), 32), t.constant((*self.multipliers.end()).into(), 32));
        let (above, below) = (t.at_most(low, m, true), t.at_most(m, high, true));
        let (rest, zero) = (t.constant(i128::from(self.multiple_of) - 1, 32), t.constant(0, 32));
        let rest = t.binary(Op::And, m, rest);
        let multiple = t.binary(Op::Equal, rest, zero);
        let promised = t.every(&[expected.promised, above, below, multiple]);
        let equal = t.binary(Op::Equal, code.result, expected.result);
        let different = t.not(equal);
        let wrong = t.binary(Op::Or, code.undefined, different);
        Ok(Goal { terms, code, expected, promised, wrong })
    }

    /// The terms of all shifts in one form, the same for functions that compute the same in the same way.
    pub(crate) fn canonical(&self, shifts: RangeInclusive<i32>) -> Result<String> {
        let one = |s| {
            let mut goal = self.goal(s).with_context(|| format!("at shift {s}"))?;
            let roots = [goal.promised, goal.wrong];
            Ok(Query::new(&mut goal.terms, &roots, Products::Full).renumbered(&roots))
        };
        Ok(shifts.map(one).collect::<Result<Vec<_>>>()?.join("\n"))
    }

    /// Decides each shift; a shift whose terms cannot be made fails the whole question.
    pub fn decide(&self, shifts: RangeInclusive<i32>, solvers: &[Solver]) -> Result<Vec<(i32, Verdict)>> {
        let goals = shifts.map(|s| Ok((s, self.goal(s)?))).collect::<Result<Vec<_>>>()?;
        let mut verdicts: Vec<(i32, Option<Verdict>)> = Vec::new();
        let mut open: Vec<(i32, Goal)> = Vec::new();
        for (s, goal) in goals {
            let verdict = goal.plain().or_else(|| goal.wrong_at(s));
            verdicts.push((s, verdict.clone()));
            if verdict.is_none() {
                open.push((s, goal));
            }
        }
        let mut decided = settle(&mut open, solvers)?.into_iter();
        let verdicts =
            verdicts.into_iter().map(|(s, verdict)| Ok((s, verdict.or_else(|| decided.next()).context("a verdict")?)));
        verdicts.collect()
    }
}

/// Asks all solvers about all open goals, and searches a counterexample for those that are not proved.
fn settle(open: &mut [(i32, Goal)], solvers: &[Solver]) -> Result<Vec<Verdict>> {
    let proofs: Vec<String> =
        open.iter_mut().map(|(_, goal)| goal.counterexample(Products::Abstract).ask(&[])).collect();
    let vacuity: Vec<String> = open.iter_mut().map(|(_, goal)| goal.vacuity().ask(&[])).collect();
    let ask = |(solver, queries): (&Solver, &Vec<String>)| solver.ask_all(queries, SECONDS);
    let mut answers = Vec::new();
    for queries in [&proofs, &vacuity] {
        let of: Vec<(&Solver, &Vec<String>)> = solvers.iter().map(|solver| (solver, queries)).collect();
        answers.push(of.into_par_iter().map(ask).collect::<Result<Vec<_>>>()?);
    }
    let column = |which: usize, n: usize| answers[which].iter().map(|of| of[n]).collect::<Vec<_>>();
    let one = |(n, (s, goal)): (usize, &mut (i32, Goal))| {
        let (proof, vacuity) = (column(0, n), column(1, n));
        if vacuity.iter().any(|a| *a != Answer::Satisfiable) {
            return Ok(Verdict::Unknown(format!("the assumptions are not shown to be satisfiable: {vacuity:?}")));
        }
        match proof.iter().all(|a| *a == Answer::Unsatisfiable) {
            true if proof.len() < 2 => Ok(Verdict::Unknown("one solver alone proves nothing here".to_owned())),
            true => Ok(Verdict::Proved { same_term: false }),
            false => goal.refuted(*s, solvers, &proof),
        }
    };
    open.par_iter_mut().enumerate().map(one).collect()
}

impl Goal {
    /// What needs no solver.
    fn plain(&self) -> Option<Verdict> {
        if self.terms.value(self.promised) == Some(0) {
            return Some(Verdict::NotPromised);
        }
        (self.terms.value(self.wrong) == Some(0)).then_some(Verdict::Proved { same_term: true })
    }

    /// The first of a few inputs on which the terms are wrong: most mistakes need no solver.
    fn wrong_at(&self, s: i32) -> Option<Verdict> {
        inputs(u64::from(s.unsigned_abs()), 0)
            .into_iter()
            .find_map(|(x, m)| self.at(x, m, s).wrong)
            .map(Verdict::Refuted)
    }

    fn counterexample(&mut self, products: Products) -> Query {
        let held = [self.promised, self.wrong];
        Query::new(&mut self.terms, &held, products).given(&held)
    }

    fn vacuity(&mut self) -> Query {
        Query::new(&mut self.terms, &[self.promised], Products::Full).given(&[self.promised])
    }

    /// A counterexample found by a solver, and computed again by the terms.
    fn refuted(&mut self, s: i32, solvers: &[Solver], answers: &[Answer]) -> Result<Verdict> {
        let names: Vec<&str> = ["x", "m"].into_iter().filter(|name| self.needs(name)).collect();
        for (products, seconds) in [(Products::Abstract, 5), (Products::Full, 10), (Products::Full, SECONDS)] {
            let text = self.counterexample(products).ask(&names);
            for solver in solvers {
                let Some(values) = solver.model(&text, seconds)? else { continue };
                let value = |name: &str| values.iter().find(|(other, _)| other == name).map_or(0, |(_, bits)| *bits);
                let (x, m) = (value("x") as u32 as i32, value("m") as u32 as i32);
                if let Some(found) = self.at(x, m, s).wrong {
                    return Ok(Verdict::Refuted(found));
                }
            }
        }
        Ok(Verdict::Unknown(format!("not proved ({answers:?}), and no counterexample found")))
    }

    fn needs(&self, name: &str) -> bool {
        let needed = self.terms.needed(&[self.promised, self.wrong]);
        needed.iter().any(|t| matches!(self.terms.node(*t), super::term::Node::Variable(other) if other == name))
    }

    /// The values of the terms at one input.
    pub(crate) fn at(&self, x: i32, m: i32, s: i32) -> At {
        let roots = [
            self.promised,
            self.wrong,
            self.code.result,
            self.code.undefined,
            self.expected.result,
            self.expected.promised,
        ];
        let values = Program::new(&self.terms, &roots).run(&[("x", x as u32 as u128), ("m", m as u32 as u128)]);
        let word = |term: Term| signed(values[&term], 32) as i32;
        let defined = values[&self.code.undefined] == 0;
        let got = defined.then(|| word(self.code.result));
        let expected = word(self.expected.result);
        let is_wrong = values[&self.promised] == 1 && values[&self.wrong] == 1;
        At {
            got,
            expected: (values[&self.expected.promised] == 1).then_some(expected),
            wrong: is_wrong.then_some(Counterexample { x, m, s, got, expected }),
        }
    }

    /// The first input on which the scheme's terms differ from the oracle, or the code's terms from what the code returns.
    pub(crate) fn differs_from(
        &self,
        question: &Question<'_>,
        s: i32,
        inputs: &[(i32, i32)],
        returned: &[i32],
    ) -> Option<String> {
        inputs.iter().zip(returned).find_map(|((x, m), returned)| {
            let here = self.at(*x, *m, s);
            let oracle = oracle(&question.scheme, question.output.as_ref(), *x, *m, s);
            let said =
                |what: &str, a: Option<i32>, b: Option<i32>| format!("{what} at x={x} m={m} s={s}: {a:?} and {b:?}");
            if here.expected != oracle {
                return Some(said("terms of the scheme and the oracle differ", here.expected, oracle));
            }
            (here.got.is_some() && here.got != Some(*returned))
                .then(|| said("terms of the code and the code differ", here.got, Some(*returned)))
        })
    }
}

/// The terms' values at one input.
pub(crate) struct At {
    pub(crate) got: Option<i32>,
    pub(crate) expected: Option<i32>,
    pub(crate) wrong: Option<Counterexample>,
}
