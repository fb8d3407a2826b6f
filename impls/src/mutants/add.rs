//! Additions that use the wrong parameter, shift left by too few bits, round wrongly, or do not clamp.

use super::tensor::{Mutant, mutants};
use crate::element::Element;
use crate::elementwise::add::tflite::{DOMAIN, Multipliers, add, sum};
use crate::elementwise::add::{Domain, Scales, tvm};
use crate::elementwise::loops::{clamp, each};
use crate::elementwise::{Operand, Params, Run};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::{reduced_multiplier, single_rounding};
use crate::fpm::tvm_relay::Step;
use crate::quantized::Scale;

/// Domain of additions in f32: any scales, bounds of the type.
const IN_F32: Domain = Domain { element: Element::I8, scales: Scales::Any, clamp: false };

/// Domain of code that requantizes each operand: any scales.
const OF_OPERANDS: Domain = Domain { scales: Scales::Any, ..tvm::DOMAIN };

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-add-zero-point-sign", "offset-sign", "the zero points of both operands are added",
        claims "tflite" Wrap on DOMAIN, from "of our own: input1_offset is the negative of the zero point",
        |params, lhs, rhs, out| {
            let with_sign = |operand: Operand| Operand { zero_point: -operand.zero_point, ..operand };
            let params = Params { lhs: with_sign(params.lhs), rhs: with_sign(params.rhs), ..*params };
            add(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-add-no-output-zero-point", "offset-term", "the zero point of the result is left out",
        claims "tflite" Wrap on DOMAIN, from "of our own: the sum of a symmetric type",
        |params, lhs, rhs, out| {
            let params = Params { out: Operand { zero_point: 0, ..params.out }, ..*params };
            add(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-add-scales-swapped", "operand-order", "each operand is rescaled by the other's scale",
        claims "tflite" Wrap on DOMAIN,
        from "of our own: broadcasting switches the operands and not their parameters (BroadcastAddFivefold switches both)",
        |params, lhs, rhs, out| {
            let swapped = Params {
                lhs: Operand { scale: params.rhs.scale, ..params.lhs },
                rhs: Operand { scale: params.lhs.scale, ..params.rhs },
                ..*params
            };
            add(&swapped, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-add-left-shift-15", "left-shift", "8-bit operands are lifted by the 15 bits of 16-bit ones",
        claims "tflite" Wrap on DOMAIN, from "tensorflow/tensorflow lite/kernels/add.cc: left_shift = general_scale_int16 ? 15 : 20",
        |params, lhs, rhs, out| lifted(params, lhs, rhs, out, 15);
    "mutant-add-not-lifted", "left-shift", "operands are rescaled as they are",
        claims "tflite" Wrap on DOMAIN, from "of our own: rescale, add, rescale without input_shift",
        |params, lhs, rhs, out| lifted(params, lhs, rhs, out, 0);
    "mutant-add-wraps", "missing-saturation", "a cast that wraps for the clamp",
        claims "tflite" Wrap on DOMAIN, from "of our own: the low bits for the clamp",
        |params, lhs, rhs, out| {
            let by = Multipliers::new(params, 20);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                i32::from(sum(params, &by, (lhs, rhs), double_rounding) as i8)
            });
        };
    "mutant-add-rounds-once", "double-rounding", "each rescale rounds once where it rounds doubly",
        claims "tflite" Wrap on DOMAIN, from "tensorflow/tensorflow, built with and without TFLITE_SINGLE_ROUNDING",
        |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, single_rounding);
    "mutant-add-16-bit-multipliers", "multiplier-narrowed", "multipliers reduced to 16 bits, each rescale rounded once",
        claims "tflite-single" Wrap on DOMAIN, from "tensorflow/tensorflow lite/kernels/internal/common.cc MultiplyByQuantizedMultiplier(int64_t)",
        |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, reduced_multiplier);
    "mutant-qadd-in-f64", "f32-step", "dequantized, added and scaled in double",
        claims "pytorch" OutOfDomain on IN_F32, from "of our own: doubles where floats are promised",
        |params, lhs, rhs, out| {
            let real = |stored: i32, Operand { scale: Scale(scale), zero_point }| f64::from(stored - zero_point) * scale;
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let scaled = ((real(lhs, params.lhs) + real(rhs, params.rhs)) / params.out.scale.0).round_ties_even();
                (scaled + f64::from(params.out.zero_point)).clamp(-128.0, 127.0) as i32
            });
        };
    "mutant-qadd-16-bit-result", "16-bit-wrap", "the result wraps to int16 before the clamp",
        claims "pytorch" OutOfDomain on IN_F32, from "google-ai-edge/LiteRT 2.3.0, ADD in whole vectors of AVX2 (finding 29)",
        |params, lhs, rhs, out| {
            let real = |stored: i32, operand: Operand| (stored - operand.zero_point) as f32 * operand.single();
            let reciprocal = 1.0 / params.out.single();
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let scaled = ((real(lhs, params.lhs) + real(rhs, params.rhs)) * reciprocal).round_ties_even();
                // The cast to i32 saturates.
                let sum = (f64::from(scaled) + f64::from(params.out.zero_point)) as i32;
                clamp((sum as i16).into(), params)
            });
        };
    "mutant-qnn-add-narrow-operands", "operand-saturation", "each requantized operand saturates to the type before the sum",
        claims "tvm-upward" Wrap on OF_OPERANDS,
        from "apache/tvm src/relay/qnn/op/add.cc: the requantizations give int32; with the default out_dtype, int8, both saturate",
        |params, lhs, rhs, out| {
            let steps = [params.lhs, params.rhs].map(|operand| tvm::step(params, operand));
            let zero_point = params.out.zero_point;
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let narrow = |v: i32| v.wrapping_add(zero_point).clamp(-128, 127);
                let lhs = narrow(steps[0].upward(lhs - params.lhs.zero_point));
                let rhs = narrow(steps[1].upward(rhs - params.rhs.zero_point));
                clamp(lhs + rhs - zero_point, params)
            });
        };
    "mutant-qnn-add-sum-first", "double-rounding", "operands of equal scales are added before the sum is requantized",
        claims "tvm-upward" Wrap on OF_OPERANDS,
        from "apache/tvm src/relay/qnn/op/add.cc: the optimization that its comment proposes for equal operands, which rounds once",
        |params, lhs, rhs, out| {
            if params.lhs.scale != params.rhs.scale {
                return tvm::add(params, Element::I8, lhs, rhs, out, Step::upward);
            }
            let step = tvm::step(params, params.lhs);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                let sum = lhs - params.lhs.zero_point + rhs - params.rhs.zero_point;
                clamp(step.upward(sum).wrapping_add(params.out.zero_point), params)
            });
        };
    "mutant-qnn-add-to-nearest", "tie-direction", "operands are requantized TONEAREST, where UPWARD is promised",
        claims "tvm-upward" Wrap on OF_OPERANDS, from "apache/tvm qnn.requantize: rounding TONEAREST for UPWARD",
        |params, lhs, rhs, out| tvm::add(params, Element::I8, lhs, rhs, out, Step::to_nearest);
];

/// Computes TFLite's addition with operands shifted left by `left_shift` bits.
#[inline(always)]
fn lifted(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], left_shift: u32) {
    let by = Multipliers::new(params, left_shift);
    each(Element::I8, lhs, rhs, out, |lhs, rhs| clamp(sum(params, &by, (lhs, rhs), double_rounding), params));
}
