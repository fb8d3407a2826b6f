//! TVM: `qnn.subtract` after canonicalization. Each operand is requantized to the output's scale and zero point, in int32. The zero points cancel in
//! the difference, and the output's zero point is added. The rounding is that of `qnn.requantize`.
//!
//! Source: apache/tvm `src/relay/qnn/op/subtract.cc`, `src/relay/qnn/op/requantize.cc`, `src/relay/qnn/utils.cc`.

use super::{Domain, Kernel, Params, Run};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::add::tvm::{DOMAIN, step};
use crate::elementwise::loops::{clamp, each};
use crate::fpm::tvm_relay::Step;

const SOURCE: &str = "apache/tvm src/relay/qnn/op/subtract.cc QnnSubtractCanonicalize; src/relay/qnn/op/requantize.cc";

/// int8, UPWARD, the default.
pub(super) const I8: Kernel =
    kernel("tvm-qnn-subtract-i8", "TVM qnn.subtract of int8, UPWARD", "tvm-upward", DOMAIN, |params, lhs, rhs, out| {
        subtract(params, Element::I8, lhs, rhs, out, Step::upward)
    });

/// Unsigned bytes.
pub(super) const U8: Kernel = kernel(
    "tvm-qnn-subtract-u8",
    "TVM qnn.subtract of uint8, UPWARD",
    "tvm-upward",
    Domain { element: Element::U8, ..DOMAIN },
    |params, lhs, rhs, out| subtract(params, Element::U8, lhs, rhs, out, Step::upward),
);

/// int8, TONEAREST.
pub(super) const TO_NEAREST_I8: Kernel = kernel(
    "tvm-qnn-subtract-tonearest-i8",
    "TVM qnn.subtract of int8, TONEAREST",
    "tvm-tonearest",
    DOMAIN,
    |params, lhs, rhs, out| subtract(params, Element::I8, lhs, rhs, out, Step::to_nearest),
);

const fn kernel(name: &'static str, summary: &'static str, scheme: &'static str, domain: Domain, run: Run) -> Kernel {
    Kernel::scalar(name, summary, Promise { scheme, overflow: Overflow::Wrap }, domain, SOURCE, run)
}

/// Computes the whole subtraction; `by` is the rounding of `qnn.requantize`.
#[inline(always)]
pub(crate) fn subtract(
    params: &Params,
    element: Element,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    by: impl Fn(Step, i32) -> i32,
) {
    let steps = [step(params, params.lhs), step(params, params.rhs)];
    let zero_point = params.out.zero_point;
    each(element, lhs, rhs, out, |lhs, rhs| {
        let lhs = by(steps[0], lhs - params.lhs.zero_point).wrapping_add(zero_point);
        let rhs = by(steps[1], rhs - params.rhs.zero_point).wrapping_add(zero_point);
        clamp(lhs.wrapping_sub(rhs).wrapping_add(zero_point), params)
    });
}
