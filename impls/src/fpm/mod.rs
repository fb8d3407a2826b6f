//! Fixed point multiply, `round(x * m * 2^(s - q))`, as shipped systems compute it; one file for each system.
//!
//! Signed overflow is undefined in most of the sources. Kernels here wrap, as the compiled code does.

pub(crate) mod cmsis_nn;
#[cfg(test)]
pub(crate) mod definitions;
#[cfg(feature = "elements")]
mod elements;
pub(crate) mod gemmlowp;
pub(crate) mod mlir;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;
pub(crate) mod tosa;
pub(crate) mod tvm_neon;
mod tvm_qmuls;
pub(crate) mod tvm_relay;
pub(crate) mod xnnpack;

use crate::contract::Domain;
use crate::execute::{Lengths, check_len, guard};
use crate::job_error::JobError;
use crate::kernel;
use crate::mutants::tensor::Mutant;
use crate::operation::{Call, Operation, TensorOperation, consecutive, lookups};
use crate::shape::{self, ShapeError, Sizes, broken};
use crate::{Form, mutants};
use serde::{Deserialize, Serialize};

/// Multiplier with its shift (positive = left).
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
    /// One channel for a per-tensor multiply, several channels for a per-channel multiply; never empty.
    pub channels: Vec<Channel>,
}

impl Params {
    /// Returns parameters of one channel with a Q0.31 multiplier.
    pub fn single(multiplier: i32, shift: i32) -> Self {
        Self { q: 31, channels: vec![Channel { multiplier, shift }] }
    }

    /// Returns multiplier and shift of the first channel, which is the only channel of a per-tensor multiply.
    pub fn first(&self) -> (i32, i32) {
        let channel = self.channels[0];
        (channel.multiplier, channel.shift)
    }
}

/// `out[i] = fpm(x[i], channel of i)`. Both slices have the same length, and only the alignment of `i32`.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// Fixed point multiply under test, with its contract.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Fixed point multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fpm {}

impl Operation for Fpm {
    const NAME: &'static str = "fpm";
    type Parameters = Params;
    type Kernel = Kernel;

    fn every() -> impl Iterator<Item = &'static Kernel> {
        FpmTensor::every()
    }

    fn process_mutants() -> impl Iterator<Item = &'static Kernel> {
        <FpmTensor as Operation>::process_mutants()
    }

    fn lengths(_: &Kernel, _: &Params, len: usize) -> Result<Lengths, JobError> {
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
    ) -> Result<(), JobError> {
        match params.channels.len() {
            0 => return Err(broken("channels", "there must be at least one").into()),
            n if n > 1 && !kernel.contract.domain.per_channel => {
                return Err(broken("channels", format!("{} takes one, not {n}", kernel.name)).into());
            }
            _ => {}
        }
        check_len(input.len(), output.len())?;
        guard(kernel.name, || kernel.run(form)(params, input, output))
    }
}

/// Parameters and length of a batch, which are two separate values in the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Multipliers, shifts and format.
    pub params: Params,
    /// Elements of the batch.
    pub len: usize,
}

/// Fixed point multiply as an operation on tensors, with the batch length as a parameter. Its jobs are those of [`Fpm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FpmTensor {}

impl TensorOperation for FpmTensor {
    const OP: &'static str = Fpm::NAME;
    type Params = Batch;
    type Domain = Domain;
    type Run = Run;

    fn kernels() -> &'static [Kernel] {
        KERNELS
    }

    fn mutants() -> &'static [Mutant<Run, Domain>] {
        mutants::fpm::mutants()
    }

    fn process_mutants() -> &'static [Kernel] {
        mutants::process()
    }

    fn sizes(domain: &Domain, batch: &Batch) -> Result<Sizes, ShapeError> {
        match batch.params.channels.len() {
            0 => return Err(broken("channels", "there must be at least one")),
            n if n > 1 && !domain.per_channel => return Err(broken("channels", format!("takes one, not {n}"))),
            _ => {}
        }
        let len = shape::elements("len", &[batch.len])?;
        Ok(Sizes { inputs: [len, 0, 0], outputs: len })
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(&call.params.params, call.tensors[0], call.output);
        Ok(())
    }
}

lookups! {
    tvm_relay: RELAY PER_CHANNEL TO_NEAREST;
    tvm_qmuls: QMULS;
    tvm_neon: RFC FIXUP;
    gemmlowp: SCALAR NEON;
    tflite: DOUBLE SINGLE REDUCED;
    cmsis_nn: DOUBLE SINGLE MVE_SINGLE;
    xnnpack: RNDNU_SCALAR RNDNU_NEON;
    tosa: APPLY_SCALE_32_SINGLE APPLY_SCALE_32_DOUBLE;
    mlir: APPLY_SCALE_SINGLE APPLY_SCALE_DOUBLE;
}

/// Applies `f` to every element.
#[inline(always)]
fn each(x: &[i32], out: &mut [i32], f: impl Fn(i32) -> i32) {
    debug_assert_eq!(x.len(), out.len());
    for (x, out) in x.iter().zip(out) {
        *out = f(*x);
    }
}

/// Builds the [`kernel::Native`] form of a function generic over [`crate::simd::Vector`], under a symbol that a disassembler can find.
macro_rules! neon_form {
    ($symbol:literal, $instructions:tt, $run:ident) => {
        $crate::simd::form::neon_form!(
            NEON,
            $symbol,
            $instructions,
            $crate::fpm::Run,
            $run::<Neon>(params: &$crate::fpm::Params, x: &[i32], out: &mut [i32])
        )
    };
}
pub(crate) use neon_form;
