//! Poolings that count or fill padding by mistake, round wrongly, sum in too few bits, use the wrong parameter, or do not clamp.

use super::tensor::{Mutant, mutants};
use crate::element::Element::{I8, U8};
use crate::pool::onnx::IN_F32;
use crate::pool::tflite::{DOMAIN, divided, sums};
use crate::pool::windows::{clamp, each};
use crate::pool::{Domain, Operand, Params, Run};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-pool-divides-by-window", "divisor", "the divisor is the whole window, padding included",
        claims "tflite" OutOfDomain on DOMAIN, from "pytorch/glow issue 4565: the average counts pads where the format says that it must not",
        |params, input, out| {
            let count = params.area() as i32;
            each(params, I8, input, out, |window| clamp(divided(window.sum(), count), params));
        };
    "mutant-pool-divides-by-image", "divisor", "the divisor leaves the padding out where it must count it",
        claims "onnx" OutOfDomain on IN_F32, from "pytorch/pytorch pull request 28260: the size for averaging is not that of count_include_pad",
        |params, input, out| in_f32(&Params { count_padding: false, ..*params }, input, out);
    "mutant-pool-truncates", "directed-rounding", "the division of the sum truncates",
        claims "tflite" OutOfDomain on DOMAIN, from "apache/tvm pull request 20298: nn.avg_pool2d of integers for TFLite's AVERAGE_POOL_2D",
        |params, input, out| sums(params, I8, input, out, |sum, count| sum / count);
    "mutant-pool-half-added", "directed-rounding", "half the count is added to negative sums too, then the division truncates",
        claims "tflite" OutOfDomain on DOMAIN, from "tensorflow/tensorflow lite/kernels/internal/reference/pooling.h: the formula of uint8 for int8",
        |params, input, out| sums(params, I8, input, out, |sum, count| (sum + count / 2) / count);
    "mutant-pool-ties-up", "tie-direction", "the average is rounded by a floor after half is added: ties go up",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: an arithmetic shift for windows of a power of two",
        |params, input, out| sums(params, I8, input, out, |sum, count| (2 * sum + count).div_euclid(2 * count));
    "mutant-pool-16-bit-sum", "16-bit-wrap", "the sum is held in an unsigned word of 16 bits",
        claims "tflite" OutOfDomain on Domain { element: U8, ..DOMAIN },
        from "tensorflow/tensorflow issue 23598: uint16 accumulators of the optimized AveragePool",
        |params, input, out| sums(params, U8, input, out, |sum, count| (i32::from(sum as u16) + count / 2) / count);
    "mutant-pool-no-clamp", "missing-saturation", "the activation's bounds are left out",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: an average of values of a type is one, so that a clamp seems of no use",
        |params, input, out| {
            let params = Params { min: -128, max: 127, ..*params };
            sums(&params, I8, input, out, divided);
        };
    "mutant-max-pool-pads-zero", "padding", "the border of a maximum is filled with 0 where it must be left out",
        claims "max" OutOfDomain on DOMAIN, from "pytorch/executorch pull request 13576: padding by 0 for quantized operators",
        |params, input, out| {
            each(params, I8, input, out, |window| {
                let first = if window.inside() < params.area() { 0 } else { -128 };
                clamp(window.fold(first, i32::max), params)
            });
        };
    "mutant-pool-pads-zero", "padding", "counted padding is the stored value 0 where it must be the zero point",
        claims "onnx" OutOfDomain on IN_F32, from "pytorch/executorch pull request 13576: a Pad by 0 before the average of a quantized tensor",
        |params, input, out| {
            if params.count_padding {
                let (params, input) = bordered(params, input);
                return in_f32(&params, &input, out);
            }
            in_f32(params, input, out);
        };
    "mutant-pool-no-input-zero-point", "offset-term", "the zero point of the input is not subtracted",
        claims "onnx" OutOfDomain on IN_F32, from "of our own: the average of a symmetric type",
        |params, input, out| {
            in_f32(&Params { input: Operand { zero_point: 0, ..params.input }, ..*params }, input, out);
        };
    "mutant-pool-swapped-borders", "layout", "top and bottom, left and right change places",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: padding read in another order",
        |params, input, out| {
            let Params { top, bottom, left, right, .. } = *params;
            let swapped = Params { top: bottom, bottom: top, left: right, right: left, ..*params };
            sums(&swapped, I8, input, out, divided);
        };
    "mutant-pool-in-f64", "f32-step", "dequantized, added and divided in double",
        claims "onnx" OutOfDomain on IN_F32, from "of our own: doubles where floats are promised",
        |params, input, out| {
            each(params, I8, input, out, |window| {
                let sum = window.fold(0i32, |sum, value| sum + value - params.input.zero_point);
                let unit = window.divisor() as f64 * params.out.scale.0;
                let average = f64::from(sum) * params.input.scale.0 / unit;
                clamp(average.round_ties_even() as i32 + params.out.zero_point, params)
            });
        };
];

/// Computes ONNX Runtime's average.
#[inline(always)]
fn in_f32(params: &Params, input: &[u8], out: &mut [i32]) {
    let (scale, zero_point) = (params.input.single(), params.input.zero_point);
    each(params, I8, input, out, |window| {
        let sum = window.fold(0f32, |sum, value| sum + scale * (value - zero_point) as f32);
        placed(params, sum / window.divisor() as f32)
    });
}

/// Quantizes an average as ONNX Runtime does.
#[inline(always)]
fn placed(params: &Params, average: f32) -> i32 {
    clamp((average / params.out.single() + params.out.zero_point as f32).round_ties_even() as i32, params)
}

/// Returns the image with a border of zeros, and parameters without padding.
fn bordered(params: &Params, input: &[u8]) -> (Params, Vec<u8>) {
    let Params { top, left, channels, .. } = *params;
    let (height, width) = (top + params.height + params.bottom, left + params.width + params.right);
    let mut out = vec![0; params.batches * height * width * channels];
    for (at, row) in input.chunks_exact(params.width * channels).enumerate() {
        let (batch, y) = (at / params.height, at % params.height);
        let to = ((batch * height + top + y) * width + left) * channels;
        out[to..to + row.len()].copy_from_slice(row);
    }
    (Params { height, width, top: 0, bottom: 0, left: 0, right: 0, ..*params }, out)
}
