//! Products with output stages that are wrong after the sum: 64-bit sums lose their upper half, multipliers lose their lower half, or sums are scaled
//! in the wrong float type.

use super::tensor::{Mutant, mutant};
use crate::element::Element::I8;
use crate::qmatmul::in_f32::{self, QC8W, placed, scale};
use crate::qmatmul::loops::each;
use crate::qmatmul::wide::{CMSIS, TFLITE, dsp, layer, reduced, rounded, shifted};
use crate::qmatmul::{Domain, Run};

type Sums = Mutant<Run, Domain>;

pub(super) const SUM_IN_32_BITS: Sums = mutant!(
    "mutant-qmatmul-sum-in-32-bits", "wrap", "the sum with its bias is kept in int32",
    claims "tflite-int16-multiplier" Wrap on TFLITE,
    from "of our own: a layer of int16 with the accumulator of int8",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| {
        rounded(layer, i64::from((sum + layer.bias(j)) as i32), j)
    })
);

pub(super) const BIAS_IN_32_BITS: Sums = mutant!(
    "mutant-qmatmul-bias-in-32-bits", "bias", "the bias of 64 bits is read as int32",
    claims "tflite-int16-multiplier" Wrap on TFLITE,
    from "of our own: GetTensorData<int32_t> of a bias of int64",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| {
        rounded(layer, sum + i64::from(layer.bias(j) as i32), j)
    })
);

pub(super) const WIDE_BIAS_AFTER: Sums = mutant!(
    "mutant-qmatmul-wide-bias-after", "bias", "the bias of 64 bits is added to the results, not to the sums",
    claims "tflite-int16-multiplier" Wrap on TFLITE,
    from "of our own: a bias that is added after narrowing",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| {
        let scaled = (sum.wrapping_mul(reduced(layer.channel(j).multiplier))
            + (1 << (14 - layer.channel(j).shift))) >> (15 - layer.channel(j).shift);
        layer.finish((scaled as i32).wrapping_add(layer.bias(j) as i32))
    })
);

pub(super) const MULTIPLIER_CUT: Sums = mutant!(
    "mutant-qmatmul-multiplier-cut", "multiplier-narrowed", "the multiplier is cut to its high half, and not rounded",
    claims "tflite-int16-multiplier" Wrap on TFLITE,
    from "of our own: multiplier >> 16 in place of (multiplier + (1 << 15)) >> 16",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| {
        shifted(layer, sum + layer.bias(j), (layer.channel(j).multiplier >> 16).into(), j)
    })
);

pub(super) const MULTIPLIER_WRAPS: Sums = mutant!(
    "mutant-qmatmul-multiplier-wraps", "multiplier-narrowed", "the multiplier is rounded to its high half without the case of 0x7FFF0000",
    claims "tflite-int16-multiplier" Wrap on TFLITE,
    from "tensorflow/tensorflow lite/kernels/internal/common.cc: the condition (quantized_multiplier < 0x7FFF0000) exists for it",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, j| {
        let high = layer.channel(j).multiplier.wrapping_add(1 << 15) >> 16;
        shifted(layer, sum + layer.bias(j), high.into(), j)
    })
);

pub(super) const PRODUCTS_512: Sums = mutant!(
    "mutant-qmatmul-512-products", "wrap", "512 products are summed in int32, which -32768 by -128 takes to 2^31",
    claims "cmsis-nn-int16-multiplier" Wrap on CMSIS,
    from "ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s16.c with ARM_MATH_DSP: MAX_COL_COUNT is 512, and 511 are safe",
    dsp
);

pub(super) const F32_TIES_AWAY: Sums = mutant!(
    "mutant-qmatmul-f32-ties-away", "tie-direction", "scaled sums are rounded by roundf, ties away from zero",
    claims "xnnpack-fp32" Wrap on QC8W,
    from "of our own: roundf where lrintf is promised",
    |params, lhs, rhs, out| in_f32::layer(params, (I8, lhs), (I8, rhs), out, |layer, scaled| {
        placed(layer, scaled, f32::round)
    })
);

pub(super) const F32_ZERO_POINT_FIRST: Sums = mutant!(
    "mutant-qmatmul-f32-zero-point-first", "zero-point-placement", "the zero point is added in f32, before the rounding",
    claims "xnnpack-fp32" Wrap on QC8W,
    from "of our own: of two ties one zero point further the other is even",
    |params, lhs, rhs, out| in_f32::layer(params, (I8, lhs), (I8, rhs), out, |layer, scaled| {
        let [min, max] = [layer.min, layer.max].map(|end| end as f32);
        (scaled + layer.zero_point as f32).max(min).min(max).round_ties_even() as i32
    })
);

pub(super) const IN_F64: Sums = mutant!(
    "mutant-qmatmul-in-f64", "f32-step", "sums are scaled in f64",
    claims "xnnpack-fp32" Wrap on QC8W,
    from "of our own: a reference in double precision, which no kernel follows",
    |params, lhs, rhs, out| {
        let Some(layer) = params.layer() else { return };
        each(params, (I8, lhs), (I8, rhs), out, |sum, [_, j]| {
            let scaled = f64::from(sum.wrapping_add(layer.bias(j))) * f64::from(scale(layer.channel(j)));
            let [min, max] = [layer.min, layer.max].map(|end| f64::from(end - layer.zero_point));
            scaled.max(min).min(max).round_ties_even() as i32 + layer.zero_point
        });
    }
);
