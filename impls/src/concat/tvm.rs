//! TVM: `qnn.concatenate` after canonicalization. Each input is requantized to the output's scale and zero point, with the rounding of
//! `qnn.requantize`; then the inputs are concatenated. An input with the output's scale and zero point is copied, which gives the same results. For
//! an input that has only the output's scale, `qnn.requantize` omits the multiplication; here the multiplier is 1.
//!
//! Source: apache/tvm `src/relay/qnn/op/concatenate.cc`, `src/relay/qnn/op/requantize.cc`, `src/relay/qnn/utils.cc`.

use super::loops::{by_rows, clamp, copy, each};
use super::{Domain, INT, Input, Kernel, Operand, Params, Run, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::fpm::Channel;
use crate::fpm::tflite::quantize_multiplier;
use crate::fpm::tvm_relay::Step;

/// Domain with any scales.
pub(crate) const DOMAIN: Domain = Domain { element: I8, scales: Scales::Quotient, size: INT };

/// int8, UPWARD, the default.
pub(super) const UPWARD_I8: Kernel = kernel(
    "tvm-qnn-concatenate-i8",
    "TVM qnn.concatenate of int8: each input requantized, UPWARD",
    "q31-nearest-up",
    I8,
    |params, inputs, out| requantized(params, I8, inputs, out, Step::upward),
);

/// Unsigned bytes.
pub(super) const UPWARD_U8: Kernel = kernel(
    "tvm-qnn-concatenate-u8",
    "TVM qnn.concatenate of uint8: each input requantized, UPWARD",
    "q31-nearest-up",
    U8,
    |params, inputs, out| requantized(params, U8, inputs, out, Step::upward),
);

/// int8, TONEAREST.
pub(super) const TO_NEAREST_I8: Kernel = kernel(
    "tvm-qnn-concatenate-tonearest-i8",
    "TVM qnn.concatenate of int8: each input requantized, TONEAREST",
    "q31-nearest-away",
    I8,
    |params, inputs, out| requantized(params, I8, inputs, out, Step::to_nearest),
);

const fn kernel(name: &'static str, summary: &'static str, scheme: &'static str, element: Element, run: Run) -> Kernel {
    let source =
        "apache/tvm src/relay/qnn/op/concatenate.cc ConcatenateQnnCanonicalize; src/relay/qnn/op/requantize.cc";
    let promise = Promise { scheme, overflow: Overflow::OutOfDomain };
    Kernel::scalar(name, summary, promise, Domain { element, ..DOMAIN }, source, run)
}

/// Returns the multiplier and shift from an input's scale to the output's scale.
pub(crate) fn multiplier(input: Operand, out: Operand) -> (i32, i32) {
    quantize_multiplier(input.scale.0 / out.scale.0)
}

/// Computes the whole concatenation; `by` is the rounding of `qnn.requantize`.
#[inline(always)]
pub(crate) fn requantized(
    params: &Params,
    element: Element,
    inputs: &[u8],
    out: &mut [i32],
    by: impl Fn(Step, i32) -> i32,
) {
    by_rows(params, inputs, out, |Input { operand, .. }, from, out| {
        if *operand == params.out {
            return copy(element, from, out);
        }
        let (multiplier, shift) = multiplier(*operand, params.out);
        let step = Step::new(Channel { multiplier, shift });
        each(element, from, out, |stored| {
            clamp(by(step, stored - operand.zero_point) + params.out.zero_point, element)
        });
    });
}
