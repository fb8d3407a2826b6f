//! Proofs about pairs of schemes, over all accumulators and all multipliers of each shift.
//!
//! [`tiebreak_oracle::proof`] decides one pair at one shift. This module decides many pairs at many shifts, and states the verdicts for runs of
//! shifts, in closed form in the shift.

pub mod bounds;
mod confirm;
pub mod ir;
mod recorded;
mod smt;
mod solver;
mod statement;

use rayon::prelude::*;
use std::ops::RangeInclusive;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::proof::{Verdict, prove};

pub use confirm::{Confirmation, Outcome, confirm};
pub use recorded::{record, recorded};
pub use solver::{Answer, SOLVERS, Solver};
pub use statement::{Statement, statements};

/// Verdicts on a pair of schemes.
#[derive(Clone, Debug)]
pub struct Proofs {
    /// Scheme whose results are subtracted.
    pub left: Scheme,
    /// Scheme from whose results the results of `left` are subtracted.
    pub right: Scheme,
    /// Verdict on each shift, in increasing order.
    pub verdicts: Vec<(i32, Verdict)>,
}

impl Proofs {
    /// True if every shift is decided.
    pub fn decided(&self) -> bool {
        self.verdicts.iter().all(|(_, verdict)| !matches!(verdict, Verdict::Unknown { .. }))
    }

    /// Returns the shifts whose verdict `is`, as intervals.
    pub fn shifts(&self, is: impl Fn(&Verdict) -> bool) -> Vec<RangeInclusive<i32>> {
        runs(&self.verdicts, is)
    }
}

/// Returns the shifts whose verdict `is`, as intervals.
fn runs<V>(verdicts: &[(i32, V)], is: impl Fn(&V) -> bool) -> Vec<RangeInclusive<i32>> {
    let mut runs: Vec<RangeInclusive<i32>> = Vec::new();
    for (s, _) in verdicts.iter().filter(|(_, verdict)| is(verdict)) {
        match runs.last_mut() {
            Some(run) if run.end() + 1 == *s => *run = *run.start()..=*s,
            _ => runs.push(*s..=*s),
        }
    }
    runs
}

/// Formats an interval of shifts.
pub fn interval(shifts: &RangeInclusive<i32>) -> String {
    match shifts.start() == shifts.end() {
        true => shifts.start().to_string(),
        false => format!("{}..{}", shifts.start(), shifts.end()),
    }
}

/// Proves or refutes each pair of `schemes` at each of `shifts`, for int32 accumulators and Q0.31 multipliers.
pub fn examine(schemes: &[Scheme], shifts: &RangeInclusive<i32>) -> Vec<Proofs> {
    let pairs: Vec<(Scheme, Scheme)> =
        (0..schemes.len()).flat_map(|i| (i + 1..schemes.len()).map(move |j| (schemes[i], schemes[j]))).collect();
    let all: Vec<(usize, i32)> = (0..pairs.len()).flat_map(|at| shifts.clone().map(move |s| (at, s))).collect();
    let decide = |(at, s): &(usize, i32)| (*s, prove(&pairs[*at].0, &pairs[*at].1, &Parameters::q31(0, *s)));
    let mut verdicts = all.par_iter().map(decide).collect::<Vec<_>>().into_iter();
    let each = shifts.clone().count();
    let of = |(left, right)| Proofs { left, right, verdicts: verdicts.by_ref().take(each).collect() };
    pairs.into_iter().map(of).collect()
}
