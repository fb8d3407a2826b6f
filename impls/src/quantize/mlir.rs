//! MLIR `quant.qcast`, as `--lower-quant-ops` lowers it: divide, add the zero point, convert, clamp, all but the last in the expressed type.
//!
//! The RFC's steps leave the conversion's rounding open; `arith.fptosi` truncates. The clamp comes after it and is
//! emitted only where the bounds are narrower than the storage type, so a value outside the storage type is poison, for which the
//! scheme promises no value and each kernel gives the result of its target's instructions. The scale is a double rounded to the
//! expressed type; the zero point is a constant of the storage type, converted. Its addition is skipped for a zero point of 0 per
//! layer and kept per channel, where it turns -0 into 0, which converts to the same.
//!
//! Source: MLIR RFC "Improvements in the 'quant' dialect", `quant.qcast` and `--lower-quant-ops`; llvm/llvm-project
//! `mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp`; assembly of llc 22.1.8.

use super::conversion::{self, Convert};
use super::mlir_loops::{Row, rows};
use super::mlir_places::{self, Parts};
use super::{Domain, Kernel};
use crate::contract::{Overflow, Promise};
use crate::expressed::{Real, with_real};
use crate::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Storage};

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

/// How a target's code of -O2 converts and clamps.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Each element of a row.
    parts: fn(&Params, &Row<'_>) -> Parts,
    /// Whether a product with 2^n and the conversion that follows are one instruction, `fcvtzs w0, h0, #n`: the product is no infinity on the way.
    fixed_point: bool,
    /// Whether a conversion and a clamp to `-2^n ..= 2^n - 1` become `llvm.fptosi.sat`, where no memory is between them: `maxss`, `minss`, `cvttss2si`.
    saturates: bool,
}

const X86: Target = Target { parts: mlir_places::x86, fixed_point: false, saturates: true };
const AARCH64: Target = Target { parts: mlir_places::aarch64, fixed_point: false, saturates: false };
const AARCH64_F16: Target = Target { parts: mlir_places::aarch64_half, fixed_point: true, saturates: false };

/// As x86 converts one value.
pub(crate) const QCAST: Kernel = Kernel::scalar(
    "mlir-qcast",
    "quant.qcast lowered; converted as x86 converts one value: cvttss2si, then the low bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| qcast(params, x, out, conversion::x86),
);

/// As x86 converts vectors, with the elements after the last whole one converted singly.
pub(super) const QCAST_VECTOR: Kernel = Kernel::scalar(
    "mlir-qcast-vector",
    "quant.qcast lowered; converted as x86 code of -O2 does: in whole vectors cvttps2dq, then packs; after them cvttss2si",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| optimized(params, x, out, X86),
);

/// As aarch64 converts.
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

/// As aarch64 converts vectors.
pub(super) const QCAST_NEON: Kernel = Kernel::scalar(
    "mlir-qcast-neon",
    "quant.qcast lowered; converted as aarch64 code of -O2 does: fcvtzs, in whole vectors fcvtzu or to 64 bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| optimized(params, x, out, AARCH64),
);

/// As aarch64 converts vectors with the instructions of f16.
pub(super) const QCAST_NEON_F16: Kernel = Kernel::scalar(
    "mlir-qcast-neon-f16",
    "quant.qcast lowered; converted as mlir-qcast-neon, but f16 by +fullfp16: in whole vectors to 16 bits",
    PROMISE,
    DOMAIN,
    SOURCE,
    |params, x, out| optimized(params, x, out, AARCH64_F16),
);

/// Every element by the same conversion, as code of -O0.
pub(crate) fn qcast(params: &Params, x: &[i32], out: &mut [i32], convert: Convert) {
    // A tensor's values lie in memory between the loop that converts them and the one that clamps them; a scalar stays in its register.
    let clamp = Clamp::new(params, params.container == Container::Scalar, false);
    let store = |sum, _: &Parts, _| clamp.stored(convert(sum, params.quantized.storage));
    with_real!(params.quantized.expressed, lowered::<_>(params, x, out, |_| Parts::all(convert), |_, _| false, store));
}

/// As a target's code of -O2.
fn optimized(params: &Params, x: &[i32], out: &mut [i32], target: Target) {
    let Quantized { storage, min, max, expressed, granularity, .. } = &params.quantized;
    let scalar = params.container == Container::Scalar;
    // Scales that are constants leave the steps in one loop, and their values in registers.
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

/// `fixed_point`: whether the element at a place is converted by an instruction that takes a power of two; `store`: what is stored of a sum.
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

/// Whether the quotient is a product with 2^n that one instruction makes with the conversion: the scale is a constant of the code, not read from a buffer,
/// its reciprocal is an f16, and no zero point comes between.
fn is_power<T: Real>(params: &Params, scale: T, zero_point: Option<T>) -> bool {
    let constant =
        params.container == Container::Scalar || matches!(params.quantized.granularity, Granularity::Blocks { .. });
    let scale = scale.double();
    let power = (1.0 / 32_768.0..=0.5).contains(&scale) && scale.to_bits() << 12 == 0;
    let f16 = params.quantized.expressed == Expressed::F16;
    f16 && constant && power && zero_point.is_none_or(|zero_point| zero_point.double() == 0.0)
}

/// Scales and zero points in the expressed type; no zero point where its addition is not emitted.
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

/// A clamp as the compiler leaves it. A bound as wide as the type is folded away; in a register wider than the type that shows: poison stays as it is.
#[derive(Clone, Copy)]
struct Clamp {
    storage: Storage,
    /// Whether the value comes from a register, with all its bits.
    register: bool,
    min: Option<i64>,
    max: Option<i64>,
}

impl Clamp {
    /// `halves`: values are converted from f16 by code of -O2, which folds what no finite f16 reaches too.
    fn new(params: &Params, register: bool, halves: bool) -> Self {
        let Quantized { storage, min, max, .. } = params.quantized;
        let (mut least, mut largest) = storage.range().into_inner();
        if register && halves {
            (least, largest) = (least.max(-65_504), largest.min(65_504));
        }
        // Of bounds on the same side of all values, one is the result.
        let all = if min >= largest {
            Some(min)
        } else if max <= least {
            Some(max)
        } else {
            None
        };
        Self {
            storage,
            register,
            min: all.or((min > least).then_some(min)),
            max: all.or((max < largest).then_some(max)),
        }
    }

    #[inline(always)]
    fn stored(&self, converted: i64) -> i32 {
        let kept = if self.register { converted } else { self.storage.low_bits(converted) };
        let raised = self.min.map_or(kept, |min| kept.max(min));
        let clamped = self.max.map_or(raised, |max| raised.min(max));
        self.storage.low_bits(clamped) as i32
    }
}
