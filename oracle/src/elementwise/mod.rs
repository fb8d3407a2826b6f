//! Quantized operations on two tensors, element by element: the sum, difference or product of the reals of the stored values, over the output's
//! scale, rounded to an integer, plus the output's zero point, clamped; and the schemes by which systems compute it.
//!
//! [`add`], [`sub`] and [`mul`] are the instances of [`Arithmetic`]. Each scheme has two forms: steps on rationals ([`steps`]), and machine integers,
//! derived from the printed formula and sharing no step with the rationals.
//!
//! Source of the operations: ONNX operators, QLinearAdd, Sub and QLinearMul; TensorFlow Lite 8-bit quantization specification, ADD, SUB and MUL.
//! Scales are floats, as in the files of both systems.

pub mod add;
mod integers;
pub mod mul;
mod operand;
mod registry;
pub mod steps;
pub mod sub;
mod sums;

use crate::quantize::{Storage, suffix};
use crate::rounding::RoundingRule;
use crate::scheme::{Described, Registered, Scheme};
use crate::shape::{self, ShapeError, broken};
use integers::Fast;
use rug::{Integer, Rational};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use steps::{Constants, Named, OwnStep};

pub use operand::{Operand, Side};
pub(crate) use registry::joined;

/// Arithmetic of an operation on two elements.
pub trait Arithmetic: Copy + Debug + Eq + Send + Sync + 'static {
    /// Parameter for the arithmetic alone.
    type Own: Copy + Debug + Eq + Send + Sync;
    /// Steps used only by this arithmetic.
    type Step: OwnStep<Self>;
    /// Constants that these steps derive from the parameters of a batch.
    type Constants: Clone + Debug;
    /// Computation of a scheme's results in machine integers.
    type Fast: Fast<Self>;
    /// Domain of scales that a system accepts.
    type Scales: Copy + Debug;
    /// Exponents of scales, as powers of two, such that no f32 step overflows or becomes subnormal.
    const EXPONENTS: RangeInclusive<i32>;
    /// Every scheme.
    const DEFINITIONS: &'static [Definition<Self>];

    /// Checks the requirements of this arithmetic on a batch, given the largest distance of each operand's stored values from its zero point.
    /// The error names the invalid argument.
    fn check(p: &Parameters<Self>, furthest: [u32; 2]) -> Result<(), ShapeError>;
    /// True if a system with this domain of scales accepts these parameters, all positive numbers within [`Arithmetic::EXPONENTS`].
    fn takes(p: &Parameters<Self>, scales: Self::Scales) -> bool;
    /// Computes the constants for the exact scales of both operands and of the result.
    fn constants(p: &Parameters<Self>, scales: &[Rational; 3]) -> Self::Constants;
    /// Computes the exact sum or product. `integers` is true if the operands are differences of stored values from zero points.
    fn combined(p: &Parameters<Self>, operands: [&Rational; 2], integers: bool) -> Rational;
}

/// Parameters of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters<A: Arithmetic> {
    /// Scale and zero point of the left operand.
    pub lhs: Operand,
    /// Scale and zero point of the right operand.
    pub rhs: Operand,
    /// Scale and zero point of the result.
    pub out: Operand,
    /// Type of all stored values: 8 or 16 bits, or 32 bits if nothing narrows the result.
    pub storage: Storage,
    /// Parameter for the arithmetic alone.
    pub own: A::Own,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// Mathematical definition of a scheme of an arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Definition<A: Arithmetic> {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Steps of each operand, from the stored value minus its zero point to a term of the sum or a factor of the product.
    pub operand: &'static [Named<A::Step>],
    /// Steps of the sum or the product.
    pub combined: &'static [Named<A::Step>],
    /// Definition in machine integers, derived independently.
    fast: A::Fast,
}

impl<A: Arithmetic> Registered for &'static Definition<A> {
    fn all() -> impl Iterator<Item = Self> {
        A::DEFINITIONS.iter()
    }

    fn name(self) -> &'static str {
        self.name
    }

    fn described(self) -> Described {
        let steps = self.operand.iter().chain(self.combined).map(|(name, _)| *name).collect();
        Described { name: self.name, summary: self.summary, source: self.source, steps }
    }
}

