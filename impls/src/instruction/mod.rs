//! Single NEON instructions as kernels: the portable model, and the instruction itself on aarch64.
//!
//! The models are what [`crate::simd::Portable`] is built of, so verifying them against the instructions (value and
//! saturation flag) carries every vector kernel from the host to aarch64.

pub mod model;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;

use crate::contract::{Contract, Overflow};
use crate::job_error::JobError;
use crate::kernel::{self, Native};
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, positive};
use serde::{Deserialize, Serialize};

/// Runs one instruction over `a` and `b` into `out`, and for every 128-bit vector writes to `qc` 1 where the
/// cumulative saturation flag was set, otherwise 0. Operands and results are lane values sign-extended to `i32`; operand
/// values are taken modulo the lane width. A last vector that is partly filled is padded with zeros.
pub type Run = fn(a: &[i32], b: &[i32], out: &mut [i32], qc: &mut [i32]);

/// The lanes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Bits in a lane: 8, 16 or 32.
    pub bits: u32,
}

/// How much one call computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Vectors of 128 bits in each operand.
    pub vectors: usize,
}

impl Domain {
    /// Lanes in a vector of 128 bits.
    pub fn lanes(self) -> usize {
        128 / self.bits as usize
    }

    /// Elements of both operands, and results: a value for each element, then a flag for each vector.
    pub fn sizes(self, params: &Params) -> Result<Sizes, ShapeError> {
        let elements = shape::elements("vectors", &[positive("vectors", params.vectors)?, self.lanes()])?;
        Ok(Sizes { inputs: [elements, elements, 0], outputs: elements + params.vectors })
    }
}

/// One instruction at one element width. Its name is the instruction and the width, `sqrdmulh.s32`; for shifts by an immediate with the
/// amount, `sshr31.s32`. Its scheme has the same name.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Runs a model over whole slices.
#[inline(always)]
pub(crate) fn portable(
    lanes: usize,
    bits: u32,
    (a, b): (&[i32], &[i32]),
    (out, qc): (&mut [i32], &mut [i32]),
    model: impl Fn(i64, i64) -> (i64, bool),
) {
    debug_assert!(a.len() == b.len() && a.len() == out.len() && qc.len() == a.len().div_ceil(lanes));
    // Operand values are taken modulo the lane width, as packing them into a register does.
    let lane = |value: i32| i64::from(value << (32 - bits) >> (32 - bits));
    let operands = a.chunks(lanes).zip(b.chunks(lanes));
    for ((a, b), (out, qc)) in operands.zip(out.chunks_mut(lanes).zip(qc)) {
        let mut any = false;
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            let (value, saturated) = model(lane(*a), lane(*b));
            *out = value as i32;
            any |= saturated;
        }
        *qc = i32::from(any);
    }
}

/// A registry line: name, lane bits, model and mnemonic; for a shift by an immediate also the amount.
macro_rules! instruction {
    ($name:literal, 8, $model:expr, $($operands:tt)*) => {
        instruction!(@ $name, 8, 16, i8, $model, "16b", $($operands)*)
    };
    ($name:literal, 16, $model:expr, $($operands:tt)*) => {
        instruction!(@ $name, 16, 8, i16, $model, "8h", $($operands)*)
    };
    ($name:literal, 32, $model:expr, $($operands:tt)*) => {
        instruction!(@ $name, 32, 4, i32, $model, "4s", $($operands)*)
    };
    // AND has no element width: an assembler knows it on bytes only.
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, bytes $mnemonic:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, "16b", $mnemonic, "{b:v}.16b")
    };
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, $mnemonic:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, $width, $mnemonic, concat!("{b:v}.", $width))
    };
    // The second operand is not part of the instruction, but `asm!` wants every operand named: a comment names it.
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, $mnemonic:literal, $by:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, $width, $mnemonic, concat!("#", $by, " // {b:v}"))
    };
    (# $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:expr, $mnemonic:expr, $second:expr) => {
        Kernel {
            name: $name,
            summary: concat!($mnemonic, " on lanes of ", $bits, " bits"),
            contract: Contract::new($name, Overflow::Wrap, Domain { bits: $bits }, "Arm Architecture Reference Manual (DDI 0487), section C7.2"),
            portable: |a, b, out, qc| portable($lanes, $bits, (a, b), (out, qc), $model),
            native: Some(Native {
                isa: "neon",
                arch: "aarch64",
                instructions: &[$mnemonic],
                // It is the instruction itself, in a function without a name.
                symbol: "",
                available: || true,
                #[cfg(target_arch = "aarch64")]
                run: Some(neon::form!($mnemonic, $width, $second, $lane, $lanes)),
                #[cfg(not(target_arch = "aarch64"))]
                run: None,
            }),
        }
    };
}

