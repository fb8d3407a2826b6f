//! MLIR `quant.qcast`, as `--lower-quant-ops` lowers it: divide, add the zero point, convert, clamp. All steps before the clamp are in the expressed
//! type.
//!
//! The RFC's steps do not fix the rounding of the conversion; `arith.fptosi` truncates. The clamp follows the conversion, and is emitted only if the
//! bounds are narrower than the storage type. A value outside the storage type is therefore poison: the scheme promises no value, and each kernel
//! gives the result of its target's instructions. The scale is a double rounded to the expressed type. The zero point is a constant of the storage
//! type, converted. Its addition is skipped for a zero point of 0 per layer and kept per channel, where it turns -0 into 0, which converts to the
//! same integer.
//!
//! Source: MLIR RFC "Improvements in the 'quant' dialect", `quant.qcast` and `--lower-quant-ops`; llvm/llvm-project
//! `mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp`; assembly of llc 22.1.8.

use super::conversion::{self, Convert};
use super::mlir_loops::{Row, rows};
use super::mlir_places::{self, Parts};
use super::{Domain, Kernel};
use crate::contract::{Overflow, Promise};
use crate::expressed::{Real, with_real};
use crate::kernel::scalar;
use crate::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Storage};

const SOURCE: &str = "MLIR RFC quant dialect, --lower-quant-ops; mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp";
const PROMISE: Promise = Promise { scheme: "mlir-qcast", overflow: Overflow::OutOfDomain };

/// Domain of everything that the lowering accepts.
pub(crate) const DOMAIN: Domain = Domain {
    expressed: &Expressed::ALL,
    storage: &[],
    bounds: true,
    finest: Finest::Blocks,
    containers: &[Container::Scalar, Container::Ranked, Container::Unranked],
    compiled: false,
};

/// Conversion and clamp in a target's -O2 code.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Returns the conversion of each element of a row.
    parts: fn(&Params, &Row<'_>) -> Parts,
    /// True if one instruction does a product with 2^n and the conversion after it, `fcvtzs w0, h0, #n`. The product then does not overflow to
    /// infinity.
    fixed_point: bool,
    /// True if a conversion and a clamp to `-2^n ..= 2^n - 1` without memory between them become `llvm.fptosi.sat`: `maxss`, `minss`, `cvttss2si`.
    saturates: bool,
}

const X86: Target = Target { parts: mlir_places::x86, fixed_point: false, saturates: true };
const AARCH64: Target = Target { parts: mlir_places::aarch64, fixed_point: false, saturates: false };
const AARCH64_F16: Target = Target { parts: mlir_places::aarch64_half, fixed_point: true, saturates: false };

/// Conversion of single values on x86.
pub(crate) const QCAST: Kernel = scalar!(
    "mlir-qcast", "quant.qcast lowered; converted as x86 converts one value: cvttss2si, then the low bits",
    PROMISE on DOMAIN, from SOURCE, qcast_x86
);

/// Conversion of vectors on x86; elements after the last whole vector are converted singly.
pub(super) const QCAST_VECTOR: Kernel = scalar!(
    "mlir-qcast-vector", "quant.qcast lowered; converted as x86 code of -O2 does: in whole vectors cvttps2dq, then packs; after them cvttss2si",
    PROMISE on DOMAIN, from SOURCE, |params, x, out| optimized(params, x, out, X86)
);

/// Conversion of single values on aarch64.
pub(super) const QCAST_ARM: Kernel = Kernel::scalar(
    "mlir-qcast-arm",
    "quant.qcast lowered; converted as aarch64 does: fcvtzs or fcvtzu to 32 bits, which saturate, then the low bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| {
        let of_bf16 = params.quantized.expressed == Expressed::Bf16;
        qcast(params, x, out, if of_bf16 { conversion::aarch64_register } else { conversion::aarch64 });
    },
);

