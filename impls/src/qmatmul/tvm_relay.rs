//! TVM: `qnn.dense`, `bias_add`, `qnn.requantize` and `clip`, canonicalised to Relay and fused.
//!
//! `qnn.dense` becomes four terms on raw elements: the product, less the zero points times the sums of rows and columns, plus the product of both
//! zero points with the depth. `qnn.requantize` is the fixed point multiply in 64 bits, the output zero point, and a clip to the output type.
//! Everything except the multiplication is int32 arithmetic, which wraps.
//!
//! Source: apache/tvm `src/relay/qnn/op/dense.cc`, `QnnDenseCanonicalize`; `src/relay/qnn/op/requantize.cc`, `RequantizeLower`.

use super::loops::{Operand, raw};
use super::{Domain, Kernel, Params};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{I8, U8};
use crate::fpm::tvm_relay::Step;
use crate::kernel::scalar;
use crate::matmul::driver::expand;

const SOURCE: &str = "apache/tvm src/relay/qnn/op/dense.cc, requantize.cc";
const UPWARD: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };

/// int8, rounding UPWARD.
pub(super) const UPWARD_I8: Kernel = scalar!(
    "tvm-qnn-dense-i8", "TVM qnn.dense, bias_add, qnn.requantize, clip, fused: int8, UPWARD, per channel",
    UPWARD on Domain::layer([I8; 3], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, lhs, rhs, out| run(params, (I8, lhs), (I8, rhs), out, Step::upward)
);

/// uint8 by int8 to uint8, rounding UPWARD.
pub(super) const UPWARD_U8: Kernel = scalar!(
    "tvm-qnn-dense-u8", "TVM qnn.dense, bias_add, qnn.requantize, clip, fused: uint8 by int8 to uint8, UPWARD, per channel",
    UPWARD on Domain::layer([U8, I8, U8], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, lhs, rhs, out| run(params, (U8, lhs), (I8, rhs), out, Step::upward)
);

/// int8, rounding TONEAREST, with the bound on left shifts of TONEAREST (see [`crate::fpm`]'s `tvm-relay-tonearest`).
pub(super) const TO_NEAREST_I8: Kernel = Kernel::scalar(
    "tvm-qnn-dense-tonearest-i8",
    "TVM qnn.dense, bias_add, qnn.requantize, clip, fused: int8, TONEAREST, per channel",
    Promise { scheme: "ties-away", overflow: Overflow::Wrap },
    Domain::layer([I8; 3], contract::Domain { shifts: -31..=1, ..contract::Domain::PER_CHANNEL }),
    SOURCE,
    |params, lhs, rhs, out| run(params, (I8, lhs), (I8, rhs), out, Step::to_nearest),
);

#[inline(always)]
fn run(params: &Params, lhs: Operand<'_>, rhs: Operand<'_>, out: &mut [i32], multiply: fn(Step, i32) -> i32) {
    let Some(layer) = params.layer() else { return };
    let steps: Vec<Step> = (0..params.shape.n).map(|column| Step::new(layer.channel(column))).collect();
    raw(params, lhs, rhs, out, |product, slices, place| {
        let sum = expand(&params.shape, slices.terms(product, place));
        layer.finish(multiply(steps[place[1]], sum.wrapping_add(layer.bias(place[1]))))
    });
}
