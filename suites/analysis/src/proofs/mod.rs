//! Pairs of schemes over all accumulators and all multipliers of each shift, proved or refuted.
//!
//! [`tiebreak_oracle::proof`] decides one pair at one shift; here are many pairs at many shifts, and statements that hold for a run of shifts,
//! in closed form in the shift.

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

/// A pair of schemes at each of some shifts.
#[derive(Clone, Debug)]
pub struct Proofs {
    /// The scheme whose results are subtracted.
    pub left: Scheme,
    /// The scheme from whose results they are subtracted.
    pub right: Scheme,
    /// One verdict for each shift, in increasing order.
    pub verdicts: Vec<(i32, Verdict)>,
}

impl Proofs {
    /// True if every shift is decided.
    pub fn decided(&self) -> bool {
        self.verdicts.iter().all(|(_, verdict)| !matches!(verdict, Verdict::Unknown { .. }))
    }

    /// The shifts whose verdict `is`, as intervals.
    pub fn shifts(&self, is: impl Fn(&Verdict) -> bool) -> Vec<RangeInclusive<i32>> {
        runs(&self.verdicts, is)
    }
}

/// The shifts whose verdict `is`, as intervals.
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

/// An interval of shifts as text.
pub fn interval(shifts: &RangeInclusive<i32>) -> String {
    match shifts.start() == shifts.end() {
        true => shifts.start().to_string(),
        false => format!("{}..{}", shifts.start(), shifts.end()),
    }
}

/// Every two of `schemes` at each of `shifts`, for int32 accumulators and Q0.31 multipliers.
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
