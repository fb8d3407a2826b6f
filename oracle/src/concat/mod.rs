//! Concatenation of two to four quantized tensors along one axis, each rescaled to the scale and zero point of the output and clamped to the type:
//! `(q - zero point of its input) * scale of its input / output scale + output zero point`; and the schemes by which systems compute it. Scales are floats of
//! 32 bits, taken exactly.
//!
//! Each scheme has two forms. [`Scheme::exact`] moves each input element to its output coordinates, and computes on rationals.
//! [`Scheme::expected`] fetches each result from its source, by runs, and computes on machine integers.
//!
//! Source of the operation: TensorFlow Lite operators, CONCATENATION; ONNX Runtime contrib operators, QLinearConcat; TOSA specification, CONCAT.

mod expected;
mod registry;
pub mod steps;

use crate::elementwise::Operand;
use crate::quantize::{Storage, suffix};
use crate::rounding::RoundingRule;
use crate::scheme::{registered, step_names};
use crate::shape::{self, ShapeError, broken};
use expected::Fast;
use rug::{Integer, Rational};
use std::ops::RangeInclusive;
use steps::Named;

pub use registry::DEFINITIONS;

/// Exponents of scales, as powers of two, such that no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -30..=30;
/// Largest ratio of an input scale to the output scale, or the reverse, as a power of two.
pub const APART: u32 = 16;
/// Number of axes of each tensor.
pub const RANKS: RangeInclusive<usize> = 1..=4;
/// Number of inputs.
pub const INPUTS: RangeInclusive<usize> = 2..=4;

/// One input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Size along the axis.
    pub size: usize,
    /// Scale and zero point.
    pub operand: Operand,
}

/// Shape and quantization of a concatenation. The inputs follow one another, each row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concatenation {
    /// Sizes of the output; the size along the axis is the sum of the inputs' sizes.
    pub shape: Vec<usize>,
    /// Axis of the concatenation.
    pub axis: usize,
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// Scale and zero point of the output.
    pub out: Operand,
    /// Type of all stored values: 8 or 16 bits, or 32 bits if nothing narrows the result.
    pub storage: Storage,
}

/// Mathematical definition of the rescaling.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Steps from a stored value to the result.
    pub steps: &'static [Named],
    /// Definition in machine integers, derived independently.
    fast: Fast,
}

registered!(|definition| step_names(definition.steps));

impl Definition {
    /// True if stored values are copied unchanged, so that all tensors have one scale and one zero point.
    pub fn is_copy(&self) -> bool {
        self.steps.is_empty()
    }
}

