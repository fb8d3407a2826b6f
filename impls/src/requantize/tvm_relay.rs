//! TVM: lowering of `qnn.requantize` on int32 tensors.
//!
//! Subtract the input zero point (the bias here is its negative, one for each channel), fixed point multiply, add the output zero point, clip to the
//! output type, cast. Everything except the multiplication is int32 arithmetic, which wraps.
//!
//! Source: apache/tvm `src/relay/qnn/op/requantize.cc`, `RequantizeLower`, with int32 tensors as since fixed point multiply became an operator
//! (before, the whole lowering was in int64).

use super::{Domain, Kernel, layer};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::tvm_relay::Step;
use crate::kernel::scalar;

const SOURCE: &str = "apache/tvm src/relay/qnn/op/requantize.cc";

const DOMAIN: Domain = Domain { clamp: false, ..Domain::all(Element::I8, contract::Domain::PER_CHANNEL) };

/// Rounding UPWARD.
pub(super) const UPWARD_I8: Kernel = scalar!(
    "tvm-requantize-i8", "TVM qnn.requantize to int8, UPWARD, per channel",
    "ties-up" Wrap on DOMAIN, from SOURCE,
    |params, acc, out| layer(params, acc, out, |x, multiplier, shift| Step::new(Channel { multiplier, shift }).upward(x))
);

/// Rounding TONEAREST, with the bound on left shifts of TONEAREST (see [`crate::fpm`]'s `tvm-relay-tonearest`).
pub(super) const TO_NEAREST_I8: Kernel = Kernel::scalar(
    "tvm-requantize-tonearest-i8",
    "TVM qnn.requantize to int8, TONEAREST, per channel",
    Promise { scheme: "ties-away", overflow: Overflow::Wrap },
    Domain { channels: contract::Domain { shifts: -31..=1, ..DOMAIN.channels }, ..DOMAIN },
    SOURCE,
    |params, acc, out| {
        layer(params, acc, out, |x, multiplier, shift| Step::new(Channel { multiplier, shift }).to_nearest(x))
    },
);
