//! Fixed point multiply: `round(x * m * 2^(s - Q))`, and the schemes by which systems define it.
//!
//! Source of the operation: TVM RFC "fixed point multiply", where Q is 31.

pub mod fast;
pub mod integer;
mod piece;
pub mod pieces;
pub mod scheme;
pub mod steps;
pub mod sweep;
mod trace;
pub mod vectors;

use crate::rounding::RoundingRule;
use crate::word::{INT32, Word};
use rug::{Integer, Rational};
use serde::Serialize;

pub(crate) use piece::div_floor;
pub use scheme::{Definition, Scheme};
pub use trace::{Effect, Name, Trace, Traced};

/// Multiplier, shift and format of a fixed point multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Parameters {
    /// Multiplier, a value of `word`.
    pub m: i64,
    /// Shift, positive = left.
    pub s: i32,
    /// Fractional bits of the multiplier.
    pub q: u32,
    /// Word of accumulator, multiplier and result.
    pub word: Word,
}

impl Parameters {
    /// Returns half a unit of the product's high part, `2^(Q-1)`; 0 if the product has no low part.
    pub(crate) fn half(&self) -> i128 {
        (1 << self.q) >> 1
    }

    /// Creates parameters of the usual format: int32 accumulators, Q0.31 multiplier.
    pub fn q31(m: i32, s: i32) -> Self {
        Self { m: m.into(), s, q: 31, word: INT32 }
    }

    /// Creates parameters of words of `bits` bits, whose whole input space is small; Q is `bits - 1`.
    pub fn narrow(m: i64, s: i32, bits: u32) -> Self {
        Self { m, s, q: bits - 1, word: Word { bits } }
    }
}

/// Computes `x * m * 2^(s - Q)` exactly.
pub fn exact(x: i64, p: &Parameters) -> Rational {
    let product = Rational::from(Integer::from(x) * p.m);
    product << (p.s - p.q as i32)
}

/// Computes `round(x * m * 2^(s - Q))`, unbounded.
pub fn fpm(rule: RoundingRule, x: i64, p: &Parameters) -> Integer {
    rule.round(&exact(x, p))
}
