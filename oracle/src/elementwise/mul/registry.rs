//! Registry of multiplication schemes: three kinds for each of eight rounding rules, and the schemes of the systems.

use super::super::registry::joined;
use super::Definition;
use super::expected::{Fast, Quotient};
use super::steps::{Own, Step};
use crate::rounding::RoundingRule::*;

const ADD: (&str, Step) = ("add the zero point", Step::AddZeroPoint);
const CLAMP: (&str, Step) = ("clamp", Step::Clamp);
const EXACT: (&str, Step) = ("multiply by the scales' quotient", Step::Own(Own::Multiply("exact")));
const EVEN: (&str, Step) = ("round nearest-even", Step::Round(TiesEven));
const INTEGER: (&str, Step) = rounded("the integer product rounds to f32");

const fn rounded(what: &'static str) -> (&'static str, Step) {
    (what, Step::RoundToSingle)
}

/// Defines a rescale of the integer product by a scheme of fixed point multiply.
macro_rules! rescaled {
    ($name:expr => $summary:expr, $source:expr, $fpm:literal, $derivation:literal, $quotient:ident) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            operand: &[],
            combined: &[("rescale the product", Step::Own(Own::Rescale($fpm, $derivation))), ADD, CLAMP],
            fast: Fast::Rescaled($fpm, Quotient::$quotient),
        }
    };
}

/// Defines the schemes of a rounding rule.
macro_rules! of_rule {
    ($suffix:literal, $fpm:literal, $rule:ident) => {
        [
            Definition {
                name: $suffix,
                summary: concat!("the exact product over the output's scale, rounded once: ", $suffix),
                source: "ONNX operators, QLinearMul; TensorFlow Lite 8-bit quantization specification, MUL: the reals that stored values stand for",
                operand: &[],
                combined: &[EXACT, (concat!("round ", $suffix), Step::Round($rule)), ADD, CLAMP],
                fast: Fast::Once($rule),
            },
            rescaled!(concat!("q31-f64-", $suffix) => concat!("the Q0.31 multiplier of a quotient in double, rounded once: ", $suffix),
                "none: tflite-micro with no rounding but the last", $fpm, "f64", F64),
            rescaled!(concat!("q31-f32-", $suffix) => concat!("the Q0.31 multiplier of a quotient in float, rounded once: ", $suffix),
                "none: tflite with no rounding but the last", $fpm, "f32", F32),
        ]
    };
}

const BY_RULE: [[Definition; 3]; 8] = [
    of_rule!("nearest-even", "ties-even", TiesEven),
    of_rule!("nearest-away", "ties-away", TiesAway),
    of_rule!("nearest-up", "ties-up", TiesUp),
    of_rule!("nearest-down", "ties-down", TiesDown),
    of_rule!("nearest-to-zero", "ties-to-zero", TiesToZero),
    of_rule!("toward-positive", "toward-positive", TowardPositive),
    of_rule!("toward-negative", "toward-negative", TowardNegative),
    of_rule!("toward-zero", "toward-zero", TowardZero),
];

const TFLITE: &str = "tensorflow/tensorflow lite/kernels/internal/reference/integer_ops/mul.h MulElementwise; lite/kernels/mul.cc Prepare";
const MICRO: &str = "tensorflow/tflite-micro tensorflow/lite/micro/kernels/mul_common.cc CalculateOpDataMul; tensorflow/tensorflow lite/kernels/internal/reference/integer_ops/mul.h";
const CMSIS: &str = "ARM-software/CMSIS-NN Source/BasicMathFunctions/arm_elementwise_mul_s8.c; multipliers as tensorflow/tflite-micro tensorflow/lite/micro/kernels/mul_common.cc";
const TOSA: &str = "tensorflow/tensorflow compiler/mlir/tosa/transforms/legalize_common.cc convertMultiplyOp";

