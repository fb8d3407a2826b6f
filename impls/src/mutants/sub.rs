//! Subtractions that exchange operands or signs, use the wrong parameter, or do not clamp.

use super::tensor::{Mutant, mutants};
use crate::element::Element;
use crate::elementwise::add::tflite::{DOMAIN, Multipliers, add};
use crate::elementwise::add::tvm;
use crate::elementwise::loops::{clamp, each};
use crate::elementwise::sub::tflite::{difference, subtract};
use crate::elementwise::sub::{Domain, Scales};
use crate::elementwise::{Operand, Params, Run};
use crate::fpm::gemmlowp::double_rounding;
use crate::fpm::tflite::single_rounding;
use crate::fpm::tvm_relay::Step;

/// Domain of code that requantizes each operand: any scales.
const OF_OPERANDS: Domain = Domain { scales: Scales::Any, ..tvm::DOMAIN };

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-sub-operands-exchanged", "operand-order", "the left operand is subtracted from the right one",
        claims "tflite" Wrap on DOMAIN, from "of our own: broadcasting switches the operands of SUB as it may those of ADD",
        |params, lhs, rhs, out| {
            let exchanged = Params { lhs: params.rhs, rhs: params.lhs, ..*params };
            subtract(&exchanged, Element::I8, rhs, lhs, out, double_rounding);
        };
    "mutant-sub-adds", "operand-sign", "the right operand is added",
        claims "tflite" Wrap on DOMAIN, from "tensorflow/tensorflow lite/kernels/sub.cc: SUB runs the code of ADD; without op_sign it adds",
        |params, lhs, rhs, out| add(params, Element::I8, lhs, rhs, out, double_rounding);
    "mutant-sub-negated-in-8-bits", "operand-sign", "the right operand is negated as int8, which leaves -128 as it is",
        claims "tflite" Wrap on DOMAIN, from "of our own: vneg for vqneg, or -x as int8_t, before the code of ADD",
        |params, lhs, rhs, out| {
            let by = Multipliers::new(params, 20);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                // Negating twice returns the value, except for the smallest int8.
                let rhs = -i32::from((rhs as i8).wrapping_neg());
                clamp(difference(params, &by, (lhs, rhs), double_rounding), params)
            });
        };
    "mutant-sub-rhs-zero-point-added", "offset-sign", "the zero point of the right operand is added",
        claims "tflite" Wrap on DOMAIN, from "of our own: the sign of the right operand is changed, and its input2_offset is not",
        |params, lhs, rhs, out| {
            let rhs_params = Operand { zero_point: -params.rhs.zero_point, ..params.rhs };
            let params = Params { rhs: rhs_params, ..*params };
            subtract(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-sub-output-zero-point-subtracted", "offset-sign", "the zero point of the result is subtracted",
        claims "tflite" Wrap on DOMAIN, from "of our own: output_offset negated as both input offsets are",
        |params, lhs, rhs, out| {
            let placed = Operand { zero_point: -params.out.zero_point, ..params.out };
            let params = Params { out: placed, ..*params };
            subtract(&params, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-sub-left-scale-for-both", "operand-order", "both operands are rescaled by the left operand's scale",
        claims "tflite" Wrap on DOMAIN, from "of our own: the multiplier of input1 for input2",
        |params, lhs, rhs, out| {
            let by = Params { rhs: Operand { scale: params.lhs.scale, ..params.rhs }, ..*params };
            subtract(&by, Element::I8, lhs, rhs, out, double_rounding);
        };
    "mutant-sub-wraps", "missing-saturation", "a cast that wraps for the clamp",
        claims "tflite" Wrap on DOMAIN, from "of our own: the low bits for the clamp",
        |params, lhs, rhs, out| {
            let by = Multipliers::new(params, 20);
            each(Element::I8, lhs, rhs, out, |lhs, rhs| {
                i32::from(difference(params, &by, (lhs, rhs), double_rounding) as i8)
            });
        };
    "mutant-sub-rounds-once", "double-rounding", "each rescale rounds once where it rounds doubly",
        claims "tflite" Wrap on DOMAIN, from "tensorflow/tensorflow, built with and without TFLITE_SINGLE_ROUNDING",
        |params, lhs, rhs, out| subtract(params, Element::I8, lhs, rhs, out, single_rounding);
    "mutant-qnn-subtract-no-zero-point", "offset-term", "the zero points of both requantized operands cancel, and none is added",
        claims "tvm-upward" Wrap on OF_OPERANDS,
        from "apache/tvm src/relay/qnn/op/subtract.cc: qnn.add subtracts a zero point at this place, qnn.subtract adds one",
        |params, lhs, rhs, out| {
            let params = Params { out: Operand { zero_point: 0, ..params.out }, ..*params };
            crate::elementwise::sub::tvm::subtract(&params, Element::I8, lhs, rhs, out, Step::upward);
        };
];
