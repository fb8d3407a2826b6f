//! Quantized convolution, NHWC, in one kernel: the convolution of [`crate::conv2d`], then bias, fixed point multiply, zero point and clamp of each
//! sum: `out[b,y,x,o] = clamp(fpm(sum[b,y,x,o] + bias[o], channel[o]) + zero_point, min, max)`. Results have 8 or 16 bits. ReLU and ReLU6 are bounds
//! of the clamp. Convolutions of int16 may have 64-bit biases, and then have 64-bit sums.
//!
//! A depthwise convolution has as many groups as input channels. Its multiplier is the number of output channels per group, so output channel `o`
//! belongs to input channel `o / multiplier`. Transposed convolutions are in [`transpose_conv`].

mod cmsis_nn;
pub(crate) mod cmsis_nn_i16;
mod gemmlowp;
pub(crate) mod loops;
mod ruy;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tflite;
pub(crate) mod tflite_16x8;
pub(crate) mod transpose_conv;
pub(crate) mod tvm_gemm;
mod tvm_neon;
mod tvm_relay;

use crate::contract;
use crate::conv2d;
use crate::conv2d::transposed::{self, Transposed};
use crate::element::Element;
use crate::execute::packed;
use crate::fpm::Channel;
use crate::job_error::JobError;
use crate::kernel;
use crate::matmul;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::qmatmul::Layer64;
use crate::requantize;
use crate::shape::{ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

/// Shape, zero points, and parameters of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Shape, and zero points of the operands.
    pub shape: conv2d::Params,
    /// Multipliers (Q0.31) and shifts: one for all output channels, or one for each.
    pub channels: Vec<Channel>,
    /// Biases added to the sums: one for all output channels, or one for each.
    pub bias: Vec<i32>,
    /// 64-bit biases that replace `bias`: one for all output channels, or one for each. Empty if sums are int32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bias64: Vec<i64>,
    /// Zero point of the output.
    pub zero_point: i32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

impl Params {
    /// Returns multiplier and shift of an output channel.
    #[inline(always)]
    pub fn channel(&self, o: usize) -> Channel {
        self.channels[if self.channels.len() == 1 { 0 } else { o }]
    }

    /// Returns the bias of an output channel.
    #[inline(always)]
    pub fn bias(&self, o: usize) -> i32 {
        self.bias[if self.bias.len() == 1 { 0 } else { o }]
    }

    /// True if sums have 64 bits up to the multiplication.
    pub fn is_wide(&self) -> bool {
        !self.bias64.is_empty()
    }

    /// Returns the requantization of 64-bit sums, as a layer whose columns are the output channels. `None` if sums are int32.
    #[inline(always)]
    pub fn layer64(&self) -> Option<Layer64<'_>> {
        let Self { bias64, channels, zero_point, min, max, .. } = self;
        let [zero_point, min, max] = [*zero_point, *min, *max];
        self.is_wide().then_some(Layer64 { bias: bias64, channels, zero_point, min, max, output: Element::I16 })
    }

    /// Adds the zero point, which wraps, and clamps by `max(x, min)`, then `min(.., max)`, as in the sources.
    #[inline(always)]
    pub(crate) fn finish(&self, scaled: i32) -> i32 {
        scaled.wrapping_add(self.zero_point).max(self.min).min(self.max)
    }

    /// Returns the requantization of `len` sums in the order of the output.
    pub fn requantize(&self, len: usize) -> requantize::Params {
        let outputs = self.shape.out_channels;
        requantize::Params {
            len,
            channels: (0..outputs).map(|o| self.channel(o)).collect(),
            bias: (0..outputs).map(|o| self.bias(o)).collect(),
            zero_point: self.zero_point,
            min: self.min,
            max: self.max,
        }
    }
}

/// Operands and parameters on which a kernel keeps its promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Input as lhs, weights as rhs.
    pub operands: matmul::Domain,
    /// True if `groups` may be more than 1.
    pub grouped: bool,
    /// True if `groups` may differ from `channels`; a depthwise kernel has false.
    pub dense: bool,
    /// True if filters may have more than one place, with strides, dilations and padding.
    pub spatial: bool,
    /// True if sums and biases have 64 bits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// Transposed convolutions that the kernel accepts; `None` for a kernel of plain convolutions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transposed: Option<Transposed>,
    /// Type of the results, multipliers and shifts, and the support for bias, zero point and clamp.
    pub requantize: requantize::Domain,
}

