//! Quantizations that round wrongly, narrow in the wrong order, or use the wrong parameters.

use super::quantize_neon;
use super::scales::{BLOCKS, block_modulo, column_major, elsewhere};
use super::tensor::{Mutant, mutants};
use crate::expressed::{Real, with_real};
use crate::quantize::conversion::aarch64;
use crate::quantize::mlir::{self, QCAST, qcast};
use crate::quantize::onnx::{self, blocked, linear};
use crate::quantize::{Domain, Run, each};
use crate::quantized::{Container, Expressed, Finest, I8, I16, I32, Params, Quantized, Storage, U8, U16};

/// Domain of 8 bits in f32, with any bounds.
const BYTES: Domain = Domain { storage: &[I8, U8], bounds: true, ..onnx::DOMAIN };

/// Domain of the lowering, for storage types narrower than the integer to which it converts.
const NARROW: Domain = Domain { storage: &[I8, U8, I16, U16], ..mlir::DOMAIN };

/// Domain of a claim of exact steps by code that computes in the expressed type.
const fn exact(expressed: &'static [Expressed], storage: &'static [Storage]) -> Domain {
    Domain { expressed, storage, containers: &[Container::Ranked], ..mlir::DOMAIN }
}

/// Converts to 32 bits, and keeps the low bits.
fn to_low_bits(x: f64, storage: Storage) -> i64 {
    storage.low_bits((x as i32).into())
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-quantize-truncates", "directed-rounding", "a cast for the rounding",
        claims "onnx" OutOfDomain on BYTES, from "microsoft/onnxruntime pull request 32452",
        |params, x, out| linear(params, x, out, f32::trunc);
    "mutant-qcast-truncates", "directed-rounding", "arith.fptosi for a conversion to the nearest",
        claims "mlir-qcast-nearest-even" Saturate on mlir::DOMAIN, from "llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp",
        |params, x, out| with_real!(params.quantized.expressed, steps::<_>(params, x, out, f64::trunc));
    "mutant-quantize-floors", "directed-rounding", "a floor for the rounding",
        claims "onnx" OutOfDomain on BYTES, from "of our own: a floor for the rounding",
        |params, x, out| linear(params, x, out, f32::floor);
    "mutant-quantize-ties-away", "tie-direction", "round(), which takes ties away from zero, where they go to even",
        claims "onnx" OutOfDomain on BYTES, from "sonos/tract pull request 2850",
        |params, x, out| linear(params, x, out, f32::round);
    "mutant-ties-away-tail", "position", "round() in the scalar tail after vectors of four that take ties to even",
        claims "onnx" OutOfDomain on BYTES, from "microsoft/onnxruntime pull request 28606",
        tail_away;
    "mutant-zero-point-before-rounding", "zero-point-placement", "the zero point is added in f32 before the rounding",
        claims "onnx" OutOfDomain on BYTES, from "pytorch/pytorch issue 175620",
        |params, x, out| {
            let [min, max] = [params.quantized.min, params.quantized.max].map(|bound| bound as f32);
            each(params, x, out, |scale, zero_point| (scale, zero_point as f32), |x, (scale, zero_point)| {
                (x / scale + zero_point).max(min).min(max).round_ties_even() as i32
            });
        };
    "mutant-reciprocal", "reciprocal", "multiplied by the rounded 1/scale where a division is promised",
        claims "onnx" OutOfDomain on BYTES, from "pytorch/FBGEMM include/fbgemm/QuantUtils.h, Quantize: its own example",
        |params, x, out| {
            // `f32::max` returns the bound for NaN, as the promised steps do.
            let bounds = [params.quantized.min, params.quantized.max];
            let channel = |scale: f32, zero_point| (1.0 / scale, bounds.map(|b| (b - zero_point) as f32), zero_point as i32);
            each(params, x, out, channel, |x, (reciprocal, [min, max], zero_point)| {
                (x * reciprocal).max(*min).min(*max).round_ties_even() as i32 + zero_point
            });
        };
    "mutant-clamp-before-zero-point", "clamp-order", "clamped to the type before the zero point is added",
        claims "onnx" OutOfDomain on BYTES, from "llvm/torch-mlir issue 4487",
        |params, x, out| narrowed(params, x, out, |q, v, zero_point| {
            (v.clamp(q.min, q.max) + zero_point).clamp(q.min, q.max)
        });
    "mutant-cast-before-zero-point", "clamp-order", "cast to the type, wrapping, before the zero point is added",
        claims "onnx" OutOfDomain on BYTES, from "llvm/torch-mlir issue 4487, with a cast that wraps",
        |params, x, out| narrowed(params, x, out, |q, v, zero_point| {
            (q.storage.low_bits(v) + zero_point).clamp(q.min, q.max)
        });
    "mutant-convert-before-clamp", "clamp-order", "converted to the type, which wraps, and only then clamped",
        claims "mlir-qcast" Saturate on NARROW, from "llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp",
        |params, x, out| qcast(params, x, out, to_low_bits);
    "mutant-quantize-wraps", "missing-saturation", "a cast that wraps for the clamp",
        claims "onnx" OutOfDomain on BYTES, from "of our own: the low bits for the clamp",
        |params, x, out| narrowed(params, x, out, |q, v, zero_point| q.storage.low_bits(v + zero_point));
    "mutant-quantize-converts-as-x86", "wrap", "a quotient beyond int32 becomes the least int32, and the zero point is added with wrap",
        claims "onnx" OutOfDomain on BYTES, from "google-ai-edge/LiteRT 2.3.0, QUANTIZE on x86-64 (finding 25)",
        |params, x, out| {
            let (min, max) = (params.quantized.min as i32, params.quantized.max as i32);
            each(params, x, out, |scale, zero_point| (scale, zero_point as i32), |x, (scale, zero_point)| {
                let scaled = (x / scale).round_ties_even();
                if scaled.is_nan() {
                    return min;
                }
                // `cvttss2si` returns the smallest int32 for a value that does not fit.
                let fits = (-2147483648.0..2147483648.0).contains(&scaled);
                let converted = if fits { scaled as i32 } else { i32::MIN };
                converted.wrapping_add(*zero_point).clamp(min, max)
            });
        };
    "mutant-nan-is-zero", "nan-policy", "NaN becomes 0 where it becomes the smallest stored value",
        claims "onnx" OutOfDomain on Domain { storage: &[I8], ..BYTES }, from "of our own: a cast that takes NaN to 0",
        |params, x, out| {
            linear(params, x, out, f32::round_ties_even);
            let nan = x.iter().zip(out).filter(|(x, _)| f32::from_bits(**x as u32).is_nan());
            nan.for_each(|(_, out)| *out = 0);
        };
    "mutant-zero-point-sign-extended", "signedness", "an unsigned zero point is read with a sign",
        claims "onnx" OutOfDomain on Domain { storage: &[U8], ..BYTES }, from "llvm/llvm-project issue 138313",
        |params, x, out| {
            let mut params = params.clone();
            params.quantized.zero_points.iter_mut().for_each(|z| *z = i64::from(*z as i8));
            linear(&params, x, out, f32::round_ties_even);
        };
    "mutant-channel-is-last", "channel", "channels taken along the last axis, whichever it is",
        claims "mlir-qcast" OutOfDomain on Domain { finest: Finest::Channel, ..mlir::DOMAIN }, from "of our own: the stride of another axis",
        |params, x, out| elsewhere(params, x, out, QCAST.portable, |i| i % params.quantized.scales.len());
    "mutant-block-is-index-modulo", "block", "the block along an axis is index % blocks for index / size of a block",
        claims "mlir-qcast" OutOfDomain on BLOCKS, from "of our own: blocks that take turns, as banks of a memory do",
        |params, x, out| elsewhere(params, x, out, QCAST.portable, |i| block_modulo(params, i));
    "mutant-blocks-column-major", "block", "the scales of blocks are read column-major",
        claims "mlir-qcast" OutOfDomain on BLOCKS, from "of our own: the scales of a transposed tensor",
        |params, x, out| elsewhere(params, x, out, QCAST.portable, |i| column_major(params, i));
    "mutant-other-axis-block-modulo", "block", "the block along an axis is index % blocks for index / size of a block, with other axes behind it",
        claims "onnx-other-axis" OutOfDomain on onnx::OTHER_AXIS_DOMAIN,
        from "of our own: the remainder for the quotient in BlockedQuantizeLinear::opNotLastAxis",
        |params, x, out| blocked(params, x, out, |index, layout| index % layout.blocks);
    "mutant-quantize-f64-in-f32", "f32-step", "f64 rounded to f32, and every step in f32",
        claims "mlir-qcast" OutOfDomain on Domain { expressed: &[Expressed::F64], ..NARROW }, from "of our own: float for double",
        |params, x, out| {
            let narrow: Vec<i32> = x.chunks(2).map(|x| (f64::load(x) as f32).to_bits() as i32).collect();
            let mut params = params.clone();
            params.quantized.expressed = Expressed::F32;
            qcast(&params, &narrow, out, aarch64);
        };
    "mutant-steps-in-f16", "f16-step", "division and sum are rounded to f16 where one rounding is promised",
        claims "nearest-even" OutOfDomain on exact(&[Expressed::F16], &[I8, U8, I16]),
        from "MLIR RFC quant dialect, operation quant.qcast, Semantics",
        nearest_steps;
    "mutant-steps-in-bf16", "bf16-step", "division and sum are rounded to bf16 where one rounding is promised",
        claims "nearest-even" OutOfDomain on exact(&[Expressed::Bf16], &[I8, U8, I16]),
        from "MLIR RFC quant dialect, operation quant.qcast, Semantics",
        nearest_steps;
    "mutant-quantize-fused-product", "f32-step", "product and sum are rounded once where the product alone is rounded first",
        claims "pytorch-legacy" OutOfDomain on exact(&[Expressed::F32], &[I8, U8]),
        from "pytorch/FBGEMM src/QuantUtilsAvx2.cc, QuantizeAvx2, beside include/fbgemm/QuantUtils.h, Quantize: body and scalar code differ",
        |params, x, out| {
            let [min, max] = [params.quantized.min, params.quantized.max].map(|bound| bound as f32);
            let constants = |scale: f32, zero_point: i64| (1.0 / scale, zero_point as f32);
            each(params, x, out, constants, |x, (reciprocal, zero_point)| {
                x.mul_add(*reciprocal, *zero_point).round_ties_even().clamp(min, max) as i32
            });
        };
    "mutant-steps-in-f32", "f32-step", "division and sum are rounded to f32 where one rounding is promised",
        claims "nearest-even" OutOfDomain on exact(&[Expressed::F32], &[I8, U8, I16, I32]),
        from "MLIR RFC quant dialect, operation quant.qcast, Semantics",
        nearest_steps;
    "mutant-steps-in-f64", "f64-step", "division and sum are rounded to f64 where one rounding is promised",
        claims "nearest-even" OutOfDomain on exact(&[Expressed::F64], &[I8, U8, I16, I32]),
        from "MLIR RFC quant dialect, operation quant.qcast, Semantics",
        nearest_steps;
    also quantize_neon::SATURATES, quantize_neon::TIES_AWAY, quantize_neon::PADDED;
];

