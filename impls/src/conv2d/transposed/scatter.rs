//! TensorFlow Lite's reference transposed convolutions, before bias and requantization, in scatter form.
//!
//! Accumulators of the whole output start at 0. Each input element has a window, which begins at `in * stride - pad`, and adds `(input +
//! input_offset) * (filter + filter_offset)` to each output of the window. The int8 function has no filter offset because its filters are symmetric;
//! its weight zero point is 0 here. The caller gives the size of the output. Sums wrap here; overflow is undefined in C++.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h`, `TransposeConv`;
//! `reference/transpose_conv.h`, `TransposeConv`.

use super::{Dilation, EXACT, Outputs, Transposed};
use crate::conv2d::{Domain, Kernel, Params};
use crate::element::Element;
use crate::matmul;
use std::ops::Range;

/// Transposed convolutions that the functions accept: filters without dilation, any size of the output.
pub(crate) const PLAIN: Transposed = Transposed { dilation: Dilation::One, outputs: Outputs::Any };

const fn domain(element: Element) -> Domain {
    Domain { operands: matmul::Domain::all(element, element), grouped: false, transposed: Some(PLAIN) }
}

/// Signed input and weights.
pub(in crate::conv2d) const I8: Kernel = Kernel::scalar(
    "tflite-transpose-conv",
    "TFLite reference TransposeConv, int8: each element added to its window",
    EXACT,
    domain(Element::I8),
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h",
    |params, input, weights, out| scatter(params, (Element::I8, input), (Element::I8, weights), out),
);

/// Unsigned input and weights.
pub(in crate::conv2d) const U8: Kernel = Kernel::scalar(
    "tflite-transpose-conv-u8",
    "TFLite reference TransposeConv, uint8: each element added to its window",
    EXACT,
    domain(Element::U8),
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/transpose_conv.h",
    |params, input, weights, out| scatter(params, (Element::U8, input), (Element::U8, weights), out),
);

/// Adds each element to its window.
pub(crate) fn scatter(p: &Params, input: (Element, &[u8]), weights: (Element, &[u8]), sums: &mut [i32]) {
    let (input_offset, filter_offset) = (p.input_zero_point.wrapping_neg(), p.weight_zero_point.wrapping_neg());
    sums.fill(0);
    each(p, |at, row, to| {
        let value = input.0.read(&input.1[at * input.0.bytes()..]).wrapping_add(input_offset);
        for (sum, filter) in sums[to].iter_mut().zip(&weights.1[row]) {
            let filter = weights.0.read(&[*filter]).wrapping_add(filter_offset);
            *sum = sum.wrapping_add(value.wrapping_mul(filter));
        }
    });
}

/// Calls `add(input, weights, outputs)` for every input element and every filter element whose product is in the output. `input` is an index;
/// `weights` and `outputs` are ranges of the group's output channels, in the filter and in the sums.
#[inline(always)]
pub(crate) fn each(p: &Params, mut add: impl FnMut(usize, Range<usize>, Range<usize>)) {
    let Ok((rows, columns)) = p.output() else { return };
    let (depth, share) = (p.channels / p.groups, p.out_channels / p.groups);
    for at in 0..p.batches * p.height * p.width * p.channels {
        let (pixel, c) = (at / p.channels, at % p.channels);
        let (batch, y, x) = (pixel / (p.height * p.width), pixel / p.width % p.height, pixel % p.width);
        for i in 0..p.kernel_h {
            // Rows above the output wrap to large numbers.
            let row = (y * p.stride_h + i * p.dilation_h).wrapping_sub(p.top);
            for j in 0..p.kernel_w {
                let column = (x * p.stride_w + j * p.dilation_w).wrapping_sub(p.left);
                if row >= rows || column >= columns {
                    continue;
                }
                let of_group = |first: usize| first + c / depth * share..first + (c / depth + 1) * share;
                let filter = ((i * p.kernel_w + j) * depth + c % depth) * p.out_channels;
                let sums = ((batch * rows + row) * columns + column) * p.out_channels;
                add(at, of_group(filter), of_group(sums));
            }
        }
    }
}
