//! Shape of `TRANSPOSE_CONV` (`tensorflow/lite/kernels/transpose_conv.cc`): operands are the sizes of the output, the filter `[O,KH,KW,C]`, the
//! input, a bias.

use super::layers::{no_options, same, step};
use super::tables::Operator;
use super::tensor::{Place, Tensor};
use crate::model::Fault;
use tiebreak_impls::conv2d::Params;

/// Returns the parameters without zero points. The sizes of the output are those of its tensor.
pub(super) fn convolution(
    operator: &Operator<'_>,
    place: &Place,
    [input, weights, output]: [&Tensor<'_>; 3],
) -> Result<Params, Fault> {
    let [batches, height, width, channels] = input.four()?;
    let [out_channels, kernel_h, kernel_w, depth] = weights.four()?;
    let [_, rows, columns, _] = output.four()?;
    if depth != channels {
        let problem = format!("a filter of {:?} for an input of {channels} channels", weights.shape);
        return Err(weights.place.malformed(problem));
    }
    let options = operator.transpose_conv().ok_or_else(|| no_options(operator, place, 49, "TransposeConvOptions"))?;
    let stride_h = step(place, options.stride_h().unwrap_or(0), "stride_h")?;
    let stride_w = step(place, options.stride_w().unwrap_or(0), "stride_w")?;
    // The padding is that of the convolution from the output's size to the input's size.
    let before = |size: usize, kernel, stride| match options.padding().unwrap_or(0) {
        0 => Ok(same(size, kernel, stride, 1)[0]),
        1 => Ok(0),
        other => Err(place.malformed(format!("padding is {other}; it must be 0 (SAME) or 1 (VALID)"))),
    };
    let (top, left) = (before(rows, kernel_h, stride_h)?, before(columns, kernel_w, stride_w)?);
    let [bottom, output_padding_h] = rest(height, kernel_h, stride_h, top + rows);
    let [right, output_padding_w] = rest(width, kernel_w, stride_w, left + columns);
    #[rustfmt::skip]
    let params = Params {
        batches, height, width, channels, kernel_h, kernel_w, out_channels, stride_h, stride_w, top, bottom, left, right,
        transposed: true, output_padding_h, output_padding_w,
        ..Params::default()
    };
    Ok(params)
}

/// Returns, along one side, the outputs of windows after the last one, which are cut off, and the outputs after all windows.
fn rest(size: usize, kernel: usize, stride: usize, last: usize) -> [usize; 2] {
    let covered = (size - 1).saturating_mul(stride).saturating_add(kernel);
    [covered.saturating_sub(last), last.saturating_sub(covered)]
}
