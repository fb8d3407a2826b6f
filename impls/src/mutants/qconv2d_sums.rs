//! Quantized convolutions of int16 whose 64-bit sums or biases lose their upper half, or whose multipliers lose their lower half.

use super::tensor::{Mutant, mutant};
use crate::conv2d::transposed::scatter::{self, PLAIN};
use crate::element::Element::{I8, I16};
use crate::qconv2d::cmsis_nn_i16::{DENSE, convolve};
use crate::qconv2d::tflite_16x8::{WIDE, conv};
use crate::qconv2d::{Domain, Params, Run, loops};
use crate::qmatmul::Layer64;
use crate::qmatmul::wide::{rounded, shifted};

type Sums = Mutant<Run, Domain>;

pub(super) const SUM_IN_32_BITS: Sums = mutant!(
    "mutant-qconv-sum-in-32-bits", "wrap", "the sum with its bias is kept in int32",
    claims "tflite-int16-multiplier" Wrap on WIDE,
    from "of our own: a convolution of int16 with the accumulator of int8",
    |params, input, weights, out| results(params, input, weights, out, |layer, sum, o| {
        rounded(layer, i64::from((sum + layer.bias(o)) as i32), o)
    })
);

pub(super) const BIAS_IN_32_BITS: Sums = mutant!(
    "mutant-qconv-bias-in-32-bits", "bias", "the bias of 64 bits is read as int32",
    claims "tflite-int16-multiplier" Wrap on WIDE,
    from "of our own: GetTensorData<int32_t> of a bias of int64",
    |params, input, weights, out| results(params, input, weights, out, |layer, sum, o| {
        rounded(layer, sum + i64::from(layer.bias(o) as i32), o)
    })
);

pub(super) const MULTIPLIER_CUT: Sums = mutant!(
    "mutant-qconv-multiplier-cut", "multiplier-narrowed", "the multiplier is cut to its high half, and not rounded",
    claims "tflite-int16-multiplier" Wrap on WIDE,
    from "of our own: multiplier >> 16 in place of (multiplier + (1 << 15)) >> 16",
    |params, input, weights, out| results(params, input, weights, out, |layer, sum, o| {
        shifted(layer, sum + layer.bias(o), (layer.channel(o).multiplier >> 16).into(), o)
    })
);

pub(super) const ODD_PIXEL: Sums = mutant!(
    "mutant-qconv-odd-pixel-in-32-bits", "wrap", "all products of the last of an odd number of pixels are summed in int32",
    claims "cmsis-nn-int16-multiplier" Wrap on DENSE,
    from "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_convolve_s16.c: the column that is left over has a sum of int32 over all of rhs_cols",
    convolve
);

pub(super) const TRANSPOSED_IN_32_BITS: Sums = mutant!(
    "mutant-qconv-transpose-in-32-bits", "wrap", "products are summed in int32, and the bias is added in 64 bits",
    claims "tflite-int16-multiplier" Wrap on Domain { grouped: false, transposed: Some(PLAIN), ..WIDE },
    from "of our own: a scratch buffer of int32 for a transposed convolution of int16",
    |params, input, weights, out| {
        let Some(layer) = params.layer64() else { return };
        let mut sums = vec![0i32; out.len()];
        scatter::scatter(&params.shape, (I16, input), (I8, weights), &mut sums);
        loops::each(params, &sums, out, |sum, o| rounded(&layer, i64::from(sum) + layer.bias(o), o));
    }
);

/// Computes each result from the layer, its sum and its output channel.
#[inline(always)]
fn results(
    params: &Params,
    input: &[u8],
    weights: &[u8],
    out: &mut [i32],
    result: impl Fn(&Layer64<'_>, i64, usize) -> i32,
) {
    let Some(layer) = params.layer64() else { return };
    conv(params, input, weights, out, |sum, o| result(&layer, sum, o));
}
