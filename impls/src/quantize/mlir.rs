//! MLIR `quant.qcast`, as `--lower-quant-ops` lowers it: divide, add the zero point, convert, clamp, all but the last in the expressed type.
//!
//! The RFC's steps leave the conversion's rounding open; `arith.fptosi` truncates. The clamp comes after it and is
//! emitted only where the bounds are narrower than the storage type, so a value outside the storage type is poison, for which the
//! scheme promises no value and each kernel gives the result of its target's instructions. The scale is a double rounded to the
//! expressed type; the zero point is a constant of the storage type, converted. Its addition is skipped for a zero point of 0 per
//! layer and kept per channel, where it turns -0 into 0, which converts to the same.
//!
//! Source: MLIR RFC "Improvements in the 'quant' dialect", `quant.qcast` and `--lower-quant-ops`; llvm/llvm-project
//! `mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp`; assembly of llc 22.

use super::conversion::{self, Convert};
use super::mlir_loops::{Row, rows};
use super::{Domain, Kernel};
use crate::contract::{Overflow, Promise};
use crate::expressed::{Real, with_real};
use crate::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized};

const SOURCE: &str = "MLIR RFC quant dialect, --lower-quant-ops; mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp";
const PROMISE: Promise = Promise { scheme: "mlir-qcast", overflow: Overflow::OutOfDomain };

/// Everything that the lowering takes.
pub(crate) const DOMAIN: Domain = Domain {
    expressed: &Expressed::ALL,
    storage: &[],
    bounds: true,
    finest: Finest::Blocks,
    containers: &[Container::Scalar, Container::Ranked, Container::Unranked],
    compiled: false,
};

/// As x86 converts one value.
pub(crate) const QCAST: Kernel = Kernel::scalar(
    "mlir-qcast",
    "quant.qcast lowered; converted as x86 converts one value: cvttss2si, then the low bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| qcast(params, x, out, [conversion::x86; 2]),
);

/// As x86 converts vectors, with the elements after the last whole one converted singly.
pub(super) const QCAST_VECTOR: Kernel = Kernel::scalar(
    "mlir-qcast-vector",
    "quant.qcast lowered; converted as x86 converts vectors: cvttps2dq, then packs; tails as mlir-qcast",
    PROMISE,
    Domain { containers: &[Container::Ranked, Container::Unranked], ..DOMAIN },
    SOURCE,
    |params, x, out| {
        let body: Convert = match params.quantized.expressed {
            Expressed::F64 => |x, storage| conversion::x86_vector(x, storage, true),
            _ => |x, storage| conversion::x86_vector(x, storage, false),
        };
        qcast(params, x, out, [body, conversion::x86]);
    },
);

/// As aarch64 converts.
pub(super) const QCAST_ARM: Kernel = Kernel::scalar(
    "mlir-qcast-arm",
    "quant.qcast lowered; converted as aarch64 does: fcvtzs or fcvtzu to 32 bits, which saturate, then the low bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| {
        let convert =
            if params.quantized.expressed == Expressed::Bf16 { conversion::aarch64_bf16 } else { conversion::aarch64 };
        qcast(params, x, out, [convert; 2]);
    },
);

/// `convert`: in whole vectors of a row, and after them.
pub(crate) fn qcast(params: &Params, x: &[i32], out: &mut [i32], convert: [Convert; 2]) {
    with_real!(params.quantized.expressed, lowered::<_>(params, x, out, convert));
}

fn lowered<T: Real>(params: &Params, x: &[i32], out: &mut [i32], [body, tail]: [Convert; 2]) {
    // A register of 128 bits; f16 and bf16 are f32 in registers.
    let lanes = 4 / T::WORDS;
    let constants = constants::<T>(&params.quantized);
    rows(params, |row| {
        let vectors = row.elements.len() - row.elements.len() % lanes;
        let Row { elements, .. } = &row;
        let x = &x[elements.start * T::WORDS..elements.end * T::WORDS];
        for (place, (x, out)) in x.chunks_exact(T::WORDS).zip(&mut out[elements.clone()]).enumerate() {
            let (scale, zero_point) = constants[row.scale(place)];
            let convert = if place < vectors { body } else { tail };
            *out = steps(T::load(x), scale, zero_point, params, convert);
        }
    });
}

/// Scales and zero points in the expressed type; no zero point where its addition is not emitted.
pub(crate) fn constants<T: Real>(quantized: &Quantized) -> Vec<(T, Option<T>)> {
    let kept = |zero_point: i64| quantized.granularity != Granularity::Layer || zero_point != 0;
    let zero_points = quantized.zero_points.iter().map(|z| kept(*z).then(|| T::integer(*z)));
    quantized.scales.iter().zip(zero_points).map(|(scale, zero_point)| (T::nearest(scale.0), zero_point)).collect()
}

#[inline(always)]
fn steps<T: Real>(x: T, scale: T, zero_point: Option<T>, params: &Params, convert: Convert) -> i32 {
    let scaled = x.divided_by(scale);
    let sum = zero_point.map_or(scaled, |zero_point| scaled.plus(zero_point));
    let Quantized { storage, min, max, .. } = params.quantized;
    let (least, largest) = storage.range().into_inner();
    let converted = convert(sum.double(), storage);
    // A tensor's values lie in memory between the loop that converts them and the one that clamps them; a scalar stays in its register.
    let stored = if params.container == Container::Scalar { converted } else { storage.low_bits(converted) };
    // A bound as wide as the type is folded away. In a register wider than the type that shows: poison stays as it is.
    let raised = if min > least { stored.max(min) } else { stored };
    let clamped = if max < largest { raised.min(max) } else { raised };
    storage.low_bits(clamped) as i32
}
