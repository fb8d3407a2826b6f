//! Expected results for runs of consecutive accumulators at the speed of a kernel.
//!
//! A piece is `floor((m*x + c) / 2^k)`: from one accumulator to the next its numerator grows by `m`. The numerator is kept modulo
//! 2^64 and placed so that the result's word is its upper half, shifted right; a step costs one addition, one shift
//! and one narrowing, which compilers turn into vector code. Int32 words only.

use super::pieces::{Piece, fold};
use super::{Parameters, Scheme};
use crate::word::INT32;

/// A numerator that is stepped from accumulator to accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepper {
    /// Numerator at the first accumulator.
    numerator: u64,
    /// Growth from one accumulator to the next.
    slope: u64,
    /// The result is the upper half of the numerator, shifted right by this.
    shift: u32,
}

impl Stepper {
    /// The stepper of `piece` from accumulator `x` on. Nothing when a numerator needs more than 64 bits and the upper ones
    /// decide the result.
    fn new(piece: &Piece, x: i64) -> Option<Self> {
        let numerator = |x: i64| piece.m * i128::from(x) + piece.c;
        if piece.k <= 32 {
            // Bits k..k+32 of the numerator are the result; nothing above them matters.
            let up = 32 - piece.k;
            return Some(Self { numerator: (numerator(x) << up) as u64, slope: (piece.m << up) as u64, shift: 0 });
        }
        let fits = |x: i64| i64::try_from(numerator(x)).is_ok();
        (piece.k < 64 && fits(piece.lo) && fits(piece.hi)).then(|| Self {
            numerator: numerator(x) as u64,
            slope: piece.m as u64,
            shift: piece.k - 32,
        })
    }

    /// The expected result `i` accumulators further on.
    #[inline(always)]
    pub fn ahead(&self, i: usize) -> i32 {
        let numerator = self.numerator.wrapping_add(self.slope.wrapping_mul(i as u64));
        ((numerator >> 32) as i32) >> self.shift
    }
}

/// What is expected on a run of consecutive accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Every accumulator has a result, and this steps through them.
    Stepped(Stepper),
    /// None has: all are out of domain.
    OutOfDomain,
    /// Ask the fast form, accumulator by accumulator.
    OneByOne,
}

/// A scheme at fixed parameters, ready for runs.
#[derive(Clone, Debug)]
pub struct Sweep {
    scheme: Scheme,
    parameters: Parameters,
    pieces: Option<Vec<Piece>>,
}

impl Sweep {
    /// Prepare `scheme` for runs at `parameters`.
    pub fn new(scheme: Scheme, parameters: Parameters) -> Self {
        let pieces = if parameters.word == INT32 { fold(&scheme, &parameters) } else { None };
        Self { scheme, parameters, pieces }
    }

    /// The scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Splits `start .. start + len` into runs with one kind of expectation each: `(first, length, expected)`.
    pub fn runs(&self, start: i64, len: usize) -> Vec<(i64, usize, Expected)> {
        let end = start + len as i64;
        let Some(pieces) = &self.pieces else {
            return vec![(start, len, Expected::OneByOne)];
        };
        let mut runs = Vec::new();
        let mut x = start;
        let mut next = pieces.partition_point(|p| p.hi < start);
        while x < end {
            let (stop, expected) = match pieces.get(next) {
                Some(p) if p.lo <= x => {
                    next += 1;
                    (p.hi + 1, Stepper::new(p, x).map_or(Expected::OneByOne, Expected::Stepped))
                }
                Some(p) => (p.lo, Expected::OutOfDomain),
                None => (end, Expected::OutOfDomain),
            };
            let stop = stop.min(end);
            runs.push((x, (stop - x) as usize, expected));
            x = stop;
        }
        runs
    }

    /// One expected result by the fast integer form.
    #[inline]
    pub fn one(&self, x: i64) -> Option<i64> {
        self.scheme.fast(x, &self.parameters)
    }

    /// One expected result by big rationals.
    pub fn anchor(&self, x: i64) -> Option<i64> {
        self.scheme.exact(x, &self.parameters)
    }
}
