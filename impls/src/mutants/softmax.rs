//! Softmaxes that lose the maximum, misread `diff_min`, sum in another format, or omit a step of the reciprocal, a rounding or a clamp.

use super::tensor::{Mutant, mutants};
use crate::element::Element::I8;
use crate::exp::gemmlowp::exponential;
use crate::fpm::gemmlowp::{rounding_divide_by_pot, saturating_rounding_doubling_high_mul as mul};
use crate::softmax::tflite::{ACCUMULATED, INTEGER_BITS, one_over_one_plus, scaled};
use crate::softmax::{Domain, Params, Run, rows};

const DOMAIN: Domain = Domain { input: I8, output: I8 };

/// Parts of the composition that a mutant keeps or replaces.
#[derive(Clone, Copy)]
struct Kept {
    /// Initial value of the maximum.
    first: i32,
    /// Reads `diff_min`.
    cut: fn(i32) -> i32,
    /// Turns an exponential into a term of the sum.
    term: fn(i32) -> i32,
    /// Returns the reciprocal of a number in [1, 2).
    reciprocal: fn(i32) -> i32,
    /// Final division.
    divided: fn(i32, u32) -> i32,
    /// Narrows a result that does not fit.
    fitted: fn(i32) -> i32,
}

const KEPT: Kept = Kept {
    first: -128,
    cut: |diff_min| diff_min,
    term: |e| rounding_divide_by_pot(e, ACCUMULATED),
    reciprocal: one_over_one_plus,
    divided: rounding_divide_by_pot,
    fitted: |v| v.clamp(-128, 127),
};

impl Kept {
    #[inline(always)]
    fn run(self, p: &Params, input: &[u8], out: &mut [i32]) {
        rows(p, I8, input, out, |row, out| {
            let largest = row.iter().fold(self.first, |most, v| most.max(*v));
            let cut = (self.cut)(p.diff_min);
            let power = |v: i32| exponential(scaled(v - largest, p), INTEGER_BITS);
            let terms = row.iter().filter(|v| **v - largest >= cut).map(|v| (self.term)(power(*v)));
            let sum = terms.fold(0i32, i32::wrapping_add);
            let headroom = sum.leading_zeros();
            let scale = (self.reciprocal)(sum.wrapping_shl(headroom).wrapping_sub(i32::MIN));
            let exponent = (12 - headroom as i32 + 23).clamp(0, 31) as u32;
            for (v, out) in row.iter().zip(out) {
                let taken = *v - largest >= cut;
                *out = if taken { (self.fitted)((self.divided)(mul(scale, power(*v)), exponent) - 128) } else { -128 };
            }
        });
    }
}

/// Computes the reciprocal with one step of Newton-Raphson.
fn one_step(a: i32) -> i32 {
    let half = ((i64::from(a) + i64::from(i32::MAX) + 1) / 2) as i32;
    let x = 1_515_870_810 + mul(half, -1_010_580_540);
    let x = x + (mul(x, (1 << 29) - mul(half, x)) << 2);
    x.min((1 << 30) - 1) << 1
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-softmax-maximum-from-zero", "row-maximum", "the maximum of a row begins with 0, which no row of negative numbers has",
        claims "tflite" OutOfDomain on DOMAIN, from "uTensor/uTensor pull request 176: the maximum of a softmax begins with 0",
        |params, input, out| Kept { first: 0, ..KEPT }.run(params, input, out);
    "mutant-softmax-narrow-diff-min", "cut-off", "diff_min is held in eight bits",
        claims "tflite" OutOfDomain on DOMAIN, from "ARM-software/CMSIS_5 pull request 885: diff_min of arm_softmax_s8 is int8_t",
        |params, input, out| Kept { cut: |diff_min| (diff_min as i8).into(), ..KEPT }.run(params, input, out);
    "mutant-softmax-strict-diff-min", "cut-off", "the difference diff_min itself is left out",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: > for >=",
        |params, input, out| Kept { cut: |diff_min| (diff_min + 1).min(0), ..KEPT }.run(params, input, out);
    "mutant-softmax-truncated-terms", "directed-rounding", "the terms of the sum are truncated",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: a shift right for the rescaling of a term",
        |params, input, out| Kept { term: |e| e >> ACCUMULATED, ..KEPT }.run(params, input, out);
    "mutant-softmax-eleven-integer-bits", "fixed-point-format", "the sum has eleven integer bits, of which its reciprocal takes twelve",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: kAccumulationIntegerBits in one of its two places",
        |params, input, out| Kept { term: |e| rounding_divide_by_pot(e, ACCUMULATED - 1), ..KEPT }.run(params, input, out);
    "mutant-softmax-short-reciprocal", "iteration", "the reciprocal has one step of Newton-Raphson",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: one step of Newton-Raphson for three",
        |params, input, out| Kept { reciprocal: one_step, ..KEPT }.run(params, input, out);
    "mutant-softmax-truncated-result", "directed-rounding", "the last division truncates",
        claims "tflite" OutOfDomain on DOMAIN, from "of our own: a shift right for the rounding division",
        |params, input, out| Kept { divided: |v, exponent| v >> exponent, ..KEPT }.run(params, input, out);
    "mutant-softmax-wraps", "missing-saturation", "a probability of 1 wraps to the least value",
        claims "tflite" OutOfDomain on DOMAIN, from "microsoft/onnxruntime issue 29727: int8 QLinearSoftmax clamps to 255, and 128 becomes -128",
        |params, input, out| Kept { fitted: |v| (v.min(255) as i8).into(), ..KEPT }.run(params, input, out);
];
