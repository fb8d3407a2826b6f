//! Changes that a kernel may make to a transposed convolution: a filter that is not rotated, other values between elements, misplaced windows and
//! phases, and results of the output padding that are 0.

use crate::conv2d::Conv2d;
use crate::conv2d::geometry::{added, column, fitted, row};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Operation};
use tiebreak_impls::conv2d::Params;
use tiebreak_oracle::matmul::Scheme;

/// Builds a convolution of stride 1 with `value` between and around the elements. Its sums are equal if `value` is the zero point.
pub(in crate::conv2d) fn inserted(case: &Case<Params>, value: i32) -> Case<Params> {
    let p = case.params;
    let (rows, columns) = p.output().unwrap_or_default();
    let (high, wide) = ((p.kernel_h - 1) * p.dilation_h, (p.kernel_w - 1) * p.dilation_w);
    let (height, width) = (rows + high, columns + wide);
    let mut input = vec![value; p.batches * height * width * p.channels];
    for (at, pixel) in case.tensors[0].chunks_exact(p.channels).enumerate() {
        let (b, y, x) = (at / (p.height * p.width), at / p.width % p.height, at % p.width);
        let (row, column) = (y * p.stride_h + high - p.top, x * p.stride_w + wide - p.left);
        if row < height && column < width {
            input[((b * height + row) * width + column) * p.channels..][..p.channels].copy_from_slice(pixel);
        }
    }
    let plain = Params { height, width, stride_h: 1, stride_w: 1, top: 0, bottom: 0, left: 0, right: 0, ..p };
    let params = Params { transposed: false, output_padding_h: 0, output_padding_w: 0, ..plain };
    Case { params, tensors: [input, reversed(case), Vec::new()].into(), misalign: case.misalign }
}

/// Returns the filter elements in reverse order.
fn reversed(case: &Case<Params>) -> Vec<i32> {
    let each = case.params.channels / case.params.groups * case.params.out_channels;
    case.tensors[1].chunks_exact(each).rev().flatten().copied().collect()
}

/// Returns the changes that a kernel may make to a transposed convolution in its loops.
pub(in crate::conv2d) fn changes(base: Scheme) -> Vec<Change<Conv2d>> {
    let mut out = vec![
        Change::of_case(Class::Layout, "the filter is not rotated", base, |case: &mut Case<Params>| {
            case.tensors[1] = reversed(case);
        }),
        Change::predicts(Class::Padding, "results of the output padding are 0", move |case: &Case<Params>| {
            without_output_padding(base, case)
        }),
    ];
    if base.definition.narrow.is_none() {
        out.push(Change::predicts(
            Class::Layout,
            "windows of a filter with an even number of rows or columns begin one place too low",
            move |case: &Case<Params>| {
                let p = &case.params;
                let later =
                    |kernel: usize, at: usize| if kernel.is_multiple_of(2) { at.checked_sub(1) } else { Some(at) };
                // The row above the output is row 0 with one row less of padding.
                let above = |y: usize, i: usize| match later(p.kernel_h, y) {
                    Some(y) => row(p, y, i),
                    None => row(&Params { top: p.top.checked_sub(1)?, ..*p }, 0, i),
                };
                let beside = |x: usize, j: usize| match later(p.kernel_w, x) {
                    Some(x) => column(p, x, j),
                    None => column(&Params { left: p.left.checked_sub(1)?, ..*p }, 0, j),
                };
                Some(fitted(base, added(case, [&above, &beside], |sum, product| sum + product)?))
            },
        ));
        out.push(Change::predicts(
            Class::Layout,
            "the padding before the output is left out of the phase of a result",
            move |case: &Case<Params>| phases(base, case),
        ));
    }
    out
}

fn without_output_padding(base: Scheme, case: &Case<Params>) -> Option<Vec<Option<i32>>> {
    let p = &case.params;
    let (rows, columns) = p.output().ok()?;
    let mut expected = Conv2d::expected(&base, case).ok()?;
    for (at, pixel) in expected.chunks_exact_mut(p.out_channels).enumerate() {
        let (y, x) = (at / columns % rows, at % columns);
        if y + p.output_padding_h >= rows || x + p.output_padding_w >= columns {
            pixel.fill(Some(0));
        }
    }
    Some(expected)
}

/// Predicts a kernel that takes the phase of a result from its own place instead of from its place in the padded output. Dilated filters, and
/// filters shorter than the stride, keep the expected results.
fn phases(base: Scheme, case: &Case<Params>) -> Option<Vec<Option<i32>>> {
    let p = &case.params;
    if p.dilation_h > 1 || p.dilation_w > 1 || p.stride_h > p.kernel_h || p.stride_w > p.kernel_w {
        return Conv2d::expected(&base, case).ok();
    }
    let met = |[output, element]: [usize; 2], stride: usize, before: usize| {
        let is_met = output % stride == element % stride;
        if is_met { ((output + before) / stride).checked_sub(element / stride) } else { None }
    };
    let above = |y: usize, i: usize| met([y, i], p.stride_h, p.top);
    let beside = |x: usize, j: usize| met([x, j], p.stride_w, p.left);
    Some(fitted(base, added(case, [&above, &beside], |sum, product| sum + product)?))
}
