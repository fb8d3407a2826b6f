//! Fixed point multiply: `round(x * m * 2^(s - q))` as shipped systems compute it, one file for each system.
//!
//! Signed overflow is undefined in most of the sources; kernels here wrap, as the compiled code does.

pub(crate) mod cmsis_nn;
#[cfg(test)]
pub(crate) mod definitions;
pub(crate) mod gemmlowp;
pub(crate) mod mlir;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
pub(crate) mod tosa;
mod tvm_neon;
mod tvm_qmuls;
pub(crate) mod tvm_relay;
pub(crate) mod xnnpack;

use crate::contract::Contract;
use crate::execute::{Lengths, check_len, guard};
use crate::operation::{Code, Operation, consecutive};
use crate::{Form, mutants};
use serde::{Deserialize, Serialize};

/// One multiplier with its shift (positive = left).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Channel {
    /// Q0.q multiplier.
    pub multiplier: i32,
    /// Shift, -31..=31.
    pub shift: i32,
}

/// Parameters of one batch. Element `i` uses `channels[i % channels.len()]` (channel-last layout).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Fractional bits of the multipliers; 31 except for `qmuls`.
    pub q: u32,
    /// One channel for a per-tensor multiply, several for a per-channel one; never empty.
    pub channels: Vec<Channel>,
}

impl Params {
    /// One channel with a Q0.31 multiplier.
    pub fn single(multiplier: i32, shift: i32) -> Self {
        Self { q: 31, channels: vec![Channel { multiplier, shift }] }
    }

    /// Multiplier and shift of the first channel, which is the only one of a per-tensor multiply.
    pub fn first(&self) -> (i32, i32) {
        let channel = self.channels[0];
        (channel.multiplier, channel.shift)
    }
}

/// `out[i] = fpm(x[i], channel of i)`; both slices have the same length, alignment is that of `i32` only.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// A vector form of a kernel: the same algorithm over real instructions.
#[derive(Clone, Copy, Debug)]
pub struct Neon {
    /// Instructions of the body, as an assembler spells them, each once; the object code under `symbol` must contain
    /// every one of them (in which order, and how often, is the compiler's business).
    pub instructions: &'static [&'static str],
    /// Symbol of the function that holds them, in aarch64 builds.
    pub symbol: &'static str,
    /// The code; `None` where this build is not for aarch64.
    pub run: Option<Run>,
}

/// Code under test, with its contract.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name on the command line and in every report.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Its contract.
    pub contract: Contract,
    /// Whether several channels may share a batch.
    pub per_channel: bool,
    /// Runs on every target: scalar code, or the portable model of the vector code.
    pub portable: Run,
    /// The same with real NEON instructions, where the system has such a form.
    pub neon: Option<Neon>,
}

impl Kernel {
    /// The code that `form` runs in this build.
    pub fn run(&self, form: Form) -> Run {
        match (form, self.neon) {
            (Form::Native, Some(Neon { run: Some(run), .. })) => run,
            _ => self.portable,
        }
    }

    /// What executes under `form`: `scalar`, `portable` (a vector kernel over models), or `neon: sqrdmulh, srshl`.
    pub fn isa_path(&self, form: Form) -> String {
        match (form, self.neon) {
            (_, None) => "scalar".to_owned(),
            (Form::Native, Some(Neon { run: Some(_), instructions, .. })) => {
                format!("neon: {}", instructions.join(", "))
            }
            _ => "portable".to_owned(),
        }
    }
}

/// Every kernel, in the order of reports.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// The kernel of that name; mutants are not kernels.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// Fixed point multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fpm {}

impl Code for Kernel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn isa_path(&self, form: Form) -> String {
        Self::isa_path(self, form)
    }
}

impl Operation for Fpm {
    const NAME: &'static str = "fpm";
    type Parameters = Params;
    type Kernel = Kernel;

    fn every() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter().chain(mutants::fpm::mutants().iter().map(|mutant| &mutant.kernel))
    }

    fn process_mutants() -> impl Iterator<Item = &'static Kernel> {
        mutants::process().iter().map(|mutant| &mutant.kernel)
    }

    fn lengths(_: &Kernel, _: &Params, len: usize) -> Result<Lengths, String> {
        Ok(Lengths { input: len, output: len })
    }

    fn takes_ranges(_: &Kernel, _: &Params) -> bool {
        true
    }

    fn fill(_: &Kernel, _: &Params, start: i32, elements: &mut [i32]) {
        consecutive(start, elements);
    }

    fn execute(
        kernel: &Kernel,
        params: &Params,
        form: Form,
        input: &[i32],
        output: &mut [i32],
        _: usize,
    ) -> Result<(), String> {
        match params.channels.len() {
            0 => return Err("no channel".to_owned()),
            n if n > 1 && !kernel.per_channel => return Err(format!("{} takes one channel, not {n}", kernel.name)),
            _ => {}
        }
        check_len(input.len(), output.len())?;
        guard(kernel.name, || kernel.run(form)(params, input, output))
    }
}

static KERNELS: &[Kernel] = &[
    tvm_relay::RELAY,
    tvm_relay::PER_CHANNEL,
    tvm_relay::TO_NEAREST,
    tvm_qmuls::QMULS,
    tvm_neon::RFC,
    tvm_neon::FIXUP,
    gemmlowp::SCALAR,
    gemmlowp::NEON,
    tflite::DOUBLE,
    tflite::SINGLE,
    tflite::REDUCED,
    cmsis_nn::DOUBLE,
    cmsis_nn::SINGLE,
    cmsis_nn::MVE_SINGLE,
    xnnpack::RNDNU_SCALAR,
    xnnpack::RNDNU_NEON,
    tosa::APPLY_SCALE_32_SINGLE,
    tosa::APPLY_SCALE_32_DOUBLE,
    mlir::APPLY_SCALE_SINGLE,
    mlir::APPLY_SCALE_DOUBLE,
];

/// Applies `f` to every element.
#[inline(always)]
fn each(x: &[i32], out: &mut [i32], f: impl Fn(i32) -> i32) {
    debug_assert_eq!(x.len(), out.len());
    for (x, out) in x.iter().zip(out) {
        *out = f(*x);
    }
}

/// The [`Neon`] form of a function generic over [`crate::simd::Vector`], under a symbol that a disassembler can find.
macro_rules! neon_form {
    ($symbol:literal, [$($instruction:literal),+], $run:ident) => {{
        #[cfg(target_arch = "aarch64")]
        const RUN: Option<$crate::fpm::Run> = {
            // SAFETY: the name is this project's own and each is used once.
            #[unsafe(export_name = $symbol)]
            #[inline(never)]
            extern "Rust" fn run(params: &$crate::fpm::Params, x: &[i32], out: &mut [i32]) {
                $run::<$crate::simd::Neon>(params, x, out);
            }
            Some(run)
        };
        #[cfg(not(target_arch = "aarch64"))]
        const RUN: Option<$crate::fpm::Run> = None;
        $crate::fpm::Neon { instructions: &[$($instruction),+], symbol: $symbol, run: RUN }
    }};
}
pub(crate) use neon_form;
