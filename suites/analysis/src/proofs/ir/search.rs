//! Candidates for counterexamples, tried before a solver is called. An input is a counterexample only if evaluating the terms shows it.

use super::inputs::inputs;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::proof::{Verdict, prove};
use tiebreak_oracle::word::Overflow;

/// Number of pseudorandom inputs, in addition to the pairs of corners.
const RANDOM: usize = 256;

/// Returns corners, pseudorandom inputs, and an input for each scheme that differs from the contract: most faulty code follows another scheme.
pub(super) fn candidates(contract: &Scheme, s: i32) -> Vec<(i32, i32)> {
    let overflow = if contract.overflow == Overflow::OutOfDomain { Overflow::Wrap } else { contract.overflow };
    let witness = |definition| match prove(contract, &Scheme { definition, overflow }, &Parameters::q31(0, s)) {
        Verdict::Differ { witness, .. } => Some((witness.x, witness.m)),
        _ => None,
    };
    let words = |(x, m)| Some((i32::try_from(x).ok()?, i32::try_from(m).ok()?));
    let apart = DEFINITIONS.iter().filter_map(witness).flat_map(|(x, m)| [(x, m), (-x, -m)]).filter_map(words);
    inputs(u64::from(s.unsigned_abs()), RANDOM).into_iter().chain(apart).collect()
}
