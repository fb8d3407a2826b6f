//! Quantized multiplication: `lhs_scale * (lhs - lhs_zero_point) * rhs_scale * (rhs - rhs_zero_point)` over the output's scale, rounded to
//! an integer, plus the output's zero point, clamped; and the schemes by which systems do it.
//!
//! Source of the operation: ONNX operators, QLinearMul; TensorFlow Lite 8-bit quantization specification, MUL. Scales are floats, as the
//! files of both hold them.

mod domain;
mod expected;
mod registry;
pub mod steps;

use crate::elementwise::Batch;
use crate::quantize::Storage;
use crate::rounding::RoundingRule;
use crate::scheme::{Described, Registered};
use crate::shape::{ShapeError, broken};
use crate::word::{Overflow, Word};
use expected::Fast;
use rug::{Integer, Rational};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use steps::{Constants, Step};

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
    /// Bits of the word that holds the product of both differences, where a scheme multiplies integers: [`PRODUCT_BITS`] in all sources. In
    /// fewer bits the product wraps.
    pub product_bits: u32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// A mathematical definition of multiplication.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// The steps of each operand, from the stored value minus its zero point to a factor.
    pub factor: &'static [(&'static str, Step)],
    /// The steps of the product of both factors.
    pub product: &'static [(&'static str, Step)],
    /// The same in machine integers, derived independently.
    fast: Fast,
}

/// A definition with the policy for a rescale that does not fit in int32.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

impl Registered for &'static Definition {
    fn all() -> impl Iterator<Item = Self> {
        DEFINITIONS.iter()
    }

    fn name(self) -> &'static str {
        self.name
    }

    fn described(self) -> Described {
        let steps = self.factor.iter().chain(self.product).map(|(name, _)| *name).collect();
        Described { name: self.name, summary: self.summary, source: self.source, steps }
    }
}

/// Exponents of scales, as powers of two: within them no f32 step overflows or becomes subnormal.
pub const EXPONENTS: RangeInclusive<i32> = -30..=30;
/// Bits of the products in all sources.
pub const PRODUCT_BITS: u32 = 32;

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
        if !(8..=PRODUCT_BITS).contains(&self.product_bits) {
            return Err(broken("product_bits", format!("{} bits; it has 8 to {PRODUCT_BITS}", self.product_bits)));
        }
        let [a, b] = batch.furthest().map(u64::from);
        if a * b >= 1 << (PRODUCT_BITS - 1) {
            return Err(broken("lhs", format!("a product of differences of {a} and {b} is no int32")));
        }
        Ok(())
    }

    fn operands(&self) -> [Operand; 2] {
        [self.lhs, self.rhs]
    }
}

impl Definition {
    /// Whether the factors are the differences themselves, whose product an integer word holds.
    fn multiplies_integers(&self) -> bool {
        self.factor.is_empty()
    }

    /// The factor of one stored value.
    fn factor(&self, overflow: Overflow, c: &Constants<'_>, difference: i32, side: usize) -> Option<Rational> {
        let difference = Rational::from(difference);
        self.factor.iter().try_fold(difference, |v, (_, step)| step.apply(v, overflow, c, side))
    }

    /// The result of a product of two factors.
    fn result(&self, overflow: Overflow, c: &Constants<'_>, product: Rational) -> Option<Integer> {
        let held = if self.multiplies_integers() {
            Word { bits: c.product_bits() }.wrap_exact(product.numer()).into()
        } else {
            product
        };
        let result = self.product.iter().try_fold(held, |v, (_, step)| step.apply(v, overflow, c, 2))?;
        assert!(result.is_integer(), "{} ends in the fraction {result}", self.name);
        Some(result.into_numer_denom().0)
    }
}

impl Scheme {
    /// The exact product over the output's scale, rounded once.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(crate::quantize::suffix(rule))
    }

    /// The product by a Q0.31 multiplier that is made of a quotient of this derivation (`f32` or `f64`), rounded once.
    pub fn narrowed(derivation: &str, rule: RoundingRule) -> Self {
        Self::named(&format!("q31-{derivation}-{}", crate::quantize::suffix(rule)))
    }

    fn named(name: &str) -> Self {
        let definition = DEFINITIONS.iter().find(|d| d.name == name).expect("every rule has its schemes");
        Self { definition, overflow: Overflow::OutOfDomain }
    }

    /// Each result by rationals; `None` if a step is out of domain.
    pub fn exact(&self, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        p.check(lhs, rhs)?;
        let (c, definition) = (Constants::new(p), self.definition);
        // Each stored value has one factor, however often it comes.
        let factors = |side: usize, stored: &[i32]| {
            let mut known = BTreeMap::new();
            for v in stored {
                let difference = v - p.operands()[side].zero_point;
                known.entry(*v).or_insert_with(|| definition.factor(self.overflow, &c, difference, side));
            }
            known
        };
        let (left, right) = (factors(0, lhs), factors(1, rhs));
        let one = |(lhs, rhs): (&i32, &i32)| {
            let product = Rational::from(left[lhs].as_ref()? * right[rhs].as_ref()?);
            definition.result(self.overflow, &c, product)
        };
        Ok(lhs.iter().zip(rhs).map(one).collect())
    }

    /// Each result by machine integers, derived independently of [`Scheme::exact`]; `None` if a step is out of domain.
    pub fn expected(&self, p: &Parameters, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        p.check(lhs, rhs)?;
        Ok(self.definition.fast.each(self.overflow, p, lhs, rhs))
    }
}
