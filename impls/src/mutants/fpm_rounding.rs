//! Fixed point multiplies with two roundings instead of the promised one, and the reverse.

use super::{Mutant, Witness, scalar};
use crate::contract::{Contract, Domain, Overflow};
use crate::fpm::{Kernel, Params, neon_form};
use crate::instruction::model;
use crate::simd::{Portable, Vector, strip_mine};

/// `SRDHM`, then division by a power of two with ties away from zero: correct code for a scheme that is not the promised one.
pub(crate) const DOUBLE_FOR_SINGLE: Mutant = scalar!(
    "mutant-double-rounding", "double rounding where single rounding is promised",
    claims "ties-up" on Domain { multipliers: i32::MIN + 1..=i32::MAX, shifts: -31..=0, ..Domain::ALL }, "double-rounding", "tensorflow issue 25087, ruy pull request 227",
    double, [(1, 1 << 30, -1): 1, not 0; (7984, 1583594044, -9): 12, not 11]
);

/// One rounding, ties up: correct code for a scheme that is not the promised one.
pub(crate) const SINGLE_FOR_DOUBLE: Mutant = scalar!(
    "mutant-single-rounding", "single rounding where double rounding is promised",
    claims "gemmlowp-double" on Domain { multipliers: i32::MIN + 1..=i32::MAX, shifts: -31..=0, ..Domain::ALL }, "double-rounding", "tensorflow issue 25087, ruy pull request 227",
    single, [(1, 1 << 30, -1): 0, not 1; (7984, 1583594044, -9): 11, not 12]
);

/// The vector body truncates and then rounds, which is a single rounding. The tail rounds in both steps.
///
/// For right shifts the body is exactly ties-up, so only the tail is wrong. This is CMSIS-NN's `_pred` form, which its matrix kernels use for the
/// elements after the last whole vector.
pub(crate) const DOUBLE_ROUNDING_TAIL: Mutant = Mutant {
    kernel: Kernel {
        name: "mutant-tail-double-rounding",
        summary: "vqdmulh in the vector body, vqrdmulh in the tail",
        contract: Contract::new(
            "ties-up",
            Overflow::Wrap,
            Domain { multipliers: 0..=i32::MAX, shifts: -31..=-1, ..Domain::ALL },
            "ARM-software/CMSIS-NN issue 170",
        ),
        portable: double_rounding_tail::<Portable>,
        native: Some(neon_form!(
            "tiebreak_fpm_mutant_tail_double_rounding",
            ["sshl", "sqdmulh", "srshl"],
            double_rounding_tail
        )),
    },
    class: "position",
    origin: "ARM-software/CMSIS-NN issue 170",
    witnesses: &[Witness { x: 1, m: 1 << 30, s: -1, got: 1, expected: 0 }],
};

fn double(x: i32, m: i32, s: i32) -> i32 {
    let e = s.min(0).unsigned_abs();
    let y = model::sqrdmulh::<32>(i64::from(x), i64::from(m)).0;
    let ties_away = if y >= 0 { (y + (1 << e >> 1)) >> e } else { -((-y + (1 << e >> 1)) >> e) };
    ties_away as i32
}

fn single(x: i32, m: i32, s: i32) -> i32 {
    ((i64::from(x) * i64::from(m) + (1i64 << (30 - s))) >> (31 - s)) as i32
}

#[inline(always)]
fn double_rounding_tail<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    let r = s.min(-1);
    let (multiplier, left, right) = (V::splat(m), V::splat(s.wrapping_sub(r)), V::splat(r));
    let tail = |x: i32| {
        let shifted = model::sshl::<32>(i64::from(x), i64::from(s.wrapping_sub(r))).0;
        let y = model::sqrdmulh::<32>(shifted, i64::from(m)).0;
        model::srshl::<32>(y, i64::from(r)).0 as i32
    };
    strip_mine::<V>(x, out, |x| x.sshl(left).sqdmulh(multiplier).srshl(right), tail);
}