/// Runs the RFC's steps in the expressed type, then `round`, then one clamp. NaN becomes 0 before the clamp.
fn steps<T: Real>(params: &Params, x: &[i32], out: &mut [i32], round: fn(f64) -> f64) {
    let quantized = &params.quantized;
    let constants = mlir::constants::<T>(quantized);
    for (i, (x, out)) in x.chunks(T::WORDS).zip(out).enumerate() {
        let (scale, zero_point) = constants[params.scale_of(i)];
        let scaled = T::load(x).divided_by(scale);
        let sum = zero_point.map_or(scaled, |zero_point| scaled.plus(zero_point));
        *out = (round(sum.double()) as i64).clamp(quantized.min, quantized.max) as i32;
    }
}

fn nearest_steps(params: &Params, x: &[i32], out: &mut [i32]) {
    with_real!(params.quantized.expressed, steps::<_>(params, x, out, f64::round_ties_even));
}

/// Applies `narrow` to the nearest integer of `x / scale` (in f32, then int32) and the zero point. NaN becomes the smallest value.
fn narrowed(params: &Params, x: &[i32], out: &mut [i32], narrow: impl Fn(&Quantized, i64, i64) -> i64) {
    let quantized = &params.quantized;
    each(
        params,
        x,
        out,
        |scale, zero_point| (scale, zero_point),
        |x, (scale, zero_point)| {
            let scaled = (x / scale).round_ties_even();
            if scaled.is_nan() {
                return quantized.min as i32;
            }
            narrow(quantized, (scaled as i32).into(), *zero_point) as i32
        },
    );
}

/// Takes ties to even in vectors of four, and away from zero in the tail.
fn tail_away(params: &Params, x: &[i32], out: &mut [i32]) {
    let vectors = x.len() - x.len() % 4;
    let mut away = vec![0; x.len()];
    linear(params, x, &mut away, f32::round);
    linear(params, x, out, f32::round_ties_even);
    out[vectors..].copy_from_slice(&away[vectors..]);
}
