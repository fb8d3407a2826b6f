//! Two-dimensional average and max pooling of quantized tensors, NHWC: `out[b,y,x,c]` is the average or the maximum of
//! `in[b, y*stride_h + i - top, x*stride_w + j - left, c]` over the window, in the scale and zero point of the output, clamped; and the schemes by which
//! systems compute it.
//!
//! An element outside the image is real 0. An average adds 0 for such an element, and its divisor counts the element or not
//! ([`Pooling::count_padding`]). A maximum omits the element. Every window contains at least one element of the image. Some systems average stored
//! values. This is equal for tensors with one scale and zero point, but the zero point affects the rounding; counted padding is stored 0.
//!
//! Each scheme has two forms. [`Scheme::exact`] copies each element of the image into the windows that contain it, and computes on rationals.
//! [`Scheme::expected`] finds each window from its output, sums by a summed-area table, and computes on machine integers.
//!
//! Source of the operation: TensorFlow Lite 8-bit quantization specification, AVERAGE_POOL_2D and MAX_POOL_2D; ONNX Runtime contrib operators,
//! QLinearAveragePool; TOSA specification, AVG_POOL2D and MAX_POOL2D.

mod expected;
mod registry;
pub mod steps;
mod windows;

use crate::conv2d::side::{COLUMNS, ROWS, Sizes};
use crate::elementwise::Operand;
use crate::quantize::{Storage, suffix};
use crate::rounding::RoundingRule;
use crate::scheme::Registered;
use crate::shape::{self, ShapeError, broken};
use expected::Fast;
use rug::{Integer, Rational};
use std::ops::RangeInclusive;
use steps::{Gather, Step, Trace};

pub use registry::DEFINITIONS;

/// Exponents of scales, as powers of two, such that no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -30..=30;
/// Largest ratio of the larger to the smaller scale, as a power of two.
pub const APART: u32 = 20;

/// Shape, quantization and bounds of a pooling. Input `[B,H,W,C]`, output `[B,OH,OW,C]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooling {
    /// Images.
    pub batches: usize,
    /// Rows of the input.
    pub height: usize,
    /// Columns of the input.
    pub width: usize,
    /// Channels of both tensors.
    pub channels: usize,
    /// Rows of the window.
    pub kernel_h: usize,
    /// Columns of the window.
    pub kernel_w: usize,
    /// Distance of consecutive outputs, in rows.
    pub stride_h: usize,
    /// Distance of consecutive outputs, in columns.
    pub stride_w: usize,
    /// Rows of padding above.
    pub top: usize,
    /// Rows of padding below.
    pub bottom: usize,
    /// Columns of padding to the left.
    pub left: usize,
    /// Columns of padding to the right.
    pub right: usize,
    /// True if the divisor of an average counts the padding.
    pub count_padding: bool,
    /// Scale and zero point of the input.
    pub input: Operand,
    /// Scale and zero point of the output.
    pub out: Operand,
    /// Type of all stored values: 8 or 16 bits, or 32 bits if nothing narrows the result.
    pub storage: Storage,
    /// Word of a sum of integers, which wraps. Every source has int32, large enough for every sum.
    pub sum: Storage,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// Word of sums in the sources.
pub const SUM: Storage = Storage { bits: 32, signed: true };

/// Mathematical definition of pooling.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Reduction of the elements of a window to one value.
    pub gather: (&'static str, Gather),
    /// Steps from this value to the result.
    pub steps: &'static [(&'static str, Step)],
    /// Definition in machine integers, derived independently.
    fast: Fast,
}

impl Registered for &'static Definition {
    fn all() -> impl Iterator<Item = Self> {
        DEFINITIONS.iter()
    }

    fn name(self) -> &'static str {
        self.name
    }

    fn described(self) -> crate::scheme::Described {
        let Definition { name, summary, source, gather, steps, .. } = *self;
        let steps = std::iter::once(gather.0).chain(steps.iter().map(|(name, _)| *name)).collect();
        crate::scheme::Described { name, summary, source, steps }
    }
}

impl Definition {
    /// True if stored values are averaged or compared directly, so that both tensors have one scale and one zero point.
    pub fn is_of_stored(&self) -> bool {
        matches!(self.gather.1, Gather::Stored | Gather::Largest)
    }

    /// True if both tensors must have one scale.
    pub fn has_one_scale(&self) -> bool {
        let reciprocal = Step::Multiply(steps::Multiplier::Reciprocal);
        self.is_of_stored() || self.steps.iter().any(|(_, step)| *step == reciprocal)
    }

    /// True for a maximum.
    pub fn is_largest(&self) -> bool {
        self.gather.1 == Gather::Largest
    }
}

