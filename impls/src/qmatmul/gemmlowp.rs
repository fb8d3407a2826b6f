//! gemmlowp: `GemmWithOutputPipeline` with any list of stages, and the entry point of the legacy paradigm, `EightBitIntGemm`.
//!
//! Both multiply raw elements by cells, and add the terms of the offsets when a block is unpacked, before the pipeline. In vectors a stage processes
//! four results, and scalar code processes the rest of a row. One step differs, and the contract declares it: the left shift of `OutputStageTanh`
//! wraps in vectors and saturates in scalar code. The left shift of `ScaleInt32ByFixedPointAndExponent` wraps in both, as on NEON.
//!
//! Depths and offsets are limited so that no sum leaves int32.
//!
//! Source: google/gemmlowp `public/gemmlowp.h`, `internal/unpack.h`, `internal/output.h`, `eight_bit_int_gemm/eight_bit_int_gemm.cc`, `doc/low-precision.md`.

use super::stage::{Along, Arithmetic, SATURATING, WRAPPING};
use super::{Domain, Kernel, Lists, Params, Run, Stage, tanh};
use crate::contract::{self, Contract, Deviation, Overflow, Promise, Region};
use crate::element::Element::{self, U8};
use crate::fpm::Channel;
use crate::fpm::gemmlowp::rounding_divide_by_pot;
use crate::kernel::scalar;
use crate::matmul;
use crate::requantize;
use crate::simd::form::params_form;
use crate::simd::{LANES, Portable, Vector};

const SOURCE: &str = "google/gemmlowp public/gemmlowp.h GemmWithOutputPipeline, internal/output.h, internal/unpack.h";
const SATURATES: Promise = Promise { scheme: "gemmlowp-double", overflow: Overflow::Saturate };

/// Largest depth at which the products 255 * 255 fit in int32.
const DEPTH: usize = (i32::MAX / (255 * 255)) as usize;

/// Domain of any list of stages on uint8 with the offsets of zero points.
pub(crate) const ANY: Domain = Domain {
    operands: OPERANDS,
    lists: Lists::Any,
    requantize: requantize::Domain::all(U8, contract::Domain::PER_CHANNEL),
};

const OPERANDS: matmul::Domain = matmul::Domain {
    depth: 1..=DEPTH,
    lhs_offsets: -255..=0,
    rhs_offsets: -255..=0,
    ..matmul::Domain::all(Element::U8, Element::U8)
};

/// Domain of the legacy paradigm: integers as multipliers.
pub(crate) const LEGACY: Domain = Domain {
    operands: matmul::Domain::all(Element::U8, Element::U8),
    lists: Lists::Legacy,
    requantize: requantize::Domain {
        zero_point: false,
        clamp: false,
        ..requantize::Domain::all(U8, contract::Domain { q: 0..=0, shifts: -31..=0, ..contract::Domain::ALL })
    },
};

const DEVIATIONS: &[Deviation] = &[Deviation {
    class: "position",
    region: Region::VectorTail { lanes: LANES },
    instead: SATURATES,
    reason: "the left shift of OutputStageTanh wraps in a vector and saturates in the scalar code of the last columns",
}];

/// Steps 1 to 4 of the low-precision paradigm, scalar.
pub(super) const PIPELINE: Kernel = scalar!(
    "gemmlowp-gemm-with-pipeline", "gemmlowp GemmWithOutputPipeline on the reference kernel: any list of output stages, scalar",
    SATURATES on ANY, from SOURCE, |params, lhs, rhs, out| pipeline(params, lhs, rhs, out, &SATURATING)
);

/// Steps 1 to 4 of the low-precision paradigm, in vectors.
pub(super) const PIPELINE_NEON: Kernel = Kernel {
    name: "gemmlowp-gemm-with-pipeline-neon",
    summary: "gemmlowp GemmWithOutputPipeline: any list of output stages on int32x4_t, the last columns scalar",
    contract: Contract {
        promise: Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap },
        domain: ANY,
        deviations: DEVIATIONS,
        source: SOURCE,
    },
    portable: in_vectors::<Portable>,
    native: Some(params_form!(
        "tiebreak_qmatmul_gemmlowp_pipeline_neon",
        ["sqrdmulh", "sqadd", "srshl", "sshl", "sqshl", "mul", "and", "sshr", "add"], in_vectors(lhs, rhs: u8)
    )),
};

/// Six steps of the legacy paradigm, as printed in the document.
pub(super) const EIGHT_BIT_INT: Kernel = Kernel::scalar(
    "gemmlowp-eight-bit-int-gemm",
    "gemmlowp EightBitIntGemm: offsets, product, result_offset, result_mult_int, result_shift, cast to uint8",
    Promise { scheme: "legacy", overflow: Overflow::Wrap },
    LEGACY,
    "google/gemmlowp doc/low-precision.md, the legacy low-precision paradigm, steps 1 to 6",
    |params, lhs, rhs, out| {
        legacy(params, lhs, rhs, out, |product, shift| {
            let rounding = if shift < 1 { 0 } else { 1i32 << (shift - 1) };
            product.wrapping_add(rounding) >> shift
        });
    },
);

