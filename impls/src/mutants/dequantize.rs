//! Dequantizations that multiply first, lose the sign or width of the zero point, or round a value that must stay exact.

use super::scales::{BLOCKS, block_modulo, column_major, elsewhere};
use super::tensor::{Mutant, mutants};
use crate::dequantize::libraries::distributed;
use crate::dequantize::mlir::DCAST;
use crate::dequantize::{Run, each};
use crate::expressed::Real;
use crate::quantize::{Domain, mlir};
use crate::quantized::{Expressed, Finest, I16, I32, Storage, U8};

/// Domain from 8 bits to f32.
const BYTES: Domain = Domain { finest: Finest::Channel, ..Domain::BYTES };

/// Domain of a claim that the result is rounded once.
const fn once(expressed: &'static [Expressed], storage: &'static [Storage]) -> Domain {
    Domain { expressed, storage, ..BYTES }
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-distributed", "distributed", "q * scale - zero point * scale for the difference times the scale",
        claims "integer-difference" OutOfDomain on BYTES, from "pytorch/pytorch issue 107030",
        distributed;
    "mutant-distributed-in-vectors", "distributed", "q * scale - zero point * scale in whole vectors of eight, the difference times the scale in the rest",
        claims "integer-difference" OutOfDomain on BYTES, from "google-ai-edge/LiteRT 2.3.0, DEQUANTIZE in whole vectors of AVX2 (finding 28)",
        |params, stored, out| {
            each(params, stored, out, |stored, scale, zero_point| (stored - zero_point) as f32 * scale);
            let mut vectors = vec![0; out.len()];
            distributed(params, stored, &mut vectors);
            let body = out.len() - out.len() % 8;
            out[..body].copy_from_slice(&vectors[..body]);
        };
    "mutant-zero-point-sign-extended", "signedness", "an unsigned zero point is read with a sign",
        claims "integer-difference" OutOfDomain on Domain { storage: &[U8], ..BYTES }, from "llvm/llvm-project issue 138313",
        |params, stored, out| each(params, stored, out, |stored, scale, zero_point| {
            (stored - i32::from(zero_point as i8)) as f32 * scale
        });
    "mutant-difference-wraps", "wrap", "the difference is taken in 8 bits",
        claims "integer-difference" OutOfDomain on BYTES, from "of our own: the difference in the stored type",
        |params, stored, out| {
            let storage = params.quantized.storage;
            each(params, stored, out, |stored, scale, zero_point| {
                storage.low_bits((stored - zero_point).into()) as f32 * scale
            });
        };
    "mutant-no-zero-point", "offset-term", "the zero point is left out",
        claims "integer-difference" OutOfDomain on BYTES, from "of our own: symmetric quantization assumed",
        |params, stored, out| each(params, stored, out, |stored, scale, _| stored as f32 * scale);
    "mutant-dcast-in-f32", "f32-step", "stored value and zero point are rounded to f32 where only the result may be",
        claims "ideal" OutOfDomain on once(&[Expressed::F32], &[I32]), from "MLIR RFC quant dialect, operation quant.dcast, Semantics",
        DCAST.portable;
    "mutant-dcast-in-f16", "f16-step", "stored value and zero point are rounded to f16 where only the result may be",
        claims "ideal" OutOfDomain on once(&[Expressed::F16], &[I16]), from "MLIR RFC quant dialect, operation quant.dcast, Semantics",
        DCAST.portable;
    "mutant-dcast-in-bf16", "bf16-step", "stored value and zero point are rounded to bf16 where only the result may be",
        claims "ideal" OutOfDomain on once(&[Expressed::Bf16], &[I16]), from "MLIR RFC quant dialect, operation quant.dcast, Semantics",
        DCAST.portable;
    "mutant-dequantize-f64-in-f32", "f32-step", "f64 computed in f32",
        claims "mlir-dcast" OutOfDomain on Domain { expressed: &[Expressed::F64], ..mlir::DOMAIN }, from "of our own: float for double",
        |params, stored, out| {
            let mut params = params.clone();
            params.quantized.expressed = Expressed::F32;
            let mut narrow = vec![0; stored.len()];
            (DCAST.portable)(&params, stored, &mut narrow);
            let wide = narrow.iter().map(|bits| f32::from_bits(*bits as u32).double());
            wide.zip(out.chunks_mut(2)).for_each(|(value, out)| value.store(out));
        };
    "mutant-channel-is-last", "channel", "channels taken along the last axis, whichever it is",
        claims "mlir-dcast" OutOfDomain on Domain { finest: Finest::Channel, ..mlir::DOMAIN }, from "of our own: the stride of another axis",
        |params, stored, out| elsewhere(params, stored, out, DCAST.portable, |i| i % params.quantized.scales.len());
    "mutant-block-is-index-modulo", "block", "the block along an axis is index % blocks for index / size of a block",
        claims "mlir-dcast" OutOfDomain on BLOCKS, from "of our own: blocks that take turns, as banks of a memory do",
        |params, stored, out| elsewhere(params, stored, out, DCAST.portable, |i| block_modulo(params, i));
    "mutant-blocks-column-major", "block", "the scales of blocks are read column-major",
        claims "mlir-dcast" OutOfDomain on BLOCKS, from "of our own: the scales of a transposed tensor",
        |params, stored, out| elsewhere(params, stored, out, DCAST.portable, |i| column_major(params, i));
];
