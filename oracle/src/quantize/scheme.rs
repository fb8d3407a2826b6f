//! The registry of quantize schemes: a name, where it comes from, its steps, and the fast integer form held against them.

use super::fast::{self, Fast};
use super::steps::{Addend, Nan, Step, Value};
use super::{Prepared, Quantization, Soft, Stored};
use crate::float::Format;
use crate::rounding::RoundingRule::{self, *};
use crate::scheme::Registered;
use crate::word::Overflow;
use rug::Rational;

/// A mathematical definition of quantize.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Parameters that the source takes.
    pub takes: Takes,
    /// The composition, each step with its name. Starts from the float.
    pub steps: &'static [(&'static str, Step)],
    /// The same in machine integers, derived apart.
    pub(super) fast: Fast,
}

/// Parameters that a source takes; for others its scheme is unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All.
    Everything,
    /// f32, and storage of at most this many bits.
    F32 {
        /// The widest storage.
        storage: u32,
    },
}

/// A definition with the policy for conversions that do not fit, where it has one: poison by default (`out-of-domain`), else the
/// nearest stored value or the low bits.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Registered for &'static Definition {
    fn all() -> impl Iterator<Item = Self> {
        DEFINITIONS.iter()
    }

    fn name(self) -> &'static str {
        self.name
    }
}

/// The values of a scheme at one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `x / scale + zero_point`, or nothing for NaN and infinities.
    pub exact: Option<Rational>,
    /// Each step's name with the exact value after it, from the float on.
    pub steps: Vec<(&'static str, Value)>,
    /// The result.
    pub result: Stored,
}

const DIVIDE: (&str, Step) = ("divide by the scale", Step::Divide);
const RECIPROCAL: (&str, Step) = ("multiply by the rounded 1/scale", Step::MultiplyByReciprocal);
const ROUND_SCALED: (&str, Step) = ("the scaled value rounds", Step::RoundToFormat);
const ADD: (&str, Step) = ("add the zero point", Step::Add(Addend::ZeroPoint));
const ADD_ROUNDED: (&str, Step) = ("add the zero point as a float", Step::Add(Addend::ZeroPointRounded));
const ROUND_SUM: (&str, Step) = ("the sum rounds", Step::RoundToFormat);
const CLAMP: (&str, Step) = ("clamp", Step::Clamp);
const NAN_IS_POISON: (&str, Step) = ("NaN converts to no integer", Step::Nan(Nan::Poison));
/// `1.5 * 2^23`: added to an f32 below 2^22, it leaves an integer in the low bits.
const MAGIC: i64 = 12_582_912;

/// The four schemes that each rounding rule gives.
macro_rules! of_rule {
    ($suffix:literal, $rule:ident) => {
        [
            Definition {
                name: $suffix,
                summary: concat!("x/scale + zero point, exact, rounded once: ", $suffix),
                source: "MLIR RFC quant dialect: (storedValue - zeroPoint) * scale, solved and rounded once; infinities clamp, NaN is left open",
                takes: Takes::Everything,
                steps: &[DIVIDE, ADD, (concat!("round ", $suffix), Step::RoundToInteger($rule)), CLAMP],
                fast: |p, _, x| fast::ideal($rule, p, x),
            },
            Definition {
                name: concat!("zero-point-after-", $suffix),
                summary: concat!("x/scale, exact, rounded once, then the zero point: ", $suffix),
                source: "ONNX QuantizeLinear: saturate(round(x / y_scale) + y_zero_point), in exact reals",
                takes: Takes::Everything,
                steps: &[DIVIDE, (concat!("round ", $suffix), Step::RoundToInteger($rule)), ADD, CLAMP],
                fast: |p, _, x| fast::zero_point_after($rule, p, x),
            },
            Definition {
                name: concat!("mlir-qcast-", $suffix),
                summary: concat!("the RFC's steps in the expressed type, converted by ", $suffix),
                source: "MLIR RFC quant dialect, operation quant.qcast, Semantics; the conversion's rounding is open there",
                takes: Takes::Everything,
                steps: &[
                    DIVIDE,
                    ROUND_SCALED,
                    ADD_ROUNDED,
                    ROUND_SUM,
                    (concat!("convert ", $suffix), Step::Convert($rule)),
                    CLAMP,
                ],
                fast: |p, overflow, x| fast::qcast($rule, overflow, p, x.divided_by(p.scale)),
            },
            Definition {
                name: concat!("reciprocal-", $suffix),
                summary: concat!("the RFC's steps, but multiplied by the rounded 1/scale, converted by ", $suffix),
                source: "the RFC's steps with its division strength-reduced",
                takes: Takes::Everything,
                steps: &[
                    RECIPROCAL,
                    ROUND_SCALED,
                    ADD_ROUNDED,
                    ROUND_SUM,
                    (concat!("convert ", $suffix), Step::Convert($rule)),
                    CLAMP,
                ],
                fast: |p, overflow, x| fast::qcast($rule, overflow, p, x.times(p.reciprocal)),
            },
        ]
    };
}

