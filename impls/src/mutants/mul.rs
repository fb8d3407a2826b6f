//! Multiplications that use the wrong offset or operand, multiply in too few bits, round wrongly, or do not clamp.

use super::tensor::{Mutant, mutants};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each};
use crate::elementwise::mul::tflite::{DOMAIN, mul, single_multiplier};
use crate::elementwise::mul::{Domain, product, pytorch};
use crate::elementwise::{Operand, Params, Run};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::{reduced_multiplier, single_rounding};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-mul-zero-point-sign", "offset-sign", "the zero points of both operands are added",
        claims "tflite" Wrap on DOMAIN, from "of our own: input1_offset is the negative of the zero point",
        |params, lhs, rhs, out| {
            let with_sign = |operand: Operand| Operand { zero_point: -operand.zero_point, ..operand };
            let params = Params { lhs: with_sign(params.lhs), rhs: with_sign(params.rhs), ..*params };
            mul(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-mul-no-rhs-zero-point", "offset-term", "the zero point of the right operand is not subtracted",
        claims "tflite" Wrap on DOMAIN, from "of our own: a product of which one operand is taken for a symmetric weight",
        |params, lhs, rhs, out| {
            let params = Params { rhs: Operand { zero_point: 0, ..params.rhs }, ..*params };
            mul(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-mul-zero-points-exchanged", "operand-order", "each operand has the other's zero point",
        claims "tflite" Wrap on DOMAIN,
        from "of our own: broadcasting switches the operands and not their offsets (BroadcastMulFivefold switches both)",
        |params, lhs, rhs, out| {
            let params = Params { lhs: params.rhs, rhs: params.lhs, ..*params };
            mul(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-mul-16-bit-product", "16-bit-wrap", "the product is held in 16 bits",
        claims "tflite" Wrap on DOMAIN, from "of our own: vmulq_s16 for vmull_s16, which differences of 8 bits do not fit",
        |params, lhs, rhs, out| {
            let (multiplier, shift) = single_multiplier(params);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let narrow = i32::from(product(params, lhs, rhs) as i16);
                clamp(double_rounding(narrow, multiplier, shift) + params.out.zero_point, params)
            });
        };
    "mutant-mul-wraps", "missing-saturation", "a cast that wraps for the clamp",
        claims "tflite" Wrap on DOMAIN, from "of our own: the low bits for the clamp",
        |params, lhs, rhs, out| {
            let (multiplier, shift) = single_multiplier(params);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let rounded = double_rounding(product(params, lhs, rhs), multiplier, shift);
                i32::from((rounded + params.out.zero_point) as i8)
            });
        };
    "mutant-mul-rounds-once", "double-rounding", "the rescale rounds once where it rounds doubly",
        claims "tflite" Wrap on DOMAIN, from "tensorflow/tensorflow, built with and without TFLITE_SINGLE_ROUNDING",
        |params, lhs, rhs, out| mul(params, Element::I8, lhs, rhs, out, single_rounding);
    "mutant-mul-16-bit-multiplier", "multiplier-narrowed", "the multiplier is reduced to 16 bits and the rescale rounded once",
        claims "tflite-single" Wrap on DOMAIN, from "tensorflow/tensorflow lite/kernels/internal/common.cc MultiplyByQuantizedMultiplier(int64_t)",
        |params, lhs, rhs, out| mul(params, Element::I8, lhs, rhs, out, reduced_multiplier);
    "mutant-mul-ties-away", "tie-direction", "the one rounding takes ties away from zero",
        claims "tflite-single" Wrap on DOMAIN, from "of our own: the rounding term gets the sign of the product",
        |params, lhs, rhs, out| mul(params, Element::I8, lhs, rhs, out, ties_away);
    "mutant-qmul-16-bit-zero-point", "16-bit-wrap", "the result saturates to int16, and the zero point is added with wrap",
        claims "pytorch" OutOfDomain on pytorch::DOMAIN, from "google-ai-edge/LiteRT 2.3.0, MUL in whole vectors of AVX2 (finding 29)",
        |params, lhs, rhs, out| {
            let multiplier = pytorch::multiplier(params);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let scaled = (product(params, lhs, rhs) as f32 * multiplier).round_ties_even();
                clamp((scaled as i16).wrapping_add(params.out.zero_point as i16).into(), params)
            });
        };
];

fn ties_away(x: i32, multiplier: i32, shift: i32) -> i32 {
    let product = i64::from(x) * i64::from(multiplier);
    let right = (31 - shift) as u32;
    let size = (product.abs() + (1 << (right - 1))) >> right;
    (size * product.signum()) as i32
}
