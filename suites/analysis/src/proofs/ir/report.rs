//! Complete proof of code: comparison of terms and code, verdicts, and a run of the code on each witness.

use super::super::{interval, runs};
use super::contract::oracle;
use super::decide::{Counterexample, Question, Verdict};
use super::inputs::inputs;
use super::settle::Prover;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Function that runs the code on accumulators and multipliers at one shift.
pub type Code<'a> = dyn Fn(i32, &[(i32, i32)]) -> Result<Vec<i32>> + Sync + 'a;

/// Results about a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Verdict on each shift.
    pub verdicts: Vec<(i32, Verdict)>,
    /// Number of inputs on which terms and code returned the same.
    pub compared: u64,
    /// Counterexamples with the result of the code; `None` if no code was called.
    pub replayed: Vec<(Counterexample, Option<i32>)>,
    /// First tried accumulator, multiplier and shift for which the contract has no value, so that the proof does not cover the code there.
    #[serde(default)]
    pub without_value: Option<(i32, i32, i32)>,
}

/// Number of pseudorandom inputs of the differential test at each shift, in addition to the pairs of corners.
const RANDOM: usize = 64;

impl Report {
    /// Proves or refutes a question at each shift. `code` runs the code of the terms.
    pub fn new(
        question: &Question<'_>,
        shifts: RangeInclusive<i32>,
        prover: &Prover<'_>,
        code: Option<&Code<'_>>,
    ) -> Result<Self> {
        let without_value = shifts.clone().find_map(|s| question.without_value(s));
        let (mut compared, mut broken) = (0, Vec::new());
        if let Some(code) = code {
            for s in shifts.clone() {
                match compare(question, s, code)? {
                    Ok(count) => compared += count,
                    Err(difference) => broken.push((s, difference)),
                }
            }
        }
        let mut verdicts = question.decide(shifts, prover)?;
        for (s, verdict) in &mut verdicts {
            if let Some((_, difference)) = broken.iter().find(|(other, _)| other == s) {
                *verdict = Verdict::Unknown(difference.clone());
            }
        }
        let mut replayed = Vec::new();
        for (_, verdict) in &mut verdicts {
            let Verdict::Refuted(found) = verdict.clone() else { continue };
            let returned = code.map(|code| code(found.s, &[(found.x, found.m)])).transpose()?.map(|all| all[0]);
            if returned.is_some_and(|r| r == found.expected && found.got.is_some()) {
                *verdict =
                    Verdict::Unknown(format!("the code is right at the counterexample x={} m={}", found.x, found.m));
            }
            replayed.push((found, returned));
        }
        Ok(Self { verdicts, compared, replayed, without_value })
    }

    /// True if every shift of the contract is proved.
    pub fn proved(&self) -> bool {
        let holds = |verdict: &Verdict| matches!(verdict, Verdict::Proved { .. } | Verdict::NotPromised);
        self.verdicts.iter().all(|(_, v)| holds(v))
            && self.verdicts.iter().any(|(_, v)| matches!(v, Verdict::Proved { .. }))
    }

    /// Returns the shifts whose verdict `is`, as intervals.
    pub fn shifts(&self, is: impl Fn(&Verdict) -> bool) -> Vec<RangeInclusive<i32>> {
        runs(&self.verdicts, is)
    }

    /// Returns the shifts of each verdict, one line each, then the first counterexample, and the first reason for an unknown verdict.
    pub fn lines(&self) -> Vec<String> {
        let of = |kind: &str| {
            let shifts: Vec<String> = self.shifts(|v| v.name() == kind).iter().map(interval).collect();
            (!shifts.is_empty()).then(|| format!("{kind} at s = {}", shifts.join(", ")))
        };
        let kinds = ["proved", "not promised", "refuted", "unknown"].into_iter().filter_map(of);
        let refuted = self.replayed.first().map(|(found, returned)| found.said(*returned));
        let unknown = self.verdicts.iter().find_map(|(_, v)| match v {
            Verdict::Unknown(reason) => Some(reason.clone()),
            _ => None,
        });
        kinds.chain(refuted).chain(unknown).collect()
    }

    /// Returns the result of the code on a counterexample.
    pub fn returned(&self, found: &Counterexample) -> Option<i32> {
        self.replayed.iter().find(|(other, _)| other == found).and_then(|(_, returned)| *returned)
    }
}

impl Question<'_> {
    /// Returns a tried input for which the contract has no value.
    fn without_value(&self, s: i32) -> Option<(i32, i32, i32)> {
        let mut tried = inputs(u64::from(s.unsigned_abs()), RANDOM).into_iter();
        let none = |(x, m): &(i32, i32)| oracle(&self.scheme, self.output.as_ref(), *x, *m, s).is_none();
        tried.find(|(x, m)| self.multipliers.contains(m) && none(&(*x, *m))).map(|(x, m)| (x, m, s))
    }
}

/// Compares terms and code at one shift. Returns the number of inputs if they agree on all, otherwise the first difference.
fn compare(question: &Question<'_>, s: i32, code: &Code<'_>) -> Result<Result<u64, String>> {
    let goal = question.goal(s)?;
    let values = goal.values();
    let defined = |(x, m): &(i32, i32)| question.multipliers.contains(m) && values.at(*x, *m, s).got.is_some();
    let all: Vec<(i32, i32)> = inputs(u64::from(s.unsigned_abs()), RANDOM).into_iter().filter(defined).collect();
    let returned = code(s, &all)?;
    Ok(match goal.differs_from(question, s, &all, &returned) {
        None => Ok(all.len() as u64),
        Some(difference) => Err(difference),
    })
}