impl Domain {
    /// Domain of everything of these types: any groups and filters, one multiplier per output channel, bias, zero point and clamp.
    pub(crate) const fn all([input, weights, output]: [Element; 3], channels: contract::Domain) -> Self {
        Self {
            operands: matmul::Domain::all(input, weights),
            grouped: true,
            dense: true,
            spatial: true,
            wide: false,
            transposed: None,
            requantize: requantize::Domain::all(output, channels),
        }
    }

    /// Returns the sizes of input, weights, a third tensor without elements, and output. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let shape = &params.shape;
        let sizes = shape.sizes()?;
        let (point, element) = (shape.input_zero_point, self.operands.lhs);
        if !element.range().contains(&point) {
            return Err(broken("input_zero_point", format!("{point} is no {}", element.name())));
        }
        let wide = params.is_wide().then_some(("bias64", params.bias64.len()));
        let lists = [("channels", params.channels.len()), ("bias", params.bias.len())];
        for (argument, n) in lists.into_iter().chain(wide) {
            if n != 1 && n != shape.out_channels {
                let rule = format!("{n} for {} output channels; there is one, or one for each", shape.out_channels);
                return Err(broken(argument, rule));
            }
        }
        if params.channels.len() > 1 && !self.requantize.channels.per_channel {
            return Err(broken("channels", format!("takes one, not {}", params.channels.len())));
        }
        match (self.wide, params.is_wide()) {
            (true, false) => return Err(broken("bias64", "this kernel adds biases of 64 bits")),
            (false, true) => return Err(broken("bias64", "this kernel adds no bias of 64 bits")),
            (true, true) if params.bias.iter().any(|bias| *bias != 0) => {
                return Err(broken("bias", "biases are of 32 bits or of 64, and not of both"));
            }
            _ => {}
        }
        if !self.requantize.bias && params.bias.iter().any(|bias| *bias != 0) {
            return Err(broken("bias", "this kernel adds none"));
        }
        self.requantize.check_output(params.zero_point, params.min, params.max)?;
        Ok(sizes)
    }

    /// Checks that the kernel has code for groups and filters of this shape. An error names the unsupported argument.
    pub fn takes_shape(&self, shape: &conv2d::Params) -> Result<(), ShapeError> {
        transposed::takes(self.transposed, shape)?;
        if shape.groups > 1 && !self.grouped {
            return Err(broken("groups", format!("this kernel takes one, not {}", shape.groups)));
        }
        if shape.groups != shape.channels && !self.dense {
            let rule = format!("this kernel takes as many as channels, {}, not {}", shape.channels, shape.groups);
            return Err(broken("groups", rule));
        }
        let places = [shape.kernel_h, shape.kernel_w, shape.stride_h, shape.stride_w];
        let padding = [shape.top, shape.bottom, shape.left, shape.right];
        if !self.spatial && (places != [1; 4] || padding != [0; 4]) {
            return Err(broken("kernel_h", "this kernel takes filters of one place, without strides and padding"));
        }
        Ok(())
    }
}

/// Kernel function `run(params, input, weights, out)`: little-endian elements of the domain's types at any alignment, to values of the output type in
/// int32. The caller has checked `params` and lengths, and the input zero point is a value of the input's type.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// Quantized convolution under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation of quantized convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qconv2d {}

impl TensorOperation for Qconv2d {
    common_items!(qconv2d);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [image, weights, _], output, misalign, .. } = call;
        domain.takes_shape(&params.shape)?;
        let operands = [("input", domain.operands.lhs, image), ("weights", domain.operands.rhs, weights)];
        packed(operands, misalign, |image, weights| code(params, image, weights, output))
    }
}

lookups! {
    tflite: CONV_I8 CONV_SINGLE_I8 CONV_U8 DEPTHWISE_I8 DEPTHWISE_U8;
    ruy: CONV_I8 CONV_U8;
    cmsis_nn: CONVOLVE_I8 CONVOLVE_SINGLE_I8 DEPTHWISE_I8;
    gemmlowp: PIPELINE_U8;
    tvm_relay: UPWARD_I8 UPWARD_U8 TO_NEAREST_I8;
    tvm_gemm: I8_FUSED U8_FUSED;
    tvm_neon: RFC_I8 RFC_U8 FIXUP_I8;
    transpose_conv: TFLITE_I8 TFLITE_U8 CMSIS_NN_I8 CMSIS_NN_REVERSE_I8;
    tflite_16x8: CONV CONV_BIAS32 DEPTHWISE TRANSPOSE_CONV;
    cmsis_nn_i16: CONVOLVE CONVOLVE_BIAS32 DEPTHWISE;
}
