//! Registry of pooling schemes: averages of reals and of stored values by each rounding rule, the schemes of the systems, and the maximum.

use super::Definition;
use super::expected::Fast;
use super::steps::{Gather, Multiplier, Step};
use crate::rounding::RoundingRule::*;

type Named = (&'static str, Step);

const CENTRED: (&str, Gather) = ("add the differences from the zero point", Gather::Centred);
const STORED: (&str, Gather) = ("add the stored values", Gather::Stored);
const DIVIDE: Named = ("divide by the count", Step::DivideByCount);
const SINGLE: Named = ("multiply by f32(input scale / f32(output scale * count))", Step::Multiply(Multiplier::Single));
const EVEN: Named = ("round nearest-even", Step::Round(TiesEven));
const ADD: Named = ("add the zero point", Step::AddZeroPoint);
const CLAMP: Named = ("clamp", Step::Clamp);

const fn rounded(what: &'static str) -> Named {
    (what, Step::RoundToSingle)
}

/// Defines the average of reals by a rule.
macro_rules! real {
    ($suffix:literal, $rule:ident) => {
        Definition {
            name: $suffix,
            summary: concat!("the exact average over the output's scale, rounded once: ", $suffix),
            source: "ONNX operators, AveragePool: the reals that stored values stand for",
            gather: CENTRED,
            steps: &[
                DIVIDE,
                ("multiply by the scales' quotient", Step::MultiplyByScales),
                (concat!("round ", $suffix), Step::Round($rule)),
                ADD,
                CLAMP,
            ],
            fast: Fast::Real($rule),
        }
    };
}

/// Defines the average of stored values by a rule.
macro_rules! stored {
    ($name:expr => $suffix:literal, $rule:ident, $source:expr) => {
        Definition {
            name: $name,
            summary: concat!("the average of the stored values, rounded once: ", $suffix),
            source: $source,
            gather: STORED,
            steps: &[DIVIDE, (concat!("round ", $suffix), Step::Round($rule)), CLAMP],
            fast: Fast::Stored($rule),
        }
    };
}

/// Source for a rule that no system uses.
const NONE: &str = "none: tflite with another rounding";

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    real!("nearest-even", TiesEven),
    real!("nearest-away", TiesAway),
    real!("nearest-up", TiesUp),
    real!("nearest-down", TiesDown),
    real!("nearest-to-zero", TiesToZero),
    real!("toward-positive", TowardPositive),
    real!("toward-negative", TowardNegative),
    real!("toward-zero", TowardZero),
    stored!("stored-nearest-even" => "nearest-even", TiesEven, NONE),
    stored!("stored-nearest-up" => "nearest-up", TiesUp, NONE),
    stored!("stored-nearest-down" => "nearest-down", TiesDown, NONE),
    stored!("stored-nearest-to-zero" => "nearest-to-zero", TiesToZero, NONE),
    stored!("stored-toward-positive" => "toward-positive", TowardPositive, NONE),
    stored!("stored-toward-negative" => "toward-negative", TowardNegative, NONE),
    stored!("tflite" => "nearest-away", TiesAway, "tensorflow/tensorflow lite/kernels/internal/reference/integer_ops/pooling.h AveragePool; ARM-software/CMSIS-NN Source/PoolingFunctions/arm_avgpool_s8.c"),
    stored!("tvm" => "toward-zero", TowardZero, "apache/tvm src/relay/qnn/op/avg_pool2d.cc QnnAvgPoolCanonicalize; include/tvm/topi/nn/pooling.h pool_impl"),
    Definition {
        name: "half-added",
        summary: "the sum of the stored values plus half the count, over the count, toward zero: right for sums of one sign alone",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/pooling.h AveragePool, written for uint8",
        gather: STORED,
        steps: &[
            ("add half of the count", Step::AddHalfOfCount),
            DIVIDE,
            ("round toward-zero", Step::Round(TowardZero)),
            CLAMP,
        ],
        fast: Fast::HalfAdded,
    },
    Definition {
        name: "tosa",
        summary: "the sum times a reciprocal of 31 bits, rounded once, ties up",
        source: "TOSA specification 1.0, AVG_POOL2D, reciprocal_scale and apply_scale_32",
        gather: CENTRED,
        steps: &[
            ("multiply by the reciprocal of 31 bits", Step::Multiply(Multiplier::Reciprocal)),
            ("round nearest-up", Step::Round(TiesUp)),
            ADD,
            CLAMP,
        ],
        fast: Fast::Reciprocal,
    },
    Definition {
        name: "onnx",
        summary: "rne(f32(f32(f32(sum of f32 / count) / output scale) + zero point))",
        source: "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc QLinearPoolNhwc2DTask, quantize_value",
        gather: ("add the reals in f32", Gather::Singles),
        steps: &[
            DIVIDE,
            rounded("the average rounds to f32"),
            ("divide by the output's scale", Step::DivideByScale),
            rounded("the quotient rounds to f32"),
            ADD,
            rounded("the placed value rounds to f32"),
            EVEN,
            CLAMP,
        ],
        fast: Fast::Onnx,
    },
    Definition {
        name: "qnnpack",
        summary: "the sum times a multiplier of 24 bits, one rounding shift, ties away",
        source: "pytorch/QNNPACK src/qnnpack/requantization.h qnnp_avgpool_quantize; microsoft/onnxruntime core/mlas/lib/qlgavgpool.cpp RequantizeBiasedSum, NEON",
        gather: CENTRED,
        steps: &[SINGLE, ("round nearest-away", Step::Round(TiesAway)), ADD, CLAMP],
        fast: Fast::Significand(TiesAway),
    },
    Definition {
        name: "xnnpack-fp32",
        summary: "rne(f32(f32(sum) * f32(input scale / f32(output scale * count)))) + zero point",
        source: "google/XNNPACK src/qs8-gavgpool/unipass-scalar.c.in; src/microparams-init.c xnn_init_qu8_avgpool_minmax_fp32_scalar_imagic_params",
        gather: CENTRED,
        steps: &[
            rounded("the sum rounds to f32"),
            SINGLE,
            rounded("the scaled sum rounds to f32"),
            ("the magic bias rounds nearest-even", Step::Round(TiesEven)),
            ADD,
            CLAMP,
        ],
        fast: Fast::Single,
    },
    Definition {
        name: "xnnpack-rndnu",
        summary: "saturating doubling high half of the sum by 24 bits, one rounding shift, ties up",
        source: "google/XNNPACK src/qs8-gavgpool/unipass-neon.c.in, RNDNU; src/microparams-init.c xnn_init_qs8_avgpool_minmax_rndnu_neon_params",
        gather: CENTRED,
        steps: &[("rescale the sum", Step::Rescale("xnnpack-rndnu")), ADD, CLAMP],
        fast: Fast::Rescaled("xnnpack-rndnu"),
    },
    Definition {
        name: "pytorch",
        summary: "rne(f32(f32(f32(sum) * f32(input scale / output scale / count)) + zero point))",
        source: "pytorch/pytorch aten/src/ATen/native/quantized/cpu/AveragePool2d.cpp avg_pool2d_out_frame",
        gather: CENTRED,
        steps: &[
            rounded("the sum rounds to f32"),
            ("multiply by f32(f64(input scale / output scale) / count)", Step::Multiply(Multiplier::Double)),
            rounded("the scaled sum rounds to f32"),
            ADD,
            rounded("the placed value rounds to f32"),
            EVEN,
            CLAMP,
        ],
        fast: Fast::Pytorch,
    },
    Definition {
        name: "max",
        summary: "the largest stored value of the window, padding left out, clamped",
        source: "tensorflow/tensorflow lite/kernels/internal/reference/integer_ops/pooling.h MaxPool; TOSA specification 1.0, MAX_POOL2D",
        gather: ("take the largest stored value", Gather::Largest),
        steps: &[CLAMP],
        fast: Fast::Largest,
    },
];
