//! Registry of subtraction schemes: two kinds for each of eight rounding rules, and the schemes of the systems.

use super::super::registry::joined;
use super::super::sums::*;
use super::Definition;

const BY_RULE: [[Definition; 2]; 8] = by_rule!(
    "difference",
    "TensorFlow Lite 8-bit quantization specification, SUB: the reals that stored values stand for"
);
const RESCALED: &str = "rescale the difference";

const TVM: &str =
    "apache/tvm src/relay/qnn/op/subtract.cc QnnSubtractCanonicalize; src/relay/qnn/op/requantize.cc RequantizeLower";
const TFLITE: &str = "tensorflow/tensorflow lite/kernels/internal/reference/sub.h SubElementwise; lite/kernels/sub.cc PrepareGeneralSubOp";
const NEGATED: &str =
    "tensorflow/tensorflow lite/kernels/sub.cc PrepareGeneralSubOp with op_sign -1, EvalQuantized by Add";
const TOSA: &str = "tensorflow/tensorflow compiler/mlir/tosa/transforms/legalize_tfl.cc matchAndRewriteAddSub";

const SHIPPED: [Definition; 10] = [
    requantized!("tvm-upward", "subtracted", "UPWARD", TVM, "ties-up"),
    requantized!("tvm-tonearest", "subtracted", "TONEAREST", TVM, "ties-away"),
    rescaled!("tflite" => "lift, rescale, subtract, rescale, each doubly rounded", TFLITE, "gemmlowp-double"),
    rescaled!("tflite-single" => "lift, rescale, subtract, rescale, each rounded once: TFLITE_SINGLE_ROUNDING", TFLITE, "tflite-single"),
    rescaled!("tflite-negated" => "lift, rescale, the right operand by its negated multiplier, add, rescale, each doubly rounded",
        NEGATED, "gemmlowp-double", Negated,
        &[LIFT, ("rescale the operand, the right one by its negated multiplier", Step::Own(Own::RescaleNegated("gemmlowp-double", Factor::Operand)))]),
    tosa!(double, "tosa.sub", TOSA),
    tosa!(single, "tosa.sub", TOSA),
    fixed!("xnnpack" => "multipliers of 21 bits over one power of two, the right one negated, one rounding shift, ties up",
        "google/XNNPACK src/qs8-vadd/scalar.c.in; src/operators/binary-elementwise-nd.c, subtraction", ("multiply by the operand's 21 bits", 20), ("round nearest-up", TiesUp)),
    Definition {
        name: "zero-point-first-nearest-even",
        summary: "the exact difference over the output's scale and the zero point, rounded once: nearest-even",
        source: "none: a difference with the zero point added before the rounding",
        operand: &[SCALE],
        combined: &[DIVIDE, ADD, ("round nearest-even", Step::Round(TiesEven)), CLAMP],
        fast: Fast::Placed(TiesEven),
    },
    Definition {
        name: "onnx",
        summary: "rne(f32(f32(f32(lhs) - f32(rhs)) / output scale)) + zero point",
        source: "ONNX operators, DequantizeLinear, Sub, QuantizeLinear; microsoft/onnxruntime core/mlas/lib/quantize.cpp",
        operand: &[SCALE, rounded("the product rounds to f32")],
        combined: &[
            rounded("the difference rounds to f32"),
            DIVIDE,
            rounded("the quotient rounds to f32"),
            ("round nearest-even", Step::Round(TiesEven)),
            ADD,
            CLAMP,
        ],
        fast: Fast::Divided,
    },
];

/// Every scheme.
pub(super) const DEFINITIONS: &[Definition] = &joined::<_, 2, 10, 26>(BY_RULE, SHIPPED);
