//! Two-dimensional convolution, NHWC: `out[b,y,x,o] = sum over i,j,c of (in[b, y*stride_h + i*dilation_h - top, ..., c] -
//! input_zero_point) * (weight[i,j,c,o] - weight_zero_point)`, int32. Outside the image the input is its zero point. Transposed convolutions are in
//! [`transposed`].

pub(crate) mod by_matmul;
pub(crate) mod direct;
pub(crate) mod im2col;
pub(crate) mod onednn;
mod spatial_pack;
#[cfg(test)]
pub(crate) mod tests;
mod tflite;
pub mod transposed;

use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::matmul::{
    self, arm_bitserial, arm_dotprod, arm_i8mm, arm_int16, arm_offsets, arm_uadalp, arm_uadalp_8x4, arm_udot_12x4,
    arm_umlal, gemmlowp, nvidia_dp4a, x86_avx2, x86_vnni,
};
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, broken, positive, with_defaults};
use serde::{Deserialize, Serialize};
use transposed::Transposed;

with_defaults! {
    /// Shape and zero points of one convolution. By default one element under a filter of one element: padding and zero points are 0, all other sizes
    /// are 1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub struct Params {
        /// Number of images.
        pub batches: usize = 1,
        /// Rows of the input.
        pub height: usize = 1,
        /// Columns of the input.
        pub width: usize = 1,
        /// Channels of the input.
        pub channels: usize = 1,
        /// Rows of the filter.
        pub kernel_h: usize = 1,
        /// Columns of the filter.
        pub kernel_w: usize = 1,
        /// Channels of the output.
        pub out_channels: usize = 1,
        /// Number of groups of channels, each convolved alone: 1 usually, `channels` for a depthwise convolution.
        pub groups: usize = 1,
        /// Rows from one output to the next.
        pub stride_h: usize = 1,
        /// Columns from one output to the next.
        pub stride_w: usize = 1,
        /// Rows from one filter row to the next.
        pub dilation_h: usize = 1,
        /// Columns from one filter column to the next.
        pub dilation_w: usize = 1,
        /// Rows of padding above.
        pub top: usize = 0,
        /// Rows of padding below.
        pub bottom: usize = 0,
        /// Columns of padding to the left.
        pub left: usize = 0,
        /// Columns of padding to the right.
        pub right: usize = 0,
        /// Input value that represents 0.
        pub input_zero_point: i32 = 0,
        /// Weight value that represents 0.
        pub weight_zero_point: i32 = 0,
        /// True if transposed: each input element adds to a window of the output, and padding removes rows and columns of the output.
        #[serde(default, skip_serializing_if = "is_usual")]
        pub transposed: bool = false,
        /// Transposed only: rows added at the bottom of the output, after windows and padding.
        #[serde(default, skip_serializing_if = "is_usual")]
        pub output_padding_h: usize = 0,
        /// Transposed only: columns added at the right of the output, after windows and padding.
        #[serde(default, skip_serializing_if = "is_usual")]
        pub output_padding_w: usize = 0,
    }
}

/// True if a field has its default, which most convolutions have.
fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Params {
    /// Returns the rows and columns of the output. An error names the invalid argument.
    pub fn output(&self) -> Result<(usize, usize), ShapeError> {
        if self.transposed {
            return transposed::output(self);
        }
        for (argument, n) in [("output_padding_h", self.output_padding_h), ("output_padding_w", self.output_padding_w)]
        {
            if n > 0 {
                return Err(broken(argument, "a convolution that is not transposed has none"));
            }
        }
        let side = |names: [&'static str; 3], size: usize, padding: [usize; 2], kernel, stride, dilation| {
            let [of_kernel, of_stride, of_dilation] = names;
            let (kernel, stride) = (positive(of_kernel, kernel)?, positive(of_stride, stride)?);
            let dilation = positive(of_dilation, dilation)?;
            let padded = size.checked_add(padding[0]).and_then(|n| n.checked_add(padding[1]));
            let padded = padded.ok_or_else(|| broken(of_kernel, "the padded input is too large"))?;
            let reach = (kernel - 1).checked_mul(dilation).and_then(|n| n.checked_add(1));
            match reach {
                Some(reach) if reach <= padded => Ok((padded - reach) / stride + 1),
                _ => {
                    let rule =
                        format!("{kernel} filter elements {dilation} apart reach beyond the padded input of {padded}");
                    Err(broken(if dilation > 1 { of_dilation } else { of_kernel }, rule))
                }
            }
        };
        let rows = side(
            ["kernel_h", "stride_h", "dilation_h"],
            positive("height", self.height)?,
            [self.top, self.bottom],
            self.kernel_h,
            self.stride_h,
            self.dilation_h,
        )?;
        let columns = side(
            ["kernel_w", "stride_w", "dilation_w"],
            positive("width", self.width)?,
            [self.left, self.right],
            self.kernel_w,
            self.stride_w,
            self.dilation_w,
        )?;
        Ok((rows, columns))
    }

    /// Sizes of input `[B,H,W,C]`, weights `[KH,KW,C/groups,O]` and output `[B,OH,OW,O]`, in elements. An error names the invalid argument.
    pub fn sizes(&self) -> Result<Sizes, ShapeError> {
        let groups = positive("groups", self.groups)?;
        for (argument, n) in [("channels", self.channels), ("out_channels", self.out_channels)] {
            if !positive(argument, n)?.is_multiple_of(groups) {
                return Err(broken(argument, format!("{n} do not fall into {groups} groups")));
            }
        }
        let batches = positive("batches", self.batches)?;
        let (rows, columns) = self.output()?;
        let input = shape::elements("input", &[batches, self.height, self.width, self.channels])?;
        let depth = shape::elements("weights", &[self.kernel_h, self.kernel_w, self.channels / groups])?;
        let weights = shape::elements("weights", &[depth, self.out_channels])?;
        // The matrix of im2col must fit, too.
        shape::elements("im2col", &[batches, rows, columns, depth])?;
        let outputs = shape::elements("out", &[batches, rows, columns, self.out_channels])?;
        Ok(Sizes { inputs: [input, weights, 0], outputs })
    }
}

