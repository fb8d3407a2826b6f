//! Fixed point multiplies that do not saturate a value, or keep it in too few bits.

use super::{Mutant, scalar};
use crate::contract::Domain;
use crate::instruction::model;

/// An intermediate of 33 bits is cut to 32 bits before the last rounding step.
pub(crate) const NARROW_BEFORE_ROUNDING: Mutant = scalar!(
    "mutant-narrow-before-rounding", "33-bit intermediate kept in an int32",
    claims "cmsis-nn-single" on Domain { multipliers: i32::MIN + 1..=i32::MAX, shifts: -31..=0, ..Domain::ALL },
    "wrap", "ARM-software/CMSIS-NN pull request 220",
    |x, m, s| {
        let narrowed = ((i64::from(x) * i64::from(m)) >> (30 - s)) as i32;
        narrowed.wrapping_add(1) >> 1
    },
    [(1 << 30, i32::MAX, 0): -(1 << 30), not 1 << 30]
);

/// `w32(m + 2^15) >> 16` reduces the multiplier to 16 bits, and turns negative above 0x7FFF7FFF.
pub(crate) const NARROWED_MULTIPLIER: Mutant = scalar!(
    "mutant-narrowed-multiplier", "the reduction of the multiplier to 16 bits overflows",
    claims "tflite-int16-multiplier" on Domain { multipliers: 0..=i32::MAX, shifts: -31..=7, ..Domain::ALL },
    "multiplier-narrowed", "tensorflow pull request 42134",
    |x, m: i32, s| {
        let reduced = m.wrapping_add(1 << 15) >> 16;
        ((i64::from(x) * i64::from(reduced) + (1i64 << (14 - s))) >> (15 - s)) as i32
    },
    [(10000, 0x7FFF_EA86, -10): -10, not 10]
);

/// Multiplication by one half as a rounding shift in 32 bits: adding the rounding constant overflows.
pub(crate) const POWER_OF_TWO: Mutant = scalar!(
    "mutant-power-of-two-wrap", "32-bit fast path for m = 2^30: the rounding constant overflows",
    claims "ties-up" on Domain { multipliers: 1 << 30..=1 << 30, shifts: -30..=0, ..Domain::ALL },
    "wrap", "apache-tvm 0.27.0.post1, docs/src/findings.md 1; tile-ai/tilelang issue 3003",
    |x: i32, _, s: i32| power_of_two(x, 1 - s),
    [(i32::MAX - 1, 1 << 30, -1): -(1 << 29), not 1 << 29]
);

/// The same fast path without a shift: the rounding constant is `1 << -1`, with the amount masked to 31.
pub(crate) const POWER_OF_TWO_SHIFT_MINUS_ONE: Mutant = scalar!(
    "mutant-power-of-two-shift-minus-one", "32-bit fast path for m = 2^30: shift by -1 at k = 0",
    claims "ties-up" on Domain { multipliers: 1 << 30..=1 << 30, shifts: 1..=1, ..Domain::ALL },
    "wrap", "tile-ai/tilelang issue 3003, tvm issue 20340",
    |x: i32, _, s: i32| power_of_two(x, 1 - s),
    [(100, 1 << 30, 1): -2147483548, not 100]
);

/// A left and a right shift around a truncating high half: the left shift wraps.
pub(crate) const LEFT_SHIFT_BEFORE_HIGH_HALF: Mutant = scalar!(
    "mutant-left-shift-wrap", "wrapping left shift by s + 1 before the multiplication",
    claims "ties-up" on Domain { multipliers: 0..=i32::MAX, shifts: 0..=30, ..Domain::ALL },
    "wrap", "ARM-software/CMSIS-NN issue 170",
    |x: i32, m, s: i32| {
        let r = s.min(-1);
        let shifted = model::sshl::<32>(i64::from(x), i64::from(s - r)).0;
        let y = model::sqdmulh::<32>(shifted, i64::from(m)).0;
        model::srshl::<32>(y, i64::from(r)).0 as i32
    },
    [(1 << 30, 1 << 30, 0): -(1 << 29), not 1 << 29]
);

/// `SRDHM` without the special case `(MIN, MIN)`.
pub(crate) const NO_SATURATION: Mutant = scalar!(
    "mutant-no-saturation", "SRDHM without saturation",
    claims "gemmlowp-double" on Domain { shifts: 0..=0, ..Domain::ALL },
    "missing-saturation", "simde issue 1173, WebAssembly/simd issue 483",
    |x, m, _| {
        let product = i64::from(x) * i64::from(m);
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        ((product + nudge) / (1 << 31)) as i32
    },
    [(i32::MIN, i32::MIN, 0): i32::MIN, not i32::MAX]
);

/// `sqrdmulh` without saturation, then `srshl`.
pub(crate) const SQRDMULH_NO_SATURATION: Mutant = scalar!(
    "mutant-sqrdmulh-no-saturation", "sqrdmulh without saturation, then srshl",
    claims "sqrdmulh-srshl" on Domain { shifts: -31..=0, ..Domain::ALL },
    "missing-saturation", "of our own: qrdmulh for sqrdmulh",
    |x, m, s: i32| {
        let y = ((i64::from(x) * i64::from(m) + (1 << 30)) >> 31) as i32;
        model::srshl::<32>(i64::from(y), i64::from(s)).0 as i32
    },
    [(i32::MIN, i32::MIN, 0): i32::MIN, not i32::MAX]
);

/// Computes `w32(x + (1 << (k - 1))) >> k`, with shift amounts masked as in hardware.
fn power_of_two(x: i32, k: i32) -> i32 {
    x.wrapping_add(1i32.wrapping_shl((k - 1) as u32)).wrapping_shr(k as u32)
}
