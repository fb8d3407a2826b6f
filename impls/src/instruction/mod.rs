//! Single NEON instructions as kernels: the portable model, and the instruction itself on aarch64.
//!
//! The models are what [`crate::simd::Portable`] is built of, so verifying them against the instructions (value and
//! saturation flag) carries every vector kernel from the host to aarch64.

pub mod model;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;

use crate::Form;
use crate::execute::{Lengths, check_len, guard};
use crate::operation::{Code, Nothing, Operation, consecutive};

/// Runs one instruction over `a` and `b` into `out`, and for every 128-bit vector writes to `qc` 1 where the
/// cumulative saturation flag was set, otherwise 0. Operands and results are lane values sign-extended to `i32`; operand
/// values are taken modulo the lane width. A last vector that is partly filled is padded with zeros.
pub type Run = fn(a: &[i32], b: &[i32], out: &mut [i32], qc: &mut [i32]);

/// One instruction at one element width.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Instruction and element width: `sqrdmulh.s32`; for shifts by an immediate with the amount: `sshr31.s32`.
    pub name: &'static str,
    /// Bits in a lane: 8, 16 or 32.
    pub bits: u32,
    /// Lanes in a 128-bit vector.
    pub lanes: usize,
    /// The model.
    pub portable: Run,
    /// The instruction; `None` where this build is not for aarch64.
    pub neon: Option<Run>,
}

impl Kernel {
    /// The code that `form` runs in this build.
    pub fn run(&self, form: Form) -> Run {
        match form {
            Form::Native => self.neon.unwrap_or(self.portable),
            Form::Portable => self.portable,
        }
    }

    /// What executes under `form`: `portable`, or `neon: sqrdmulh`.
    pub fn isa_path(&self, form: Form) -> String {
        match (form, self.neon) {
            (Form::Native, Some(_)) => {
                let mnemonic = self.name.split('.').next().unwrap_or(self.name);
                format!("neon: {}", mnemonic.trim_end_matches(|c: char| c.is_ascii_digit()))
            }
            _ => "portable".to_owned(),
        }
    }

    /// Saturation flags that a run over `len` elements writes: one a vector.
    pub fn flags(&self, len: usize) -> usize {
        len.div_ceil(self.lanes)
    }
}

/// Runs a model over whole slices.
#[inline(always)]
fn portable(
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
            bits: $bits,
            lanes: $lanes,
            portable: |a, b, out, qc| portable($lanes, $bits, (a, b), (out, qc), $model),
            #[cfg(target_arch = "aarch64")]
            neon: Some(neon::form!($mnemonic, $width, $second, $lane, $lanes)),
            #[cfg(not(target_arch = "aarch64"))]
            neon: None,
        }
    };
}

/// Every instruction a kernel of this crate uses, at every width it exists in.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// The instruction of that name.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// Single vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {}

impl Code for Kernel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn isa_path(&self, form: Form) -> String {
        Self::isa_path(self, form)
    }
}

impl Operation for Instruction {
    const NAME: &'static str = "instruction";
    type Parameters = Nothing;
    type Kernel = Kernel;

    fn every() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter()
    }

    fn process_mutants() -> impl Iterator<Item = &'static Kernel> {
        std::iter::empty()
    }

    fn lengths(kernel: &Kernel, _: &Nothing, len: usize) -> Result<Lengths, String> {
        Ok(Lengths { input: 2 * len, output: len + kernel.flags(len) })
    }

    fn takes_ranges(_: &Kernel, _: &Nothing) -> bool {
        false
    }

    fn fill(_: &Kernel, _: &Nothing, start: i32, elements: &mut [i32]) {
        consecutive(start, elements);
    }

    fn execute(
        kernel: &Kernel,
        _: &Nothing,
        form: Form,
        input: &[i32],
        output: &mut [i32],
        _: usize,
    ) -> Result<(), String> {
        let (a, b) = input.split_at(input.len() / 2);
        check_len(a.len(), b.len())?;
        check_len(a.len() + kernel.flags(a.len()), output.len())?;
        let (out, qc) = output.split_at_mut(a.len());
        guard(kernel.name, || kernel.run(form)(a, b, out, qc))
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
