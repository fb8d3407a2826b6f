//! TVM: `qnn.conv2d`, `bias_add`, `qnn.requantize` and `clip`, canonicalised to Relay and fused.
//!
//! `qnn.conv2d` pads with the input zero point and becomes four terms on raw elements: the convolution, less `weight_zero_point` times the sum of the
//! elements under the filter, less `input_zero_point` times the sum of the filter, plus the product of both zero points with the depth.
//! `qnn.requantize` is the fixed point multiply in 64 bits, the output zero point, and a clip to the output type. The activation's `clip` follows
//! within that type, so both are one clamp. Everything except the multiplication is int32 arithmetic, which wraps.
//!
//! Source: apache/tvm `src/relay/qnn/op/convolution.cc`, `QnnConv2DCanonicalize`; `src/relay/qnn/op/requantize.cc`, `RequantizeLower`.

use super::{Domain, Kernel, Params, loops};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::fpm::tvm_relay::Step;
use crate::kernel::scalar;

const SOURCE: &str = "apache/tvm src/relay/qnn/op/convolution.cc, requantize.cc";
const UPWARD: Promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };
/// int8, rounding UPWARD.
pub(super) const UPWARD_I8: Kernel = scalar!(
    "tvm-qnn-conv2d-i8", "TVM qnn.conv2d, bias_add, qnn.requantize, clip, fused: int8, UPWARD, per channel",
    UPWARD on Domain::all([I8; 3], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, input, weights, out| run(params, (I8, input), (I8, weights), out, Step::upward)
);

/// uint8 by int8 to uint8, rounding UPWARD.
pub(super) const UPWARD_U8: Kernel = scalar!(
    "tvm-qnn-conv2d-u8", "TVM qnn.conv2d, bias_add, qnn.requantize, clip, fused: uint8 by int8 to uint8, UPWARD, per channel",
    UPWARD on Domain::all([U8, I8, U8], contract::Domain::PER_CHANNEL), from SOURCE,
    |params, input, weights, out| run(params, (U8, input), (I8, weights), out, Step::upward)
);

/// int8, rounding TONEAREST, with the bound on left shifts of TONEAREST (see [`crate::fpm`]'s `tvm-relay-tonearest`).
pub(super) const TO_NEAREST_I8: Kernel = Kernel::scalar(
    "tvm-qnn-conv2d-tonearest-i8",
    "TVM qnn.conv2d, bias_add, qnn.requantize, clip, fused: int8, TONEAREST, per channel",
    Promise { scheme: "ties-away", overflow: Overflow::Wrap },
    Domain::all([I8; 3], contract::Domain { shifts: -31..=1, ..contract::Domain::PER_CHANNEL }),
    SOURCE,
    |params, input, weights, out| run(params, (I8, input), (I8, weights), out, Step::to_nearest),
);

#[inline(always)]
fn run(
    params: &Params,
    input: (Element, &[u8]),
    weights: (Element, &[u8]),
    out: &mut [i32],
    multiply: fn(Step, i32) -> i32,
) {
    let steps: Vec<Step> = (0..params.shape.out_channels).map(|o| Step::new(params.channel(o))).collect();
    let sums = loops::expanded(params, input, weights, params.shape.input_zero_point);
    loops::each(params, &sums, out, |sum, o| params.finish(multiply(steps[o], sum.wrapping_add(params.bias(o)))));
}
