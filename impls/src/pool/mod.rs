//! Average and max pooling of quantized tensors, NHWC; one file for each system.

mod cmsis_nn;
pub(crate) mod onnx;
mod params;
mod pytorch;
mod qnnpack;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
mod tosa;
mod tvm;
pub(crate) mod windows;
mod xnnpack;

use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

pub use crate::elementwise::Operand;
pub use params::Params;

/// Restriction on scales and zero points. All scales are normal floats in 2^-30 to 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scales {
    /// Input and output have the same scale and zero point.
    Equal,
    /// The quotient of the input's scale and the output's scale is in `[2^-16, 2^8)`.
    Quotient,
}

/// Rule for padding in the divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// The divisor never counts the padding.
    Never,
    /// The divisor always counts the padding.
    Always,
    /// The caller's `count_padding` decides.
    Either,
}

/// Parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of input and output.
    pub element: Element,
    /// Restriction on scales and zero points.
    pub scales: Scales,
    /// Rule for padding in the divisor.
    pub counted: Counted,
    /// True if the window is the whole image, without padding.
    pub global: bool,
    /// True if the kernel clamps to arbitrary bounds; otherwise the bounds of the type apply.
    pub clamp: bool,
}

/// Smallest and largest scale.
pub(crate) const SCALES: std::ops::RangeInclusive<f32> = 1.0 / (1u32 << 30) as f32..=(1u32 << 30) as f32;

impl Domain {
    /// Returns the sizes of input and output. An error names the argument that is outside the domain.
    pub fn sizes(&self, p: &Params) -> Result<Sizes, ShapeError> {
        let (range, name) = (self.element.range(), self.element.name());
        if p.element != self.element {
            return Err(broken("element", format!("this kernel takes {name}, not {}", p.element.name())));
        }
        for (names, operand) in
            [(["input_scale", "input_zero_point"], p.input), (["out_scale", "out_zero_point"], p.out)]
        {
            operand.check(names, self.element, &SCALES)?;
        }
        for (argument, value) in [("min", p.min), ("max", p.max)] {
            if !range.contains(&value) {
                return Err(broken(argument, format!("{value} is no {name}")));
            }
        }
        if p.min > p.max {
            return Err(broken("min", format!("{} is above max, {}", p.min, p.max)));
        }
        let sizes = p.sizes()?;
        self.scaled(p)?;
        self.windowed(p)?;
        Ok(sizes)
    }

    fn scaled(&self, p: &Params) -> Result<(), ShapeError> {
        let whole = (*self.element.range().start(), *self.element.range().end());
        if !self.clamp && (p.min, p.max) != whole {
            return Err(broken("min", format!("this kernel clamps to all of {} only", self.element.name())));
        }
        let quotient = p.input.scale.0 / p.out.scale.0;
        match self.scales {
            Scales::Equal if p.input != p.out => {
                Err(broken("out_scale", "input and output must have one scale and zero point"))
            }
            Scales::Quotient if !(2f64.powi(-16)..256.0).contains(&quotient) => {
                Err(broken("out_scale", format!("the input's scale over it, {quotient}, is not in [2^-16, 2^8)")))
            }
            _ => Ok(()),
        }
    }

    fn windowed(&self, p: &Params) -> Result<(), ShapeError> {
        let counts = match self.counted {
            Counted::Never => Some(false),
            Counted::Always => Some(true),
            Counted::Either => None,
        };
        if let Some(counts) = counts.filter(|counts| *counts != p.count_padding) {
            return Err(broken("count_padding", format!("this kernel takes {} only", i32::from(counts))));
        }
        if self.global && ((p.kernel_h, p.kernel_w) != (p.height, p.width) || p.top + p.bottom + p.left + p.right > 0) {
            return Err(broken("kernel_h", "the window of this kernel is the whole image, without padding"));
        }
        Ok(())
    }
}

/// Kernel function `run(params, input, out)`: bytes of the element type to int32 results. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[u8], &mut [i32]);

/// Pooling under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation that takes averages or maxima of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {}

impl TensorOperation for Pool {
    common_items!(pool);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [input, ..], output, misalign, .. } = call;
        let operands = [("input", domain.element, input), ("nothing", domain.element, &[][..])];
        packed(operands, misalign, |input, _| code(params, input, output))
    }
}

lookups! {
    tflite: AVERAGE_I8 AVERAGE_U8 AVERAGE_I16 TRANCHES_I8 NEON_I8;
    cmsis_nn: AVERAGE_S8 LANES_S8 AVERAGE_S16;
    tvm: AVERAGE_I8 AVERAGE_U8;
    tosa: AVERAGE_I8 AVERAGE_I16;
    onnx: AVERAGE_I8 AVERAGE_U8 GLOBAL_U8 GLOBAL_SSE2_I8;
    pytorch: AVERAGE_I8 AVERAGE_U8;
    qnnpack: AVERAGE_U8;
    xnnpack: AVERAGE_U8 GLOBAL_I8 GLOBAL_NEON_I8;
    tflite: MAX_I8 MAX_U8 MAX_I16;
    cmsis_nn: MAX_S8;
    onnx: MAX_I8;
}
