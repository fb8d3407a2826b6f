//! Concatenation of quantized tensors along one axis, each rescaled to the output's scale and zero point; one file for each system.

pub(crate) mod cmsis_nn;
pub(crate) mod loops;
pub(crate) mod onnx;
mod params;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
pub(crate) mod tosa;
pub(crate) mod tvm;
mod xnnpack;

use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::pool::SCALES;
use crate::shape::{ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

pub use crate::elementwise::Operand;
pub use params::{INPUTS, Input, Params, RANKS};

/// The scales and zero points that a kernel takes. All scales are normal floats in 2^-30 to 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scales {
    /// All tensors have one scale and one zero point.
    Equal,
    /// The scale of each input over that of the output is in `[2^-16, 2^16]`.
    Quotient,
    /// As [`Scales::Quotient`]; in addition, an input with the output's scale has the output's zero point.
    Distinct,
    /// The scale of each input over that of the output, as f32, is in `[2^-8, 2^7]`.
    Narrow,
}

/// The parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of all tensors.
    pub element: Element,
    /// Scales and zero points.
    pub scales: Scales,
    /// Largest size along an axis.
    pub size: usize,
}

/// Largest size along an axis for sources that keep sizes in an `int`.
pub(crate) const INT: usize = i32::MAX as usize;

impl Domain {
    /// Sizes of the concatenated inputs and of the output, in elements. An error names the argument outside the domain.
    pub fn sizes(&self, p: &Params) -> Result<Sizes, ShapeError> {
        if p.element != self.element {
            let (own, given) = (self.element.name(), p.element.name());
            return Err(broken("element", format!("this kernel takes {own}, not {given}")));
        }
        let elements = p.elements()?;
        if let Some(size) = p.shape.iter().find(|size| **size > self.size) {
            return Err(broken("shape", format!("this kernel takes sizes up to {}, not {size}", self.size)));
        }
        p.out.check(["out_scale", "out_zero_point"], self.element, &SCALES)?;
        for input in &p.inputs {
            input.operand.check(["scales", "zero_points"], self.element, &SCALES)?;
            self.scaled(input.operand, p.out)?;
        }
        Ok(Sizes { inputs: [elements, 0, 0], outputs: elements })
    }

    fn scaled(&self, input: Operand, out: Operand) -> Result<(), ShapeError> {
        let quotient = input.scale.0 / out.scale.0;
        let far = |least: i32, most: i32| {
            broken("scales", format!("a scale over that of the output, {quotient}, is not in [2^{least}, 2^{most}]"))
        };
        match self.scales {
            Scales::Equal if input != out => {
                Err(broken("scales", "all inputs and the output must have one scale and zero point"))
            }
            Scales::Narrow if !(2f64.powi(-8)..=2f64.powi(7)).contains(&f64::from(quotient as f32)) => Err(far(-8, 7)),
            _ if !(2f64.powi(-16)..=2f64.powi(16)).contains(&quotient) => Err(far(-16, 16)),
            Scales::Distinct if input.scale == out.scale && input.zero_point != out.zero_point => {
                Err(broken("zero_points", "an input with the output's scale must have its zero point"))
            }
            _ => Ok(()),
        }
    }
}

/// `run(params, inputs, out)`: bytes of the inputs, one input after another; results as int32. Callers have checked `params` and the lengths.
pub type Run = fn(&Params, &[u8], &mut [i32]);

/// A concatenation under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Concatenations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concat {}

impl TensorOperation for Concat {
    common_items!(concat);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [inputs, ..], output, misalign, .. } = call;
        let operands = [("inputs", domain.element, inputs), ("nothing", domain.element, &[][..])];
        packed(operands, misalign, |inputs, _| code(params, inputs, output))
    }
}

lookups! {
    tflite: SCALED_U8 COPIED_I8;
    tvm: UPWARD_I8 UPWARD_U8 TO_NEAREST_I8;
    onnx: I8 U8;
    cmsis_nn: S8;
    xnnpack: QS8 QU8;
    tosa: I8 U8;
}
