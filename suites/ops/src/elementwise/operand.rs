//! Scale and zero point of a tensor: for the oracle, as words of a case, and plainer.

use tiebreak_engine::operation::CaseError;
use tiebreak_engine::operation::element::{float, float_bits};
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::quantized::Scale;
use tiebreak_oracle::elementwise as oracle;
use tiebreak_oracle::float::Format::F32;
use tiebreak_reports::ledger::Value;

/// The oracle's operand.
pub(crate) fn posed(operand: Operand) -> oracle::Operand {
    oracle::Operand { scale: (operand.scale.0 as f32).to_bits(), zero_point: operand.zero_point }
}

/// Whether the scale is a float.
pub(crate) fn is_single(operand: Operand) -> bool {
    f64::from(operand.scale.0 as f32) == operand.scale.0
}

/// The scale in the fewest digits that are this float.
pub(crate) fn digits(scale: Scale) -> String {
    float(F32, (scale.0 as f32).to_bits().into())
}

/// The scale as a case spells it.
pub(crate) fn spelled(scale: Scale) -> Value {
    let text = digits(scale);
    text.parse().map_or(Value::Text(text), Value::Integer)
}

/// The scale that a case spells under a name.
pub(crate) fn scale(name: &str, text: &str) -> Result<Scale, CaseError> {
    let bits = float_bits(F32, text).ok_or_else(|| format!("{name}: `{text}` is no f32, such as 0.1"))?;
    Ok(Scale(f32::from_bits(bits as u32).into()))
}

/// Scales of few digits, the plainest first.
pub(crate) const PLAIN: [f32; 5] = [1.0, 0.5, 2.0, 0.1, 0.3];

/// The operand with a scale of fewer digits; none if its own has no more.
pub(crate) fn plainer(operand: Operand, plain: f32) -> Option<Operand> {
    let other = Operand { scale: Scale(plain.into()), ..operand };
    (digits(other.scale).len() < digits(operand.scale).len()).then_some(other)
}
