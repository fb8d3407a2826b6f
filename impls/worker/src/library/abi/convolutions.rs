//! Calls of convolutions.

use super::super::tensor::Type;
use super::Call;
use super::params::{Conv2d, Qconv2d};
use tiebreak_impls::conv2d;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::qconv2d;

impl Call<'_> {
    pub(super) fn conv2d(self, params: &conv2d::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let (image, weights) = input.split_at(params.sizes()?.inputs[0]);
        let types = [self.function.element(0), self.function.element(1)];
        let tensors = [("input", types[0], image), ("weights", types[1], weights)];
        let shape = self.shape(params)?;
        self.call(&[], &tensors, Type::Word, output, |_| shape)
    }

    pub(super) fn qconv2d(self, params: &qconv2d::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let sizes = params.shape.sizes()?;
        let (image, weights) = input.split_at(sizes.inputs[0]);
        let whole = params.requantize(sizes.outputs);
        let [lhs, rhs, result] = [0, 1, 2].map(|at| self.function.element(at));
        let tensors = [("input", lhs, image), ("weights", rhs, weights)];
        let conv = self.shape(&params.shape)?;
        self.scale(&whole, &tensors, result, output, |scaling| Qconv2d { conv, scaling })
    }

    /// Converts a convolution to the C structure. An error reports a convolution of the other form, transposed or not.
    fn shape(&self, params: &conv2d::Params) -> Result<Conv2d, JobError> {
        if params.transposed != self.function.transposed {
            let not = if params.transposed { "" } else { "not " };
            let why = format!("the convolution is {not}transposed, and {} has the other form", self.function.symbol());
            return Err(JobError::OutsideDomain(why));
        }
        shape(params)
    }
}

/// Converts a convolution to the C structure.
fn shape(params: &conv2d::Params) -> Result<Conv2d, JobError> {
    let (out_height, out_width) = params.output()?;
    Ok(Conv2d {
        batches: params.batches,
        height: params.height,
        width: params.width,
        channels: params.channels,
        kernel_h: params.kernel_h,
        kernel_w: params.kernel_w,
        out_channels: params.out_channels,
        groups: params.groups,
        stride_h: params.stride_h,
        stride_w: params.stride_w,
        dilation_h: params.dilation_h,
        dilation_w: params.dilation_w,
        top: params.top,
        bottom: params.bottom,
        left: params.left,
        right: params.right,
        out_height,
        out_width,
        input_zero_point: params.input_zero_point,
        weight_zero_point: params.weight_zero_point,
    })
}