/// Operands on which a kernel keeps its promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Input as lhs, weights as rhs.
    pub operands: matmul::Domain,
    /// True if `groups` may be more than 1.
    pub grouped: bool,
    /// Transposed convolutions that a kernel for them accepts; `None` for a kernel of ordinary convolutions.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub transposed: Option<Transposed>,
}

/// `run(params, input, weights, out)`: little-endian elements of the domain's types at any alignment. Callers have checked `params` and the lengths,
/// and the input zero point is a value of the input's type.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// A convolution under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conv2d {}

impl TensorOperation for Conv2d {
    common_items!(conv2d, own sizes);

    fn sizes(domain: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        let (point, element) = (params.input_zero_point, domain.operands.lhs);
        if !element.range().contains(&point) {
            return Err(broken("input_zero_point", format!("{point} is no {}", element.name())));
        }
        params.sizes()
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { name, code, domain, params, tensors: [image, weights, _], output, misalign } = call;
        if params.groups > 1 && !domain.grouped {
            return Err(broken("groups", format!("{name} takes one, not {}", params.groups)).into());
        }
        transposed::takes(domain.transposed, params)?;
        let operands = [("input", domain.operands.lhs, image), ("weights", domain.operands.rhs, weights)];
        packed(operands, misalign, |image, weights| code(params, image, weights, output))
    }
}

lookups! {
    [
        tflite::I8_I8, tflite::U8_U8, onednn::S8S8_SHIFT, spatial_pack::SIGNED, spatial_pack::UNSIGNED,
        by_matmul::kernel!(arm_uadalp::UADALP), by_matmul::kernel!(arm_uadalp::SADALP),
        by_matmul::kernel!(arm_uadalp_8x4::UADALP),
        by_matmul::kernel!(arm_umlal::UMLAL), by_matmul::kernel!(arm_umlal::SMLAL),
        by_matmul::kernel!(arm_int16::SMLAL), by_matmul::kernel!(arm_int16::UMLAL),
        by_matmul::kernel!(arm_offsets::IN_LOOP), by_matmul::kernel!(arm_offsets::IN_BLOCKS),
        by_matmul::kernel!(arm_dotprod::UDOT), by_matmul::kernel!(arm_dotprod::SDOT),
        by_matmul::kernel!(arm_udot_12x4::UDOT),
        by_matmul::kernel!(arm_i8mm::UMMLA), by_matmul::kernel!(arm_i8mm::SMMLA),
        by_matmul::kernel!(arm_bitserial::BITSERIAL),
        by_matmul::kernel!(x86_avx2::MADDUBS), by_matmul::kernel!(x86_avx2::MADD),
        by_matmul::kernel!(x86_vnni::VNNI), by_matmul::kernel!(x86_vnni::SATURATING),
        by_matmul::kernel!(nvidia_dp4a::S8), by_matmul::kernel!(nvidia_dp4a::U8),
        by_matmul::kernel!(nvidia_dp4a::MIXED),
        by_matmul::kernel!(gemmlowp::REFERENCE),
        transposed::scatter::I8, transposed::scatter::U8, transposed::inserted::I8, transposed::inserted::U8,
        transposed::subconvolution::QS8, transposed::subconvolution::QU8,
    ]
}

/// Builds a direct kernel with one form: any groups, any values of its types, sums in int32.
const fn direct(
    name: &'static str,
    summary: &'static str,
    (input, weights): (Element, Element),
    source: &'static str,
    run: Run,
) -> Kernel {
    let promise = Promise { scheme: "exact", overflow: Overflow::Wrap };
    let domain = Domain { operands: matmul::Domain::all(input, weights), grouped: true, transposed: None };
    Kernel::scalar(name, summary, promise, domain, source, run)
}
