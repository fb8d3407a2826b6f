//! Quantized addition of two tensors; one file for each system.

pub(crate) mod cmsis_nn;
pub(crate) mod onnx;
mod pytorch;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
pub(crate) mod tosa;
pub(crate) mod tvm;
pub(crate) mod xnnpack;

use super::items;
use crate::element::Element;
use crate::operation::{TensorOperation, common_items, lookups};
use crate::shape::{ShapeError, broken};
use serde::{Deserialize, Serialize};

pub use super::{Operand, Params, Run};

/// Scales that a kernel accepts. All scales are normal floats in 2^-100 to 2^100, within a factor of 2^40 of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scales {
    /// Any three scales.
    Any,
    /// Twice the larger scale of both operands is below 2^20 (2^15 for 16 bits) times the output's scale. The sources check that the multiplier of the
    /// sum does not shift left.
    Rescaled,
    /// The scale of each operand over the output's scale is in `[2^-10, 2^8)`. The source checks both quotients.
    Ratios,
    /// As [`Scales::Ratios`], but the smaller quotient may be down to 2^-14, and the multiplier of the larger one has at most 22 bits. The source
    /// computes other scales in f32.
    Wide,
}

impl super::Scales for Scales {
    const LARGEST: f32 = (1u128 << 100) as f32;

    fn check(self, element: Element, params: &Params) -> Result<(), ShapeError> {
        let out =
            |rule: &str| Err(broken("out_scale", format!("{} is beyond what this takes: {rule}", params.out.scale.0)));
        let [lhs, rhs, scale] = [params.lhs, params.rhs, params.out].map(Operand::single);
        let (least, most) = (lhs.min(rhs).min(scale), lhs.max(rhs).max(scale));
        if f64::from(most) / f64::from(least) > APART {
            return out("scales are within a factor of 2^40");
        }
        let (smaller, larger) = (lhs.min(rhs) / scale, lhs.max(rhs) / scale);
        match self {
            Self::Rescaled if tflite::output_multiplier(params, tflite::left_shift(element)).1 > 0 => {
                out("twice the larger scale is below that shifted left")
            }
            Self::Ratios if !(smaller >= 2f32.powi(-10) && larger < 256.0) => {
                out("ratios of scales are in [2^-10, 2^8)")
            }
            Self::Wide if onnx::fixed_multipliers(params).is_none() => {
                out("ratios of scales are in [2^-14, 2^8), the larger one from 2^-10 and of 22 bits")
            }
            _ => Ok(()),
        }
    }
}

const APART: f64 = (1u64 << 40) as f64;

/// Parameters that a kernel accepts.
pub type Domain = super::Domain<Scales>;

/// An addition under test.
pub type Kernel = super::Kernel<Scales>;

/// Sums of quantized tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Add {}

impl TensorOperation for Add {
    common_items!(add);
    items!();
}

lookups! {
    tflite: DOUBLE_I8 DOUBLE_U8 DOUBLE_I16 SINGLE_I8;
    tosa: DOUBLE_I8 DOUBLE_U8 SINGLE_I8 HALVES_I8;
    cmsis_nn: DOUBLE_S8 SINGLE_S8;
    xnnpack: QS8 QU8 NEON_QS8;
    onnx: RAW_I8 RAW_U8 NEON_I8;
    pytorch: QADD_I8 QADD_U8;
    tvm: I8 U8 TO_NEAREST_I8;
}
