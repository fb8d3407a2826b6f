//! Image to columns: each row of the matrix has the elements under the filter at one position, in the order (filter row, filter column, channel).
//! Padding, stride and dilation are handled. `transform` has im2col as a kernel.
//!
//! Source: RFC on int8 convolution for Arm, section Im2Col; apache/tvm python/tvm/topi/arm_cpu/conv2d_gemm.py.

use super::Params;

/// Number of elements in one row of the matrix: filter elements times the channels of one group.
pub(crate) fn depth(params: &Params) -> usize {
    params.kernel_h * params.kernel_w * (params.channels / params.groups)
}

/// Computes the matrix `[B*OH*OW, KH*KW*C/groups]` of one group's channels of an image `[B,H,W,C]`; elements outside the image are `zero_point`.
/// Callers have checked `params`, and `out` has the length of the matrix.
pub(crate) fn im2col<T: Copy>(params: &Params, group: usize, input: &[T], zero_point: T, out: &mut [T]) {
    let Ok((rows, columns)) = params.output() else { return };
    let image = params.height * params.width * params.channels;
    let mut out = out.chunks_exact_mut(depth(params));
    for image in input.chunks_exact(image) {
        for y in 0..rows {
            for x in 0..columns {
                let Some(row) = out.next() else { return };
                let corner = (y * params.stride_h, x * params.stride_w);
                patch(params, group, image, corner, zero_point, row);
            }
        }
    }
}

/// Copies the elements under the filter, with its first element at `corner` of the padded image.
#[inline(always)]
fn patch<T: Copy>(params: &Params, group: usize, image: &[T], corner: (usize, usize), zero_point: T, out: &mut [T]) {
    let channels = params.channels / params.groups;
    let filter_rows = out.chunks_exact_mut(params.kernel_w * channels).enumerate();
    for (i, out) in filter_rows {
        let Some(y) = inside(corner.0 + i * params.dilation_h, params.top, params.height) else {
            out.fill(zero_point);
            continue;
        };
        for (j, out) in out.chunks_exact_mut(channels).enumerate() {
            match inside(corner.1 + j * params.dilation_w, params.left, params.width) {
                None => out.fill(zero_point),
                Some(x) => {
                    let from = (y * params.width + x) * params.channels + group * channels;
                    out.copy_from_slice(&image[from..from + channels]);
                }
            }
        }
    }
}

/// Converts a coordinate of the padded image to the image of `size`; `None` in the padding.
#[inline(always)]
pub(crate) fn inside(padded: usize, before: usize, size: usize) -> Option<usize> {
    padded.checked_sub(before).filter(|at| *at < size)
}