/// Conversion of vectors on aarch64.
pub(super) const QCAST_NEON: Kernel = scalar!(
    "mlir-qcast-neon", "quant.qcast lowered; converted as aarch64 code of -O2 does: fcvtzs, in whole vectors fcvtzu or to 64 bits",
    PROMISE on DOMAIN, from SOURCE, |params, x, out| optimized(params, x, out, AARCH64)
);

/// Conversion of vectors on aarch64 with the instructions of f16.
pub(super) const QCAST_NEON_F16: Kernel = scalar!(
    "mlir-qcast-neon-f16", "quant.qcast lowered; converted as mlir-qcast-neon, but f16 by +fullfp16: in whole vectors to 16 bits",
    PROMISE on DOMAIN, from SOURCE, |params, x, out| optimized(params, x, out, AARCH64_F16)
);

/// Converts every element by the same conversion, as -O0 code does.
pub(crate) fn qcast(params: &Params, x: &[i32], out: &mut [i32], convert: Convert) {
    // The values of a tensor are in memory between the converting loop and the clamping loop. A scalar stays in its register.
    clamped(params, x, out, convert, Clamp::new(params, params.container == Container::Scalar, false));
}

/// Converts every element as -O0 code does on x86, where constant scales keep conversion and clamp in one loop, which does not extend the low bits of a
/// type of fewer than 8 bits before the clamp.
fn qcast_x86(params: &Params, x: &[i32], out: &mut [i32]) {
    let mut clamp = Clamp::new(params, params.container == Container::Scalar, false);
    if params.quantized.granularity != Granularity::Layer {
        clamp.kept = conversion::promoted(params.quantized.storage);
    }
    clamped(params, x, out, conversion::x86, clamp);
}

/// Converts every element by the same conversion, and clamps.
fn clamped(params: &Params, x: &[i32], out: &mut [i32], convert: Convert, clamp: Clamp) {
    let store = |sum, _: &Parts, _| clamp.stored(convert(sum, params.quantized.storage));
    with_real!(params.quantized.expressed, lowered::<_>(params, x, out, |_| Parts::all(convert), |_, _| false, store));
}

/// Converts as a target's -O2 code does.
fn optimized(params: &Params, x: &[i32], out: &mut [i32], target: Target) {
    let Quantized { storage, min, max, expressed, granularity, .. } = &params.quantized;
    let scalar = params.container == Container::Scalar;
    // Constant scales keep all steps in one loop, and the values in registers.
    let clamp = Clamp::new(params, scalar || *granularity != Granularity::Layer, *expressed == Expressed::F16);
    let saturates = target.saturates && scalar && *expressed != Expressed::F16 && storage.signed && *min == -max - 1;
    let saturates = saturates && (max + 1).count_ones() == 1 && min > storage.range().start();
    let fixed_point = |parts: &Parts, place| target.fixed_point && parts.is_single(place);
    let store = |sum: f64, parts: &Parts, place| match saturates {
        true => (sum as i64).clamp(*min, *max) as i32,
        false => clamp.stored(parts.at(place)(sum, *storage)),
    };
    with_real!(*expressed, lowered::<_>(params, x, out, |row| (target.parts)(params, row), fixed_point, store));
}