lookups!();

/// Single vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {}

impl TensorOperation for Instruction {
    common_items!(instruction, Instruction);

    fn sizes(domain: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        domain.sizes(params)
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let [a, b, _] = call.tensors;
        let (out, qc) = call.output.split_at_mut(a.len());
        (call.code)(a, b, out, qc);
        Ok(())
    }
}

static KERNELS: &[Kernel] = &[
    instruction!("sqrdmulh.s16", 16, model::sqrdmulh::<16>, "sqrdmulh"),
    instruction!("sqrdmulh.s32", 32, model::sqrdmulh::<32>, "sqrdmulh"),
    instruction!("sqdmulh.s16", 16, model::sqdmulh::<16>, "sqdmulh"),
    instruction!("sqdmulh.s32", 32, model::sqdmulh::<32>, "sqdmulh"),
    instruction!("srshl.s8", 8, model::srshl::<8>, "srshl"),
    instruction!("srshl.s16", 16, model::srshl::<16>, "srshl"),
    instruction!("srshl.s32", 32, model::srshl::<32>, "srshl"),
    instruction!("sqshl.s8", 8, model::sqshl::<8>, "sqshl"),
    instruction!("sqshl.s16", 16, model::sqshl::<16>, "sqshl"),
    instruction!("sqshl.s32", 32, model::sqshl::<32>, "sqshl"),
    instruction!("sshl.s8", 8, model::sshl::<8>, "sshl"),
    instruction!("sshl.s16", 16, model::sshl::<16>, "sshl"),
    instruction!("sshl.s32", 32, model::sshl::<32>, "sshl"),
    instruction!("sqadd.s8", 8, model::sqadd::<8>, "sqadd"),
    instruction!("sqadd.s16", 16, model::sqadd::<16>, "sqadd"),
    instruction!("sqadd.s32", 32, model::sqadd::<32>, "sqadd"),
    instruction!("add.s8", 8, model::add::<8>, "add"),
    instruction!("add.s16", 16, model::add::<16>, "add"),
    instruction!("add.s32", 32, model::add::<32>, "add"),
    instruction!("mul.s8", 8, model::mul::<8>, "mul"),
    instruction!("mul.s16", 16, model::mul::<16>, "mul"),
    instruction!("mul.s32", 32, model::mul::<32>, "mul"),
    instruction!("and.s8", 8, model::and::<8>, bytes "and"),
    instruction!("and.s16", 16, model::and::<16>, bytes "and"),
    instruction!("and.s32", 32, model::and::<32>, bytes "and"),
    instruction!("sshr1.s8", 8, model::sshr::<8, 1>, "sshr", 1),
    instruction!("sshr7.s8", 8, model::sshr::<8, 7>, "sshr", 7),
    instruction!("sshr1.s16", 16, model::sshr::<16, 1>, "sshr", 1),
    instruction!("sshr15.s16", 16, model::sshr::<16, 15>, "sshr", 15),
    instruction!("sshr1.s32", 32, model::sshr::<32, 1>, "sshr", 1),
    instruction!("sshr31.s32", 32, model::sshr::<32, 31>, "sshr", 31),
];
