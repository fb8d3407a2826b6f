//! Dequantization: a stored value `q` becomes the float `(q - zero_point) * scale`. No stored value is poison, NaN or an infinity,
//! but an intermediate value may overflow to an infinity of the format, as in the kernels.
//!
//! i8, u8, i16 and u16 are rounded correctly to f32 by the RFC's steps. With 16-bit stored values and zero points the difference
//! has at most 17 bits, which f32 holds. Both conversions and the subtraction are exact, and only the product rounds.

mod short;

use crate::float::Format;
use crate::quantize::steps::{Value, either_way};
use crate::quantize::{Prepared, Quantization, Soft};
use crate::scheme::{registered, step_names};
use rug::Rational;
use short::Factor;

pub use short::Fixed;

/// Mathematical definition of dequantize.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Composition, each step with its name. Starts from the stored value.
    pub steps: &'static [Named],
    /// Definition in machine integers, derived independently; unrounded at the end.
    fast: fn(&Prepared, i64) -> Soft,
    /// Factor of the scale, if all earlier steps are on integers and only one rounding follows.
    factor: Option<Factor>,
}

/// One exact step. `v` is the value so far, `q` the stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `v` rounded to the expressed type, ties to even.
    Round,
    /// `v` rounded to f32, ties to even.
    RoundToSingle,
    /// `v` rounded to f64, ties to even.
    RoundToDouble,
    /// `v - zero_point`.
    Subtract,
    /// `v` minus the zero point rounded to the expressed type.
    SubtractRounded,
    /// `v * scale`.
    Multiply,
    /// `v` minus the rounded product of the rounded zero point and the scale.
    SubtractProduct,
}

/// Definition without a policy: every result is a float.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

registered!(|definition| step_names(definition.steps));

/// Values of a scheme at a stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `(q - zero_point) * scale`.
    pub exact: Rational,
    /// Name of each step, with the exact value after it.
    pub steps: Vec<(&'static str, Value)>,
    /// Result, a pattern of the format.
    pub result: u64,
}

/// Step with its name.
type Named = (&'static str, Step);

const CONVERT: Named = ("the stored value converts", Step::Round);
const SUBTRACT: Named = ("subtract the zero point", Step::Subtract);
const SUBTRACT_ROUNDED: Named = ("subtract the zero point as a float", Step::SubtractRounded);
const ROUND_DIFFERENCE: Named = ("the difference rounds", Step::Round);
const MULTIPLY: Named = ("multiply by the scale", Step::Multiply);
const ROUND_PRODUCT: Named = ("the product rounds", Step::Round);
const ROUND: Named = ("round", Step::Round);

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    Definition {
        name: "ideal",
        summary: "(q - zero point) * scale, exact, rounded once",
        source: "MLIR RFC quant dialect: expressedValue = (storedValue - zeroPoint) * scale",
        steps: &[SUBTRACT, MULTIPLY, ROUND],
        fast: |p, q| Soft::integer(q - p.q.zero_point).times(p.scale),
        factor: Some(|p, q| Some(q - p.zero_point)),
    },
    Definition {
        name: "mlir-dcast",
        summary: "the RFC's steps: both converted, subtracted and multiplied in the expressed type",
        source: "MLIR RFC quant dialect, operation quant.dcast, Semantics; pass --lower-quant-ops",
        steps: &[CONVERT, SUBTRACT_ROUNDED, ROUND_DIFFERENCE, MULTIPLY, ROUND_PRODUCT],
        fast: |p, q| {
            let stored = Soft::integer(q).rounded(p.q.format);
            stored.plus(p.zero_point_rounded.negated()).rounded(p.q.format).times(p.scale)
        },
        factor: Some(|p, q| p.rounded(p.rounded(q)? - p.zero_point_rounded)),
    },
    Definition {
        name: "mlir-dcast-by-f32",
        summary: "the RFC's steps, with the stored value rounded to f32 before the expressed type",
        source: "llvm/llvm-project, x86-64: sitofp i32 to bfloat is cvtsi2ss and __truncsfbf2, release 22",
        steps: &[
            ("the stored value converts to f32", Step::RoundToSingle),
            ("and from there", Step::Round),
            SUBTRACT_ROUNDED,
            ROUND_DIFFERENCE,
            MULTIPLY,
            ROUND_PRODUCT,
        ],
        fast: |p, q| {
            let stored = Soft::integer(q).rounded(Format::F32).rounded(p.q.format);
            stored.plus(p.zero_point_rounded.negated()).rounded(p.q.format).times(p.scale)
        },
        factor: None,
    },
    Definition {
        name: "integer-difference",
        summary: "the difference in integers, converted, multiplied in the expressed type",
        source: "pytorch/FBGEMM include/fbgemm/QuantUtils.h Dequantize; google/XNNPACK src/qs8-f32-vcvt/scalar.c.in",
        steps: &[SUBTRACT, ("the difference converts", Step::Round), MULTIPLY, ROUND_PRODUCT],
        fast: |p, q| Soft::integer(q - p.q.zero_point).rounded(p.q.format).times(p.scale),
        factor: Some(|p, q| p.rounded(q - p.zero_point)),
    },
    Definition {
        name: "tflite",
        summary: "the difference in integers, multiplied in double, then rounded to the expressed type",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/dequantize.h Dequantize, for int8, uint8 and int16 to f32",
        steps: &[SUBTRACT, MULTIPLY, ("the product rounds to double", Step::RoundToDouble), ROUND],
        fast: |p, q| Soft::integer(q - p.q.zero_point).times(p.scale).rounded(Format::F64),
        factor: None,
    },
    Definition {
        name: "distributed",
        summary: "q * scale - zero point * scale, every product rounded in the expressed type",
        source: "pytorch/pytorch issue 107030",
        steps: &[
            CONVERT,
            MULTIPLY,
            ROUND_PRODUCT,
            ("subtract the zero point's product", Step::SubtractProduct),
            ROUND_DIFFERENCE,
        ],
        fast: |p, q| {
            let product = |v: Soft| v.times(p.scale).rounded(p.q.format);
            let stored = product(Soft::integer(q).rounded(p.q.format));
            stored.plus(product(p.zero_point_rounded).negated())
        },
        factor: None,
    },
];

