//! Quantized addition: `lhs_scale * (lhs - lhs_zero_point) + rhs_scale * (rhs - rhs_zero_point)` over the output's scale, rounded to an
//! integer, plus the output's zero point, clamped; and the schemes by which systems do it.
//!
//! Source of the operation: ONNX operators, QLinearAdd; TensorFlow Lite 8-bit quantization specification, ADD. Scales are floats, as the files
//! of both hold them.

mod domain;
mod expected;
mod registry;
pub mod steps;

use crate::elementwise::Batch;
use crate::quantize::Storage;
use crate::rounding::RoundingRule;
use crate::scheme::{Described, Registered};
use crate::shape::{ShapeError, broken};
use crate::word::Overflow;
use expected::Fast;
use rug::{Integer, Rational};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use steps::{Constants, Side, Step};

pub use crate::elementwise::Operand;
pub use domain::Scales;
pub use registry::DEFINITIONS;

/// Parameters of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Of the left operand.
    pub lhs: Operand,
    /// Of the right operand.
    pub rhs: Operand,
    /// Of the result.
    pub out: Operand,
    /// Type of all stored values: 8 or 16 bits, or 32 where nothing narrows the result.
    pub storage: Storage,
    /// Bits that operands are shifted up by before they are rescaled, where a scheme rescales; see [`left_shift`].
    pub left_shift: u32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// A mathematical definition of addition.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// The steps of each operand, from the stored value minus its zero point to a term of the sum.
    pub term: &'static [(&'static str, Step)],
    /// The steps of the sum of both terms.
    pub sum: &'static [(&'static str, Step)],
    /// The same in machine integers, derived independently.
    fast: Fast,
}

/// A definition with the policy for a rescale that does not fit in int32; none does where [`Parameters::check`] passes.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Registered for &'static Definition {
    fn all() -> impl Iterator<Item = Self> {
        DEFINITIONS.iter()
    }

    fn name(self) -> &'static str {
        self.name
    }

    fn described(self) -> Described {
        let steps = self.term.iter().chain(self.sum).map(|(name, _)| *name).collect();
        Described { name: self.name, summary: self.summary, source: self.source, steps }
    }
}

/// Exponents of scales, as powers of two: within them no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -100..=100;
/// How many binades the scales of one addition may be apart.
pub const APART: i32 = 40;

/// Bits that operands of a type are shifted up by in all sources: as many as an int32 has room for.
pub fn left_shift(storage: Storage) -> u32 {
    if storage.bits > 8 { 15 } else { 20 }
}

impl Parameters {
    /// Whether the batch can be, or the argument that cannot.
    pub fn check(&self, lhs: &[i32], rhs: &[i32]) -> Result<(), ShapeError> {
        let batch = Batch {
            operands: [self.lhs, self.rhs, self.out],
            storage: self.storage,
            ends: [self.min, self.max],
            stored: [lhs, rhs],
        };
        batch.check(&EXPONENTS)?;
        let exponents = batch.operands.map(|operand| operand.exponent());
        let apart = exponents.iter().max().zip(exponents.iter().min()).map_or(0, |(most, least)| most - least);
        if apart > APART {
            return Err(broken("out", format!("scales are {apart} binades apart, at most {APART}")));
        }
        let difference = batch.furthest().into_iter().max().unwrap_or(0);
        if self.left_shift > 30 || u64::from(difference) << self.left_shift >= 1 << 31 {
            let bits = self.left_shift;
            return Err(broken("left_shift", format!("by {bits} bits a difference of {difference} is no int32")));
        }
        Ok(())
    }

    fn operand(&self, side: Side) -> Operand {
        match side {
            Side::Lhs => self.lhs,
            Side::Rhs => self.rhs,
        }
    }
}

impl Definition {
    /// The term of one stored value.
    fn term(&self, overflow: Overflow, c: &Constants<'_>, difference: i32, side: Side) -> Option<Rational> {
        let difference = Rational::from(difference);
        self.term.iter().try_fold(difference, |v, (_, step)| step.apply(v, overflow, c, Some(side)))
    }

    /// The result of a sum of two terms.
    fn result(&self, overflow: Overflow, c: &Constants<'_>, sum: Rational) -> Option<Integer> {
        let result = self.sum.iter().try_fold(sum, |v, (_, step)| step.apply(v, overflow, c, None))?;
        assert!(result.is_integer(), "{} ends in the fraction {result}", self.name);
        Some(result.into_numer_denom().0)
    }
}

impl Scheme {
    /// The exact sum rounded once.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(nearest(rule))
    }

    /// The exact sum by the Q0.31 multipliers of a rescaling, rounded once.
    pub fn narrowed(rule: RoundingRule) -> Self {
        Self::named(&format!("q31-{}", nearest(rule)))
    }

    fn named(name: &str) -> Self {
        let definition = DEFINITIONS.iter().find(|d| d.name == name).expect("every rule has its schemes");
        Self { definition, overflow: Overflow::OutOfDomain }
    }

    /// Each result by rationals; `None` if a step is out of domain.
    pub fn exact(&self, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        p.check(lhs, rhs)?;
        let (c, definition) = (Constants::new(p), self.definition);
        // Each stored value has one term, however often it comes.
        let terms = |side, stored: &[i32]| {
            let term = |stored: i32| definition.term(self.overflow, &c, stored - p.operand(side).zero_point, side);
            stored.iter().map(|v| (*v, term(*v))).collect::<BTreeMap<_, _>>()
        };
        let once = |stored: &[i32]| stored.iter().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        let (left, right) = (terms(Side::Lhs, &once(lhs)), terms(Side::Rhs, &once(rhs)));
        let one = |(lhs, rhs): (&i32, &i32)| {
            let sum = left[lhs].as_ref()? + right[rhs].clone()?;
            definition.result(self.overflow, &c, sum)
        };
        Ok(lhs.iter().zip(rhs).map(one).collect())
    }

    /// Each result by machine integers, derived independently of [`Scheme::exact`]; `None` if a step is out of domain.
    pub fn expected(&self, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        p.check(lhs, rhs)?;
        Ok(self.definition.fast.each(self.overflow, p, lhs, rhs))
    }
}

/// How schemes are named by their rule.
fn nearest(rule: RoundingRule) -> &'static str {
    crate::quantize::suffix(rule)
}
