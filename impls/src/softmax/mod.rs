//! Softmax of rows of quantized numbers, in fixed point: int8 or uint8 in, int8, uint8 or int16 out, in steps of 2^-8 or 2^-16.

pub(crate) mod cmsis_nn;
#[cfg(test)]
mod tests;
pub(crate) mod tflite;

use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, broken, positive};
use serde::{Deserialize, Serialize};

/// Largest row: for 512 or more equal elements the sources shift by more than 31.
pub const MOST: usize = 511;

/// Parameters of one softmax. Input and output `[rows, depth]`. A difference `d` of stored values represents the exponent `d * multiplier *
/// 2^(left_shift - 57)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Type of the input.
    pub input: Element,
    /// Type of the output.
    pub output: Element,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row.
    pub depth: usize,
    /// Multiplier of differences, 2^30 to 2^31 - 1.
    pub multiplier: i32,
    /// Left shift of differences, 0 to 30.
    pub left_shift: i32,
    /// Smallest difference from the row's maximum whose exponential is not 0: `-2^(31 - left_shift)` to 0.
    pub diff_min: i32,
}

impl Params {
    /// Returns the elements of the input, and of the output. An error names the invalid argument.
    pub fn elements(&self) -> Result<usize, ShapeError> {
        shape::elements("rows", &[positive("rows", self.rows)?, positive("depth", self.depth)?])
    }
}

/// Types of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of the input.
    pub input: Element,
    /// Type of the output.
    pub output: Element,
}

impl Domain {
    /// Returns the sizes of input and output. An error names the invalid argument.
    pub fn sizes(&self, p: &Params) -> Result<Sizes, ShapeError> {
        for (argument, asked, own) in [("input", p.input, self.input), ("output", p.output, self.output)] {
            if asked != own {
                return Err(broken(argument, format!("the kernel has {}, not {}", own.name(), asked.name())));
            }
        }
        if p.depth > MOST {
            return Err(broken("depth", format!("{} is more than {MOST}", p.depth)));
        }
        if p.multiplier < 1 << 30 {
            return Err(broken("multiplier", format!("{} is below 2^30", p.multiplier)));
        }
        if !(0..=30).contains(&p.left_shift) {
            return Err(broken("left_shift", format!("{} is not in 0 to 30", p.left_shift)));
        }
        let least = -(1i64 << (31 - p.left_shift));
        if !(least..=0).contains(&i64::from(p.diff_min)) {
            return Err(broken("diff_min", format!("{} is not in {least} to 0", p.diff_min)));
        }
        let elements = p.elements()?;
        Ok(Sizes { inputs: [elements, 0, 0], outputs: elements })
    }
}

/// Kernel function `run(params, input, out)`: bytes of the input's type, results as int32. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[u8], &mut [i32]);

/// Softmax under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation of softmax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softmax {}

impl TensorOperation for Softmax {
    common_items!(softmax);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [input, ..], output, misalign, .. } = call;
        let operands = [("input", domain.input, input), ("nothing", domain.input, &[][..])];
        packed(operands, misalign, |input, _| code(params, input, output))
    }
}

lookups! {
    tflite: TO_I8 TO_U8 TO_I16;
    cmsis_nn: S8 S8_TO_S16;
}

/// Calls `of` for each row, with its stored values and its results.
#[inline(always)]
pub(crate) fn rows(
    p: &Params,
    element: Element,
    input: &[u8],
    out: &mut [i32],
    mut of: impl FnMut(&[i32], &mut [i32]),
) {
    let mut row = vec![0; p.depth];
    for (bytes, out) in input.chunks_exact(p.depth).zip(out.chunks_exact_mut(p.depth)) {
        row.iter_mut().zip(bytes.chunks_exact(1)).for_each(|(v, byte)| *v = element.read(byte));
        of(&row, out);
    }
}