impl<A: Arithmetic> Parameters<A> {
    /// Checks that the batch is valid. The error names the invalid argument.
    pub fn check(&self, lhs: &[i32], rhs: &[i32]) -> Result<(), ShapeError> {
        shape::length("rhs", rhs.len(), shape::elements("lhs", &[lhs.len()])?)?;
        // 32 bits: the result of a kernel before narrowing.
        if ![8, 16, 32].contains(&self.storage.bits) {
            return Err(broken("storage", format!("{} bits; it has 8, 16 or 32", self.storage.bits)));
        }
        let tensors = [("lhs", self.lhs), ("rhs", self.rhs), ("out", self.out)];
        tensors.into_iter().try_for_each(|(argument, operand)| operand.check(argument, self.storage, &A::EXPONENTS))?;
        let ends = [self.min, self.max];
        if self.min > self.max {
            return Err(broken("min", format!("{} is above max, {}", self.min, self.max)));
        }
        [lhs, rhs, &ends].into_iter().try_for_each(|values| self.storage.holds("lhs", values))?;
        A::check(self, [self.lhs.furthest(lhs), self.rhs.furthest(rhs)])
    }

    /// True if a system with this domain of scales accepts these parameters. Only scales, zero points and the type of stored values matter.
    pub fn takes(&self, scales: A::Scales) -> bool {
        let operands = [self.lhs, self.rhs, self.out];
        operands.iter().all(|operand| operand.in_binades(&A::EXPONENTS)) && A::takes(self, scales)
    }

    /// Computes the exact result of two stored values, neither rounded nor clamped.
    pub fn real(&self, lhs: i32, rhs: i32) -> Rational {
        let of = |operand: Operand, stored: i32| Rational::from(stored - operand.zero_point) * operand.exact_scale();
        let combined = A::combined(self, [&of(self.lhs, lhs), &of(self.rhs, rhs)], false);
        combined / self.out.exact_scale() + self.out.zero_point
    }

    fn operand(&self, side: Side) -> Operand {
        match side {
            Side::Lhs => self.lhs,
            Side::Rhs => self.rhs,
        }
    }
}

impl<A: Arithmetic> Scheme<&'static Definition<A>> {
    /// Creates the scheme that rounds the exact result over the output's scale once.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(suffix(rule))
    }

    /// Computes each result by rationals; `None` if a step is out of domain.
    pub fn exact(&self, p: &Parameters<A>, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        p.check(lhs, rhs)?;
        let (c, definition) = (Constants::new(p), self.definition);
        let (left, right) = (self.reals(&c, Side::Lhs, lhs), self.reals(&c, Side::Rhs, rhs));
        let one = |(lhs, rhs): (&i32, &i32)| {
            let operands = [left[lhs].as_ref()?, right[rhs].as_ref()?];
            let combined = A::combined(p, operands, definition.operand.is_empty());
            let result = c.all(definition.combined, combined, self.overflow, None)?;
            assert!(result.is_integer(), "{} ends in the fraction {result}", definition.name);
            Some(result.into_numer_denom().0)
        };
        Ok(lhs.iter().zip(rhs).map(one).collect())
    }

    /// Computes the term or factor of each stored value of an operand, once for each value.
    fn reals(&self, c: &Constants<'_, A>, side: Side, stored: &[i32]) -> BTreeMap<i32, Option<Rational>> {
        let mut reals = BTreeMap::new();
        for v in stored {
            let difference = || Rational::from(v - c.p.operand(side).zero_point);
            let real = || c.all(self.definition.operand, difference(), self.overflow, Some(side));
            reals.entry(*v).or_insert_with(real);
        }
        reals
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`]; `None` if a step is out of domain.
    pub fn expected(&self, p: &Parameters<A>, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        p.check(lhs, rhs)?;
        Ok(self.definition.fast.each(self.overflow, p, lhs, rhs))
    }
}
