//! TVM: fused `qnn.conv2d` that multiplies by the intrinsic rule for Armv8-A, `sqrdmulh` and `srshl` on `int32x4`.
//!
//! The innermost loop is over output channels and is vectorized by four. The rule accepts only `int32x4`: the last `out_channels % 4` results of each
//! pixel take the default lowering, which rounds once. The contract declares this as a deviation, so body and tail of one tensor follow different
//! schemes. The rule has one multiplier: a requantization per channel is lowered to Relay operators. Requantization multiplies in Q0.31, so the
//! rule's case for another Q does not occur.
//!
//! Source: RFC on fixed point multiplication; apache/tvm `python/tvm/topi/arm_cpu/tensor_intrin.py`, `_q_multiply_shift_arm`;
//! `src/relay/qnn/op/requantize.cc`.

use super::{Domain, Kernel, Params, Run, loops};
use crate::contract::{Contract, Deviation, Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::fpm::tvm_neon;
use crate::kernel::Native;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector};

/// True if the rule applies its fixup.
const RFC: bool = false;
const FIXUP: bool = true;

/// True if the input is unsigned.
const INT8: bool = false;
const UINT8: bool = true;

const SOURCE: &str = "TVM RFC on fixed point multiplication; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py";

const DEVIATIONS: &[Deviation] = &[tvm_neon::tail(
    "the rule holds for int32x4 only; the output channels after the last whole vector of a pixel take the default lowering",
)];

const fn kernel(
    name: &'static str,
    summary: &'static str,
    scheme: &'static str,
    types: [Element; 3],
    run: Run,
    native: Native<Run>,
) -> Kernel {
    Kernel {
        name,
        summary,
        contract: Contract {
            promise: Promise { scheme, overflow: Overflow::Wrap },
            domain: Domain::all(types, tvm_neon::INSIDE),
            deviations: DEVIATIONS,
            source: SOURCE,
        },
        portable: run,
        native: Some(native),
    }
}

/// Rule as printed, int8.
pub(super) const RFC_I8: Kernel = kernel(
    "tvm-qnn-conv2d-neon-i8",
    "TVM qnn.conv2d fused with the rule for Armv8-A as the RFC prints it, int8, per tensor",
    "sqrdmulh-srshl",
    [I8; 3],
    fused::<Portable, RFC, INT8>,
    params_form!("tiebreak_qconv2d_tvm_neon_rfc_i8", ["sqrdmulh", "srshl", "mul"], fused<RFC, INT8>(input, weights: u8)),
);

/// Rule as printed, uint8 by int8.
pub(super) const RFC_U8: Kernel = kernel(
    "tvm-qnn-conv2d-neon-u8",
    "TVM qnn.conv2d fused with the rule for Armv8-A as the RFC prints it, uint8 by int8, per tensor",
    "sqrdmulh-srshl",
    [U8, I8, U8],
    fused::<Portable, RFC, UINT8>,
    params_form!("tiebreak_qconv2d_tvm_neon_rfc_u8", ["sqrdmulh", "srshl", "mul"], fused<RFC, UINT8>(input, weights: u8)),
);

/// Rule with its fixup applied, int8.
pub(super) const FIXUP_I8: Kernel = kernel(
    "tvm-qnn-conv2d-neon-fixup-i8",
    "TVM qnn.conv2d fused with the rule for Armv8-A as the RFC's text means it, int8, per tensor",
    "sqrdmulh-fixup-srshl",
    [I8; 3],
    fused::<Portable, FIXUP, INT8>,
    params_form!("tiebreak_qconv2d_tvm_neon_fixup_i8", ["sqrdmulh", "and", "sshr", "add", "srshl", "mul"], fused<FIXUP, INT8>(input, weights: u8)),
);

/// Computes the terms of `qnn.conv2d`, adds the bias, and applies the rule to the output channels of each pixel.
#[inline(always)]
fn fused<V: Vector, const APPLIES_FIXUP: bool, const UNSIGNED: bool>(
    params: &Params,
    input: &[u8],
    weights: &[u8],
    out: &mut [i32],
) {
    let input = (if UNSIGNED { U8 } else { I8 }, input);
    let channel = params.channel(0);
    let outputs = params.shape.out_channels;
    let mut sums = loops::expanded(params, input, (I8, weights), params.shape.input_zero_point);
    for (sums, out) in sums.chunks_exact_mut(outputs).zip(out.chunks_exact_mut(outputs)) {
        sums.iter_mut().enumerate().for_each(|(o, sum)| *sum = sum.wrapping_add(params.bias(o)));
        tvm_neon::multiplied::<V, APPLIES_FIXUP>(channel, sums, out);
        out.iter_mut().for_each(|out| *out = params.finish(*out));
    }
}
