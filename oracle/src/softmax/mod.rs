//! Softmax of rows of quantized numbers: `e^(b * x_i)` over the sum of all `e^(b * x_j)` of the row, in steps of 2^-8 or 2^-16 from the least value
//! of the output's type on, clamped. A multiplier and a left shift define `b`, and convert a difference of stored values to five integer bits:
//! `b = multiplier * 2^(left_shift - 57)`.
//!
//! Two kinds of schemes: the real softmax rounded once, and TensorFlow Lite's composition in fixed point. Each has two forms. [`Scheme::exact`] computes on
//! rationals, with `e^x` enclosed by partial sums of its series. [`Scheme::expected`] computes on machine integers.
//!
//! A row has at most 511 elements: TensorFlow Lite's code aborts from 512 equal elements on ([`MOST`]).
//!
//! Source: tensorflow/tensorflow lite/kernels/internal/reference/softmax.h Softmax; lite/kernels/internal/common.h GetReciprocal.

mod composed;
mod real;

use crate::quantize::Storage;
use crate::scheme::registered;
use crate::shape::{self, ShapeError, broken};
use rug::Integer;
use std::ops::RangeInclusive;

pub use composed::Composed;
pub(crate) use composed::{newton, newton_fast, times};

/// Largest row. The sum of the exponentials has 19 fractional bits, and the source requires a sum below 2^28 (`TFLITE_CHECK(exponent <= 31)`).
pub const MOST: usize = 511;
/// Supported multipliers: the normalized significand of a scale.
pub const MULTIPLIERS: RangeInclusive<i32> = 1 << 30..=i32::MAX;
/// Supported left shifts.
pub const SHIFTS: RangeInclusive<i32> = 0..=30;

/// Shape and quantization of a softmax. Input and output `[rows, depth]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// Number of rows.
    pub rows: usize,
    /// Number of elements in a row.
    pub depth: usize,
    /// Multiplier of differences, Q0.31.
    pub multiplier: i32,
    /// Left shift of differences.
    pub left_shift: i32,
    /// Least difference from the largest element of the row; smaller differences count as minus infinity.
    pub diff_min: i32,
    /// Type of the input.
    pub input: Storage,
    /// Type of the output.
    pub out: Storage,
}

/// Computation of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Real softmax, rounded once.
    Real,
    /// TensorFlow Lite's composition.
    Composed,
}

/// Mathematical definition of the softmax.
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

/// Definition. No step leaves int32 if [`Softmax::check`] passes.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    Definition {
        name: "nearest",
        summary: "the real softmax of the row, of all its elements, rounded once to the nearest step: no row of up to 511 elements has a tie",
        source: "mathematics: the exponential series",
        steps: &[
            "e^(b * (x - max))",
            "divide by the sum",
            "round to nearest",
            "add the least value of the type",
            "clamp",
        ],
        kind: Kind::Real,
    },
    Definition {
        name: "tflite",
        summary: "differences from the row's maximum in Q5.26, gemmlowp's exponential, a sum in Q12.19, a reciprocal by three steps of Newton-Raphson",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/softmax.h Softmax; ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_softmax_common_s8.c",
        steps: &[
            "subtract the row's maximum",
            "the least output below diff_min",
            "(difference * 2^left_shift) * multiplier (saturating rounding doubling high multiply)",
            "exp_on_negative_values, Q5.26 to Q0.31",
            "rescale to Q12.19 (rounding divide) and add",
            "1 / sum: shift to [1, 2), reciprocal by Newton-Raphson",
            "times the exponential (high multiply)",
            "rounding divide by 2^exponent",
            "add the least value of the type",
            "clamp",
        ],
        kind: Kind::Composed,
    },
];

impl Softmax {
    /// Returns the number of elements of input and output; the error is the invalid argument.
    pub fn check(&self) -> Result<usize, ShapeError> {
        shape::positive(&[("rows", self.rows), ("depth", self.depth)])?;
        if self.depth > MOST {
            return Err(broken("depth", format!("{} is more than {MOST}", self.depth)));
        }
        if !MULTIPLIERS.contains(&self.multiplier) {
            return Err(broken("multiplier", format!("{} is not in 2^30 to 2^31 - 1", self.multiplier)));
        }
        if !SHIFTS.contains(&self.left_shift) {
            return Err(broken("left_shift", format!("{} is not in 0 to 30", self.left_shift)));
        }
        let least = -(1i64 << (31 - self.left_shift));
        if !(least..=0).contains(&i64::from(self.diff_min)) {
            return Err(broken("diff_min", format!("{} is not in {least} to 0", self.diff_min)));
        }
        if self.input.bits != 8 || ![8, 16].contains(&self.out.bits) {
            return Err(broken("type", "the input has 8 bits, the output 8 or 16"));
        }
        shape::elements("input", &[self.rows, self.depth])
    }

    fn check_input(&self, x: &[i32]) -> Result<(), ShapeError> {
        shape::length("input", x.len(), self.check()?)?;
        self.input.holds("input", x)
    }

    /// Converts a number of steps to a stored value, from the least value of the output's type on, clamped.
    fn placed(&self, steps: i64) -> i32 {
        (steps + self.out.min()).min(self.out.max()) as i32
    }
}

impl Scheme {
    /// Computes each result by rationals.
    pub fn exact(&self, p: &Softmax, x: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        p.check_input(x)?;
        let row = |row: &[i32]| match self.definition.kind {
            Kind::Real => real::exact(p, row),
            Kind::Composed => composed::exact(p, row),
        };
        Ok(x.chunks_exact(p.depth).flat_map(row).collect())
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`].
    pub fn expected(&self, p: &Softmax, x: &[i32]) -> Result<Vec<i32>, ShapeError> {
        p.check_input(x)?;
        let row = |row: &[i32]| match self.definition.kind {
            Kind::Real => real::fast(p, row),
            Kind::Composed => Composed::AS_PRINTED.row(p, row),
        };
        Ok(x.chunks_exact(p.depth).flat_map(row).collect())
    }

    /// True for TensorFlow Lite's composition.
    pub fn is_composed(&self) -> bool {
        self.definition.kind == Kind::Composed
    }
}
