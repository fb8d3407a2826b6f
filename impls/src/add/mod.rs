//! Quantized addition of two tensors: each with a scale and a zero point, the result with its own; one file for each system.

pub(crate) mod cmsis_nn;
pub(crate) mod onnx;
mod pytorch;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tflite;
mod tosa;
pub(crate) mod xnnpack;

use crate::element::Element;
pub use crate::elementwise::{Operand, Params};
pub(crate) use crate::elementwise::{clamp, each};
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::mutants;
use crate::mutants::tensor::Mutant;
use crate::operation::{Call, TensorOperation};
use crate::protocol::Job;
use crate::shape::{ShapeError, Sizes, broken};

/// Which scales a kernel takes. All are normal floats in 2^-100 to 2^100, within a factor of 2^40 of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// Every three.
    Any,
    /// Twice the larger of both operands' is below 2^20 (2^15 for 16 bits) times the output's: the sum is rescaled by a multiplier that does
    /// not shift left, which the sources check.
    Rescaled,
    /// Each operand's over the output's is in `[2^-10, 2^8)`, which the source checks.
    Ratios,
    /// As [`Scales::Ratios`], but the smaller of both may be down to 2^-14, and the larger one's multiplier has no more than 22 bits; the
    /// source does otherwise in f32.
    Wide,
}

/// The parameters that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Type of both operands and of the result.
    pub element: Element,
    /// Scales.
    pub scales: Scales,
    /// Whether it clamps to any bounds; otherwise they are those of the type.
    pub clamp: bool,
}

impl Domain {
    /// Sizes of both operands, and of the results; or the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = params.sizes(self.element, self.clamp, &(SMALLEST..=LARGEST))?;
        self.check_scales(params)?;
        Ok(sizes)
    }

    fn check_scales(&self, params: &Params) -> Result<(), ShapeError> {
        let out =
            |rule: &str| Err(broken("out_scale", format!("{} is beyond what this takes: {rule}", params.out.scale.0)));
        let [lhs, rhs, scale] = [params.lhs, params.rhs, params.out].map(Operand::single);
        let (least, most) = (lhs.min(rhs).min(scale), lhs.max(rhs).max(scale));
        if f64::from(most) / f64::from(least) > APART {
            return out("scales are within a factor of 2^40");
        }
        let (smaller, larger) = (lhs.min(rhs) / scale, lhs.max(rhs) / scale);
        match self.scales {
            Scales::Rescaled if tflite::output_multiplier(params, tflite::left_shift(self.element)).1 > 0 => {
                out("twice the larger scale is below that shifted left")
            }
            Scales::Ratios if !(smaller >= 2f32.powi(-10) && larger < 256.0) => {
                out("ratios of scales are in [2^-10, 2^8)")
            }
            Scales::Wide if onnx::fixed_multipliers(params).is_none() => {
                out("ratios of scales are in [2^-14, 2^8), the larger one from 2^-10 and of 22 bits")
            }
            _ => Ok(()),
        }
    }
}

const LARGEST: f32 = (1u128 << 100) as f32;
const SMALLEST: f32 = 1.0 / LARGEST;
const APART: f64 = (1u64 << 40) as f64;

/// `run(params, lhs, rhs, out)`: bytes of the element type, results as int32. `params` and lengths have been checked.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// An addition under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Every kernel, in the order of reports.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// The kernel of that name; mutants are not kernels.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// Sums of quantized tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Add {}

impl TensorOperation for Add {
    const OP: &'static str = "add";
    type Params = Params;
    type Domain = Domain;
    type Run = Run;

    fn kernels() -> &'static [Kernel] {
        KERNELS
    }

    fn mutants() -> &'static [Mutant<Run, Domain>] {
        mutants::add::MUTANTS
    }

    fn job(kernel: &str, params: &Params) -> Job {
        Job::Add { kernel: kernel.to_owned(), params: *params }
    }

    fn sizes(domain: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        domain.sizes(params)
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
        let operands = [("lhs", domain.element, lhs), ("rhs", domain.element, rhs)];
        packed(operands, misalign, |lhs, rhs| code(params, lhs, rhs, output))
    }
}

static KERNELS: &[Kernel] = &[
    tflite::DOUBLE_I8,
    tflite::DOUBLE_U8,
    tflite::DOUBLE_I16,
    tflite::SINGLE_I8,
    tosa::DOUBLE_I8,
    tosa::DOUBLE_U8,
    tosa::SINGLE_I8,
    tosa::HALVES_I8,
    cmsis_nn::DOUBLE_S8,
    cmsis_nn::SINGLE_S8,
    xnnpack::QS8,
    xnnpack::QU8,
    xnnpack::NEON_QS8,
    onnx::RAW_I8,
    onnx::RAW_U8,
    onnx::NEON_I8,
    pytorch::QADD_I8,
    pytorch::QADD_U8,
];
