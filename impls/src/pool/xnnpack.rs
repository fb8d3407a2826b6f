//! XNNPACK: the int32 sum, with a bias of minus the zero points of the whole window, requantized by `input scale / (output scale * count)` in f32.
//! `fp32` kernels multiply in f32, clamp, and round by a magic bias, ties to even. `rndnu` kernels multiply by the significand with `sqdmulh` and
//! round by one shift, ties up. Padding is a buffer of zero points, and the divisor counts it.
//!
//! Source: google/XNNPACK `src/qu8-avgpool/unipass-scalar.c.in`, `src/qs8-gavgpool/unipass-scalar.c.in`, `src/qs8-gavgpool/unipass-neon.c.in`,
//! `src/microparams-init.c`.

use super::windows::{clamp, each, each_place, single};
use super::{Counted, Domain, Kernel, Params, Run, onnx};
use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element::{self, I8, U8};
use crate::elementwise::mul::xnnpack::significand;
use crate::fpm::xnnpack::{rndnu_body, rndnu_constants};
use crate::kernel::scalar;
use crate::simd::form::params_form;
use crate::simd::{LANES, Portable, Vector};

const FP32: Promise = Promise { scheme: "xnnpack-fp32", overflow: Overflow::OutOfDomain };
const PADDED: Domain = Domain { element: U8, counted: Counted::Always, clamp: true, ..onnx::IN_F32 };
const GLOBAL: Domain = Domain { element: I8, counted: Counted::Never, global: true, ..PADDED };

/// Average of unsigned bytes.
pub(super) const AVERAGE_U8: Kernel = scalar!(
    "xnnpack-qu8-avgpool", "XNNPACK qu8-avgpool fp32: float product, clamp, magic bias; padding counted",
    FP32 on PADDED, from "google/XNNPACK src/qu8-avgpool/unipass-scalar.c.in",
    |params, input, out| magic(params, U8, input, out)
);

/// Average of int8 over the whole image.
pub(super) const GLOBAL_I8: Kernel = scalar!(
    "xnnpack-qs8-gavgpool", "XNNPACK qs8-gavgpool fp32: float product, clamp, magic bias",
    FP32 on GLOBAL, from "google/XNNPACK src/qs8-gavgpool/unipass-scalar.c.in",
    |params, input, out| magic(params, I8, input, out)
);

/// Average of int8 over the whole image, on NEON. The last channels are padded to a whole vector.
pub(super) const GLOBAL_NEON_I8: Kernel = Kernel {
    name: "xnnpack-qs8-gavgpool-neon",
    summary: "XNNPACK qs8-gavgpool rndnu on NEON: sqshl, sqdmulh, srshl",
    contract: Contract::new(
        "xnnpack-rndnu",
        Overflow::Wrap,
        GLOBAL,
        "google/XNNPACK src/qs8-gavgpool/unipass-neon.c.in",
    ),
    portable: vectors::<Portable>,
    native: Some(params_form!("tiebreak_pool_xnnpack_qs8_gavgpool", ["sqshl", "sqdmulh", "srshl"], vectors(input: u8))),
};

/// `1.5 * 2^23`: sums with this number have steps of 1.
const MAGIC: f32 = 12_582_912.0;

#[inline(always)]
fn magic(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    let by = single(params, params.area());
    let [least, most] = [params.min, params.max].map(|end| (end - params.out.zero_point) as f32);
    let bias = MAGIC.to_bits() as i32 - params.out.zero_point;
    each(params, element, input, out, |window| {
        let sum = window.fold(0i32, |sum, value| sum.wrapping_add(value - params.input.zero_point));
        let scaled = (sum as f32 * by).max(least).min(most);
        (scaled + MAGIC).to_bits() as i32 - bias
    });
}

#[inline(always)]
fn vectors<V: Vector>(params: &Params, input: &[u8], out: &mut [i32]) {
    let (multiplier, shift) = significand(single(params, params.area()));
    let constants = rndnu_constants::<V>(multiplier, shift);
    let bias = -params.input.zero_point * params.area() as i32;
    each_place(params, I8, input, out, |window, out| {
        for (at, out) in out.chunks_mut(LANES).enumerate() {
            let mut sums = [bias; LANES];
            for pixel in window.pixels() {
                let lanes = input[pixel + at * LANES..].iter().take(out.len());
                sums.iter_mut().zip(lanes).for_each(|(sum, byte)| *sum += i32::from(*byte as i8));
            }
            let mut lanes = [0; LANES];
            rndnu_body(constants, V::load(&sums)).store(&mut lanes);
            for (rounded, out) in lanes.into_iter().zip(out) {
                let narrow = |v: i32| v.clamp(i16::MIN.into(), i16::MAX.into());
                *out = clamp(narrow(narrow(rounded) + params.out.zero_point), params);
            }
        }
    });
}
