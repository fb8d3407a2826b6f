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
use crate::execute::Packed;
use crate::kernel;
use crate::mutants;
use crate::mutants::tensor::Mutant;
use crate::operation::{Call, TensorOperation};
use crate::protocol::Job;
use crate::quantized::Scale;
use crate::shape::{self, ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

/// Scale and zero point of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// The scale, which is an f32: real = scale * (stored - zero point).
    pub scale: Scale,
    /// The stored value of 0.
    pub zero_point: i32,
}

/// Parameters of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Type of all stored values.
    pub element: Element,
    /// Elements of each tensor.
    pub len: usize,
    /// Of the left operand.
    pub lhs: Operand,
    /// Of the right operand.
    pub rhs: Operand,
    /// Of the result.
    pub out: Operand,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

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
        let len = shape::elements("len", &[shape::positive("len", params.len)?])?;
        let (range, name) = (self.element.range(), self.element.name());
        if params.element != self.element {
            return Err(broken("element", format!("this kernel takes {name}, not {}", params.element.name())));
        }
        let operands = [
            ("lhs_scale", "lhs_zero_point", params.lhs),
            ("rhs_scale", "rhs_zero_point", params.rhs),
            ("out_scale", "out_zero_point", params.out),
        ];
        for (scale, zero_point, operand) in operands {
            if f64::from(operand.single()) != operand.scale.0 || !(SMALLEST..=LARGEST).contains(&operand.single()) {
                return Err(broken(scale, format!("{} is no f32 in 2^-100 to 2^100", operand.scale.0)));
            }
            if !range.contains(&operand.zero_point) {
                return Err(broken(zero_point, format!("{} is no {name}", operand.zero_point)));
            }
        }
        for (argument, value) in [("min", params.min), ("max", params.max)] {
            if !range.contains(&value) {
                return Err(broken(argument, format!("{value} is no {name}")));
            }
        }
        if params.min > params.max {
            return Err(broken("min", format!("{} is above max, {}", params.min, params.max)));
        }
        if !self.clamp && (params.min, params.max) != (*range.start(), *range.end()) {
            return Err(broken("min", format!("this kernel clamps to all of {name} only")));
        }
        self.check_scales(params)?;
        Ok(Sizes { inputs: [len, len, 0], outputs: len })
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

const SMALLEST: f32 = 1.0 / LARGEST;
const LARGEST: f32 = (1u128 << 100) as f32;
const APART: f64 = (1u64 << 40) as f64;

impl Operand {
    /// The scale as the float that it is.
    #[inline(always)]
    pub(crate) fn single(self) -> f32 {
        self.scale.0 as f32
    }
}

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

    fn call(call: Call<'_, Self>) -> Result<(), String> {
        let Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
        let lhs = Packed::new("lhs", domain.element, lhs, misalign)?;
        let rhs = Packed::new("rhs", domain.element, rhs, misalign)?;
        code(params, lhs.bytes(), rhs.bytes(), output);
        Ok(())
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

/// Applies `f(lhs, rhs)` to every pair of elements of a type.
#[inline(always)]
pub(crate) fn each(element: Element, lhs: &[u8], rhs: &[u8], out: &mut [i32], f: impl Fn(i32, i32) -> i32) {
    let size = element.bytes();
    let elements = lhs.chunks_exact(size).zip(rhs.chunks_exact(size));
    elements.zip(out).for_each(|((lhs, rhs), out)| *out = f(element.read(lhs), element.read(rhs)));
}

/// `max(x, min)`, then `min(.., max)`, as the sources write it.
#[inline(always)]
pub(crate) fn clamp(x: i32, params: &Params) -> i32 {
    x.max(params.min).min(params.max)
}
