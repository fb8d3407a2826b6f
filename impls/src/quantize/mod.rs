//! Quantization: expressed (floating-point) values to stored integers, as shipped systems compute it, in one file for each system.

pub(crate) mod conversion;
pub(crate) mod mlir;
pub(crate) mod mlir_loops;
pub(crate) mod mlir_opt;
mod mlir_places;
mod neon_fcvtns;
pub(crate) mod onnx;
mod pytorch;
#[cfg(test)]
pub(crate) mod tests;
mod tflite;
pub(crate) mod tflite_neon;
mod xnnpack;

use crate::contract::{Contract, Promise};
use crate::elsewhere;
use crate::job_error::JobError;
use crate::kernel;
use crate::mutants;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::quantized::{Container, Expressed, Finest, I8, Params, Storage, U8};
use crate::shape::{ShapeError, Sizes};
use serde::{Deserialize, Serialize};

/// Parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Expressed types.
    #[serde(deserialize_with = "elsewhere::list")]
    pub expressed: &'static [Expressed],
    /// Stored types; empty for every type of 1 to 32 bits.
    #[serde(with = "crate::quantized::storage_names")]
    pub storage: &'static [Storage],
    /// True if stored values may have bounds narrower than their type.
    pub bounds: bool,
    /// Finest parts of a tensor that may have separate scales.
    #[serde(with = "crate::quantized::coarser")]
    pub finest: Finest,
    /// Containers.
    #[serde(deserialize_with = "elsewhere::list")]
    pub containers: &'static [Container],
    /// True if only lanes of compiled modules (`mlir-x86` and others) have the code.
    pub compiled: bool,
}

impl Domain {
    /// Domain of tensors of f32 and whole types of 8 bits, with one scale.
    pub(crate) const BYTES: Self = Self {
        expressed: &[Expressed::F32],
        storage: &[I8, U8],
        bounds: false,
        finest: Finest::Layer,
        containers: &[Container::Ranked],
        compiled: false,
    };

    /// True if the contract covers the parameters.
    pub fn contains(&self, params: &Params) -> bool {
        let quantized = &params.quantized;
        let whole = quantized.storage.range() == (quantized.min..=quantized.max);
        self.expressed.contains(&quantized.expressed)
            && (self.storage.is_empty() || self.storage.contains(&quantized.storage))
            && (self.bounds || whole)
            && self.finest.takes(&quantized.granularity, &params.shape)
            && self.containers.contains(&params.container)
    }

    /// Returns the sizes of the words of expressed values, of two tensors without elements, and of the results. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        params.quantize_sizes()
    }

    /// Returns the place of the code; `None` if it is in this crate.
    pub(crate) fn elsewhere(&self) -> Option<&'static str> {
        self.compiled.then_some("lanes of compiled modules only (mlir-x86, mlir-aarch64, mlir-aarch64-bf16)")
    }
}

/// Kernel function `run(params, words, out)`: words of expressed values to stored values. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// Quantization under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation from floats to stored integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantize {}

impl TensorOperation for Quantize {
    common_items!(quantize);

    fn process_mutants() -> &'static [Kernel] {
        mutants::process::QUANTIZE
    }

    fn elsewhere(domain: &Domain) -> Option<&'static str> {
        domain.elsewhere()
    }

    fn takes_ranges(_: &Domain, params: &Params) -> bool {
        params.quantized.expressed.words() == 1
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        (call.code)(call.params, call.tensors[0], call.output);
        Ok(())
    }
}

lookups! {
    mlir: QCAST QCAST_VECTOR QCAST_ARM QCAST_NEON QCAST_NEON_F16;
    mlir_opt: O0 O2;
    tflite: AFFINE;
    tflite_neon: AFFINE;
    onnx: LINEAR OTHER_AXIS;
    pytorch: QUANTIZE LEGACY FUSED;
    xnnpack: FMAGIC;
    neon_fcvtns: FCVTNS;
}

/// Makes a contract without deviations.
const fn contract(promise: Promise, domain: Domain, source: &'static str) -> Contract<Domain> {
    Contract { promise, domain, deviations: &[], source }
}

/// Applies `f(x, constants)` to every f32. `constants(scale, zero_point)` is called once for each pair, with the scale rounded to f32.
#[inline(always)]
pub(crate) fn each<C>(
    params: &Params,
    x: &[i32],
    out: &mut [i32],
    constants: impl Fn(f32, i64) -> C,
    f: impl Fn(f32, &C) -> i32,
) {
    let quantized = &params.quantized;
    let pairs = quantized.scales.iter().zip(&quantized.zero_points);
    let all: Vec<C> = pairs.map(|(scale, zero_point)| constants(scale.0 as f32, *zero_point)).collect();
    let x = x.iter().map(|bits| f32::from_bits(*bits as u32));
    match &all[..] {
        [one] => x.zip(out).for_each(|(x, out)| *out = f(x, one)),
        _ => x.zip(out).enumerate().for_each(|(i, (x, out))| *out = f(x, &all[params.scale_of(i)])),
    }
}
