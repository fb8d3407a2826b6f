//! Exact real at which a scheme changes from one result to the next.
//!
//! Every step is monotone, so the values that a step maps to `t` or above are all values from some real on. Going backwards
//! through the steps gives this real for the input:
//! - a division or product by a positive number, and an addition, move the real;
//! - a rounding reaches `t` from the first representable value at or after `t` on. The inputs of that value begin half-way from its
//!   predecessor (to nearest, with ties decided by the rule), at the value, or just after the predecessor (directed rules);
//! - a clamp moves the real only to the ends: all inputs, or none.

use super::steps::{Addend, Step, Value, bounds_before_zero_point, reciprocal, word};
use super::{Quantization, Scheme, Stored};
use crate::float::Format;
use crate::rounding::RoundingRule::{self, *};
use crate::word::Overflow;
use rug::Rational;
use std::cmp::Ordering;

/// Set of all real inputs from some real on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Every real.
    Everything,
    /// No real.
    Nothing,
    /// All reals from this real on.
    From {
        /// First real.
        real: Rational,
        /// True if the first real belongs to the set.
        included: bool,
    },
}

use Threshold::{Everything, From, Nothing};

impl Scheme {
    /// Returns the inputs from which on the result is `above` instead of `below`, two neighbouring results of the scheme with `below`
    /// first. Poison is below and above all values. `None` for two results without a value, for a policy that wraps, and if a
    /// constant of the scheme overflows in the format.
    pub fn threshold(&self, q: &Quantization, below: Stored, above: Stored) -> Option<Threshold> {
        if self.wraps() {
            return None;
        }
        let least = |v: i64, behind: usize| self.least(v, behind, q);
        match (below, above) {
            (Stored::Value(_), Stored::Value(v)) => least(v, self.definition.steps.len()),
            // From poison to a value, the last step to get a value decides; from a value to poison, the first step to lose its value.
            (Stored::Poison, Stored::Value(_)) => {
                let all: Option<Vec<_>> = self.required(q).map(|(min, _, behind)| least(min, behind)).collect();
                all?.into_iter().max_by(Threshold::order)
            }
            (Stored::Value(_), Stored::Poison) => {
                let all: Option<Vec<_>> = self.required(q).map(|(_, max, behind)| least(max + 1, behind)).collect();
                all?.into_iter().min_by(Threshold::order)
            }
            _ => None,
        }
    }

    /// Lists the steps that have values only for an integer type: the ends of that type, and the number of steps up to this step.
    fn required(&self, q: &Quantization) -> impl Iterator<Item = (i64, i64, usize)> {
        let ends = |step: &Step| match step {
            Step::Convert(_) => Some((q.storage.min(), q.storage.max())),
            Step::RequireBits(bits) => Some(word(*bits)),
            _ => None,
        };
        let steps = self.definition.steps.iter().enumerate();
        steps.filter_map(move |(at, (_, step))| ends(step).map(|(min, max)| (min, max, at + 1)))
    }

    /// Returns the threshold of inputs whose value after the first `behind` steps is at least `v`.
    fn least(&self, v: i64, behind: usize, q: &Quantization) -> Option<Threshold> {
        let mut threshold = From { real: v.into(), included: true };
        for (_, step) in self.definition.steps[..behind].iter().rev() {
            // A saturating conversion is a rounding and a clamp. Other conversions are considered only inside the type.
            if let (Step::Convert(_), Overflow::Saturate) = (step, self.overflow) {
                threshold = threshold.through_clamp(&q.storage.min().into(), &q.storage.max().into());
            }
            threshold = threshold.through(*step, q)?;
        }
        Some(threshold)
    }
}

impl Threshold {
    /// Returns the first float of the format in this set, infinities included; `None` if the set has no float.
    pub fn first(&self, format: Format) -> Option<u64> {
        let lowest = -(format.infinity() as i64) - 1;
        match self {
            Everything => Some(format.from_key(lowest)),
            Nothing => None,
            From { real, included } => {
                let up = format.round(real, TowardPositive);
                let exact = format.decode(up).finite() == Some(real);
                if !exact {
                    return Some(up);
                }
                // Both zeros represent the real 0.
                let zero = *real == 0;
                let key = format.key(if zero && *included { format.sign() } else { up })?;
                Some(format.from_key(if *included { key } else { key + 1 }))
            }
        }
    }

