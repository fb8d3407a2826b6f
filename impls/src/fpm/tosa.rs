//! TOSA: `apply_scale_32` of the specification's RESCALE, with and without double rounding.
//!
//! The specification's shift is `31 - s`, in 2..=62, so `s` is in -31..=29. The multiplier must not be negative. The specification also REQUIREs the
//! value in `[-2^(shift-1), 2^(shift-1))`, so that the result fits in int32. Other values have no promised result; these kernels cast, as
//! implementations do. The largest sum is `2^62 + 2^61 + 2^30`, so 64 bits suffice.
//!
//! Source: TOSA specification, section on integer behaviours, `apply_scale_32`; the reference model's `quant_util.h`.

use super::{Kernel, Params, each};
use crate::contract::{Contract, Domain, Overflow};

const SOURCE: &str = "TOSA specification, apply_scale_32";

pub(crate) const DOMAIN: Domain = Domain { multipliers: 0..=i32::MAX, shifts: -31..=29, ..Domain::ALL };

/// `double_round = false`.
pub(super) const APPLY_SCALE_32_SINGLE: Kernel = Kernel {
    name: "tosa-apply-scale-32-single",
    summary: "TOSA apply_scale_32, single rounding",
    contract: Contract::new("tosa-apply-scale-32-single", Overflow::OutOfDomain, DOMAIN, SOURCE),
    portable: |params, x, out| run::<false>(params, x, out),
    native: None,
};

/// `double_round = true`: above a shift of 31, the rounding constant moves by `2^30` away from zero, by the sign of the value, not the product.
pub(super) const APPLY_SCALE_32_DOUBLE: Kernel = Kernel {
    name: "tosa-apply-scale-32-double",
    summary: "TOSA apply_scale_32, double rounding",
    contract: Contract::new("tosa-apply-scale-32-double", Overflow::OutOfDomain, DOMAIN, SOURCE),
    portable: |params, x, out| run::<true>(params, x, out),
    native: None,
};

#[inline(always)]
fn run<const DOUBLE_ROUND: bool>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    each(x, out, |x| apply_scale_32::<DOUBLE_ROUND>(x, m, s));
}

/// Computes the specification's `apply_scale_32`, in 64 bits. MLIR's generic lowering computes the same.
#[inline(always)]
pub(crate) fn apply_scale_32<const DOUBLE_ROUND: bool>(x: i32, m: i32, s: i32) -> i32 {
    let shift = (31 - s) as u32;
    let half = 1i64.wrapping_shl(shift.wrapping_sub(1));
    let lean = if DOUBLE_ROUND && shift > 31 { 1i64 << 30 } else { 0 };
    let round = if x >= 0 { half + lean } else { half - lean };
    (i64::from(x) * i64::from(m) + round).wrapping_shr(shift) as i32
}