const BY_RULE: [[Definition; 4]; 8] = [
    of_rule!("nearest-even", TiesEven),
    of_rule!("nearest-away", TiesAway),
    of_rule!("nearest-up", TiesUp),
    of_rule!("nearest-down", TiesDown),
    of_rule!("nearest-to-zero", TiesToZero),
    of_rule!("toward-positive", TowardPositive),
    of_rule!("toward-negative", TowardNegative),
    of_rule!("toward-zero", TowardZero),
];

const SHIPPED: [Definition; 7] = [
    Definition {
        name: "mlir-qcast",
        summary: "mlir-opt --lower-quant-ops: divf, addf, fptosi or fptoui, then the clamp",
        source: "MLIR RFC quant dialect, pass --lower-quant-ops; llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp",
        takes: Takes::Everything,
        steps: &[
            DIVIDE,
            ROUND_SCALED,
            ADD_ROUNDED,
            ROUND_SUM,
            ("convert toward-zero", Step::Convert(TowardZero)),
            CLAMP,
        ],
        fast: |p, overflow, x| fast::qcast(TowardZero, overflow, p, x.divided_by(p.scale)),
    },
    Definition {
        name: "tflite",
        summary: "TFLite reference: f32 division, std::round, zero point and clamp in double; NaN is undefined",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/quantize.h AffineQuantize; cppmath.h TfLiteRound",
        takes: Takes::F32 { storage: 32 },
        // In double the sum rounds from 2^53 on, where it is clamped either way.
        steps: &[DIVIDE, ROUND_SCALED, ("std::round", Step::RoundToInteger(TiesAway)), ADD, CLAMP, NAN_IS_POISON],
        fast: |p, _, x| fast::tflite(p, x),
    },
    Definition {
        name: "onnx",
        summary: "onnxruntime's vector code: f32 division, clamp before the zero point, nearest even; NaN is the minimum",
        source: "microsoft/onnxruntime core/mlas/lib/quantize.cpp MlasQuantizeLinearVector (SSE2 and NEON)",
        takes: Takes::F32 { storage: 16 },
        steps: &[
            DIVIDE,
            ROUND_SCALED,
            ("maximum takes the bound for NaN", Step::Nan(Nan::Lowest)),
            ("clamp less the zero point", Step::ClampBeforeZeroPoint),
            ("cvtps2dq or fcvtns", Step::RoundToInteger(TiesEven)),
            ADD,
            CLAMP,
        ],
        fast: |p, _, x| fast::onnx(p, x),
    },
    Definition {
        name: "pytorch",
        summary: "FBGEMM: f32 product with 1/scale, nearbyint, zero point in f32, clamp in double; NaN is undefined",
        source: "pytorch/FBGEMM include/fbgemm/QuantUtils.h Quantize, LEGACY = false; pytorch aten/src/ATen/native/quantized/AffineQuantizerBase.cpp",
        takes: Takes::F32 { storage: 32 },
        steps: &[
            RECIPROCAL,
            ROUND_SCALED,
            ("nearbyint", Step::RoundToInteger(TiesEven)),
            ADD_ROUNDED,
            ROUND_SUM,
            CLAMP,
            NAN_IS_POISON,
        ],
        fast: |p, _, x| fast::pytorch(p, x),
    },
    Definition {
        name: "pytorch-legacy",
        summary: "FBGEMM, LEGACY: the zero point is added in f32 before nearbyint",
        source: "pytorch/FBGEMM include/fbgemm/QuantUtils.h Quantize, LEGACY = true",
        takes: Takes::F32 { storage: 32 },
        steps: &[
            RECIPROCAL,
            ROUND_SCALED,
            ADD_ROUNDED,
            ROUND_SUM,
            ("nearbyint", Step::RoundToInteger(TiesEven)),
            CLAMP,
            NAN_IS_POISON,
        ],
        fast: |p, _, x| fast::pytorch_legacy(p, x),
    },
    Definition {
        name: "xnnpack",
        summary: "XNNPACK fmagic: f32 product with 1/scale, clamp before the zero point, round by a magic bias; NaN is the minimum",
        source: "google/XNNPACK src/f32-qs8-vcvt/scalar-fmagic.c.in",
        takes: Takes::F32 { storage: 8 },
        steps: &[
            RECIPROCAL,
            ROUND_SCALED,
            ("maximum takes the bound for NaN", Step::Nan(Nan::Lowest)),
            ("clamp less the zero point", Step::ClampBeforeZeroPoint),
            ("add the magic bias", Step::Add(Addend::Constant(MAGIC))),
            ROUND_SUM,
            ("subtract the magic bias", Step::Add(Addend::Constant(-MAGIC))),
            ADD,
            CLAMP,
        ],
        fast: |p, _, x| fast::xnnpack(p, x),
    },
    Definition {
        name: "neon-fcvtns",
        summary: "NEON: f32 product with 1/scale, FCVTNS, SQXTN, SQADD, SQXTN, which saturate; NaN is the zero point",
        source: "google/XNNPACK src/f32-qs8-vcvt/neonv8.c.in; Arm ARM FCVTNS, SQXTN, SQADD",
        takes: Takes::F32 { storage: 8 },
        steps: &[
            RECIPROCAL,
            ROUND_SCALED,
            ("fcvtns rounds", Step::RoundToInteger(TiesEven)),
            ("fcvtns takes NaN to 0", Step::Nan(Nan::Zero)),
            ("fcvtns saturates", Step::Saturate(32)),
            ("sqxtn saturates", Step::Saturate(16)),
            ADD,
            ("sqadd saturates", Step::Saturate(16)),
            CLAMP,
        ],
        fast: |p, _, x| fast::neon_fcvtns(p, x),
    },
];

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &{
    let mut all = [SHIPPED[0]; 4 * 8 + 7];
    let mut i = 0;
    while i < 4 * 8 {
        all[i] = BY_RULE[i / 4][i % 4];
        i += 1;
    }
    while i < all.len() {
        all[i] = SHIPPED[i - 4 * 8];
        i += 1;
    }
    all
};

