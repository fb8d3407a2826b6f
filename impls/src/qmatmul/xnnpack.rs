//! XNNPACK: `qs8-gemm` with `rndnu` requantization. The accumulators start with the packed bias, from which the packing has subtracted the input zero
//! point times the sum of the column. Weights are symmetric.
//!
//! Shifts end at -1, because the scaled value is then at most 2^30 in magnitude. No zero point takes it out of int32, and narrowing to 16 bits before
//! the zero point does not change the clamped result (see [`crate::requantize`]'s `xnnpack-rndnu-i8`). The sum with its bias wraps.
//!
//! Source: google/XNNPACK `src/qs8-gemm/MRx8c8-neon.c.in` with `rndnu`, `src/packing.cc`.

use super::loops::raw;
use super::{Domain, Kernel, Params, Run};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::I8;
use crate::fpm::Channel;
use crate::fpm::xnnpack::{self, rndnu_body, rndnu_constants};
use crate::matmul;
use crate::simd::form::params_form;
use crate::simd::{Portable, Vector, every_lane};

/// `rndnu` in vectors.
pub(super) const RNDNU_I8: Kernel = Kernel {
    native: Some(params_form!("tiebreak_qmatmul_xnnpack_rndnu_i8", ["sqshl", "sqdmulh", "srshl"], gemm(lhs, rhs: u8))),
    ..Kernel::scalar(
        "xnnpack-qs8-gemm-rndnu-i8",
        "XNNPACK qs8-gemm: packed bias, vqshl, vqdmulh, vrshl, narrowed and offset in 16 bits",
        Promise { scheme: "xnnpack-rndnu", overflow: Overflow::Wrap },
        Domain {
            operands: matmul::Domain { rhs_offsets: 0..=0, ..matmul::Domain::all(I8, I8) },
            ..Domain::layer([I8; 3], contract::Domain { shifts: -31..=-1, ..xnnpack::DOMAIN })
        },
        "google/XNNPACK src/qs8-gemm/MRx8c8-neon.c.in, src/packing.cc",
        gemm::<Portable>,
    )
};

#[inline(always)]
fn gemm<V: Vector>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Some(layer) = params.layer() else { return };
    let mut acc = vec![0; out.len()];
    raw(params, (I8, lhs), (I8, rhs), &mut acc, |product, slices, [_, column]| {
        let packed = params.shape.lhs_offset.wrapping_mul(slices.columns[column]).wrapping_add(layer.bias(column));
        packed.wrapping_add(product)
    });
    let Channel { multiplier, shift } = layer.channel(0);
    every_lane(&acc, out, rndnu_constants::<V>(multiplier, shift), rndnu_body::<V>);
    for v in out {
        // `vqmovn` to 16 bits, `vqadd` in 16 bits, `vqmovn` to 8 bits.
        let narrowed = (*v).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let placed = i32::from(narrowed.saturating_add(layer.zero_point as i16)).clamp(-128, 127);
        *v = placed.max(layer.min).min(layer.max);
    }
}
