//! gemmlowp: `exp_on_negative_values` on `FixedPoint<int32, tIntegerBits>`, scalar and on `int32x4_t`. TensorFlow Lite's softmax and logistic include
//! this code.
//!
//! Source: google/gemmlowp `fixedpoint/fixedpoint.h`, `fixedpoint/fixedpoint_neon.h`.

use super::vector::vector;
use super::{Domain, Kernel, Params, Run, each};
use crate::contract::{Contract, Overflow, Promise};
use crate::fpm::gemmlowp::{rounding_divide_by_pot, saturating_rounding_doubling_high_mul as mul};
use crate::kernel::scalar;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector, strip_mine};

pub(super) const PROMISE: Promise = Promise { scheme: "gemmlowp", overflow: Overflow::OutOfDomain };

/// Integer bits for which the code compiles, which leave at least two fractional bits.
pub(crate) const DOMAIN: Domain = Domain { integer_bits: 0..=29 };

/// `e^(-1/8)` in units of 2^-31.
pub(crate) const EIGHTH: i32 = 1_895_147_668;
/// A third, in units of 2^-31.
pub(crate) const THIRD: i32 = 715_827_883;
/// `e^(-2^k)` for k from -2 to 4, in units of 2^-31.
pub(crate) const FACTORS: [i32; 7] = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

/// Scalar code of `fixedpoint.h`.
pub(super) const SCALAR: Kernel = scalar!(
    "gemmlowp-exp", "gemmlowp exp_on_negative_values: a polynomial on a quarter, and a barrel shifter of products",
    PROMISE on DOMAIN, from "google/gemmlowp fixedpoint/fixedpoint.h exp_on_negative_values",
    |params, x, out| each(x, out, |x| exponential(x, params.integer_bits))
);

/// Code on four lanes. The remaining elements go through the scalar form.
pub(super) const NEON: Kernel = Kernel {
    name: "gemmlowp-exp-neon",
    summary: "gemmlowp exp_on_negative_values on int32x4_t: vqrdmulhq, and vrshlq with its fixup",
    contract: Contract {
        promise: PROMISE,
        domain: DOMAIN,
        deviations: &[],
        source: "google/gemmlowp fixedpoint/fixedpoint_neon.h; fixedpoint/fixedpoint.h exp_on_negative_values",
    },
    portable: lanes::<Portable>,
    native: Some(
        params_form!("tiebreak_exp_gemmlowp_neon", ["sqrdmulh", "srshl", "sqadd", "and", "sshr", "add"], lanes(x: i32)),
    ),
};

#[inline(always)]
fn lanes<V: Vector>(params: &Params, x: &[i32], out: &mut [i32]) {
    let integer_bits = params.integer_bits;
    strip_mine::<V>(x, out, |x| vector(x, integer_bits), |x| exponential(x, integer_bits));
}

/// Computes the exponential of one number.
#[inline(always)]
pub(crate) fn exponential(x: i32, integer_bits: i32) -> i32 {
    let fraction = 31 - integer_bits;
    let quarter = 1i32 << (fraction - 2);
    let rest = (x & (quarter - 1)) - quarter;
    let remainder = rest.wrapping_sub(x);
    let shifted = barrel(polynomial(rest << integer_bits), |at| {
        let power = at as i32 - 2;
        integer_bits > power && remainder & 1i32.wrapping_shl((fraction + power) as u32) != 0
    });
    let clamped = if integer_bits > 5 && x < -(1 << (36 - integer_bits)) { 0 } else { shifted };
    if x == 0 { i32::MAX } else { clamped }
}

/// Computes `e^a` for `a` in `[-1/4, 0)` by a polynomial around -1/8; `a` is in units of 2^-31.
#[inline(always)]
pub(crate) fn polynomial(a: i32) -> i32 {
    let x = a + (1 << 28);
    let x2 = mul(x, x);
    let (x3, x4) = (mul(x2, x), mul(x2, x2));
    let x4_over_4 = rounding_divide_by_pot(x4, 2);
    let inner = rounding_divide_by_pot(mul(x4_over_4 + x3, THIRD) + x2, 1);
    EIGHTH + mul(EIGHTH, x + inner)
}

/// Multiplies `first` by each factor for which `taken` is true.
#[inline(always)]
pub(crate) fn barrel(first: i32, taken: impl Fn(usize) -> bool) -> i32 {
    let factors = FACTORS.into_iter().enumerate();
    factors.fold(first, |result, (at, factor)| if taken(at) { mul(result, factor) } else { result })
}