/// Runs the lowering. `fixed_point` is true if the element at a place is converted by an instruction with a power of two; `store` turns a sum into a
/// stored value.
fn lowered<T: Real>(
    params: &Params,
    x: &[i32],
    out: &mut [i32],
    parts: impl Fn(&Row<'_>) -> Parts,
    fixed_point: impl Fn(&Parts, usize) -> bool,
    store: impl Fn(f64, &Parts, usize) -> i32,
) {
    let constants = constants::<T>(&params.quantized);
    rows(params, |row| {
        let parts = parts(&row);
        let Row { elements, .. } = &row;
        let x = &x[elements.start * T::WORDS..elements.end * T::WORDS];
        for (place, (x, out)) in x.chunks_exact(T::WORDS).zip(&mut out[elements.clone()]).enumerate() {
            let (scale, zero_point) = constants[row.scale(place)];
            let x = T::load(x);
            let sum = match fixed_point(&parts, place) && is_power(params, scale, zero_point) {
                true => x.double() / scale.double(),
                false => summed(x, scale, zero_point),
            };
            *out = store(sum, &parts, place);
        }
    });
}

/// True if one instruction makes the quotient, a product with 2^n, together with the conversion. The scale is then a constant of the code instead of
/// a value from a buffer, its reciprocal is an f16, and there is no zero point to add.
fn is_power<T: Real>(params: &Params, scale: T, zero_point: Option<T>) -> bool {
    let constant =
        params.container == Container::Scalar || matches!(params.quantized.granularity, Granularity::Blocks { .. });
    let scale = scale.double();
    let power = (1.0 / 32_768.0..=0.5).contains(&scale) && scale.to_bits() << 12 == 0;
    let f16 = params.quantized.expressed == Expressed::F16;
    f16 && constant && power && zero_point.is_none_or(|zero_point| zero_point.double() == 0.0)
}

/// Returns scales and zero points in the expressed type. The zero point is `None` if its addition is not emitted.
pub(crate) fn constants<T: Real>(quantized: &Quantized) -> Vec<(T, Option<T>)> {
    let kept = |zero_point: i64| quantized.granularity != Granularity::Layer || zero_point != 0;
    let zero_points = quantized.zero_points.iter().map(|z| kept(*z).then(|| T::integer(*z)));
    quantized.scales.iter().zip(zero_points).map(|(scale, zero_point)| (T::nearest(scale.0), zero_point)).collect()
}

#[inline(always)]
fn summed<T: Real>(x: T, scale: T, zero_point: Option<T>) -> f64 {
    let scaled = x.divided_by(scale);
    zero_point.map_or(scaled, |zero_point| scaled.plus(zero_point)).double()
}

/// Clamp as the compiler emits it. A bound as wide as the type is folded away. This shows in a register wider than the type: poison is then not
/// clamped.
#[derive(Clone, Copy)]
struct Clamp {
    storage: Storage,
    /// Type of the value in memory.
    kept: Storage,
    /// True if the value comes from a register, with all its bits.
    register: bool,
    min: Option<i64>,
    max: Option<i64>,
}

impl Clamp {
    /// Makes the clamp. With `halves`, values come from f16 in -O2 code, which also folds bounds that no finite f16 reaches.
    fn new(params: &Params, register: bool, halves: bool) -> Self {
        let Quantized { storage, min, max, .. } = params.quantized;
        let (mut least, mut largest) = storage.range().into_inner();
        if register && halves {
            (least, largest) = (least.max(-65_504), largest.min(65_504));
        }
        // A value in memory may exceed an unsigned type that is narrower than its word: the code relies on the conversion, which is poison, and masks
        // nothing. The loops of a tensor apply both bounds.
        let unmasked = !register && !storage.signed && storage.bits < conversion::promoted(storage).bits;
        let bounded = min > least || max < largest;
        if unmasked && bounded {
            return Self { kept: conversion::promoted(storage), storage, register, min: Some(min), max: Some(max) };
        }
        // If both bounds are on the same side of all values, one bound is the result.
        let all = if min >= largest {
            Some(min)
        } else if max <= least {
            Some(max)
        } else {
            None
        };
        Self {
            kept: storage,
            storage,
            register,
            min: all.or((min > least).then_some(min)),
            max: all.or((max < largest).then_some(max)),
        }
    }

    #[inline(always)]
    fn stored(&self, converted: i64) -> i32 {
        let kept = if self.register { converted } else { self.kept.low_bits(converted) };
        let raised = self.min.map_or(kept, |min| kept.max(min));
        let clamped = self.max.map_or(raised, |max| raised.min(max));
        self.storage.low_bits(clamped) as i32
    }
}