    /// Returns the inputs that `step` takes to this set.
    fn through(self, step: Step, q: &Quantization) -> Option<Self> {
        let number = |bits| match Value::of(q.format, bits) {
            Value::Number(v) => Some(v),
            _ => None,
        };
        Some(match step {
            Step::Divide => self.map(|t| t * q.exact_scale()),
            Step::MultiplyByReciprocal => {
                let reciprocal = number(reciprocal(q)).filter(|r| *r != 0)?;
                self.map(|t| t / reciprocal)
            }
            Step::Add(Addend::ZeroPoint) => self.map(|t| t - q.zero_point),
            Step::Add(Addend::ZeroPointRounded) => {
                let rounded = number(q.format.nearest(&q.zero_point.into()))?;
                self.map(|t| t - rounded)
            }
            Step::Add(Addend::Constant(c)) => self.map(|t| t - c),
            Step::RoundToFormat => self.through_format(q.format),
            Step::RoundTo(format) => self.through_format(format),
            Step::RoundToInteger(rule) | Step::Convert(rule) => self.through_integers(rule),
            // A required word is considered only from inside.
            Step::Nan(_) | Step::RequireBits(_) => self,
            Step::Wrap(_) => return None,
            Step::Saturate(bits) => {
                let (min, max) = word(bits);
                self.through_clamp(&min.into(), &max.into())
            }
            Step::ClampBeforeZeroPoint => {
                let [min, max] = bounds_before_zero_point(q).map(number);
                self.through_clamp(&min?, &max?)
            }
            Step::Clamp => self.through_clamp(&q.min.into(), &q.max.into()),
        })
    }

    /// Orders sets by their first real. With equal reals, the set that includes the real comes first.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (From { real, included }, From { real: beside, included: too }) => real.cmp(beside).then(too.cmp(included)),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Everything => 0,
            From { .. } => 1,
            Nothing => 2,
        }
    }

    fn map(self, f: impl FnOnce(Rational) -> Rational) -> Self {
        match self {
            From { real, included } => From { real: f(real), included },
            other => other,
        }
    }

    fn through_clamp(self, min: &Rational, max: &Rational) -> Self {
        match &self {
            From { real, included } if real < min || (real == min && *included) => Everything,
            From { real, included } if real > max || (real == max && !included) => Nothing,
            _ => self,
        }
    }

    fn through_integers(self, rule: RoundingRule) -> Self {
        let From { real, included } = self else { return self };
        let ceiling = TowardPositive.round(&real);
        let n = if !included && ceiling == real { ceiling + 1 } else { ceiling };
        let half = || Rational::from(&n) - Rational::from((1, 2));
        let from = |real, included| From { real, included };
        match rule {
            TiesUp => from(half(), true),
            TiesDown => from(half(), false),
            TiesEven => from(half(), n.is_even()),
            TiesAway => from(half(), n > 0),
            TiesToZero => from(half(), n <= 0),
            TowardNegative => from(n.into(), true),
            TowardPositive => from(Rational::from(n - 1), false),
            TowardZero if n > 0 => from(n.into(), true),
            TowardZero => from(Rational::from(n - 1), false),
        }
    }

    fn through_format(self, format: Format) -> Self {
        let Some(first) = self.first(format) else { return Nothing };
        let From { .. } = self else { return self };
        // Numbers on both sides; infinities count as the numbers after the largest.
        let beyond = || {
            Rational::from(1)
                << (format.least_exponent() + (format.infinity() >> (format.precision() - 1)) as i32 - 1
                    + format.precision() as i32
                    - 1)
        };
        let number = |key: i64| match Value::of(format, format.from_key(key)) {
            Value::Number(v) => v,
            Value::Infinite { negative: true } => -beyond(),
            _ => beyond(),
        };
        let key = format.key(first).expect("no NaN");
        // The predecessor of either zero is the negative number nearest to 0.
        let predecessor = if number(key) == 0 { -2 } else { key - 1 };
        let middle = (number(predecessor) + number(key)) / 2;
        From { real: middle, included: format.from_key(key) & 1 == 0 }
    }
}