/// Definition with a policy for results that do not fit; every result fits.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Concatenation {
    /// Returns the number of elements of an input.
    fn elements(&self, input: &Input) -> usize {
        let others = self.shape.iter().enumerate().filter(|(axis, _)| *axis != self.axis);
        input.size * others.map(|(_, size)| size).product::<usize>()
    }

    /// Returns the number of output elements, the sum over all inputs; the error is the invalid argument.
    pub fn check(&self) -> Result<usize, ShapeError> {
        if !RANKS.contains(&self.shape.len()) {
            return Err(broken("shape", format!("{} axes; a tensor has 1 to 4", self.shape.len())));
        }
        if !INPUTS.contains(&self.inputs.len()) {
            return Err(broken("inputs", format!("{} inputs; there are 2 to 4", self.inputs.len())));
        }
        let Some(along) = self.shape.get(self.axis) else {
            return Err(broken("axis", format!("{} is no axis of {}", self.axis, self.shape.len())));
        };
        if self.shape.contains(&0) || self.inputs.iter().any(|input| input.size == 0) {
            return Err(broken("shape", "a size must be at least 1, not 0"));
        }
        if ![8, 16, 32].contains(&self.storage.bits) {
            return Err(broken("storage", format!("{} bits; it has 8, 16 or 32", self.storage.bits)));
        }
        let sizes = self.inputs.iter().try_fold(0usize, |sum, input| sum.checked_add(input.size));
        if sizes != Some(*along) {
            return Err(broken("shape", format!("{along} along the axis is not the sum of the inputs' sizes")));
        }
        self.check_scales()?;
        shape::elements("shape", &self.shape)
    }

    fn check_scales(&self) -> Result<(), ShapeError> {
        self.out.check("out", self.storage, &EXPONENTS)?;
        let out = self.out.exact_scale();
        for input in &self.inputs {
            input.operand.check("inputs", self.storage, &EXPONENTS)?;
            let scale = input.operand.exact_scale();
            let (less, more) = if scale < out { (&scale, &out) } else { (&out, &scale) };
            if Rational::from(more / less) > Rational::from(1) << APART {
                return Err(broken("inputs", format!("a scale is more than 2^{APART} apart from that of the output")));
            }
        }
        Ok(())
    }

    fn check_values(&self, definition: &Definition, values: &[i32]) -> Result<(), ShapeError> {
        shape::length("inputs", values.len(), self.check()?)?;
        if definition.is_copy() && self.inputs.iter().any(|input| input.operand != self.out) {
            return Err(broken("out", "scale and zero point are not those of every input"));
        }
        self.storage.holds("inputs", values)
    }

    /// Applies `of` to each input element, and stores the value at the output position of the element: its coordinates in its input, moved
    /// along the axis by the sizes of the earlier inputs.
    fn placed<T: Clone + Default>(&self, values: &[i32], of: impl Fn(&Input, i32) -> T) -> Vec<T> {
        let mut out = vec![T::default(); values.len()];
        let (mut rest, mut before) = (values, 0);
        for input in &self.inputs {
            let (own, others) = rest.split_at(self.elements(input));
            let mut sizes = self.shape.clone();
            sizes[self.axis] = input.size;
            let mut place = vec![0; sizes.len()];
            for value in own {
                let at = |axis: usize| place[axis] + if axis == self.axis { before } else { 0 };
                let index = (0..sizes.len()).fold(0, |index, axis| index * self.shape[axis] + at(axis));
                out[index] = of(input, *value);
                advance(&mut place, &sizes);
            }
            (rest, before) = (others, before + input.size);
        }
        out
    }

    /// Returns the exact value of each result, neither rounded nor clamped.
    pub fn rationals(&self, values: &[i32]) -> Result<Vec<Rational>, ShapeError> {
        shape::length("inputs", values.len(), self.check()?)?;
        Ok(self.placed(values, |input, value| {
            let real =
                input.operand.exact_scale() * Integer::from(i64::from(value) - i64::from(input.operand.zero_point));
            real / self.out.exact_scale() + self.out.zero_point
        }))
    }
}

/// Advances to the next coordinates, row-major.
fn advance(place: &mut [usize], sizes: &[usize]) {
    for (at, size) in place.iter_mut().zip(sizes).rev() {
        *at += 1;
        if *at < *size {
            return;
        }
        *at = 0;
    }
}

impl Scheme {
    /// Returns the scheme that rounds the exact value once and then adds the zero point.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(suffix(rule))
    }

    /// Returns the scheme of a Q0.31 multiplier, rounded once.
    pub fn of_multiplier(rule: RoundingRule) -> Self {
        Self::named(&format!("q31-{}", suffix(rule)))
    }

    /// Computes each result by rationals.
    pub fn exact(&self, p: &Concatenation, values: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        p.check_values(self.definition, values)?;
        Ok(p.placed(values, |input, value| self.definition.result(p, input, value)))
    }

    /// Computes the value of one result after each step, by rationals.
    pub fn trace(&self, p: &Concatenation, values: &[i32], at: usize) -> Result<Option<steps::Trace>, ShapeError> {
        p.check_values(self.definition, values)?;
        let sources = p.placed(values, |input, value| Some((*input, value)));
        Ok(sources.into_iter().nth(at).flatten().map(|(input, value)| self.definition.trace(p, &input, value)))
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`].
    pub fn expected(&self, p: &Concatenation, values: &[i32]) -> Result<Vec<i32>, ShapeError> {
        p.check_values(self.definition, values)?;
        Ok(self.definition.fast.each(p, values))
    }
}
