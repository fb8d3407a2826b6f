//! Comparison of a function with a scheme, for all accumulators and all multipliers of each shift.

use super::contract::{Expected, expected, oracle};
use super::eval::Program;
use super::execute::{Translated, translate};
use super::module::Module;
use super::query::{Products, Query};
use super::search::candidates;
use super::settle::{Prover, settle};
use super::term::{Op, Term, Terms, signed};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::pieces::Output;

/// Meaning of a parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Accumulator.
    Accumulator,
    /// Multiplier.
    Multiplier,
    /// Constant `a * s + b` with the shift `s`.
    Shift(i32, i32),
    /// Any integer: another lane of a vector.
    Free,
}

/// Statement about code: on every input for which the scheme has a value, the function returns this value.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Module of the code.
    pub module: &'a Module,
    /// Name of the function, which returns an int32.
    pub function: &'a str,
    /// Meaning of each parameter.
    pub arguments: &'a [Argument],
    /// Scheme of the contract, with the overflow policy.
    pub scheme: Scheme,
    /// Zero point and clamp of a requantization, applied after the scheme.
    pub output: Option<Output>,
    /// Multipliers of the contract's domain.
    pub multipliers: RangeInclusive<i32>,
    /// Power of two that divides each multiplier.
    pub multiple_of: i32,
}

/// Input for which the terms give a wrong result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counterexample {
    /// Accumulator.
    pub x: i32,
    /// Multiplier.
    pub m: i32,
    /// Shift.
    pub s: i32,
    /// Result of the function; `None` if it is undefined.
    pub got: Option<i32>,
    /// Value of the contract.
    pub expected: i32,
}

/// Verdict on one shift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The statement is true for all inputs.
    Proved {
        /// True if both sides are one term, so that no solver is needed.
        same_term: bool,
    },
    /// The statement is wrong for an input.
    Refuted(Counterexample),
    /// The contract has no value at this shift.
    NotPromised,
    /// The statement is neither proved nor refuted, for this reason.
    Unknown(String),
}

impl Verdict {
    /// Returns the name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved { .. } => "proved",
            Self::Refuted(_) => "refuted",
            Self::NotPromised => "not promised",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl Counterexample {
    /// Describes the input with both results. `returned` is the result of the code when it was called.
    pub fn said(&self, returned: Option<i32>) -> String {
        let got = match (self.got, returned) {
            (None, _) => "undefined".to_owned(),
            (Some(got), None) => format!("{got}, not replayed"),
            (Some(_), Some(returned)) => format!("the code returns {returned}"),
        };
        format!("x={} m={} s={}: {got}, not {}", self.x, self.m, self.s, self.expected)
    }
}

/// Terms of a question at one shift.
pub(crate) struct Goal {
    pub(crate) terms: Terms,
    code: Translated,
    expected: Expected,
    /// True for inputs on which the contract has a value.
    promised: Term,
    /// True for promised inputs on which the code is wrong.
    wrong: Term,
}

impl Question<'_> {
    /// Builds the terms at shift `s`.
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

    /// Returns the queries of all shifts in a canonical form. Functions that compute the same in the same way have the same form.
    pub(crate) fn canonical(&self, shifts: RangeInclusive<i32>) -> Result<String> {
        let one = |s| {
            let mut goal = self.goal(s).with_context(|| format!("at shift {s}"))?;
            let roots = [goal.promised, goal.wrong];
            Ok(goal.counterexample(Products::Abstract).renumbered(&roots))
        };
        Ok(shifts.map(one).collect::<Result<Vec<_>>>()?.join("\n"))
    }

    /// Decides each shift. An error in building the terms of a shift is an error of the whole question.
    pub(crate) fn decide(&self, shifts: RangeInclusive<i32>, prover: &Prover<'_>) -> Result<Vec<(i32, Verdict)>> {
        let mut verdicts: Vec<(i32, Option<Verdict>)> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        for s in shifts {
            let goal = self.goal(s)?;
            let (mut verdict, mut satisfied) = (goal.plain(), false);
            if verdict.is_none() {
                let tried = goal.tried(s, &candidates(&self.scheme, s));
                verdict = tried.wrong.map(Verdict::Refuted);
                satisfied = tried.satisfied;
            }
            verdicts.push((s, verdict.clone()));
            if verdict.is_none() {
                open.push(Open { s, goal, satisfied });
            }
        }
        let mut decided = settle(&mut open, prover)?.into_iter();
        let verdicts =
            verdicts.into_iter().map(|(s, verdict)| Ok((s, verdict.or_else(|| decided.next()).context("a verdict")?)));
        verdicts.collect()
    }
}

