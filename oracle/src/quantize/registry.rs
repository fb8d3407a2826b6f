//! Registry of quantize schemes: four kinds for each of eight rounding rules, and the schemes of the systems.

use super::fast;
use super::scheme::{Definition, Takes};
use super::steps::{Addend, Nan, Step};
use crate::float::Format;
use crate::rounding::RoundingRule::{self, *};

const DIVIDE: (&str, Step) = ("divide by the scale", Step::Divide);
const RECIPROCAL: (&str, Step) = ("multiply by the rounded 1/scale", Step::MultiplyByReciprocal);
const ROUND_SCALED: (&str, Step) = ("the scaled value rounds", Step::RoundToFormat);
const ADD: (&str, Step) = ("add the zero point", Step::Add(Addend::ZeroPoint));
const ADD_ROUNDED: (&str, Step) = ("add the zero point as a float", Step::Add(Addend::ZeroPointRounded));
const ROUND_SUM: (&str, Step) = ("the sum rounds", Step::RoundToFormat);
const CLAMP: (&str, Step) = ("clamp", Step::Clamp);
const CAST_TO_INT32: (&str, Step) = ("the cast has a value for int32 alone", Step::RequireBits(32));
const SUM_IN_INT32: (&str, Step) = ("the sum has a value in int32 alone", Step::RequireBits(32));
const NAN_IS_POISON: (&str, Step) = ("NaN converts to no integer", Step::Nan(Nan::Poison));
/// Magic bias `1.5 * 2^23`: added to an f32 below 2^22, it leaves an integer in the low bits.
const MAGIC: i64 = 12_582_912;

/// Lists the RFC's steps in the expressed type, from the given first step to a conversion by a rule.
macro_rules! qcast {
    ($first:ident, $suffix:literal, $rule:ident) => {
        &[$first, ROUND_SCALED, ADD_ROUNDED, ROUND_SUM, (concat!("convert ", $suffix), Step::Convert($rule)), CLAMP]
    };
}

/// Defines the four schemes of a rounding rule.
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
                steps: qcast!(DIVIDE, $suffix, $rule),
                fast: |p, overflow, x| fast::qcast($rule, overflow, p, x.divided_by(p.scale)),
            },
            Definition {
                name: concat!("reciprocal-", $suffix),
                summary: concat!("the RFC's steps, but multiplied by the rounded 1/scale, converted by ", $suffix),
                source: "the RFC's steps with its division strength-reduced",
                takes: Takes::Everything,
                steps: qcast!(RECIPROCAL, $suffix, $rule),
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

const SHIPPED: [Definition; 11] = [
    Definition {
        name: "mlir-qcast",
        summary: "mlir-opt --lower-quant-ops: divf, addf, fptosi or fptoui, then the clamp",
        source: "MLIR RFC quant dialect, pass --lower-quant-ops; llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp",
        takes: Takes::Everything,
        steps: qcast!(DIVIDE, "toward-zero", TowardZero),
        fast: |p, overflow, x| fast::qcast(TowardZero, overflow, p, x.divided_by(p.scale)),
    },
    Definition {
        name: "tflite",
        summary: "TFLite reference: f32 division, std::round, zero point and clamp in double; NaN is undefined",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/quantize.h AffineQuantize; cppmath.h TfLiteRound",
        takes: Takes::F32 { storage: 32 },
        // In double the sum rounds only from 2^53 on, where the result is clamped in any case.
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
        name: "pytorch-fused",
        summary: "FBGEMM on AVX2, LEGACY: product with 1/scale and sum with the zero point rounded once to f32, nearest even; NaN is the maximum",
        source: "pytorch/FBGEMM src/QuantUtilsAvx2.cc QuantizeAvx2, LEGACY = true",
        takes: Takes::F32 { storage: 8 },
        // A value below int32 becomes the smallest int32, which the clamp then moves to the bound.
        steps: &[
            RECIPROCAL,
            ADD_ROUNDED,
            ("vfmadd rounds", Step::RoundToFormat),
            ("vminps takes its bound for NaN", Step::Nan(Nan::Greatest)),
            ("vcvtps2dq", Step::RoundToInteger(TiesEven)),
            CLAMP,
        ],
        fast: |p, _, x| fast::pytorch_fused(p, x),
    },
    Definition {
        name: "xnnpack",
        summary: "XNNPACK fmagic: f32 product with 1/scale, clamp before the zero point, round by a magic bias; NaN is the minimum",
        source: "google/XNNPACK src/f32-qs8-vcvt/scalar-fmagic.c.in (its bounds are those of the storage)",
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
    Definition {
        name: "onnx-other-axis",
        summary: "onnxruntime's loop for blocks along another axis than the last: f32 division, nearbyint, int32, zero point, clamp; beyond int32 undefined",
        source: "microsoft/onnxruntime core/util/qmath.h BlockedQuantizeLinear<float, T, 0>::opNotLastAxis",
        takes: Takes::F32 { storage: 16 },
        steps: &[
            DIVIDE,
            ROUND_SCALED,
            ("nearbyint", Step::RoundToInteger(TiesEven)),
            CAST_TO_INT32,
            ADD,
            SUM_IN_INT32,
            CLAMP,
        ],
        fast: |p, _, x| fast::onnx_other_axis(p, x),
    },
    Definition {
        name: "tflite-neon",
        summary: "TFLite's vectors: f32 product with 1/scale, FCVTNS, zero point added with wrap, clamp; NaN is the zero point",
        source: "tensorflow/tensorflow lite/kernels/internal/optimized/optimized_ops.h AffineQuantize, RoundToNearest, whole vectors of 8; Arm ARM FCVTNS, ADD",
        takes: Takes::F32 { storage: 16 },
        steps: &[
            RECIPROCAL,
            ROUND_SCALED,
            ("fcvtns rounds", Step::RoundToInteger(TiesEven)),
            ("fcvtns takes NaN to 0", Step::Nan(Nan::Zero)),
            ("fcvtns saturates", Step::Saturate(32)),
            ADD,
            ("the sum wraps", Step::Wrap(32)),
            CLAMP,
        ],
        fast: |p, _, x| fast::tflite_neon(p, x),
    },
    Definition {
        name: "tflite-double",
        summary: "TFLite behind its vectors: division in double, std::round, int32, zero point, clamp; beyond int32 undefined",
        source: "tensorflow/tensorflow lite/kernels/internal/optimized/optimized_ops.h AffineQuantize, elements behind the last whole vector",
        takes: Takes::F32 { storage: 16 },
        steps: &[
            DIVIDE,
            ("the quotient rounds to f64", Step::RoundTo(Format::F64)),
            ("std::round", Step::RoundToInteger(TiesAway)),
            CAST_TO_INT32,
            ADD,
            SUM_IN_INT32,
            CLAMP,
        ],
        fast: |p, _, x| fast::tflite_double(p, x),
    },
];

/// Returns the suffix in the names of a rule's schemes.
pub(crate) fn suffix(rule: RoundingRule) -> &'static str {
    match rule {
        TiesEven => "nearest-even",
        TiesAway => "nearest-away",
        TiesUp => "nearest-up",
        TiesDown => "nearest-down",
        TiesToZero => "nearest-to-zero",
        directed => directed.name(),
    }
}

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &joined();

const fn joined() -> [Definition; 4 * 8 + SHIPPED.len()] {
    crate::elementwise::joined(BY_RULE, SHIPPED)
}
