//! TVM: the sequence of 64-bit Relay operators to which `fixed_point_multiply` is lowered.
//!
//! `cast(i64)`, left shift by `max(s, 0)`, multiply, add the rounding constant, arithmetic shift right by `31 + max(-s, 0)`, `cast(i32)`. The
//! rounding constant is `2^(30 + max(-s, 0))`, which rounds ties up (UPWARD). TONEAREST subtracts 1 from the constant if the product is negative,
//! which rounds ties away from zero.
//!
//! Left shifts are exact, although the 64-bit product can overflow. For `s > 0` the right shift is 31, so only bits 31 to 62 reach the result, and a
//! wrap modulo 2^64 does not change these bits.
//!
//! Source: RFC "Using arm intrinsics to implement fixed point multiplication in TVM"; apache/tvm
//! `src/relay/qnn/utils.cc`, `FixedPointMultiplyToNearest` and `FixedPointMultiplyPerChannel`.

use super::{Channel, Kernel, Params, each};
use crate::contract::{Contract, Domain, Overflow};

const SOURCE: &str = "TVM RFC on fixed point multiplication; apache/tvm src/relay/qnn/utils.cc";

/// Per-tensor, ties up.
///
/// The domain has no limits. For `s <= 0` no step overflows (`2^62 + 2^61 < 2^63`). For `s > 0` the product `x * m * 2^s` can exceed 63 bits and
/// wrap, but the right shift is 31, the cast keeps bits 31..=62 of the sum, and wrapping modulo 2^64 does not change these bits. So the result is
/// ties-up with the exact quotient wrapped to int32.
pub(super) const RELAY: Kernel = Kernel {
    name: "tvm-relay",
    summary: "TVM relay operators in 64 bits, per tensor, UPWARD",
    contract: Contract::new("ties-up", Overflow::Wrap, Domain::ALL, SOURCE),
    portable: |params, x, out| {
        let step = Step::new(params.channels[0]);
        each(x, out, |x| step.upward(x));
    },
    native: None,
};

/// Per-channel, ties up, with a multiplier and shift for each channel.
pub(super) const PER_CHANNEL: Kernel = Kernel {
    name: "tvm-relay-per-channel",
    summary: "TVM relay operators in 64 bits, per channel, UPWARD",
    contract: Contract { domain: Domain { per_channel: true, ..Domain::ALL }, ..RELAY.contract },
    portable: per_channel,
    ..RELAY
};

/// Per-tensor, ties away from zero.
///
/// Left shifts above 1 are outside the domain. The rounding constant depends on the sign of the 64-bit product, which may have wrapped, so a tie can
/// be rounded towards zero. At `s = 1` only `MIN * MIN` wraps, and that product is not a tie.
pub(super) const TO_NEAREST: Kernel = Kernel {
    name: "tvm-relay-tonearest",
    summary: "TVM relay operators in 64 bits, per tensor, TONEAREST",
    contract: Contract::new("ties-away", Overflow::Wrap, Domain { shifts: -31..=1, ..Domain::ALL }, SOURCE),
    portable: |params, x, out| {
        let step = Step::new(params.channels[0]);
        each(x, out, |x| step.to_nearest(x));
    },
    native: None,
};

fn per_channel(params: &Params, x: &[i32], out: &mut [i32]) {
    debug_assert_eq!(x.len(), out.len());
    let steps: Vec<Step> = params.channels.iter().copied().map(Step::new).collect();
    if let [step] = steps[..] {
        return each(x, out, |x| step.upward(x));
    }
    for (x, out) in x.chunks(steps.len()).zip(out.chunks_mut(steps.len())) {
        for ((x, out), step) in x.iter().zip(out).zip(&steps) {
            *out = step.upward(*x);
        }
    }
}

/// Constants of one channel.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    multiplier: i64,
    left: u32,
    right: u32,
}

impl Step {
    pub(crate) fn new(Channel { multiplier, shift }: Channel) -> Self {
        Self { multiplier: i64::from(multiplier), left: shift.max(0) as u32, right: 31 + shift.min(0).unsigned_abs() }
    }

    #[inline(always)]
    fn product(self, x: i32) -> i64 {
        i64::from(x).wrapping_shl(self.left).wrapping_mul(self.multiplier)
    }

    #[inline(always)]
    pub(crate) fn upward(self, x: i32) -> i32 {
        let rounding = 1i64.wrapping_shl(self.right - 1);
        self.product(x).wrapping_add(rounding).wrapping_shr(self.right) as i32
    }

    #[inline(always)]
    pub(crate) fn to_nearest(self, x: i32) -> i32 {
        let product = self.product(x);
        let rounding = 1i64.wrapping_shl(self.right - 1) - i64::from(product < 0);
        product.wrapping_add(rounding).wrapping_shr(self.right) as i32
    }
}