/// Goal that solvers must decide.
pub(crate) struct Open {
    pub(crate) s: i32,
    pub(crate) goal: Goal,
    /// True if an input is known on which the contract has a value.
    pub(crate) satisfied: bool,
}

/// Result of trying a few inputs.
pub(crate) struct Tried {
    satisfied: bool,
    wrong: Option<Counterexample>,
}

impl Goal {
    /// Returns a verdict that needs no solver.
    fn plain(&self) -> Option<Verdict> {
        if self.terms.value(self.promised) == Some(0) {
            return Some(Verdict::NotPromised);
        }
        (self.terms.value(self.wrong) == Some(0)).then_some(Verdict::Proved { same_term: true })
    }

    /// Tries inputs: whether the contract has a value for any, and the first input on which the terms are wrong.
    fn tried(&self, s: i32, inputs: &[(i32, i32)]) -> Tried {
        let values = self.values();
        let mut tried = Tried { satisfied: false, wrong: None };
        for (x, m) in inputs {
            let here = values.at(*x, *m, s);
            tried.satisfied |= here.promised;
            if here.wrong.is_some() {
                return Tried { wrong: here.wrong, ..tried };
            }
        }
        tried
    }

    pub(crate) fn counterexample(&mut self, products: Products) -> Query {
        let held = [self.promised, self.wrong];
        Query::new(&mut self.terms, &held, products).given(&held)
    }

    pub(crate) fn vacuity(&mut self) -> Query {
        Query::new(&mut self.terms, &[self.promised], Products::Full).given(&[self.promised])
    }

    /// Returns the variables among `names` on which the question depends.
    pub(crate) fn needed<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let needed = self.terms.needed(&[self.promised, self.wrong]);
        let has = |name: &str| {
            needed.iter().any(|t| matches!(self.terms.node(*t), super::term::Node::Variable(other) if other == name))
        };
        names.iter().copied().filter(|name| has(name)).collect()
    }

    /// Prepares the terms for evaluation on many inputs.
    pub(crate) fn values(&self) -> Values<'_> {
        let (code, expected) = (&self.code, &self.expected);
        let roots = [self.promised, self.wrong, code.result, code.undefined, expected.result, expected.promised];
        Values { goal: self, program: Program::new(&self.terms, &roots) }
    }
    /// Describes the first input on which the scheme's terms differ from the oracle, or the code's terms from the results of the code.
    pub(crate) fn differs_from(
        &self,
        question: &Question<'_>,
        s: i32,
        inputs: &[(i32, i32)],
        returned: &[i32],
    ) -> Option<String> {
        let values = self.values();
        inputs.iter().zip(returned).find_map(|((x, m), returned)| {
            let here = values.at(*x, *m, s);
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

/// Terms of a goal in evaluation order.
pub(crate) struct Values<'a> {
    goal: &'a Goal,
    program: Program<'a>,
}

impl Values<'_> {
    /// Evaluates the terms on one input.
    pub(crate) fn at(&self, x: i32, m: i32, s: i32) -> At {
        let goal = self.goal;
        let values = self.program.run(&[("x", x as u32 as u128), ("m", m as u32 as u128)]);
        let word = |term: Term| signed(values[&term], 32) as i32;
        let defined = values[&goal.code.undefined] == 0;
        let got = defined.then(|| word(goal.code.result));
        let expected = word(goal.expected.result);
        let promised = values[&goal.promised] == 1;
        let is_wrong = promised && values[&goal.wrong] == 1;
        At {
            got,
            expected: (values[&goal.expected.promised] == 1).then_some(expected),
            promised,
            wrong: is_wrong.then_some(Counterexample { x, m, s, got, expected }),
        }
    }
}

/// Values of the terms for one input.
pub(crate) struct At {
    pub(crate) got: Option<i32>,
    pub(crate) expected: Option<i32>,
    /// True if the contract has a value for the input.
    pub(crate) promised: bool,
    pub(crate) wrong: Option<Counterexample>,
}
