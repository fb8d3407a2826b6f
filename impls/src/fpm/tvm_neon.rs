//! TVM: the intrinsic rule for Armv8-A, with `sqrdmulh` and `srshl` on `int32x4`.
//!
//! For `s < 0`: `y = sqrdmulh(x, m)`, then `srshl(y, s)`. For `s >= 0`: `sqrdmulh(x * (1 << s), m)`, where the product wraps. `srshl` rounds ties up.
//! The fixup `(y & s) >> 31`, which is -1 exactly if `y` is negative, is meant to turn ties-up into ties away from zero.
//!
//! The rule as printed computes the fixup and `y + fixup`, and then shifts `y`, so the fixup has no effect. (The printed text and the merged source
//! also differ in the mask, `s` and `-s`; with `-s` the fixup is always 0.) A vectoriser applies the rule to four lanes at a time. Elements after the
//! last whole vector, and multipliers that are not Q0.31, use the default lowering of [`super::tvm_qmuls`], which rounds once.
//!
//! The fallback is a declared deviation, because body and tail of one tensor follow different schemes. A run must observe the difference.
//!
//! Source: RFC on fixed point multiplication; apache/tvm `python/tvm/topi/arm_cpu/tensor_intrin.py`,
//! `_q_multiply_shift_arm`, from pull request 5980.

use super::tvm_qmuls::{self, qmuls};
use super::{Channel, Kernel, Params, neon_form};
use crate::contract::{Contract, Deviation, Domain, Overflow, Promise, Region};
use crate::simd::{LANES, Portable, Vector, strip_mine};

const SOURCE: &str = "TVM RFC on fixed point multiplication; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        class: "fallback",
        region: Region::QNot31,
        instead: tvm_qmuls::PROMISE,
        reason: "sqrdmulh multiplies Q0.31 numbers; for any other Q the rule returns the default lowering",
    },
    tail("the rule holds for int32x4 only; elements after the last whole vector take the default lowering"),
];

/// Rule as printed: the fixup is computed and never used.
pub(super) const RFC: Kernel = Kernel {
    name: "tvm-neon-rfc",
    summary: "TVM intrinsic rule for Armv8-A as printed in the RFC: fixup computed, never used",
    contract: Contract {
        promise: Promise { scheme: "sqrdmulh-srshl", overflow: Overflow::Wrap },
        domain: tvm_qmuls::DOMAIN,
        deviations: DEVIATIONS,
        source: SOURCE,
    },
    portable: rfc::<Portable>,
    native: Some(neon_form!("tiebreak_fpm_tvm_neon_rfc", ["sqrdmulh", "and", "sshr", "add", "srshl", "mul"], rfc)),
};

/// Rule as the text intends it: the fixup is applied.
pub(super) const FIXUP: Kernel = Kernel {
    name: "tvm-neon-fixup",
    summary: "TVM intrinsic rule for Armv8-A as the RFC's text means it: fixup applied",
    contract: Contract {
        promise: Promise { scheme: "sqrdmulh-fixup-srshl", overflow: Overflow::Wrap },
        domain: tvm_qmuls::DOMAIN,
        deviations: DEVIATIONS,
        source: SOURCE,
    },
    portable: fixup::<Portable>,
    native: Some(neon_form!("tiebreak_fpm_tvm_neon_fixup", ["sqrdmulh", "and", "sshr", "add", "srshl", "mul"], fixup)),
};

/// Applies the rule as printed.
#[inline(always)]
fn rfc<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    of_any_q::<V, false>(params, x, out);
}

/// Applies the rule with its fixup.
#[inline(always)]
fn fixup<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    of_any_q::<V, true>(params, x, out);
}

#[inline(always)]
fn of_any_q<V: Vector, const APPLIES_FIXUP: bool>(params: &Params, x: &[i32], out: &mut [i32]) {
    if params.q != 31 {
        return tvm_qmuls::run(params, x, out);
    }
    rule::<V, APPLIES_FIXUP>(params.channels[0], x, out, |x| x, |x| x);
}

/// Domain of an operation that contains the rule: one Q0.31 multiplier, and a right shift of at least 1 in the default lowering.
pub(crate) const INSIDE: Domain = Domain { shifts: -31..=30, ..Domain::ALL };

/// Returns the deviation of the elements after the last whole vector; `reason` describes these elements.
pub(crate) const fn tail(reason: &'static str) -> Deviation {
    let region = Region::VectorTail { lanes: LANES };
    Deviation { class: "position", region, instead: tvm_qmuls::PROMISE, reason }
}

/// Applies the rule in Q0.31, as printed or with its fixup.
#[inline(always)]
pub(crate) fn multiplied<V: Vector, const APPLIES_FIXUP: bool>(channel: Channel, x: &[i32], out: &mut [i32]) {
    rule::<V, APPLIES_FIXUP>(channel, x, out, |x| x, |x| x);
}

/// Adds a bias to each accumulator, then applies the rule as [`multiplied`] does.
#[inline(always)]
pub(crate) fn biased<V: Vector, const APPLIES_FIXUP: bool>(channel: Channel, bias: i32, x: &[i32], out: &mut [i32]) {
    let lanes = V::splat(bias);
    rule::<V, APPLIES_FIXUP>(channel, x, out, |x| x.add(lanes), |x| x.wrapping_add(bias));
}

/// Applies `first` to vectors and `first_alone` to the elements of the tail, then the rule to the outcome.
#[inline(always)]
fn rule<V: Vector, const APPLIES_FIXUP: bool>(
    Channel { multiplier: m, shift: s }: Channel,
    x: &[i32],
    out: &mut [i32],
    first: impl Fn(V) -> V,
    first_alone: impl Fn(i32) -> i32,
) {
    let multiplier = V::splat(m);
    let tail = |x| qmuls(first_alone(x), m, 31, s);
    if s < 0 {
        let shift = V::splat(s);
        strip_mine::<V>(x, out, |x| round::<V, APPLIES_FIXUP>(first(x).sqrdmulh(multiplier), shift), tail);
    } else {
        let scale = V::splat(1i32.wrapping_shl(s as u32));
        strip_mine::<V>(x, out, |x| first(x).mul(scale).sqrdmulh(multiplier), tail);
    }
}

/// Computes the step after `sqrdmulh` for a right shift.
#[inline(always)]
fn round<V: Vector, const APPLIES_FIXUP: bool>(y: V, shift: V) -> V {
    let fixed = y.add(y.and(shift).sshr31());
    if APPLIES_FIXUP {
        return fixed.srshl(shift);
    }
    fixed.keep();
    y.srshl(shift)
}
