//! Additions and subtractions in machine integers, derived independently of the steps on rationals. Values that depend only on the parameters are
//! computed once for each batch; values that depend on one operand are computed once for each stored value.

use super::super::{Operand, Parameters, Side, integers};
use super::{LeftShift, Sum};
use crate::derivation::dyadic::Dyadic;
use crate::float::Format::F32;
use crate::fpm;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::{self, *};
use crate::word::Overflow;

/// Computation of a scheme's results.
#[derive(Clone, Copy, Debug)]
pub enum Fast {
    /// Single quotient of integers.
    Once(RoundingRule),
    /// Single quotient of integers, zero point included.
    Placed(RoundingRule),
    /// One shift of integers, by the multipliers of a rescaling.
    Narrowed(RoundingRule),
    /// Three fixed point multiplications by the named scheme; a [`Lift`] raises the operands first.
    Rescaled(&'static str, Lift),
    /// One fixed point multiplication of each operand by the named scheme, and a sum of integers.
    Requantized(&'static str),
    /// Multipliers with this many bits after their first, and one shift.
    Fixed(u32, RoundingRule),
    /// ONNX Runtime's computation in f32.
    Onnx,
    /// PyTorch's computation in f32.
    PyTorch,
    /// Computation in f32, quantized by a division.
    Divided,
}

/// Step that lifts an operand before the sum.
#[derive(Clone, Copy, Debug)]
pub enum Lift {
    /// A left shift.
    Shift,
    /// A separate fixed point multiplication.
    Multiplication,
    /// The operand's multiplier, scaled by `2^left_shift`.
    Multiplier,
    /// A left shift. The right operand's multiplier is negated, and its term is negated again in the sum.
    Negated,
}

/// Multiplier and shift.
type Q31 = (i32, i32);

impl<A: Sum> integers::Fast<A> for Fast {
    fn each(self, overflow: Overflow, p: &Parameters<A>, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>> {
        let (place, LeftShift(left), sign) = (|v: i128| p.placed(v), p.own, i64::from(A::SIGN));
        let sum = |a: i128, b: i128| a + i128::from(sign) * b;
        match self {
            Self::Once(rule) => {
                let [a, b, c] = aligned([p.lhs, p.rhs, p.out]);
                let term = |side, d: i32| Some(i128::from(d) * if side == Side::Lhs { a } else { b });
                pairs(p, lhs, rhs, term, |a, b| place(rule.quotient(sum(a, b), c)))
            }
            Self::Placed(rule) => {
                let [a, b, c] = aligned([p.lhs, p.rhs, p.out]);
                let term = |side, d: i32| Some(i128::from(d) * if side == Side::Lhs { a } else { b });
                let zero_point = c * i128::from(p.out.zero_point);
                pairs(p, lhs, rhs, term, |a, b| p.clamped(rule.quotient(sum(a, b) + zero_point, c)))
            }
            Self::Narrowed(rule) => {
                let (terms, Some((m, s))) = (operands(p, 0), output(p)) else { return vec![None; lhs.len()] };
                // The terms' shifts are at most 0. Both terms use the smaller shift, so the sum is a sum of integers.
                let least = terms[0].1.min(terms[1].1);
                let right = (62 - least - s - left as i32) as u32;
                let term = |side, d: i32| {
                    let (multiplier, shift) = terms[side as usize];
                    Some((i128::from(d) * i128::from(multiplier) * i128::from(m)) << (shift - least))
                };
                pairs(p, lhs, rhs, term, |a, b| place(rule.shift_right(sum(a, b), right)))
            }
            Self::Rescaled(name, lift) => {
                let Some(scheme) = fpm::Scheme::find(name, overflow) else { return vec![None; lhs.len()] };
                let by = |v: i64, (m, s): Q31| scheme.fast(v, &fpm::Parameters::q31(m, s));
                let factors = operands(p, if matches!(lift, Lift::Multiplier) { left as i32 } else { 0 });
                let term = |side, d: i32| {
                    let lifted = match lift {
                        Lift::Shift => i64::from(d) << left,
                        Lift::Multiplication => by(d.into(), (1 << 30, left as i32 + 1))?,
                        Lift::Multiplier => d.into(),
                        Lift::Negated if side == Side::Rhs => {
                            let (m, s) = factors[side as usize];
                            return Some(-by(i64::from(d) << left, (-m, s))?);
                        }
                        Lift::Negated => i64::from(d) << left,
                    };
                    by(lifted, factors[side as usize])
                };
                let Some(out) = output(p) else { return vec![None; lhs.len()] };
                pairs(p, lhs, rhs, term, |a, b| place(by(a + sign * b, out)?.into()))
            }
            Self::Requantized(name) => {
                let Some(scheme) = fpm::Scheme::find(name, overflow) else { return vec![None; lhs.len()] };
                let factors = [p.lhs, p.rhs].map(|operand| q31(operand.dyadic(), p.out.dyadic(), 0));
                let term = |side, d: i32| {
                    let (m, s) = factors[side as usize];
                    (s <= 31).then(|| scheme.fast(d.into(), &fpm::Parameters::q31(m, s))).flatten()
                };
                pairs(p, lhs, rhs, term, |a, b| place(sum(a.into(), b.into())))
            }
            Self::Fixed(bits, rule) => {
                let ratios = [p.lhs, p.rhs].map(|operand| operand.dyadic().over(p.out.dyadic()).rounded(24));
                let shift = (bits as i32 - ratios.map(floor_log2).into_iter().max().unwrap_or(0)).max(0);
                let multiplier = ratios.map(|r| integer(r.n, r.e + shift, TiesEven));
                let term = |side, d: i32| Some(i128::from(d) * multiplier[side as usize]);
                pairs(p, lhs, rhs, term, |a, b| place(rule.shift_right(sum(a, b), shift as u32)))
            }
            Self::Onnx => {
                let out = Soft::of(F32, p.out.scale.into());
                sums_in_f32(p, lhs, rhs, |sum| p.placed_in_f32(sum.divided_by(out).rounded(F32)))
            }
            Self::PyTorch => {
                let reciprocal = Soft::integer(1).divided_by(Soft::of(F32, p.out.scale.into())).rounded(F32);
                sums_in_f32(p, lhs, rhs, |sum| place(sum.times(reciprocal).rounded(F32).to_integer(TiesEven).number()))
            }
            Self::Divided => {
                let out = Soft::of(F32, p.out.scale.into());
                sums_in_f32(p, lhs, rhs, |sum| place(sum.divided_by(out).rounded(F32).to_integer(TiesEven).number()))
            }
        }
    }
}

/// Applies `finish` to each sum in f32 of both operands in f32.
fn sums_in_f32<A: Sum>(
    p: &Parameters<A>,
    lhs: &[i32],
    rhs: &[i32],
    finish: impl Fn(Soft) -> Option<i32>,
) -> Vec<Option<i32>> {
    let scales = [p.lhs, p.rhs].map(|operand| Soft::of(F32, operand.scale.into()));
    let term = |side, d: i32| Some(Soft::integer(d.into()).times(scales[side as usize]).rounded(F32));
    pairs(p, lhs, rhs, term, |a, b| finish(a.plus(if A::SIGN < 0 { b.negated() } else { b }).rounded(F32)))
}

/// Applies `term` to both differences of each pair, and `finish` to the two terms. Terms of 8-bit operands are looked up.
fn pairs<A: Sum, T: Copy>(
    p: &Parameters<A>,
    lhs: &[i32],
    rhs: &[i32],
    term: impl Fn(Side, i32) -> Option<T>,
    finish: impl Fn(T, T) -> Option<i32>,
) -> Vec<Option<i32>> {
    let of = |side: Side, stored: i32| term(side, stored - p.operand(side).zero_point);
    if p.storage.bits > 8 || lhs.len() < 256 {
        let one = |(a, b): (&i32, &i32)| finish(of(Side::Lhs, *a)?, of(Side::Rhs, *b)?);
        return lhs.iter().zip(rhs).map(one).collect();
    }
    let least = p.storage.min() as i32;
    let table = |side| (0..256).map(|i| of(side, least + i)).collect::<Vec<_>>();
    let tables = [table(Side::Lhs), table(Side::Rhs)];
    let at = |side: Side, stored: i32| tables[side as usize][(stored - least) as usize];
    lhs.iter().zip(rhs).map(|(a, b)| finish(at(Side::Lhs, *a)?, at(Side::Rhs, *b)?)).collect()
}

/// Returns scales as integers over one power of two.
fn aligned(operands: [Operand; 3]) -> [i128; 3] {
    let scales = operands.map(Operand::dyadic);
    let least = scales.iter().map(|s| s.e).min().unwrap_or(0);
    scales.map(|s| s.n << (s.e - least))
}

fn length(n: i128) -> i32 {
    (u128::BITS - n.unsigned_abs().leading_zeros()) as i32
}

fn floor_log2(v: Dyadic) -> i32 {
    length(v.n) - 1 + v.e
}

/// Computes `n * 2^e` as an integer, rounded by `rule`.
fn integer(n: i128, e: i32, rule: RoundingRule) -> i128 {
    if e >= 0 { n << e } else { rule.shift_right(n, e.unsigned_abs().min(120)) }
}

/// Returns twice the larger scale.
fn twice<A: Sum>(p: &Parameters<A>) -> Dyadic {
    // Scales are positive floats, whose patterns have the order of their values.
    let larger = if p.lhs.scale >= p.rhs.scale { p.lhs } else { p.rhs };
    let Dyadic { n, e } = larger.dyadic();
    Dyadic { n, e: e + 1 }
}

/// Returns the quotient in double, times `2^lift`, as a multiplier of 31 bits.
fn q31(dividend: Dyadic, divisor: Dyadic, lift: i32) -> Q31 {
    let Dyadic { n, e } = dividend.over(divisor).rounded(53);
    Dyadic { n, e: e + lift }.q31()
}

/// Returns the multipliers of both operands, scaled by `2^lift`.
fn operands<A: Sum>(p: &Parameters<A>, lift: i32) -> [Q31; 2] {
    [p.lhs, p.rhs].map(|operand| q31(operand.dyadic(), twice(p), lift))
}

/// Returns the multiplier of the result; `None` if its shift is above 31.
fn output<A: Sum>(p: &Parameters<A>) -> Option<Q31> {
    let Dyadic { n, e } = p.out.dyadic();
    let factor = q31(twice(p), Dyadic { n, e: e + p.own.0 as i32 }, 0);
    (factor.1 <= 31).then_some(factor)
}