/// Definition with the policy for a rescale beyond int32.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Pooling {
    /// Returns rows and columns of the output; the error is the invalid argument.
    pub fn output(&self) -> Result<(usize, usize), ShapeError> {
        let sides = [("top", self.top, self.kernel_h), ("bottom", self.bottom, self.kernel_h)];
        let across = [("left", self.left, self.kernel_w), ("right", self.right, self.kernel_w)];
        if let Some((argument, padding, kernel)) = sides.into_iter().chain(across).find(|(_, p, k)| p >= k) {
            return Err(broken(argument, format!("padding of {padding} is no less than the window of {kernel}")));
        }
        let rows = Sizes::of(self.height, [self.top, self.bottom], [self.kernel_h, self.stride_h, 1]);
        let columns = Sizes::of(self.width, [self.left, self.right], [self.kernel_w, self.stride_w, 1]);
        Ok((ROWS.outputs(&rows)?, COLUMNS.outputs(&columns)?))
    }

    /// Returns the number of elements of input and output; the error is the invalid argument.
    pub fn check(&self) -> Result<[usize; 2], ShapeError> {
        shape::positive(&[("batches", self.batches), ("channels", self.channels)])?;
        let (rows, columns) = self.output()?;
        if ![8, 16, 32].contains(&self.storage.bits) {
            return Err(broken("storage", format!("{} bits; it has 8, 16 or 32", self.storage.bits)));
        }
        for (argument, operand) in [("input", self.input), ("out", self.out)] {
            operand.check(argument, self.storage, &EXPONENTS)?;
        }
        let (input, out) = (self.input.exact_scale(), self.out.exact_scale());
        let (less, more) = if input < out { (&input, &out) } else { (&out, &input) };
        if Rational::from(more / less) > Rational::from(1) << APART {
            return Err(broken("out", format!("the scales are more than 2^{APART} apart")));
        }
        if self.min > self.max {
            return Err(broken("min", format!("{} is above max, {}", self.min, self.max)));
        }
        self.storage.holds("min", &[self.min])?;
        self.storage.holds("max", &[self.max])?;
        let input = shape::elements("input", &[self.batches, self.height, self.width, self.channels])?;
        let of_window = shape::elements("kernel_h", &[self.kernel_h, self.kernel_w])?;
        if of_window as u64 >= 1 << 24 {
            return Err(broken("kernel_h", format!("a window of {of_window} elements is no float")));
        }
        Ok([input, shape::elements("out", &[self.batches, rows, columns, self.channels])?])
    }

    fn check_input(&self, definition: &Definition, input: &[i32]) -> Result<usize, ShapeError> {
        let [of_input, outputs] = self.check()?;
        shape::length("input", input.len(), of_input)?;
        if definition.is_of_stored() && self.input != self.out {
            return Err(broken("out", "scale and zero point are not those of the input".to_owned()));
        }
        if definition.has_one_scale() && self.input.scale != self.out.scale {
            return Err(broken("out", "its scale is not that of the input".to_owned()));
        }
        self.storage.holds("input", input)?;
        let largest = input.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0).max(self.input.furthest(input));
        if u64::from(largest) * (self.kernel_h * self.kernel_w) as u64 >= 1 << 31 {
            return Err(broken("kernel_h", format!("a sum of so many elements up to {largest} is no int32")));
        }
        Ok(outputs)
    }

    /// Computes the exact average of each window in units of the output's scale, plus the zero point, neither rounded nor clamped.
    pub fn averages(&self, input: &[i32]) -> Result<Vec<Rational>, ShapeError> {
        let [of_input, _] = self.check()?;
        shape::length("input", input.len(), of_input)?;
        let by = self.input.exact_scale() / self.out.exact_scale();
        let one = |window: windows::Window| {
            let sum: Integer = window.stored.iter().map(|v| Integer::from(v - self.input.zero_point)).sum();
            Rational::from(sum) / Integer::from(window.count(self)) * &by + self.out.zero_point
        };
        Ok(windows::scattered(self, input).into_iter().map(one).collect())
    }

    /// Returns the largest element of each window.
    pub fn largest(&self, input: &[i32]) -> Result<Vec<Rational>, ShapeError> {
        let [of_input, _] = self.check()?;
        shape::length("input", input.len(), of_input)?;
        let one = |window: windows::Window| window.stored.into_iter().max().unwrap_or_default().into();
        Ok(windows::scattered(self, input).into_iter().map(one).collect())
    }
}

impl Scheme {
    /// Returns the scheme that rounds the exact average over the output's scale once.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(suffix(rule))
    }

    /// Computes each result by rationals; `None` if a step is out of domain.
    pub fn exact(&self, p: &Pooling, input: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        let outputs = p.check_input(self.definition, input)?;
        let windows = windows::scattered(p, input);
        assert_eq!(windows.len(), outputs, "every output has a window");
        Ok(windows.into_iter().map(|window| self.definition.result(self.overflow, p, &window)).collect())
    }

    /// Traces every step of one result by rationals; `None` if `at` is not an output.
    pub fn trace(&self, p: &Pooling, input: &[i32], at: usize) -> Result<Option<Trace>, ShapeError> {
        p.check_input(self.definition, input)?;
        let window = windows::scattered(p, input).into_iter().nth(at);
        Ok(window.map(|window| self.definition.trace(self.overflow, p, &window)))
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`]; `None` if a step is out of domain.
    pub fn expected(&self, p: &Pooling, input: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        p.check_input(self.definition, input)?;
        Ok(self.definition.fast.each(self.overflow, p, input))
    }
}
