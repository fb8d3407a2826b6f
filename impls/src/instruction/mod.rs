//! Single vector instructions as kernels: the portable model, and the instruction on aarch64 and x86-64.
//!
//! [`crate::simd::Portable`] and [`crate::simd::PortableWide`] are built of these models. Checking the models against the instructions (value and
//! saturation flag) therefore transfers host results of every vector kernel to aarch64.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod lanes;
pub mod model;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod register;
#[cfg(test)]
mod tests;

pub use lanes::Lanes;

use crate::contract::{Contract, Overflow};
use crate::job_error::JobError;
use crate::kernel::{self, Native};
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, positive};
use serde::{Deserialize, Serialize};

/// `run([a, b, acc], out, qc)` runs one instruction over the operands into `out`. For every vector, `qc` is 1 if the cumulative saturation flag was
/// set, otherwise 0. An operand that the instruction does not have is empty. Operands and results are lane values in an `i32`, sign- or zero-extended
/// by the signedness of their lanes. Operand values are taken modulo the lane width. A partly filled last vector is padded with zeros.
pub type Run = fn(operands: [&[i32]; 3], out: &mut [i32], qc: &mut [i32]);

/// Lanes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// First operand.
    pub a: Lanes,
    /// Second operand; [`Lanes::NONE`] if there is none.
    pub b: Lanes,
    /// Destination before the instruction; [`Lanes::NONE`] if the instruction does not read it.
    pub acc: Lanes,
    /// Destination after the instruction.
    pub result: Lanes,
}

/// Parameters of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Number of vectors in each operand.
    pub vectors: usize,
}

impl Domain {
    /// Returns the domain of a lane-wise instruction on two operands of 128 bits, with lanes of `bits` bits.
    pub const fn lane_wise(bits: u32) -> Self {
        let lanes = Lanes { count: 128 / bits as usize, bits, signed: true };
        Self { a: lanes, b: lanes, acc: Lanes::NONE, result: lanes }
    }

    /// Returns the lanes of both operands and of the accumulator, in the order of a case's inputs.
    pub fn operands(&self) -> [Lanes; 3] {
        [self.a, self.b, self.acc]
    }

    /// Returns the number of lanes in a vector of results.
    pub fn lanes(&self) -> usize {
        self.result.count
    }

    /// Sizes of the operands and results, in elements. Results are a value for each lane, then a flag for each vector. An error names the argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let vectors = positive("vectors", params.vectors)?;
        let of = |lanes: Lanes| shape::elements("vectors", &[vectors, lanes.count]);
        let inputs = [of(self.a)?, of(self.b)?, of(self.acc)?];
        Ok(Sizes { inputs, outputs: of(self.result)? + vectors })
    }
}

/// Instruction at one element width. The name of a lane-wise instruction is the mnemonic and the width, `sqrdmulh.s32`; a shift by an immediate
/// includes the amount, `sshr31.s32`. Other names have the arrangement of the result, `umull.8h`, or the register, `vpmaddwd.ymm`. Name and scheme
/// are equal.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Runs a lane-wise model over whole slices.
#[inline(always)]
pub(crate) fn portable(
    lanes: usize,
    bits: u32,
    [a, b, _]: [&[i32]; 3],
    (out, qc): (&mut [i32], &mut [i32]),
    model: impl Fn(i64, i64) -> (i64, bool),
) {
    debug_assert!(a.len() == b.len() && a.len() == out.len() && qc.len() == a.len().div_ceil(lanes));
    // Operand values are taken modulo the lane width, as if packed into a register.
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

/// Registry line: name, lane bits, model and mnemonic; for a shift by an immediate also the amount.
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
    // AND has no element width: assemblers accept it on bytes only.
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, bytes $mnemonic:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, "16b", $mnemonic, "{b:v}.16b")
    };
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, $mnemonic:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, $width, $mnemonic, concat!("{b:v}.", $width))
    };
    // The instruction has no second operand, but `asm!` requires that every operand is named, so an assembler comment names it.
    (@ $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:literal, $mnemonic:literal, $by:literal) => {
        instruction!(# $name, $bits, $lanes, $lane, $model, $width, $mnemonic, concat!("#", $by, " // {b:v}"))
    };
    (# $name:literal, $bits:literal, $lanes:literal, $lane:ty, $model:expr, $width:expr, $mnemonic:expr, $second:expr) => {
        Kernel {
            name: $name,
            summary: concat!($mnemonic, " on lanes of ", $bits, " bits"),
            contract: Contract::new($name, Overflow::Wrap, Domain::lane_wise($bits), "Arm Architecture Reference Manual (DDI 0487), section C7.2"),
            portable: |operands, out, qc| portable($lanes, $bits, operands, (out, qc), $model),
            native: Some(Native {
                isa: "neon",
                arch: "aarch64",
                instructions: &[$mnemonic],
                // The instruction is in a function without a name.
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

/// Single vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {}

impl TensorOperation for Instruction {
    common_items!(instruction);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let values = call.params.vectors * call.domain.lanes();
        let (out, qc) = call.output.split_at_mut(values);
        (call.code)(call.tensors, out, qc);
        Ok(())
    }
}

lookups! {
    [
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
    ]
    register: UMULL UMULL2 SMULL SMULL2 UMLAL2_8H SMLAL2_8H UMLAL_4S UMLAL2_4S SMLAL_4S SMLAL2_4S UADALP_8H SADALP_8H
        UADALP_4S SADALP_4S ADD_8H ADDP UDOT SDOT UMMLA SMMLA CNT ZIP1 ZIP2 SXTL SXTL2 UXTL UXTL2 SQXTN_4H SQXTN2_8H
        SQXTN_8B SQXTUN_8B VPMADDUBSW VPMADDWD VPDPBUSD VPDPBUSDS VPDPBSSD VPMADDUBSW_512 VPMADDWD_512 VPDPBUSD_512
        VPDPBUSDS_512;
}
