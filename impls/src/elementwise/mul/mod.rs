//! Quantized multiplication of two tensors; one file for each system.

pub(crate) mod cmsis_nn;
mod onnx;
pub(crate) mod pytorch;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
mod tosa;
pub(crate) mod xnnpack;

use super::items;
use crate::element::Element;
use crate::operation::{TensorOperation, common_items, lookups};
use crate::shape::{ShapeError, broken};
use serde::{Deserialize, Serialize};

pub use super::{Operand, Params, Run};

/// Scales that a kernel accepts. All scales are normal floats in 2^-30 to 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scales {
    /// The product of both operands' scales over the output's scale is below 2^14 for 8 bits and below 1 for 16 bits, so that every intermediate
    /// value of a rescale fits in int32.
    Rescaled,
    /// The product of both operands' scales over the output's scale is in `[2^-16, 2^8)`. The source checks the quotient.
    Ratio,
}

impl super::Scales for Scales {
    const LARGEST: f32 = (1u32 << 30) as f32;

    fn check(self, element: Element, params: &Params) -> Result<(), ShapeError> {
        let offsets = [("lhs_zero_point", params.lhs), ("rhs_zero_point", params.rhs), ("out_zero_point", params.out)];
        let placed = offsets.iter().find(|(_, operand)| element == Element::I16 && operand.zero_point != 0);
        if let Some((argument, operand)) = placed {
            return Err(broken(argument, format!("{} is not 0, as that of an i16 must be", operand.zero_point)));
        }
        let ratio = ratio(params);
        let (least, most) = match (self, element) {
            (Self::Ratio, _) => (2f32.powi(-16), 256.0),
            (Self::Rescaled, Element::I16) => (0.0, 1.0),
            (Self::Rescaled, _) => (0.0, 16384.0),
        };
        if !(least..most).contains(&ratio) {
            let rule = format!("the product of the operands' scales over it, {ratio}, is not in [{least}, {most})");
            return Err(broken("out_scale", rule));
        }
        Ok(())
    }
}

/// Returns the product of both operands' scales over the output's scale, in f32.
pub(crate) fn ratio(params: &Params) -> f32 {
    params.lhs.single() * params.rhs.single() / params.out.single()
}

/// Parameters that a kernel accepts. The sources check that zero points of 16 bits are 0.
pub type Domain = super::Domain<Scales>;

/// A multiplication under test.
pub type Kernel = super::Kernel<Scales>;

/// Products of quantized tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mul {}

impl TensorOperation for Mul {
    common_items!(mul);
    items!();
}

lookups! {
    tflite: DOUBLE_I8 DOUBLE_U8 DOUBLE_I16 SINGLE_I8 MICRO_I8;
    cmsis_nn: DOUBLE_S8 SINGLE_S8;
    tosa: DOUBLE_I8 SINGLE_I8;
    xnnpack: QS8 QU8 NEON_QS8;
    onnx: RAW_I8 RAW_U8 NEON_I8 NEON_U8;
    pytorch: QMUL_I8 QMUL_U8;
}

/// Returns the product of both stored values less their zero points.
#[inline(always)]
pub(crate) fn product(params: &Params, lhs: i32, rhs: i32) -> i32 {
    (lhs - params.lhs.zero_point) * (rhs - params.rhs.zero_point)
}
