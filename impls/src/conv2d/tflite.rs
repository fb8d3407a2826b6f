//! TensorFlow Lite's reference convolutions, before bias and requantization.
//!
//! `acc += (filter + filter_offset) * (input + input_offset)` over the image; elements outside are omitted ("zero padding by omitting the areas
//! outside the image"). Offsets are negative zero points. The int8 function has no filter offset because its filters are symmetric; its weight zero
//! point is 0 here. Sums wrap here; overflow is undefined in C++.
//!
//! A depthwise convolution is the case `groups = channels`: the functions of `depthwise_conv.h` add the same products.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/conv.h`, `ConvPerChannel`;
//! `reference/conv.h`, `Conv`.

use super::{Kernel, Params, direct};
use crate::element::Element::{self, I8, U8};

/// Signed input and weights.
pub(super) const I8_I8: Kernel = super::direct(
    "tflite-reference",
    "TFLite reference ConvPerChannel, int8: direct, padding left out",
    (I8, I8),
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/conv.h",
    |params, input, weights, out| run(params, (I8, input), (I8, weights), out),
);

/// Unsigned input and weights.
pub(super) const U8_U8: Kernel = super::direct(
    "tflite-reference-u8",
    "TFLite reference Conv, uint8: direct, padding left out",
    (U8, U8),
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/conv.h",
    |params, input, weights, out| run(params, (U8, input), (U8, weights), out),
);

#[inline(always)]
fn run(params: &Params, input: (Element, &[u8]), weights: (Element, &[u8]), out: &mut [i32]) {
    let input_offset = params.input_zero_point.wrapping_neg();
    let filter_offset = params.weight_zero_point.wrapping_neg();
    direct::each(params, out, |window| {
        let mut acc = 0i32;
        window.elements(|at, weight| {
            let Some(at) = at else { return };
            let input = input.0.read(&input.1[at..]).wrapping_add(input_offset);
            let filter = weights.0.read(&weights.1[weight..]).wrapping_add(filter_offset);
            acc = acc.wrapping_add(filter.wrapping_mul(input));
        });
        acc
    });
}
