//! Quantized convolutions with correct parts in a wrong combination: padding, bias, order of zero point and clamp, channels.

use super::qconv2d_sums as sums_of;
use super::tensor::{Mutant, mutants};
use crate::contract;
use crate::conv2d;
use crate::element::Element::I8;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::single_rounding;
use crate::qconv2d::tflite::{channels, depthwise, results, symmetric, tail};
use crate::qconv2d::transpose_conv::{self, STEPPED, rolling};
use crate::qconv2d::tvm_gemm::{self, SIGNED, Steps};
use crate::qconv2d::{Domain, Params, Run};

/// Domain of int8, per channel, with scales below 1.
const DOMAIN: Domain =
    symmetric(contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=0, ..contract::Domain::PER_CHANNEL });

/// The same domain for depthwise convolutions only.
const DEPTHWISE: Domain = Domain { dense: false, ..DOMAIN };

/// The same domain for transposed convolutions in CMSIS-NN's form.
const TRANSPOSED: Domain = transpose_conv::symmetric(
    contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=0, ..contract::Domain::PER_CHANNEL },
    STEPPED,
);

/// Correct steps of TVM's fused convolution by matrix product.
const STEPS: Steps = Steps::new(I8, SIGNED);

/// Output channels in a vector.
const LANES: usize = 4;

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-qconv-pad-zero", "padding", "the border is 0 where it must be the input zero point",
        claims "gemmlowp-double" Wrap on DOMAIN, from "apache/tvm pull request 4807",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, Some(0), |sum, o| tail(params, sum, o));
        };
    "mutant-qconv-bias-after", "bias", "the bias is added to the results, not to the sums",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: a bias in the scale of the sums is added in the scale of the output",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                let Channel { multiplier, shift } = params.channel(o);
                params.finish(double_rounding(sum, multiplier, shift).wrapping_add(params.bias(o)))
            });
        };
    "mutant-qconv-bias-16", "bias", "the bias is read as int16",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: a bias of 32 bits in a register of 16",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                let Channel { multiplier, shift } = params.channel(o);
                let bias = i32::from(params.bias(o) as i16);
                params.finish(double_rounding(sum.wrapping_add(bias), multiplier, shift))
            });
        };
    "mutant-qconv-clamp-before-zero-point", "clamp-order", "clamped to int8 before the zero point is added",
        claims "gemmlowp-double" Wrap on DOMAIN, from "llvm/torch-mlir pull request 4487",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                let Channel { multiplier, shift } = params.channel(o);
                let scaled = double_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift);
                params.finish(scaled.clamp(-128, 127))
            });
        };
    "mutant-qconv-activation-without-zero-point", "clamp-order", "the activation's bounds are applied before the zero point is added",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: ReLU6 on the scaled sum, with the bounds of stored values",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                let Channel { multiplier, shift } = params.channel(o);
                let scaled = double_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift);
                (scaled.clamp(params.min, params.max) + params.zero_point).clamp(-128, 127)
            });
        };
    "mutant-qconv-next-channel", "channel", "multiplier and shift are those of the next output channel",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: a vector of multipliers that is loaded one place off",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                let Channel { multiplier, shift } = params.channel((o + 1) % params.shape.out_channels);
                params.finish(double_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift))
            });
        };
    "mutant-qconv-depthwise-order", "layout", "output channel o is of input channel o % C, not o / multiplier",
        claims "gemmlowp-double" Wrap on DEPTHWISE, from "of our own: the multiplier as the outer axis of the filters",
        |params, input, weights, out| {
            let order = |ic, m, _, input_depth| ic + m * input_depth;
            depthwise(params, (I8, input), (I8, weights), out, order, |sum, o| tail(params, sum, o));
        };
    "mutant-qconv-depthwise-channel", "channel", "multiplier, shift and bias are those of output channel o / multiplier",
        claims "gemmlowp-double" Wrap on DEPTHWISE, from "of our own: parameters of a depthwise convolution indexed by the input channel",
        |params, input, weights, out| {
            let multiplier = params.shape.out_channels / params.shape.channels;
            depthwise(params, (I8, input), (I8, weights), out, channels, |sum, o| tail(params, sum, o / multiplier));
        };
    "mutant-qconv-double-rounding", "double-rounding", "two roundings where one is promised",
        claims "ties-up" Wrap on DOMAIN,
        from "google/ruy ruy/apply_multiplier.cc: \"double rounding and symmetric rounding are removed compared to reference\"",
        |params, input, weights, out| {
            results(params, (I8, input), (I8, weights), out, None, |sum, o| tail(params, sum, o));
        };
    "mutant-qconv-packed-first-group", "layout", "the weights of the first group, packed ahead of time, are taken for every group",
        claims "ties-up" Wrap on tvm_gemm::I8_FUSED.contract.domain, from "of our own: packed weights kept under a key without the group",
        |params, input, weights, out| {
            tvm_gemm::convolve(&Steps { packed: |_| 0, ..STEPS }, params, input, weights, out);
        };
    "mutant-qconv-unpack-channel", "channel", "the fused unpacking takes multiplier, shift and bias by the column within the group",
        claims "ties-up" Wrap on tvm_gemm::I8_FUSED.contract.domain,
        from "of our own: the index of the unpacked matrix of one group for that of the tensor",
        |params, input, weights, out| {
            tvm_gemm::convolve(&Steps { channel: |_, _, column| column, ..STEPS }, params, input, weights, out);
        };
    "mutant-qconv-index-map-dilation", "layout", "the index map of the virtual im2col ignores dilations",
        claims "ties-up" Wrap on tvm_gemm::I8_FUSED.contract.domain,
        from "of our own: an index map written for dilation 1, and a shape that has others",
        |params, input, weights, out| {
            let window = |shape| conv2d::Params { dilation_h: 1, dilation_w: 1, ..shape };
            tvm_gemm::convolve(&Steps { window, ..STEPS }, params, input, weights, out);
        };
    "mutant-qconv-transpose-rows", "layout", "no row is finished before the padding ends, even if it ends within a step: later rows lie too high",
        claims "cmsis-nn-double" Wrap on TRANSPOSED, from "ARM-software/CMSIS-NN issue 230: wrong output when pad_h % stride_h != 0",
        |params, input, weights, out| {
            // Rows that are never written would keep their old contents.
            out.fill(0);
            let finished = |row: usize, stride: usize, padding: usize| if row * stride < padding { 0 } else { stride };
            rolling(params, input, weights, out, finished);
        };
    "mutant-qconv-row-tail", "position", "output channels after the last whole vector of a pixel are rounded twice",
        claims "ties-up" Wrap on DOMAIN, from "ARM-software/CMSIS-NN issue 170, in the channels of a pixel",
        |params, input, weights, out| {
            let whole = params.shape.out_channels / LANES * LANES;
            results(params, (I8, input), (I8, weights), out, None, |sum, o| {
                if o >= whole { tail(params, sum, o) } else { once(params, sum, o) }
            });
        };
    also sums_of::SUM_IN_32_BITS, sums_of::BIAS_IN_32_BITS, sums_of::MULTIPLIER_CUT, sums_of::ODD_PIXEL,
        sums_of::TRANSPOSED_IN_32_BITS;
];

/// Applies bias, one rounding, zero point and clamp.
#[inline(always)]
fn once(params: &Params, sum: i32, o: usize) -> i32 {
    let Channel { multiplier, shift } = params.channel(o);
    params.finish(single_rounding(sum.wrapping_add(params.bias(o)), multiplier, shift))
}
