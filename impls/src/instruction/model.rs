//! Models of AArch64 instructions on one lane of `BITS` bits: the value, and true if FPSR.QC is set.
//!
//! Operands and results are lane values sign-extended to `i64`. The source is the pseudocode of the Arm Architecture Reference Manual (DDI 0487,
//! section C7.2), which uses unbounded integers. Comments explain why `i64` is enough if it is not obvious.

/// Clamps `value` to `BITS` bits; true if the value changed.
#[inline(always)]
const fn saturate<const BITS: u32>(value: i64) -> (i64, bool) {
    let (min, max) = (-1i64 << (BITS - 1), (1i64 << (BITS - 1)) - 1);
    if value > max {
        (max, true)
    } else if value < min {
        (min, true)
    } else {
        (value, false)
    }
}

/// Reduces `value` to `BITS` bits in two's complement.
#[inline(always)]
const fn wrap<const BITS: u32>(value: i64) -> i64 {
    value << (64 - BITS) >> (64 - BITS)
}

/// Reads the low byte of a lane as a signed number, as shift-by-register instructions do.
#[inline(always)]
const fn shift_amount(lane: i64) -> i32 {
    lane as i8 as i32
}

/// SQRDMULH: `sat((2ab + 2^(BITS-1)) >> BITS)`.
///
/// Both sides of the shift are halved, so that the largest product, 2^62, fits.
#[inline(always)]
pub const fn sqrdmulh<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    saturate::<BITS>((a * b + (1i64 << (BITS - 2))) >> (BITS - 1))
}

/// SQDMULH: `sat(2ab >> BITS)`, a floor.
#[inline(always)]
pub const fn sqdmulh<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    saturate::<BITS>((a * b) >> (BITS - 1))
}

/// SRSHL: `wrap((a + 2^(-shift-1)) << shift)` for a right shift, `wrap(a << shift)` for a left shift.
///
/// A shift by `BITS` or more gives 0 for every operand, in both directions, so amounts are clamped to `BITS`.
#[inline(always)]
pub const fn srshl<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    let shift = shift_amount(b);
    let value = if shift < 0 {
        let right = min(-shift, BITS as i32);
        (a + (1i64 << (right - 1))) >> right
    } else {
        wrap::<BITS>(a << min(shift, BITS as i32))
    };
    (value, false)
}

/// SQSHL (register): `sat(a << shift)`; a right shift floors and cannot saturate.
///
/// A left shift by `BITS` saturates every operand except 0, and 31 bits shifted by 32 fit in `i64`.
#[inline(always)]
pub const fn sqshl<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    let shift = shift_amount(b);
    if shift < 0 { (a >> min(-shift, 63), false) } else { saturate::<BITS>(a << min(shift, BITS as i32)) }
}

/// SSHL: `wrap(a << shift)`; a right shift floors.
#[inline(always)]
pub const fn sshl<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    let shift = shift_amount(b);
    let value = if shift < 0 { a >> min(-shift, 63) } else { wrap::<BITS>(a << min(shift, BITS as i32)) };
    (value, false)
}

/// SQADD: `sat(a + b)`.
#[inline(always)]
pub const fn sqadd<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    saturate::<BITS>(a + b)
}

/// ADD: `wrap(a + b)`.
#[inline(always)]
pub const fn add<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    (wrap::<BITS>(a + b), false)
}

/// MUL: `wrap(ab)`.
#[inline(always)]
pub const fn mul<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    (wrap::<BITS>(a * b), false)
}

/// AND. Sign extension commutes with AND, so the width does not matter.
#[inline(always)]
pub const fn and<const BITS: u32>(a: i64, b: i64) -> (i64, bool) {
    (a & b, false)
}

/// SSHR by the immediate `SHIFT`; the second operand is not read.
#[inline(always)]
pub const fn sshr<const BITS: u32, const SHIFT: u32>(a: i64, _: i64) -> (i64, bool) {
    (a >> SHIFT, false)
}

#[inline(always)]
const fn min(a: i32, b: i32) -> i32 {
    if a < b { a } else { b }
}