/// Same steps as in the stage's code since the generalisation of its rounding shifts.
pub(super) const EIGHT_BIT_INT_SHIPPED: Kernel = scalar!(
    "gemmlowp-eight-bit-int-gemm-shipped", "gemmlowp EightBitIntGemm as its code, not its document, rounds: ties away from zero",
    "legacy-ties-away" Wrap on LEGACY, from "google/gemmlowp eight_bit_int_gemm/eight_bit_int_gemm.cc, internal/output.h",
    |params, lhs, rhs, out| legacy(params, lhs, rhs, out, rounding_divide_by_pot)
);

/// Computes the product of the reference kernel: steps 1 to 3.
#[inline(always)]
pub(crate) fn sums(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    (matmul::gemmlowp::REFERENCE.portable)(&params.shape, lhs, rhs, out);
}

#[inline(always)]
fn pipeline(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], arithmetic: &Arithmetic) {
    sums(params, lhs, rhs, out);
    stages(&params.stages, params.shape.n, out, arithmetic);
}

/// Applies a list of stages to sums in rows of `columns` elements.
#[inline(always)]
pub(crate) fn stages(stages: &[Stage], columns: usize, out: &mut [i32], arithmetic: &Arithmetic) {
    for (at, value) in out.iter_mut().enumerate() {
        let place = [at / columns, at % columns];
        *value = stages.iter().fold(*value, |v, stage| arithmetic.stage(stage, place, v));
    }
}

#[inline(always)]
fn legacy(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], divide: fn(i32, u32) -> i32) {
    sums(params, lhs, rhs, out);
    let Some(Stage::Down { offset, multiplier, shift }) = params.stages.first() else { return };
    for v in out {
        let product = v.wrapping_add(*offset).wrapping_mul(*multiplier);
        *v = divide(product, shift.unsigned_abs()).clamp(0, 255);
    }
}

#[inline(always)]
fn in_vectors<V: Vector>(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    sums(params, lhs, rhs, out);
    let n = params.shape.n;
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        let (vectors, rest) = row.as_chunks_mut::<LANES>();
        let whole = LANES * vectors.len();
        for stage in &params.stages {
            for (at, lanes) in vectors.iter_mut().enumerate() {
                on_lanes::<V>(stage, [i, LANES * at], V::load(lanes)).store(lanes);
            }
            for (j, v) in rest.iter_mut().enumerate() {
                *v = SATURATING.stage(stage, [i, whole + j], *v);
            }
        }
    }
}

/// Returns the values of four columns, starting at a place.
#[inline(always)]
fn four<V: Vector>(along: Along, [row, column]: [usize; 2], of: impl Fn([usize; 2]) -> i32) -> V {
    match along {
        Along::Rows => V::splat(of([row, column])),
        Along::Columns => V::load(&[0, 1, 2, 3].map(|lane| of([row, column + lane]))),
    }
}

/// Applies a stage to four columns of a row.
#[inline(always)]
fn on_lanes<V: Vector>(stage: &Stage, place: [usize; 2], v: V) -> V {
    match stage {
        Stage::Bias { along, values } => v.add(four::<V>(*along, place, |place| along.pick(values, place))),
        Stage::Down { offset, multiplier, shift } => {
            let product = v.add(V::splat(*offset)).mul(V::splat(*multiplier));
            divided(product, V::splat(*shift))
        }
        Stage::Scale { along, channels, zero_point } => {
            let of = |what: fn(Channel) -> i32| four::<V>(*along, place, |place| what(along.pick(channels, place)));
            let high = v.sshl(of(|c| c.shift.max(0))).sqrdmulh(of(|c| c.multiplier));
            divided(high, of(|c| c.shift.min(0))).add(V::splat(*zero_point))
        }
        Stage::Tanh { zero_point, amplitude } => tanh::Constants::new(*zero_point, *amplitude).lanes(v),
        // `vmaxq`, `vminq` and narrowing only select values, so scalar code is the same.
        Stage::Clamp { .. } | Stage::Cast { .. } | Stage::Bias64 { .. } => {
            let mut lanes = [0; LANES];
            v.store(&mut lanes);
            V::load(&lanes.map(|v| WRAPPING.stage(stage, place, v)))
        }
    }
}

/// Computes `RoundingDivideByPOT` by `-shift`.
#[inline(always)]
fn divided<V: Vector>(v: V, shift: V) -> V {
    v.sqadd(v.and(shift).sshr31()).srshl(shift)
}
