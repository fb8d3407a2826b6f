//! Exponential of a number that is not positive, in fixed point: `x * 2^(integer_bits - 31)` in, `e^x * 2^31` out, both int32. For `x = 0`, the
//! result 1 becomes `2^31 - 1`.
//!
//! Two kinds of schemes: the real `e^x` rounded once, and gemmlowp's composition of a polynomial and of products, as printed. Each has two forms.
//! [`Scheme::exact`] computes on rationals, and encloses `e^x` by partial sums of its series with a bound of the rest.
//! [`Scheme::expected`] computes on machine integers, and multiplies table entries to form `e^x`.
//!
//! Source: google/gemmlowp fixedpoint/fixedpoint.h exp_on_negative_values.

pub(crate) mod printed;
mod real;

use crate::rounding::RoundingRule::{self, *};
use crate::scheme::registered;
use crate::shape::{ShapeError, broken};
use rug::Integer;
use std::ops::RangeInclusive;

pub use printed::Printed;
pub use real::enclosed;
pub(crate) use real::{enclosed_at, power};

/// Integer bits of the input. gemmlowp's code needs at least two fractional bits.
pub const INTEGER_BITS: RangeInclusive<i32> = 0..=29;

/// Computation of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `e^x`, rounded once.
    Real(RoundingRule),
    /// gemmlowp's composition.
    Printed,
}

/// Mathematical definition of the exponential.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Steps to the result.
    steps: &'static [&'static str],
    kind: Kind,
}

registered!(|d| d.steps.to_vec());

/// Definition. Only the result 1 leaves int32, and every policy replaces it by `2^31 - 1`.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    Definition {
        name: "nearest",
        summary: "the real e^x, rounded once to the nearest number of 31 fractional bits: no rational but 0 has a tie",
        source: "mathematics: the exponential series",
        steps: &["e^x", "round to nearest", "saturate 2^31"],
        kind: Kind::Real(TiesEven),
    },
    Definition {
        name: "toward-negative",
        summary: "the real e^x, rounded down to 31 fractional bits",
        source: "mathematics: the exponential series",
        steps: &["e^x", "round toward-negative", "saturate 2^31"],
        kind: Kind::Real(TowardNegative),
    },
    Definition {
        name: "gemmlowp",
        summary: "a polynomial of degree 4 on a quarter, then a rounded product with e^(-2^k) for each bit k of the whole quarters",
        source: "google/gemmlowp fixedpoint/fixedpoint.h exp_on_negative_values",
        steps: &[
            "split x into whole quarters and a rest in [-1/4, 0)",
            "y = rest + 1/8",
            "y^2, y^3, y^4 (saturating rounding doubling high multiply)",
            "y^4 / 4 (rounding divide)",
            "(y^4/4 + y^3) * 1/3 (high multiply)",
            "(.. + y^2) / 2 (rounding divide)",
            "e^(-1/8) + e^(-1/8) * (y + ..) (high multiply)",
            "times e^(-2^k) for each bit k of the quarters (high multiply)",
            "0 below -32",
            "2^31 - 1 of 0",
        ],
        kind: Kind::Printed,
    },
];

impl Scheme {
    /// Computes each result by rationals.
    pub fn exact(&self, integer_bits: i32, x: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        check(integer_bits, x)?;
        let one = |x: &i32| match self.definition.kind {
            Kind::Real(rule) => real::exact(*x, integer_bits, rule),
            Kind::Printed => printed::exact(*x, integer_bits),
        };
        Ok(x.iter().map(one).collect())
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`].
    pub fn expected(&self, integer_bits: i32, x: &[i32]) -> Result<Vec<i32>, ShapeError> {
        check(integer_bits, x)?;
        Ok(x.iter().map(|x| self.at(integer_bits, *x)).collect())
    }

    /// Computes a result by machine integers, for an input that is not positive.
    #[inline]
    pub fn at(&self, integer_bits: i32, x: i32) -> i32 {
        match self.definition.kind {
            Kind::Real(rule) => real::fast(x, integer_bits, rule),
            Kind::Printed => Printed::AS_PRINTED.at(x, integer_bits),
        }
    }

    /// True for gemmlowp's composition.
    pub fn is_printed(&self) -> bool {
        self.definition.kind == Kind::Printed
    }
}

fn check(integer_bits: i32, x: &[i32]) -> Result<(), ShapeError> {
    if !INTEGER_BITS.contains(&integer_bits) {
        return Err(broken("integer_bits", format!("{integer_bits} is not in 0 to 29")));
    }
    match x.iter().find(|x| **x > 0) {
        Some(x) => Err(broken("x", format!("{x} is positive"))),
        None => Ok(()),
    }
}
