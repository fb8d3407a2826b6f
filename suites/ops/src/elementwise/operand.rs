//! Scale and zero point of a tensor: conversion for the oracle, text form, and simplification.

use tiebreak_engine::operation::CaseError;
use tiebreak_engine::operation::element::{float, float_bits};
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::quantized::Scale;
use tiebreak_oracle::elementwise as oracle;
use tiebreak_oracle::float::Format::F32;
use tiebreak_reports::ledger::Value;

/// Converts an operand to the oracle's.
pub(crate) fn to_oracle(operand: Operand) -> oracle::Operand {
    oracle::Operand { scale: (operand.scale.0 as f32).to_bits(), zero_point: operand.zero_point }
}

/// True if the scale is exactly an f32.
pub(crate) fn is_single(operand: Operand) -> bool {
    f64::from(operand.scale.0 as f32) == operand.scale.0
}

/// Formats the scale with the fewest digits that identify this f32.
pub(crate) fn digits(scale: Scale) -> String {
    float(F32, (scale.0 as f32).to_bits().into())
}

/// Formats the scale as a value of a case.
pub(crate) fn spelled(scale: Scale) -> Value {
    let text = digits(scale);
    text.parse().map_or(Value::Text(text), Value::Integer)
}

/// Parses the scale of a case's argument `name`; an error if `text` is not an f32.
pub(crate) fn scale(name: &str, text: &str) -> Result<Scale, CaseError> {
    let bits = float_bits(F32, text).ok_or_else(|| format!("{name}: `{text}` is no f32, such as 0.1"))?;
    Ok(Scale(f32::from_bits(bits as u32).into()))
}

/// Scales with few digits, the simplest first.
pub(crate) const PLAIN: [f32; 5] = [1.0, 0.5, 2.0, 0.1, 0.3];

/// Replaces the operand's scale by `plain`; `None` if `plain` does not have fewer digits.
pub(crate) fn plainer(operand: Operand, plain: f32) -> Option<Operand> {
    let other = Operand { scale: Scale(plain.into()), ..operand };
    (digits(other.scale).len() < digits(operand.scale).len()).then_some(other)
}
