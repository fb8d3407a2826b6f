//! The exponential on four lanes. Lanes are chosen by masks that a shift makes of a sign, in place of the sources' BSL and predicates.

use super::gemmlowp::{EIGHTH, FACTORS, THIRD};
use crate::simd::Vector;

/// Four numbers.
#[inline(always)]
pub(crate) fn vector<V: Vector>(x: V, integer_bits: i32) -> V {
    let fraction = 31 - integer_bits;
    let quarter = 1i32 << (fraction - 2);
    let rest = x.and(V::splat(quarter - 1)).add(V::splat(quarter.wrapping_neg()));
    let remainder = minus(rest, x);
    let mut result = polynomial(rest.sshl(V::splat(integer_bits)));
    for (power, factor) in (-2..).zip(FACTORS) {
        if integer_bits > power {
            // The bit comes to the place of the sign.
            let taken = remainder.sshl(V::splat(integer_bits - power)).sshr31();
            result = chosen(taken, result.sqrdmulh(V::splat(factor)), result);
        }
    }
    if integer_bits > 5 {
        let below = x.add(V::splat(1 << (36 - integer_bits))).sshr31();
        result = chosen(below, V::splat(0), result);
    }
    // No input is positive: what has no sign is 0.
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

/// Rounding division by a power of two, ties away from zero: the fixup by sign, then `srshl`.
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

/// `a` where the mask is all ones, and `b` where it is 0.
#[inline(always)]
fn chosen<V: Vector>(mask: V, a: V, b: V) -> V {
    b.add(mask.and(minus(a, b)))
}
