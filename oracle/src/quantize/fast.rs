//! Schemes in machine integers, written from the formulas of the sources instead of the step lists.

use super::soft::{Prepared, Soft, Whole};
use super::{Stored, Stored::Poison, Stored::Unspecified};
use crate::float::Format;
use crate::rounding::RoundingRule::{self, TiesAway, TiesEven};
use crate::word::Overflow;

/// Scheme at prepared parameters, with the policy for conversions that do not fit.
pub(super) type Fast = fn(&Prepared, Overflow, Soft) -> Stored;

const I16: (i64, i64) = (i16::MIN as i64, i16::MAX as i64);
const I32: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// Computes `clamp(v + zero_point)`.
fn finish(p: &Prepared, v: Whole, nan: Stored) -> Stored {
    v.map(|v| v + i128::from(p.q.zero_point)).clamp(p.q.min, p.q.max).stored(nan)
}

pub(super) fn ideal(rule: RoundingRule, p: &Prepared, x: Soft) -> Stored {
    x.divided_by(p.scale).plus(p.zero_point).to_integer(rule).clamp(p.q.min, p.q.max).stored(Unspecified)
}

pub(super) fn zero_point_after(rule: RoundingRule, p: &Prepared, x: Soft) -> Stored {
    finish(p, x.divided_by(p.scale).to_integer(rule), Unspecified)
}

/// Rounds the scaled value and the sum in the format, converts, and clamps.
pub(super) fn qcast(rule: RoundingRule, overflow: Overflow, p: &Prepared, scaled: Soft) -> Stored {
    let sum = scaled.rounded(p.q.format).plus(p.zero_point_rounded).rounded(p.q.format);
    let converted = sum.to_integer(rule).convert(p.q.storage, overflow);
    converted.map_or(Poison, |v| v.clamp(p.q.min, p.q.max).stored(Poison))
}

pub(super) fn tflite(p: &Prepared, x: Soft) -> Stored {
    finish(p, x.divided_by(p.scale).rounded(p.q.format).to_integer(TiesAway), Poison)
}

/// The bounds minus the zero point are integers of 17 bits, exact in f32, so a clamp to these bounds commutes with rounding.
pub(super) fn onnx(p: &Prepared, x: Soft) -> Stored {
    finish(p, x.divided_by(p.scale).rounded(p.q.format).to_integer(TiesEven), Stored::Value(p.q.min))
}

fn by_reciprocal(p: &Prepared, x: Soft) -> Soft {
    x.times(p.reciprocal).rounded(p.q.format)
}

pub(super) fn pytorch(p: &Prepared, x: Soft) -> Stored {
    let sum = by_reciprocal(p, x).to_integer(TiesEven).soft().plus(p.zero_point_rounded).rounded(p.q.format);
    sum.to_integer(TiesEven).clamp(p.q.min, p.q.max).stored(Poison)
}

pub(super) fn pytorch_legacy(p: &Prepared, x: Soft) -> Stored {
    let sum = by_reciprocal(p, x).plus(p.zero_point_rounded).rounded(p.q.format);
    sum.to_integer(TiesEven).clamp(p.q.min, p.q.max).stored(Poison)
}

/// A product has 48 bits, so its sum with a zero point of 8 bits is exact before the rounding.
pub(super) fn pytorch_fused(p: &Prepared, x: Soft) -> Stored {
    let sum = x.times(p.reciprocal).plus(p.zero_point_rounded).rounded(p.q.format);
    sum.to_integer(TiesEven).clamp(p.q.min, p.q.max).stored(Stored::Value(p.q.max))
}

/// The sum of the magic bias and a value of 9 bits has a spacing of 1 in f32. The bias is even, so the sum rounds ties to even like an
/// integer. The clamp commutes with this rounding as in [`onnx`].
pub(super) fn xnnpack(p: &Prepared, x: Soft) -> Stored {
    finish(p, by_reciprocal(p, x).to_integer(TiesEven), Stored::Value(p.q.min))
}

pub(super) fn neon_fcvtns(p: &Prepared, x: Soft) -> Stored {
    let lane = match by_reciprocal(p, x).to_integer(TiesEven) {
        Whole::Nan => Whole::Number(0),
        number => number,
    };
    let narrow = lane.clamp(I32.0, I32.1).clamp(I16.0, I16.1);
    let sum = narrow.map(|v| v + i128::from(p.q.zero_point)).clamp(I16.0, I16.1);
    sum.clamp(p.q.min, p.q.max).stored(Unspecified)
}

/// Adds the zero point to an integer, and clamps; poison unless integer and sum are int32.
fn in_int32(p: &Prepared, v: Whole) -> Stored {
    let Whole::Number(v) = v else { return Poison };
    let sum = v + i128::from(p.q.zero_point);
    let fits = |v: i128| i32::try_from(v).is_ok();
    if fits(v) && fits(sum) { Whole::Number(sum).clamp(p.q.min, p.q.max).stored(Poison) } else { Poison }
}

pub(super) fn onnx_other_axis(p: &Prepared, x: Soft) -> Stored {
    in_int32(p, x.divided_by(p.scale).rounded(p.q.format).to_integer(TiesEven))
}

pub(super) fn tflite_double(p: &Prepared, x: Soft) -> Stored {
    in_int32(p, x.divided_for_any(p.scale).rounded(Format::F64).to_integer(TiesAway))
}

/// The zero point has 16 bits, so the sum exceeds int32 by less than 2^16.
pub(super) fn tflite_neon(p: &Prepared, x: Soft) -> Stored {
    let lane = match by_reciprocal(p, x).to_integer(TiesEven) {
        Whole::Nan => Whole::Number(0),
        number => number,
    };
    let wrapped = |v: i128| (v as i32).wrapping_add(p.q.zero_point as i32).into();
    lane.clamp(I32.0, I32.1).map(wrapped).clamp(p.q.min, p.q.max).stored(Unspecified)
}
