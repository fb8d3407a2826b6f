//! TVM: fused `qnn.dense` that multiplies by the intrinsic rule for Armv8-A, `sqrdmulh` and `srshl` on `int32x4`.
//!
//! The innermost loop is over columns and is vectorized by four. The rule accepts only `int32x4`: the last `n % 4` results of each row take the
//! default lowering, which rounds once. The contract declares this as a deviation. The rule has one multiplier.
//!
//! Source: RFC on fixed point multiplication; apache/tvm `python/tvm/topi/arm_cpu/tensor_intrin.py`, `_q_multiply_shift_arm`;
//! `src/relay/qnn/op/dense.cc`, `requantize.cc`.

use super::loops::raw;
use super::{Domain, Kernel, Params, Run};
use crate::contract::{Contract, Deviation, Overflow, Promise};
use crate::element::Element::I8;
use crate::fpm::tvm_neon;
use crate::kernel::Native;
use crate::matmul::driver::expand;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector};

/// True if the rule applies its fixup.
const RFC: bool = false;
const FIXUP: bool = true;

const DEVIATIONS: &[Deviation] = &[tvm_neon::tail(
    "the rule holds for int32x4 only; the columns after the last whole vector of a row take the default lowering",
)];

const fn kernel(
    name: &'static str,
    summary: &'static str,
    scheme: &'static str,
    run: Run,
    native: Native<Run>,
) -> Kernel {
    Kernel {
        name,
        summary,
        contract: Contract {
            promise: Promise { scheme, overflow: Overflow::Wrap },
            domain: Domain::layer([I8; 3], tvm_neon::INSIDE),
            deviations: DEVIATIONS,
            source: "TVM RFC on fixed point multiplication; apache/tvm python/tvm/topi/arm_cpu/tensor_intrin.py",
        },
        portable: run,
        native: Some(native),
    }
}

/// Rule as printed.
pub(super) const RFC_I8: Kernel = kernel(
    "tvm-qnn-dense-neon-i8",
    "TVM qnn.dense fused with the rule for Armv8-A as the RFC prints it, int8, per tensor",
    "sqrdmulh-srshl",
    fused::<Portable, RFC>,
    params_form!("tiebreak_qmatmul_tvm_neon_rfc_i8", ["sqrdmulh", "srshl", "mul"], fused<RFC>(lhs, rhs: u8)),
);

/// Rule with its fixup applied.
pub(super) const FIXUP_I8: Kernel = kernel(
    "tvm-qnn-dense-neon-fixup-i8",
    "TVM qnn.dense fused with the rule for Armv8-A as the RFC's text means it, int8, per tensor",
    "sqrdmulh-fixup-srshl",
    fused::<Portable, FIXUP>,
    params_form!("tiebreak_qmatmul_tvm_neon_fixup_i8", ["sqrdmulh", "and", "sshr", "add", "srshl", "mul"], fused<FIXUP>(lhs, rhs: u8)),
);

/// Computes the terms of `qnn.dense`, adds the bias, and applies the rule to the columns of each row.
#[inline(always)]
fn fused<V: Vector, const APPLIES_FIXUP: bool>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Some(layer) = params.layer() else { return };
    let channel = layer.channel(0);
    let n = params.shape.n;
    let mut sums = vec![0; out.len()];
    raw(params, (I8, lhs), (I8, rhs), &mut sums, |product, slices, place| {
        expand(&params.shape, slices.terms(product, place)).wrapping_add(layer.bias(place[1]))
    });
    for (sums, out) in sums.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        tvm_neon::multiplied::<V, APPLIES_FIXUP>(channel, sums, out);
        out.iter_mut().for_each(|out| *out = layer.finish(*out));
    }
}
