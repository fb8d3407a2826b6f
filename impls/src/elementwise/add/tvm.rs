//! TVM: `qnn.add` after canonicalization. Each operand is requantized to the output's scale and zero point, in int32. The sum of both has the zero
//! point twice, and one zero point is subtracted. An operand with the output's scale and zero point is only widened, which gives the same results.
//! The rounding is that of `qnn.requantize`.
//!
//! Source: apache/tvm `src/relay/qnn/op/add.cc`, `src/relay/qnn/op/requantize.cc`, `src/relay/qnn/utils.cc`.

use super::{Domain, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::Operand;
use crate::elementwise::loops::{clamp, each};
use crate::fpm::Channel;
use crate::fpm::tflite::quantize_multiplier;
use crate::fpm::tvm_relay::Step;

const SOURCE: &str = "apache/tvm src/relay/qnn/op/add.cc QnnAddCanonicalize; src/relay/qnn/op/requantize.cc";

/// Domain without bounds of the caller: the source clips to the type's range.
pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Ratios, clamp: false };

/// int8, UPWARD, the default.
pub(super) const I8: Kernel =
    kernel("tvm-qnn-add-i8", "TVM qnn.add of int8, UPWARD", "tvm-upward", DOMAIN, |params, lhs, rhs, out| {
        add(params, Element::I8, lhs, rhs, out, Step::upward);
    });

/// Unsigned bytes.
pub(super) const U8: Kernel = kernel(
    "tvm-qnn-add-u8",
    "TVM qnn.add of uint8, UPWARD",
    "tvm-upward",
    Domain { element: Element::U8, ..DOMAIN },
    |params, lhs, rhs, out| add(params, Element::U8, lhs, rhs, out, Step::upward),
);

/// int8, TONEAREST.
pub(super) const TO_NEAREST_I8: Kernel = kernel(
    "tvm-qnn-add-tonearest-i8",
    "TVM qnn.add of int8, TONEAREST",
    "tvm-tonearest",
    DOMAIN,
    |params, lhs, rhs, out| {
        add(params, Element::I8, lhs, rhs, out, Step::to_nearest);
    },
);

const fn kernel(
    name: &'static str,
    summary: &'static str,
    scheme: &'static str,
    domain: Domain,
    run: super::Run,
) -> Kernel {
    Kernel::scalar(name, summary, Promise { scheme, overflow: Overflow::Wrap }, domain, SOURCE, run)
}

/// Returns the multiplication that rescales an operand to the output's scale.
pub(crate) fn step(params: &Params, operand: Operand) -> Step {
    let (multiplier, shift) = quantize_multiplier(f64::from(operand.single()) / f64::from(params.out.single()));
    Step::new(Channel { multiplier, shift })
}

/// Computes the whole addition; `by` is the rounding of `qnn.requantize`.
#[inline(always)]
pub(crate) fn add(
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
        clamp(lhs.wrapping_add(rhs).wrapping_sub(zero_point), params)
    });
}
