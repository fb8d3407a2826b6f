//! TVM: lowering of `qnn.requantize` that multiplies by the intrinsic rule for Armv8-A, `sqrdmulh` and `srshl` on `int32x4`.
//!
//! The steps are those of [`super::tvm_relay`]: the input zero point (the bias here is its negative), fixed point multiply, the output zero point,
//! clip, cast. The loop over elements is vectorized by four. The rule accepts only `int32x4`: the last `len % 4` elements of a tensor take the
//! default lowering, which rounds once. The contract declares this as a deviation, so body and tail of one tensor follow different schemes. The rule
//! has one multiplier: a requantization per channel is lowered to Relay operators. Requantization multiplies in Q0.31, so the rule's case for another
//! Q does not occur.
//!
//! Source: RFC on fixed point multiplication; apache/tvm `python/tvm/topi/arm_cpu/tensor_intrin.py`, `_q_multiply_shift_arm`;
//! `src/relay/qnn/op/requantize.cc`.

use super::{Domain, Kernel, Params, Run, clamp};
use crate::contract::{Contract, Deviation, Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::fpm::tvm_neon;
use crate::kernel::Native;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector};

/// True if the rule applies its fixup.
const RFC: bool = false;
const FIXUP: bool = true;

pub(crate) const DEVIATIONS: &[Deviation] = &[tvm_neon::tail(
    "the rule holds for int32x4 only; the elements of a tensor after the last whole vector take the default lowering",
)];

/// Domain of one multiplier, any bias and zero point, clipped to the output type.
pub(crate) const fn domain(output: Element) -> Domain {
    Domain { output, channels: tvm_neon::INSIDE, bias: true, zero_point: true, clamp: false }
}

const fn kernel(
    name: &'static str,
    summary: &'static str,
    scheme: &'static str,
    output: Element,
    run: Run,
    native: Native<Run>,
) -> Kernel {
    Kernel {
        name,
        summary,
        contract: Contract {
            promise: Promise { scheme, overflow: Overflow::Wrap },
            domain: domain(output),
            deviations: DEVIATIONS,
            source: "TVM RFC on fixed point multiplication; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py",
        },
        portable: run,
        native: Some(native),
    }
}

/// Rule as printed. Its code is the same for both output types, whose bounds are parameters.
const RFC_FORM: Native<Run> =
    params_form!("tiebreak_requantize_tvm_neon_rfc", ["sqrdmulh", "srshl", "mul"], requantize<RFC>(acc: i32));

/// Rule with its fixup applied.
const FIXUP_FORM: Native<Run> = params_form!(
    "tiebreak_requantize_tvm_neon_fixup",
    ["sqrdmulh", "and", "sshr", "add", "srshl", "mul"], requantize<FIXUP>(acc: i32)
);

/// Rule as printed, to int8.
pub(super) const RFC_I8: Kernel = kernel(
    "tvm-requantize-neon-i8",
    "TVM qnn.requantize with the rule for Armv8-A as the RFC prints it, int8, per tensor",
    "sqrdmulh-srshl",
    I8,
    requantize::<Portable, RFC>,
    RFC_FORM,
);

/// Rule as printed, to uint8.
pub(super) const RFC_U8: Kernel = kernel(
    "tvm-requantize-neon-u8",
    "TVM qnn.requantize with the rule for Armv8-A as the RFC prints it, uint8, per tensor",
    "sqrdmulh-srshl",
    U8,
    requantize::<Portable, RFC>,
    RFC_FORM,
);

/// Rule with its fixup applied, to int8.
pub(super) const FIXUP_I8: Kernel = kernel(
    "tvm-requantize-neon-fixup-i8",
    "TVM qnn.requantize with the rule for Armv8-A as the RFC's text means it, int8, per tensor",
    "sqrdmulh-fixup-srshl",
    I8,
    requantize::<Portable, FIXUP>,
    FIXUP_FORM,
);

/// Rule with its fixup applied, to uint8.
pub(super) const FIXUP_U8: Kernel = kernel(
    "tvm-requantize-neon-fixup-u8",
    "TVM qnn.requantize with the rule for Armv8-A as the RFC's text means it, uint8, per tensor",
    "sqrdmulh-fixup-srshl",
    U8,
    requantize::<Portable, FIXUP>,
    FIXUP_FORM,
);

/// Applies the input zero point, the rule, the output zero point, and the clip.
#[inline(always)]
fn requantize<V: Vector, const APPLIES_FIXUP: bool>(params: &Params, acc: &[i32], out: &mut [i32]) {
    tvm_neon::biased::<V, APPLIES_FIXUP>(params.channels[0], params.bias[0], acc, out);
    out.iter_mut().for_each(|v| *v = clamp(v.wrapping_add(params.zero_point), params));
}
