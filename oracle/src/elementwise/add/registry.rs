//! Registry of addition schemes: two kinds for each of eight rounding rules, and the schemes of the systems.

use super::super::registry::joined;
use super::super::sums::*;
use super::Definition;

const BY_RULE: [[Definition; 2]; 8] = by_rule!(
    "sum",
    "ONNX operators, QLinearAdd; TensorFlow Lite 8-bit quantization specification, ADD: the reals that stored values stand for"
);
const RESCALED: &str = "rescale the sum";

const TVM: &str =
    "apache/tvm src/relay/qnn/op/add.cc QnnAddCanonicalize; src/relay/qnn/op/requantize.cc RequantizeLower";
const TFLITE: &str =
    "tensorflow/tensorflow lite/kernels/internal/reference/add.h AddElementwise; lite/kernels/add.cc Prepare";
const CMSIS: &str = "ARM-software/CMSIS-NN Source/BasicMathFunctions/arm_elementwise_add_s8.c; multipliers as lite/micro/kernels/add_common.cc";
const TOSA: &str = "tensorflow/tensorflow compiler/mlir/tosa/transforms/legalize_tfl.cc matchAndRewriteAddSub";

const SHIPPED: [Definition; 14] = [
    requantized!("tvm-upward", "added", "UPWARD", TVM, "ties-up"),
    requantized!("tvm-tonearest", "added", "TONEAREST", TVM, "ties-away"),
    rescaled!("tflite" => "lift, rescale, add, rescale, each doubly rounded", TFLITE, "gemmlowp-double"),
    rescaled!("tflite-single" => "lift, rescale, add, rescale, each rounded once: TFLITE_SINGLE_ROUNDING", TFLITE, "tflite-single"),
    rescaled!("cmsis-nn" => "lift, rescale, add, rescale by arm_nn_requantize", CMSIS, "cmsis-nn-double"),
    rescaled!("cmsis-nn-single" => "lift, rescale, add, rescale by arm_nn_requantize: CMSIS_NN_USE_SINGLE_ROUNDING", CMSIS, "cmsis-nn-single"),
    rescaled!("tflite-int16-multiplier" => "lift, rescale, add, rescale, each rounded once by a multiplier of 16 bits",
        "none: tflite-single with the multiplication of 16-bit layers", "tflite-int16-multiplier"),
    tosa!(double, "tosa.add", TOSA),
    tosa!(single, "tosa.add", TOSA),
    fixed!("xnnpack" => "multipliers of 21 bits over one power of two, one rounding shift, ties up",
        "google/XNNPACK src/qs8-vadd/scalar.c.in; src/microparams-init.c xnn_init_qs8_add_minmax_scalar_params", ("multiply by the operand's 21 bits", 20), ("round nearest-up", TiesUp)),
    fixed!("onnx-neon" => "multipliers of 22 bits over one power of two, one rounding shift, ties away",
        "microsoft/onnxruntime core/mlas/lib/qladd.cpp MlasQLinearAddKernelHelper, NEON", ("multiply by the operand's 22 bits", 21), ("round nearest-away", TiesAway)),
    Definition {
        name: "zero-point-first-nearest-even",
        summary: "the exact sum over the output's scale and the zero point, rounded once: nearest-even",
        source: "none: onnx with no step in f32",
        operand: &[SCALE],
        combined: &[DIVIDE, ADD, ("round nearest-even", Step::Round(TiesEven)), CLAMP],
        fast: Fast::Placed(TiesEven),
    },
    Definition {
        name: "onnx",
        summary: "rne(f32(clamped f32(f32(f32(lhs) + f32(rhs)) / output scale) + zero point))",
        source: "microsoft/onnxruntime core/mlas/lib/qladd.cpp MlasQLinearAddKernelRawHelper",
        operand: &[SCALE, rounded("the product rounds to f32")],
        combined: &[
            rounded("the sum rounds to f32"),
            DIVIDE,
            rounded("the quotient rounds to f32"),
            ("clamp before the zero point", Step::ClampBeforeZeroPoint),
            ADD,
            rounded("the placed value rounds to f32"),
            ("round nearest-even", Step::Round(TiesEven)),
            CLAMP,
        ],
        fast: Fast::Onnx,
    },
    Definition {
        name: "pytorch",
        summary: "rne(f32(f32(f32(lhs) + f32(rhs)) * f32(1 / output scale))) + zero point",
        source: "pytorch/pytorch aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp qadd_kernel, scalar form",
        operand: &[SCALE, rounded("the product rounds to f32")],
        combined: &[
            rounded("the sum rounds to f32"),
            ("multiply by the rounded 1/scale", Step::Own(Own::MultiplyByReciprocal)),
            rounded("the scaled value rounds to f32"),
            ("round nearest-even", Step::Round(TiesEven)),
            ADD,
            CLAMP,
        ],
        fast: Fast::PyTorch,
    },
];

/// Every scheme.
pub(super) const DEFINITIONS: &[Definition] = &joined::<_, 2, 14, 30>(BY_RULE, SHIPPED);
