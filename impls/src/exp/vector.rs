//! Exponential on four lanes. An arithmetic shift of a sign bit makes the mask that selects lanes, instead of the BSL and predicates of the sources.

use super::gemmlowp::{EIGHTH, FACTORS, THIRD};
use crate::simd::Vector;

/// Computes the exponential of four numbers.
#[inline(always)]
pub(crate) fn vector<V: Vector>(x: V, integer_bits: i32) -> V {
    let fraction = 31 - integer_bits;
    let quarter = 1i32 << (fraction - 2);
    let rest = x.and(V::splat(quarter - 1)).add(V::splat(quarter.wrapping_neg()));
    let remainder = minus(rest, x);
    let mut result = polynomial(rest.sshl(V::splat(integer_bits)));
    for (power, factor) in (-2..).zip(FACTORS) {
        if integer_bits > power {
            // Moves the tested bit to the sign position.
            let taken = remainder.sshl(V::splat(integer_bits - power)).sshr31();
            result = chosen(taken, result.sqrdmulh(V::splat(factor)), result);
        }
    }
    if integer_bits > 5 {
        let below = x.add(V::splat(1 << (36 - integer_bits))).sshr31();
        result = chosen(below, V::splat(0), result);
    }
    // Inputs are not positive, so a lane without a sign bit is 0.
    chosen(x.sshr31(), result, V::splat(i32::MAX))
}

#[inline(always)]
fn polynomial<V: Vector>(a: V) -> V {
    let x = a.add(V::splat(1 << 28));
    let x2 = x.sqrdmulh(x);
    let (x3, x4) = (x2.sqrdmulh(x), x2.sqrdmulh(x2));
    let inner = divided(divided(x4, 2).add(x3).sqrdmulh(V::splat(THIRD)).add(x2), 1);
    let eighth = V::splat(EIGHTH);
    eighth.add(eighth.sqrdmulh(x.add(inner)))
}

/// Divides by a power of two, with ties away from zero: the fixup by sign, then `srshl`.
#[inline(always)]
fn divided<V: Vector>(x: V, exponent: i32) -> V {
    let shift = V::splat(-exponent);
    let fixup = x.and(shift).sshr31();
    x.sqadd(fixup).srshl(shift)
}

#[inline(always)]
fn minus<V: Vector>(a: V, b: V) -> V {
    a.add(b.mul(V::splat(-1)))
}

/// Selects `a` if the mask is all ones, and `b` if the mask is 0.
#[inline(always)]
fn chosen<V: Vector>(mask: V, a: V, b: V) -> V {
    b.add(mask.and(minus(a, b)))
}
