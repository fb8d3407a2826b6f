//! Quantized subtraction: `lhs_scale * (lhs - lhs_zero_point) - rhs_scale * (rhs - rhs_zero_point)` over the output's scale, rounded to an
//! integer, plus the output's zero point, clamped; and the schemes by which systems compute it.
//!
//! A subtraction is a [`Sum`] whose right term is negative. Steps and machine integers are shared with [`super::add`].
//!
//! Source of the operation: TensorFlow Lite 8-bit quantization specification, SUB; ONNX operators, Sub between DequantizeLinear and QuantizeLinear.

mod registry;

use super::add::Sum;

/// Subtraction of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subtraction {}

/// Parameters of a batch.
pub type Parameters = super::Parameters<Subtraction>;
/// Mathematical definition of subtraction.
pub type Definition = super::Definition<Subtraction>;
/// Definition with the policy for a rescale beyond int32; each rescale fits if [`Parameters::check`] passes.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Sum for Subtraction {
    const SIGN: i32 = -1;
    const SCHEMES: &'static [Definition] = registry::DEFINITIONS;
}
