//! TVM: the default lowering of the intrinsic `qmuls(x, y, q, s)`, which became `tir.q_multiply_shift`.
//!
//! It is the 64-bit Relay sequence for a multiplier with `q` fractional bits, with a right shift of `q + max(-s, 0)`. A target without its own rule
//! uses this lowering. The Arm rule falls back to it for data that is not `int32x4` and for `q != 31`.
//!
//! Later versions of the source have a 32-bit shortcut for a multiplier of 2^30. The RFC and this kernel have no shortcut. The shortcut is the mutant
//! of apache/tvm issue 20340.
//!
//! Source: RFC on fixed point multiplication; apache/tvm `src/target/intrin_rule.cc`, `tir.q_multiply_shift`.

use super::{Kernel, Params, each};
use crate::contract::{Contract, Domain, Overflow, Promise};

/// Domain of the default lowering.
///
/// The rounding constant is `1 << (q + max(-s, 0) - 1)`, so the right shift must be at least 1; `q - s >= 1` guarantees it. For `s > 0`, the
/// accumulator is shifted left in 64 bits before the multiplication. Bits that wrap are above the bits that the cast keeps.
pub(super) const DOMAIN: Domain = Domain { q: 0..=31, right_shifts: 1..=62, ..Domain::ALL };

/// Promise of the default lowering.
pub(super) const PROMISE: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };

/// Default lowering, for every Q.
pub(super) const QMULS: Kernel = Kernel {
    name: "tvm-qmuls",
    summary: "TVM default lowering of the intrinsic qmuls(x, y, q, s), every Q",
    contract: Contract {
        promise: PROMISE,
        domain: DOMAIN,
        deviations: &[],
        source: "TVM RFC on fixed point multiplication; apache/tvm src/target/intrin_rule.cc, tir.q_multiply_shift",
    },
    portable: run,
    native: None,
};

/// Runs the default lowering over a whole slice.
pub(super) fn run(params: &Params, x: &[i32], out: &mut [i32]) {
    let (multiplier, shift) = params.first();
    each(x, out, |x| qmuls(x, multiplier, params.q, shift));
}

/// Computes one element.
#[inline(always)]
pub(super) fn qmuls(x: i32, y: i32, q: u32, s: i32) -> i32 {
    let left = s.max(0) as u32;
    let right = q.wrapping_add(s.min(0).unsigned_abs());
    let product = i64::from(x).wrapping_shl(left).wrapping_mul(i64::from(y));
    let rounding = 1i64.wrapping_shl(right.wrapping_sub(1));
    product.wrapping_add(rounding).wrapping_shr(right) as i32
}
