//! Registry of the schemes of a concatenation: for each rounding rule an exact scheme, a scheme with a Q0.31 multiplier, and a scheme that adds the
//! zero point before rounding; the schemes of the systems; and the copy.

use super::Definition;
use super::expected::Fast;
use super::steps::{Factor, Named, Step};
use crate::rounding::RoundingRule::*;

const SUBTRACT: Named = ("subtract the input's zero point", Step::Subtract);
const SCALE: Named = ("multiply by the input's scale", Step::Scale);
const DIVIDE: Named = ("divide by the output's scale", Step::DivideByOutput);
const ADD: Named = ("add the output's zero point", Step::AddZeroPoint);
const CLAMP: Named = ("clamp", Step::Clamp);
const BY_RECIPROCAL: Named =
    ("multiply by f32(input scale * f32(1 / output scale))", Step::Multiply(Factor::ByReciprocal));
const BIAS: Named = ("subtract f32(zero point * that float)", Step::SubtractProduct(Factor::ByReciprocal));

const fn single(what: &'static str) -> Named {
    (what, Step::RoundToSingle)
}

/// Defines the three schemes of a rule.
macro_rules! of_rule {
    ($suffix:literal => $rule:ident, $source:expr) => {
        [
            Definition {
                name: $suffix,
                summary: concat!("the exact value over the output's scale, rounded once: ", $suffix),
                source: "ONNX operators, DequantizeLinear, Concat, QuantizeLinear: the reals that stored values stand for",
                steps: &[SUBTRACT, SCALE, DIVIDE, (concat!("round ", $suffix), Step::Round($rule)), ADD, CLAMP],
                fast: Fast::Once($rule),
            },
            Definition {
                name: concat!("zero-point-first-", $suffix),
                summary: concat!("the exact value, rounded once after the zero point is added: ", $suffix),
                source: "none: the zero point in the other place",
                steps: &[SUBTRACT, SCALE, DIVIDE, ADD, (concat!("round ", $suffix), Step::Round($rule)), CLAMP],
                fast: Fast::Placed($rule),
            },
            Definition {
                name: concat!("q31-", $suffix),
                summary: concat!("the product by a Q0.31 multiplier of f64(input scale / output scale), rounded once: ", $suffix),
                source: $source,
                steps: &[
                    SUBTRACT,
                    ("multiply by the Q0.31 multiplier", Step::Multiply(Factor::Q31)),
                    (concat!("round ", $suffix), Step::Round($rule)),
                    ADD,
                    CLAMP,
                ],
                fast: Fast::Multiplied($rule),
            },
        ]
    };
}

/// Source for a rule that no system uses.
const NONE: &str = "none: a multiplier with another rounding";

const RULES: [[Definition; 3]; 8] = [
    of_rule!("nearest-even" => TiesEven, NONE),
    of_rule!("nearest-away" => TiesAway, "apache/tvm src/relay/qnn/op/concatenate.cc, src/relay/qnn/op/requantize.cc, rounding TONEAREST"),
    of_rule!("nearest-up" => TiesUp, "apache/tvm src/relay/qnn/op/concatenate.cc, src/relay/qnn/op/requantize.cc, rounding UPWARD; TOSA specification, RESCALE, single rounding"),
    of_rule!("nearest-down" => TiesDown, NONE),
    of_rule!("nearest-to-zero" => TiesToZero, NONE),
    of_rule!("toward-positive" => TowardPositive, NONE),
    of_rule!("toward-negative" => TowardNegative, NONE),
    of_rule!("toward-zero" => TowardZero, NONE),
];

const SHIPPED: [Definition; 5] = [
    Definition {
        name: "tflite",
        summary: "round(f32(f32(q * scale) + bias)) + zero point; scale and bias are f32, ties away",
        source: "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/concatenation.h ConcatenationWithScaling",
        steps: &[
            BY_RECIPROCAL,
            single("the product rounds to f32"),
            BIAS,
            single("the sum rounds to f32"),
            ("TfLiteRound", Step::Round(TiesAway)),
            ADD,
            CLAMP,
        ],
        fast: Fast::Biased { placed: false },
    },
    Definition {
        name: "tflite-zero-point-first",
        summary: "round(f32(f32(f32(q * scale) + bias) + zero point)): tflite with the zero point in the bias",
        source: "none: tflite with the zero point in the other place",
        steps: &[
            BY_RECIPROCAL,
            single("the product rounds to f32"),
            BIAS,
            single("the sum rounds to f32"),
            ADD,
            single("the placed value rounds to f32"),
            ("TfLiteRound", Step::Round(TiesAway)),
            CLAMP,
        ],
        fast: Fast::Biased { placed: true },
    },
    Definition {
        name: "onnx",
        summary: "rne(f32(f32(scale * (q - zero point)) / output scale)) + zero point",
        source: "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/quantization/qlinear_concat.cc, qlinear_lookup_table.cc; onnxruntime/core/mlas/lib/quantize.cpp",
        steps: &[
            SUBTRACT,
            SCALE,
            single("the product rounds to f32"),
            DIVIDE,
            single("the quotient rounds to f32"),
            ("round nearest-even", Step::Round(TiesEven)),
            ADD,
            CLAMP,
        ],
        fast: Fast::Divided,
    },
    Definition {
        name: "xnnpack",
        summary: "the product by a multiplier of 8 fractional bits, one rounding shift, ties up",
        source: "google/XNNPACK src/qs8-vcvt/scalar.c.in; src/microparams-init.c xnn_init_qs8_cvt_scalar_params",
        steps: &[
            SUBTRACT,
            ("multiply by rne(256 * f32(input scale / output scale)) / 256", Step::Multiply(Factor::EightBits)),
            ("round nearest-up", Step::Round(TiesUp)),
            ADD,
            CLAMP,
        ],
        fast: Fast::EightBits,
    },
    Definition {
        name: "copy",
        summary: "the stored values as they are, of tensors of one scale and one zero point",
        source: "tensorflow/tensorflow tensorflow/lite/kernels/concatenation.cc, int8; ARM-software/CMSIS-NN Source/ConcatenationFunctions/arm_concatenation_s8_x.c",
        steps: &[],
        fast: Fast::Copied,
    },
];

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &joined();

const fn joined() -> [Definition; 8 * 3 + 5] {
    crate::elementwise::joined(RULES, SHIPPED)
}