const SHIPPED: [Definition; 14] = [
    rescaled!("tflite" => "multiply, rescale doubly rounded by a quotient in float", TFLITE, "gemmlowp-double", "f32", F32),
    rescaled!("tflite-single" => "multiply, rescale rounded once by a quotient in float: TFLITE_SINGLE_ROUNDING", TFLITE, "tflite-single", "f32", F32),
    rescaled!("tflite-micro" => "multiply, rescale doubly rounded by a quotient in double", MICRO, "gemmlowp-double", "f64", F64),
    rescaled!("cmsis-nn" => "multiply, arm_nn_requantize by a quotient in double", CMSIS, "cmsis-nn-double", "f64", F64),
    rescaled!("cmsis-nn-single" => "multiply, arm_nn_requantize by a quotient in double: CMSIS_NN_USE_SINGLE_ROUNDING", CMSIS, "cmsis-nn-single", "f64", F64),
    rescaled!("tosa-double" => "tosa.mul, tosa.rescale by a quotient in double, DOUBLE_ROUND", TOSA, "tosa-apply-scale-32-double", "f64", F64),
    rescaled!("tosa-single" => "tosa.mul, tosa.rescale by a quotient in double, SINGLE_ROUND", TOSA, "tosa-apply-scale-32-single", "f64", F64),
    rescaled!("xnnpack-rndnu" => "multiply, saturating doubling high half by a quotient in float, one rounding shift, ties up",
        "google/XNNPACK src/qs8-vmul/neon.c.in; src/microparams-init.c xnn_init_qs8_mul_minmax_rndnu_neon_params", "xnnpack-rndnu", "f32", F32),
    rescaled!("tflite-int16-multiplier" => "multiply, rescale rounded once by a multiplier of 16 bits",
        "none: tflite-single with the multiplication of 16-bit layers", "tflite-int16-multiplier", "f32", F32),
    Definition {
        name: "zero-point-first-nearest-even",
        summary: "the exact product over the output's scale and the zero point, rounded once: nearest-even",
        source: "none: onnx with no step in f32",
        operand: &[],
        combined: &[EXACT, ADD, EVEN, CLAMP],
        fast: Fast::Placed(TiesEven),
    },
    Definition {
        name: "xnnpack-fp32",
        summary: "rne(clamped f32(product * f32(f32(lhs scale * rhs scale) / output scale))) + zero point",
        source: "google/XNNPACK src/qs8-vmul/scalar.c.in; src/microparams-init.c xnn_init_qs8_mul_minmax_scalar_params",
        operand: &[],
        combined: &[
            INTEGER,
            ("multiply by the quotient in float", Step::Own(Own::Multiply("f32"))),
            rounded("the scaled product rounds to f32"),
            ("clamp before the zero point", Step::ClampBeforeZeroPoint),
            ("the magic bias rounds nearest-even", Step::Round(TiesEven)),
            ADD,
        ],
        fast: Fast::Single(Quotient::F32),
    },
    Definition {
        name: "onnx",
        summary: "rne(f32(clamped f32(f32(f32(lhs) * f32(rhs)) / output scale) + zero point))",
        source: "microsoft/onnxruntime core/mlas/lib/qlmul.cpp MlasQLinearMulKernel, C++ form",
        operand: &[("multiply by the operand's scale", Step::Scale), rounded("the operand rounds to f32")],
        combined: &[
            rounded("the product rounds to f32"),
            ("divide by the output's scale", Step::DivideByOutput),
            rounded("the quotient rounds to f32"),
            ("clamp before the zero point", Step::ClampBeforeZeroPoint),
            ADD,
            rounded("the placed value rounds to f32"),
            EVEN,
        ],
        fast: Fast::Onnx,
    },
    Definition {
        name: "onnx-neon",
        summary: "rne(f32(f32(product * f32(f32(lhs scale * rhs scale) / output scale)) + zero point))",
        source: "microsoft/onnxruntime core/mlas/lib/qlmul.cpp MlasQLinearMulVectorS16, NEON and SSE2",
        operand: &[],
        combined: &[
            INTEGER,
            ("multiply by the quotient in float", Step::Own(Own::Multiply("f32"))),
            rounded("the scaled product rounds to f32"),
            ADD,
            rounded("the placed value rounds to f32"),
            EVEN,
            CLAMP,
        ],
        fast: Fast::SinglePlaced(Quotient::F32),
    },
    Definition {
        name: "pytorch",
        summary: "rne(f32(product * f32(f32(lhs scale * rhs scale) * f32(1 / output scale)))) + zero point",
        source: "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp qmul_kernel; aten/src/ATen/native/quantized/AffineQuantizerBase.cpp requantize_from_int",
        operand: &[],
        combined: &[
            INTEGER,
            ("multiply by the product with the rounded 1/scale", Step::Own(Own::Multiply("f32-reciprocal"))),
            rounded("the scaled product rounds to f32"),
            EVEN,
            ADD,
            CLAMP,
        ],
        fast: Fast::Single(Quotient::Reciprocal),
    },
];

/// Every scheme.
pub(super) const DEFINITIONS: &[Definition] = &joined::<_, 3, 14, 38>(BY_RULE, SHIPPED);
