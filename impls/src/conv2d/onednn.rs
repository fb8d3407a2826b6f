//! oneDNN: convolution of signed by signed elements, on machines that multiply only unsigned by signed.
//!
//! The input is shifted by 128 into u8, and so is the padding: a signed 0 becomes 128. The weights have a compensation, `-128 * (sum of the weights
//! of an output channel)`, which cancels the shift over the whole filter, with padding. An input zero point is cancelled in the same way. Here the
//! padding is the zero point, so that it contributes 0. (The library pads with 0 and, for each position at a border, keeps the sum of the weights
//! over the image, which gives the same sums.)
//!
//! A weight zero point is not supported by the library's int8 convolutions. Here the sum of the input less its zero point cancels it.
//!
//! Source: uxlfoundation/oneDNN, "Nuances of int8 Computations"; `dnnl_memory_extra_flag_compensation_conv_s8s8`;
//! `src/cpu/gemm_x8s8s32x_conv_zp_src_pad_comp.cpp`.

use super::{Kernel, Params, direct};
use crate::element::Element::I8;

const SOURCE: &str = "uxlfoundation/oneDNN documentation, Nuances of int8 Computations";

pub(super) const S8S8_SHIFT: Kernel = super::direct(
    "onednn-s8s8-shift",
    "oneDNN s8s8 convolution: input shifted by 128 to u8, compensated by -128 * sum of weights",
    (I8, I8),
    SOURCE,
    |params, input, weights, out| run(params, (params.input_zero_point + 128) as u8, input, weights, out),
);

/// Computes the convolution, with `padding` (already shifted) for elements outside the image.
pub(crate) fn run(params: &Params, padding: u8, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let shifted: Vec<u8> = input.iter().map(|value| value ^ 0x80).collect();
    let compensation = compensation(params, weights);
    direct::each(params, out, |window| {
        let [mut acc, mut inputs] = [0i32; 2];
        window.elements(|at, weight| {
            let value = i32::from(at.map_or(padding, |at| shifted[at]));
            acc = acc.wrapping_add(value * i32::from(weights[weight] as i8));
            inputs = inputs.wrapping_add(value - 128 - params.input_zero_point);
        });
        acc.wrapping_add(compensation[window.out_channel()]).wrapping_sub(params.weight_zero_point.wrapping_mul(inputs))
    });
}

/// Computes `-(128 + input_zero_point) * (sum of the weights)` for each output channel.
fn compensation(params: &Params, weights: &[u8]) -> Vec<i32> {
    let mut sums = vec![0i32; params.out_channels];
    for row in weights.chunks_exact(params.out_channels) {
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add((*weight as i8).into());
        }
    }
    sums.iter().map(|sum| sum.wrapping_mul(-128 - params.input_zero_point)).collect()
}
