//! Transposed convolution, NHWC: input element `(y,x)` adds `(in[b,y,x,c] - input_zero_point) * (weight[i,j,c,o] - weight_zero_point)` to `out[b,
//! y*stride_h + i*dilation_h - top, x*stride_w + j*dilation_w - left, o]`, int32. Padding removes rows and columns of the output; output padding adds
//! rows at the bottom and columns at the right.
//!
//! Filters have the layout of a convolution, `[KH,KW,C/groups,O]`, for every order of axes in a source.

pub(crate) mod inserted;
pub(crate) mod scatter;
pub(crate) mod subconvolution;

use super::Params;
use crate::contract::{Overflow, Promise};
use crate::shape::{MAX_ELEMENTS, ShapeError, broken, positive};
use serde::{Deserialize, Serialize};

/// Transposed convolutions that a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transposed {
    /// Accepted dilations of the filter.
    pub dilation: Dilation,
    /// Accepted sizes of the output.
    pub outputs: Outputs,
}

/// Accepted dilations of the filter. An enum, because a bool would count when the harness selects the widest domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dilation {
    /// Dilation 1 only.
    One,
    /// Any dilation.
    Any,
}

/// Sizes of the output that a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outputs {
    /// Any output padding.
    Any,
    /// Output padding below the stride.
    BelowStride,
    /// At least `stride` outputs for each input element, and no more than the last window covers, as with TFLite's paddings SAME and VALID. The
    /// padding before the output is at most `stride` for each input element.
    WholeSteps,
}

/// Promise of exact sums that wrap.
const EXACT: Promise = Promise { scheme: "exact", overflow: Overflow::Wrap };

/// Sizes along one side, with the names of the arguments for errors.
pub(crate) struct Side {
    pub(crate) size: usize,
    pub(crate) padding: [usize; 2],
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) more: usize,
    names: [&'static str; 7],
}

impl Side {
    pub(crate) fn rows(p: &Params) -> Self {
        let names = ["height", "top", "bottom", "kernel_h", "stride_h", "dilation_h", "output_padding_h"];
        Self {
            size: p.height,
            padding: [p.top, p.bottom],
            kernel: p.kernel_h,
            stride: p.stride_h,
            dilation: p.dilation_h,
            more: p.output_padding_h,
            names,
        }
    }

    pub(crate) fn columns(p: &Params) -> Self {
        let names = ["width", "left", "right", "kernel_w", "stride_w", "dilation_w", "output_padding_w"];
        Self {
            size: p.width,
            padding: [p.left, p.right],
            kernel: p.kernel_w,
            stride: p.stride_w,
            dilation: p.dilation_w,
            more: p.output_padding_w,
            names,
        }
    }

    /// Returns the distance from the first filter element to the last.
    pub(crate) fn reach(&self) -> usize {
        (self.kernel - 1) * self.dilation
    }

    /// Returns the number of outputs along this side. An error names the invalid argument.
    fn outputs(&self) -> Result<usize, ShapeError> {
        let [size, before, after, kernel, stride, dilation, more] = self.names;
        let steps = positive(size, self.size)? - 1;
        let last = positive(kernel, self.kernel)? - 1;
        let product = |argument, a: usize, b: usize| match a.checked_mul(b) {
            Some(n) if n <= MAX_ELEMENTS => Ok(n),
            _ => Err(broken(argument, format!("more than {MAX_ELEMENTS} outputs along this side"))),
        };
        let reach = product(kernel, last, positive(dilation, self.dilation)?)?;
        for (argument, padding) in [(before, self.padding[0]), (after, self.padding[1])] {
            if padding > reach {
                let (kernel, dilation) = (self.kernel, self.dilation);
                let rule =
                    format!("{padding} is more than {reach}, what {kernel} filter elements {dilation} apart reach");
                return Err(broken(argument, rule));
            }
        }
        let covered =
            product(stride, steps, positive(stride, self.stride)?)? + reach + 1 + product(more, self.more, 1)?;
        match covered.checked_sub(self.padding[0] + self.padding[1]) {
            None | Some(0) => Err(broken(before, "the padding takes off the whole output")),
            Some(outputs) => Ok(outputs),
        }
    }

    /// Checks that a kernel accepts these sizes, which are valid. An error names the argument outside the domain.
    fn takes(&self, domain: Transposed) -> Result<(), ShapeError> {
        let [.., dilation, more] = self.names;
        if domain.dilation == Dilation::One && self.dilation > 1 {
            return Err(broken(dilation, format!("this kernel takes 1, not {}", self.dilation)));
        }
        let covered = self.outputs()? + self.padding[0];
        let whole = self.size * self.stride..=(self.size - 1) * self.stride + self.kernel.max(self.stride);
        match domain.outputs {
            Outputs::BelowStride if self.more >= self.stride => {
                Err(broken(more, format!("this kernel takes less than the stride, {}, not {}", self.stride, self.more)))
            }
            Outputs::WholeSteps if self.padding[0] > self.size * self.stride => {
                let steps = self.size * self.stride;
                Err(broken(self.names[1], format!("this kernel takes at most {steps}, not {}", self.padding[0])))
            }
            Outputs::WholeSteps if !whole.contains(&covered) => {
                let rule =
                    format!("with padding before them, outputs must be {whole:?} for this kernel, not {covered}");
                Err(broken(more, rule))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the rows and columns of the output. An error names the invalid argument.
pub(crate) fn output(p: &Params) -> Result<(usize, usize), ShapeError> {
    Ok((Side::rows(p).outputs()?, Side::columns(p).outputs()?))
}

/// Checks that a kernel of this domain accepts a convolution. An error names the argument outside the domain.
pub fn takes(domain: Option<Transposed>, p: &Params) -> Result<(), ShapeError> {
    match (domain, p.transposed) {
        (None, false) => Ok(()),
        (None, true) => Err(broken("transposed", "this kernel takes no transposed convolution")),
        (Some(_), false) => Err(broken("transposed", "this kernel takes nothing but transposed convolutions")),
        (Some(domain), true) => Side::rows(p).takes(domain).and_then(|()| Side::columns(p).takes(domain)),
    }
}