impl Takes {
    /// Whether the source takes these parameters.
    pub fn takes(self, q: &Quantization) -> bool {
        match self {
            Self::Everything => true,
            // The zero points of these sources are of the storage type, which their constants rely on.
            Self::F32 { storage } => {
                let zero_points = q.storage.min()..=q.storage.max();
                q.format == Format::F32 && q.storage.bits <= storage && zero_points.contains(&q.zero_point)
            }
        }
    }
}

impl Definition {
    /// Whether a policy matters: whether a step converts to the storage type.
    pub fn converts(&self) -> bool {
        self.steps.iter().any(|(_, step)| matches!(step, Step::Convert(_)))
    }

    /// The exact values of every step at one input, which passes [`Quantization::check`].
    pub fn trace(&self, overflow: Overflow, q: &Quantization, bits: u64) -> Trace {
        let mut value = Value::of(q.format, bits);
        let exact = match &value {
            Value::Number(x) => Some(x / q.exact_scale() + q.zero_point),
            _ => None,
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        if !self.takes.takes(q) {
            return Trace { exact, steps, result: Stored::Unspecified };
        }
        for (name, step) in self.steps {
            match step.apply(value, overflow, q) {
                Ok(next) => value = next,
                Err(result) => return Trace { exact, steps, result },
            }
            steps.push((*name, value.clone()));
        }
        let result = match value {
            Value::Number(v) if v.is_integer() => Stored::Value(v.numer().to_i64().expect("clamped")),
            Value::Nan => Stored::Unspecified,
            other => unreachable!("{} ends in {other:?}", self.name),
        };
        Trace { exact, steps, result }
    }
}

impl Scheme {
    /// The exact sum rounded once by `rule`.
    pub fn ideal(rule: RoundingRule) -> Self {
        let position =
            BY_RULE.iter().position(|[ideal, ..]| matches!(ideal.steps[2].1, Step::RoundToInteger(r) if r == rule));
        let definition = &DEFINITIONS[4 * position.expect("every rule is a scheme")];
        Self { definition, overflow: Overflow::OutOfDomain }
    }

    /// The result by big rationals. The parameters pass [`Quantization::check`].
    pub fn exact(&self, q: &Quantization, bits: u64) -> Stored {
        self.definition.trace(self.overflow, q, bits).result
    }

    /// The result by machine integers. The parameters pass [`Quantization::check`].
    pub fn expected(&self, q: &Quantization, bits: u64) -> Stored {
        self.prepared(&Prepared::new(q), bits)
    }

    /// [`Scheme::expected`] where the parameters are used again and again.
    pub(super) fn prepared(&self, p: &Prepared, bits: u64) -> Stored {
        if !self.definition.takes.takes(&p.q) {
            return Stored::Unspecified;
        }
        (self.definition.fast)(p, self.overflow, Soft::of(p.q.format, bits))
    }
}
