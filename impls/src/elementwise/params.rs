//! Parameters of one batch, and the checks that every kernel makes.

use crate::element::Element;
use crate::quantized::Scale;
use crate::shape::{self, ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Scale and zero point of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Scale, an f32: real = scale * (stored - zero point).
    pub scale: Scale,
    /// Stored value of the real number 0.
    pub zero_point: i32,
}

/// Parameters of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Type of all stored values.
    pub element: Element,
    /// Elements of each tensor.
    pub len: usize,
    /// Scale and zero point of the left operand.
    pub lhs: Operand,
    /// Scale and zero point of the right operand.
    pub rhs: Operand,
    /// Scale and zero point of the result.
    pub out: Operand,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

impl Params {
    /// Sizes of both operands and of the results, for a kernel of a type with scales in a range. If `clamp` is true, the kernel clamps to arbitrary
    /// bounds; otherwise the bounds must be those of the type. An error names the invalid argument.
    pub(super) fn sizes(
        &self,
        element: Element,
        clamp: bool,
        scales: &RangeInclusive<f32>,
    ) -> Result<Sizes, ShapeError> {
        let len = shape::elements("len", &[shape::positive("len", self.len)?])?;
        let (range, name) = (element.range(), element.name());
        if self.element != element {
            return Err(broken("element", format!("this kernel takes {name}, not {}", self.element.name())));
        }
        let operands = [
            (["lhs_scale", "lhs_zero_point"], self.lhs),
            (["rhs_scale", "rhs_zero_point"], self.rhs),
            (["out_scale", "out_zero_point"], self.out),
        ];
        for (names, operand) in operands {
            operand.check(names, element, scales)?;
        }
        for (argument, value) in [("min", self.min), ("max", self.max)] {
            if !range.contains(&value) {
                return Err(broken(argument, format!("{value} is no {name}")));
            }
        }
        if self.min > self.max {
            return Err(broken("min", format!("{} is above max, {}", self.min, self.max)));
        }
        if !clamp && (self.min, self.max) != (*range.start(), *range.end()) {
            return Err(broken("min", format!("this kernel clamps to all of {name} only")));
        }
        Ok(Sizes { inputs: [len, len, 0], outputs: len })
    }
}

impl Operand {
    /// Checks that the scale is an f32 in a range, and that the zero point is a value of the type. An error names the invalid argument. `[scale,
    /// zero_point]` are the names of the two arguments.
    pub(crate) fn check(
        self,
        [scale, zero_point]: [&'static str; 2],
        element: Element,
        scales: &RangeInclusive<f32>,
    ) -> Result<(), ShapeError> {
        if f64::from(self.single()) != self.scale.0 || !scales.contains(&self.single()) {
            let [least, most] = [scales.start(), scales.end()].map(|end| end.log2());
            return Err(broken(scale, format!("{} is no f32 in 2^{least} to 2^{most}", self.scale.0)));
        }
        if !element.range().contains(&self.zero_point) {
            return Err(broken(zero_point, format!("{} is no {}", self.zero_point, element.name())));
        }
        Ok(())
    }

    /// Returns the scale as an f32.
    #[inline(always)]
    pub fn single(self) -> f32 {
        self.scale.0 as f32
    }
}
