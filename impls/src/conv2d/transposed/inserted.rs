//! TVM: a transposed convolution as a convolution of a larger image. `dilate` puts `stride - 1` elements between the elements of the data. `pad` puts
//! `filter - 1 - padding` elements around the data, and the output padding after it. The larger image is convolved with stride 1 and the filter
//! rotated by 180 degrees.
//!
//! `qnn.conv2d_transpose` subtracts the zero points first, in int16, and inserts 0. Here the zero point is inserted and then subtracted. The sources
//! have no dilation of the filter, and require an output padding below the stride.
//!
//! Source: apache/tvm python/tvm/topi/nn/conv2d_transpose.py, conv2d_transpose_nchw_preprocess; python/tvm/relay/qnn/op/legalizations.py,
//! qnn_conv2d_transpose_legalize.

use super::{Dilation, EXACT, Outputs, Side, Transposed};
use crate::conv2d::{Domain, Kernel, Params, direct};
use crate::element::Element;
use crate::matmul;

/// Transposed convolutions that the schedules accept.
const TAKEN: Transposed = Transposed { dilation: Dilation::One, outputs: Outputs::BelowStride };
const SOURCE: &str = "apache/tvm python/tvm/topi/nn/conv2d_transpose.py; python/tvm/relay/qnn/op/legalizations.py";

/// Steps of such a convolution. A mutant can replace one step and keep the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// Raw value between the elements and around them.
    pub(crate) between: fn(&Params) -> i32,
    /// Number of elements inserted before the first element of a side.
    pub(crate) before: fn(&Side) -> usize,
    /// Index of the filter element at a position of the rotated filter, from the position and the number of filter elements.
    pub(crate) tap: fn(usize, usize) -> usize,
}

/// Correct steps.
pub(crate) const STEPS: Steps = Steps {
    between: |params| params.input_zero_point,
    before: |side| side.reach() - side.padding[0],
    tap: |at, taps| taps - 1 - at,
};

/// Returns the domain of all groups and all values of a type.
pub(crate) const fn domain(element: Element) -> Domain {
    Domain { operands: matmul::Domain::all(element, element), grouped: true, transposed: Some(TAKEN) }
}

/// int8.
pub(in crate::conv2d) const I8: Kernel = Kernel::scalar(
    "tvm-conv2d-transpose",
    "TVM qnn.conv2d_transpose, int8: int16 differences dilated and padded, rotated filter, convolution of stride 1",
    EXACT,
    domain(Element::I8),
    SOURCE,
    |params, input, weights, out| convolve(&STEPS, Element::I8, params, (input, weights), out),
);

/// uint8.
pub(in crate::conv2d) const U8: Kernel = Kernel::scalar(
    "tvm-conv2d-transpose-u8",
    "TVM qnn.conv2d_transpose, uint8: int16 differences dilated and padded, rotated filter, convolution of stride 1",
    EXACT,
    domain(Element::U8),
    SOURCE,
    |params, input, weights, out| convolve(&STEPS, Element::U8, params, (input, weights), out),
);

/// Computes the convolution of stride 1, without padding.
pub(crate) fn convolve(steps: &Steps, element: Element, p: &Params, (input, weights): (&[u8], &[u8]), out: &mut [i32]) {
    let difference = |value: i32| value.wrapping_sub(p.input_zero_point);
    let data: Vec<i32> = input.iter().map(|byte| difference(element.read(&[*byte]))).collect();
    let (plain, image) = inserted(p, &data, difference((steps.between)(p)), steps.before);
    let filter: Vec<i32> = rotated(p, weights, steps.tap).iter().map(|byte| element.read(&[*byte])).collect();
    direct::each(&plain, out, |window| {
        let mut acc = 0i32;
        window.elements(|at, weight| {
            let Some(at) = at else { return };
            acc = acc.wrapping_add(image[at].wrapping_mul(filter[weight].wrapping_sub(p.weight_zero_point)));
        });
        acc
    });
}

/// Returns the larger image, and the parameters of the convolution over it. The image has exactly the size that the output requires.
pub(crate) fn inserted<T: Copy>(p: &Params, input: &[T], between: T, before: fn(&Side) -> usize) -> (Params, Vec<T>) {
    let (rows, columns) = p.output().unwrap_or_default();
    let [of_rows, of_columns] = [Side::rows(p), Side::columns(p)];
    let (height, width) = (rows + of_rows.reach(), columns + of_columns.reach());
    let mut image = vec![between; p.batches * height * width * p.channels];
    let (top, left) = (before(&of_rows), before(&of_columns));
    for (at, pixel) in input.chunks_exact(p.channels).enumerate() {
        let (batch, y, x) = (at / (p.height * p.width), at / p.width % p.height, at % p.width);
        let (row, column) = (y * p.stride_h + top, x * p.stride_w + left);
        if row < height && column < width {
            let to = ((batch * height + row) * width + column) * p.channels;
            image[to..to + p.channels].copy_from_slice(pixel);
        }
    }
    let plain = Params { height, width, stride_h: 1, stride_w: 1, top: 0, bottom: 0, left: 0, right: 0, ..*p };
    (Params { transposed: false, output_padding_h: 0, output_padding_w: 0, ..plain }, image)
}

/// Returns the filter with its elements reordered by `tap`.
pub(crate) fn rotated(p: &Params, weights: &[u8], tap: fn(usize, usize) -> usize) -> Vec<u8> {
    let (taps, each) = (p.kernel_h * p.kernel_w, p.channels / p.groups * p.out_channels);
    (0..taps).flat_map(|at| &weights[tap(at, taps) * each..][..each]).copied().collect()
}