impl Step {
    /// True for arithmetic on numbers, false for conversions.
    fn computes(self) -> bool {
        matches!(self, Self::Subtract | Self::SubtractRounded | Self::Multiply | Self::SubtractProduct)
    }

    /// Applies the step to `v`.
    pub fn apply(self, v: Value, q: &Quantization) -> Value {
        let rounded_to = |format: Format, v: Value| match v {
            Value::Number(v) => Value::of(format, format.nearest(&v)),
            other => other,
        };
        let rounded = |v| rounded_to(q.format, v);
        let scale = Value::Number(q.exact_scale());
        let zero_point = Value::Number(q.zero_point.into());
        match self {
            Self::Round => rounded(v),
            Self::RoundToSingle => rounded_to(Format::F32, v),
            Self::RoundToDouble => rounded_to(Format::F64, v),
            Self::Subtract => v.plus(zero_point.negated()),
            Self::SubtractRounded => v.plus(rounded(zero_point).negated()),
            Self::Multiply => v.times(&scale),
            Self::SubtractProduct => v.plus(rounded(rounded(zero_point).times(&scale)).negated()),
        }
    }
}

impl Definition {
    /// Traces the exact value of every step at one stored value.
    pub fn trace(&self, q: &Quantization, stored: i64) -> Trace {
        let mut value = Value::Number(stored.into());
        let mut steps = Vec::with_capacity(self.steps.len());
        for (name, step) in self.steps {
            value = step.apply(value, q);
            steps.push((*name, value.clone()));
        }
        let exact = Rational::from(stored - q.zero_point) * q.exact_scale();
        Trace { exact, steps, result: value.pattern(q.format) }
    }
}

impl Scheme {
    /// Returns every possible result, sorted and without duplicates, if the rounding of each difference and product to the expressed type may
    /// resolve ties in either direction. Conversions of integers round ties to even.
    pub fn either_way(&self, q: &Quantization, stored: i64) -> Vec<u64> {
        let mut values = vec![Value::Number(stored.into())];
        let mut computed = false;
        for (_, step) in self.definition.steps {
            let next = |value: Value| match (step, value) {
                (Step::Round, Value::Number(v)) if computed => either_way(q.format, &v),
                (_, value) => vec![step.apply(value, q)],
            };
            values = values.into_iter().flat_map(next).collect();
            values.dedup();
            computed = step.computes();
        }
        let mut results: Vec<u64> = values.iter().map(|value| value.pattern(q.format)).collect();
        results.sort_unstable();
        results.dedup();
        results
    }

    /// Computes the result by big rationals, a pattern of the format; NaN is [`crate::float::Format::nan`]. The parameters pass
    /// [`Quantization::check`]. 0 is always +0, as a difference of equal floats or a product of +0. The product of a nonzero integer
    /// is not below the scale, so no product underflows.
    pub fn exact(&self, q: &Quantization, stored: i64) -> u64 {
        self.definition.trace(q, stored).result
    }

    /// Computes the result by machine integers, equal to [`Scheme::exact`].
    pub fn expected(&self, q: &Quantization, stored: i64) -> u64 {
        self.prepared(&Prepared::new(q), stored)
    }

    fn prepared(&self, p: &Prepared, stored: i64) -> u64 {
        (self.definition.fast)(p, stored).rounded(p.q.format).pattern(p.q.format)
    }
}
