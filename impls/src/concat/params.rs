//! Parameters of one concatenation, and the checks that every kernel makes.

use crate::element::Element;
use crate::elementwise::Operand;
use crate::shape::{self, ShapeError, broken, positive};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Number of axes of each tensor.
pub const RANKS: RangeInclusive<usize> = 1..=4;
/// Number of inputs.
pub const INPUTS: RangeInclusive<usize> = 2..=4;

/// One input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Elements along the axis.
    pub size: usize,
    /// Scale and zero point.
    pub operand: Operand,
}

/// Shape and quantization of one concatenation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Type of all stored values.
    pub element: Element,
    /// Sizes of the 1 to 4 axes of the output. The size of the concatenation axis is the sum of the inputs' sizes.
    pub shape: Vec<usize>,
    /// Concatenation axis, counted from the first.
    pub axis: usize,
    /// 2 to 4 inputs.
    pub inputs: Vec<Input>,
    /// Scale and zero point of the output.
    pub out: Operand,
}

impl Params {
    /// Returns the number of elements of the output. An error names the invalid argument.
    pub fn elements(&self) -> Result<usize, ShapeError> {
        if !RANKS.contains(&self.shape.len()) {
            return Err(broken("shape", format!("{} axes; a tensor has 1 to 4", self.shape.len())));
        }
        if !INPUTS.contains(&self.inputs.len()) {
            return Err(broken("inputs", format!("{} inputs; there are 2 to 4", self.inputs.len())));
        }
        let Some(along) = self.shape.get(self.axis) else {
            return Err(broken("axis", format!("{} is no axis of {}", self.axis, self.shape.len())));
        };
        for size in &self.shape {
            positive("shape", *size)?;
        }
        let mut sum = 0usize;
        for input in &self.inputs {
            sum = sum.saturating_add(positive("sizes", input.size)?);
        }
        if sum != *along {
            return Err(broken("shape", format!("{along} along the axis is not the sum of the sizes, {sum}")));
        }
        shape::elements("shape", &self.shape)
    }

    /// Number of rows of each input. The rows of an input are contiguous in the input, and apart in the output.
    pub(crate) fn rows(&self) -> usize {
        self.shape[..self.axis].iter().product()
    }

    /// Number of elements in one step along the axis.
    pub(crate) fn step(&self) -> usize {
        self.shape[self.axis + 1..].iter().product()
    }
}
