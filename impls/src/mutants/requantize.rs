//! Requantizations that round, shift, clamp or multiply in the wrong place, and requantizations with a known bug of fixed point multiply.

use super::requantize_fpm::Inside;
use super::requantize_neon;
use super::tensor::{Mutant, mutants};
use crate::contract;
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::tflite::single_rounding;
use crate::requantize::{Domain, Params, Run, each};

/// Domain of int8, per channel, with bias, zero point and clamp; multipliers and right shifts of a scale below 1.
const DOMAIN: Domain = Domain::all(
    Element::I8,
    contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=0, ..contract::Domain::PER_CHANNEL },
);

/// Domain of the legacy pipeline: any integer multiplier, no zero point.
const LEGACY: Domain = Domain {
    channels: contract::Domain { shifts: -31..=0, q: 0..=0, ..contract::Domain::ALL },
    zero_point: false,
    ..DOMAIN
};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-logical-shift", "logical-shift", "the rounding right shift of an int32 is a logical one",
        claims "legacy" Wrap on LEGACY, from "llvm/llvm-project pull request 137601",
        |params, acc, out| legacy(params, acc, out, logical_shift);
    "mutant-cast-before-zero-point", "clamp-order", "cast to int8, wrapping, before the zero point is added",
        claims "ties-up" Wrap on DOMAIN, from "llvm/torch-mlir pull request 4487, with a cast that wraps",
        |params, acc, out| scaled(params, acc, out, |v| i32::from(v as i8) + params.zero_point);
    "mutant-clamp-before-zero-point", "clamp-order", "clamped to the output type before the zero point is added",
        claims "ties-up" Wrap on DOMAIN, from "llvm/torch-mlir pull request 4487",
        |params, acc, out| scaled(params, acc, out, |v| v.clamp(-128, 127) + params.zero_point);
    "mutant-zero-point-sign-extended", "signedness", "an unsigned zero point is read with a sign",
        claims "ties-up" Wrap on Domain { output: Element::U8, ..DOMAIN },
        from "MLIR 22, tosa-to-linalg of tosa.rescale with a zero point of the run; of constants, llvm/llvm-project pull request 138313",
        |params, acc, out| scaled(params, acc, out, |v| v.wrapping_add(i32::from(params.zero_point as u8 as i8)));
    "mutant-legacy-wraps", "missing-saturation", "the legacy integer multiplication in int32 where saturation is promised",
        claims "legacy" Saturate on LEGACY, from "google/gemmlowp doc/low-precision.md, the legacy low-precision paradigm: \"risks overflowing\"",
        |params, acc, out| legacy(params, acc, out, |product, shift| product >> shift);
    "mutant-requantize-truncates", "directed-rounding", "the product is shifted without a rounding constant",
        claims "ties-up" Wrap on DOMAIN, from "of our own: a floor for the rounding shift",
        |params, acc, out| {
            each(params, acc, out, |acc, Channel { multiplier, shift }, bias| {
                let product = i64::from(acc.wrapping_add(bias)) * i64::from(multiplier);
                finish((product >> (31 - shift)) as i32, params)
            });
        };
    // Shifts below 0 keep the float product below 2^31, so that it fits in int32.
    "mutant-requantize-f32", "f32-step", "f32(acc) * f32(scale), to the nearest, ties to even",
        claims "ties-up" Wrap on Domain {
            channels: contract::Domain { multipliers: 1 << 30..=i32::MAX, shifts: -31..=-1, ..contract::Domain::PER_CHANNEL },
            ..DOMAIN
        }, from "tensorflow/tensorflow issue 102943",
        |params, acc, out| {
            each(params, acc, out, |acc, Channel { multiplier, shift }, bias| {
                // 2^(shift - 31), made from its exponent; the product with it is exact.
                let scale = multiplier as f32 * f32::from_bits(((shift + 96) as u32) << 23);
                let scaled = (acc.wrapping_add(bias) as f32 * scale).round_ties_even();
                finish(scaled as i32, params)
            });
        };
    also Inside::<0>::MUTANT, Inside::<1>::MUTANT, Inside::<2>::MUTANT, Inside::<3>::MUTANT, Inside::<4>::MUTANT,
        Inside::<5>::MUTANT, Inside::<6>::MUTANT, Inside::<7>::MUTANT, Inside::<8>::MUTANT, Inside::<9>::MUTANT,
        Inside::<10>::MUTANT, Inside::<11>::MUTANT, Inside::<12>::MUTANT, Inside::<13>::MUTANT, Inside::<14>::MUTANT,
        Inside::<15>::MUTANT, Inside::<16>::MUTANT, requantize_neon::TAIL_BY_RULE, requantize_neon::FIXUP_UNUSED,
        requantize_neon::TAIL_WITHOUT_ZERO_POINT;
];

/// Runs the legacy pipeline in int32, with `shift_right` as its last step.
#[inline(always)]
fn legacy(params: &Params, acc: &[i32], out: &mut [i32], shift_right: fn(i32, u32) -> i32) {
    each(params, acc, out, |acc, Channel { multiplier, shift }, bias| {
        let shift = shift.unsigned_abs();
        let rounding = if shift < 1 { 0 } else { 1 << (shift - 1) };
        let product = acc.wrapping_add(bias).wrapping_mul(multiplier).wrapping_add(rounding);
        shift_right(product, shift).max(params.min).min(params.max)
    });
}

/// Shifts the same bits, read as unsigned.
pub(super) fn logical_shift(x: i32, by: u32) -> i32 {
    (x as u32 >> by) as i32
}

/// Applies bias and a single rounding, both right; then `offset`, and the clamp.
#[inline(always)]
fn scaled(params: &Params, acc: &[i32], out: &mut [i32], offset: impl Fn(i32) -> i32) {
    each(params, acc, out, |acc, Channel { multiplier, shift }, bias| {
        let scaled = single_rounding(acc.wrapping_add(bias), multiplier, shift);
        offset(scaled).max(params.min).min(params.max)
    });
}

/// Adds the zero point and clamps.
#[inline(always)]
fn finish(scaled: i32, params: &Params) -> i32 {
    scaled.wrapping_add(params.zero_point).max(params.min).min(params.max)
}
