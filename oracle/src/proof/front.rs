//! Steps of a scheme before its product, on the accumulator and on the multiplier.

use super::whole;
use crate::fpm::steps::{Multiplier, Step};
use crate::fpm::{Parameters, Scheme};
use crate::word::Word;
use std::ops::RangeInclusive;

/// Treatment of an accumulator that a left shift moves beyond the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The accumulator is kept, and the product is exact.
    Exact,
    Wraps,
    Saturates,
}

/// Steps before the product, at one shift.
#[derive(Clone, Debug)]
pub(super) struct Front {
    /// Number of places of the left shift.
    pub(super) left: u32,
    fit: Fit,
    /// Multiplier of the product.
    pub(super) multiplier: Multiplier,
    accumulators: RangeInclusive<i64>,
    multipliers: RangeInclusive<i64>,
}

/// Returns the steps of a scheme after its product.
pub(super) fn behind(scheme: &Scheme) -> impl Iterator<Item = &'static Step> {
    let steps = scheme.definition.steps;
    let product = steps.iter().position(|(_, step)| matches!(step, Step::Multiply(_))).map_or(steps.len(), |at| at + 1);
    steps[product..].iter().map(|(_, step)| step)
}

impl Front {
    /// Returns the steps before the product. `None` if the scheme has other steps before its product, or a later step that depends on the multiplier.
    pub(super) fn of(scheme: &Scheme, p: &Parameters) -> Option<Self> {
        let looks = |step: &Step| {
            matches!(step, Step::Multiply(_) | Step::RequireNonNegativeMultiplier | Step::PowerOfTwoShift)
        };
        if behind(scheme).any(looks) {
            return None;
        }
        let all = whole(p.word);
        let mut front = Self {
            left: 0,
            fit: Fit::Exact,
            multiplier: Multiplier::Full,
            accumulators: all.clone(),
            multipliers: all,
        };
        for (_, step) in scheme.definition.steps {
            match *step {
                Step::Multiply(kind) => {
                    front.multiplier = kind;
                    // An exact product of a shifted accumulator needs more bits than a piece has.
                    return (front.left == 0 || front.fit != Fit::Exact).then_some(front);
                }
                Step::Scale(e) => front.left += u32::try_from(e.at(p)).ok()?,
                Step::Wrap => front.fit = Fit::Wraps,
                Step::Saturate => front.fit = Fit::Saturates,
                Step::RequireNonNegativeMultiplier => front.multipliers = 0..=*front.multipliers.end(),
                Step::RequireBits(e) if front.left == 0 => front.require(e.at(p)),
                _ => return None,
            }
        }
        None
    }

    fn require(&mut self, bits: i32) {
        let Ok(bits @ 1..) = u32::try_from(bits) else { return self.accumulators = RangeInclusive::new(1, 0) };
        let half = 1i64 << (bits - 1).min(62);
        let (lo, hi) = (*self.accumulators.start(), *self.accumulators.end());
        self.accumulators = lo.max(-half)..=hi.min(half - 1);
    }

    /// True if there is no input at all.
    pub(super) fn has_no_input(&self) -> bool {
        self.accumulators.is_empty() || self.multipliers.is_empty()
    }

    /// True if both schemes accept the same accumulators and multipliers.
    pub(super) fn same_inputs(&self, other: &Self) -> bool {
        self.accumulators == other.accumulators && self.multipliers == other.multipliers
    }

    pub(super) fn common_accumulators(&self, other: &Self) -> RangeInclusive<i64> {
        common(&self.accumulators, &other.accumulators)
    }

    /// Returns the factors made from the multipliers that both schemes accept.
    pub(super) fn common_multipliers(&self, other: &Self, word: Word) -> RangeInclusive<i64> {
        let given = common(&self.multipliers, &other.multipliers);
        match self.multiplier {
            Multiplier::Full => given,
            Multiplier::HighHalfSaturated | Multiplier::HighHalfWrapped => {
                whole(Word { bits: word.bits.saturating_sub(16).max(2) })
            }
            // The largest multiplier is rounded up to the next power of two.
            Multiplier::Significand24 => *given.start()..=*given.end() + 1,
        }
    }

    /// True if both pass the same word to the product for every accumulator.
    pub(super) fn same_words(&self, other: &Self) -> bool {
        (self.left, self.fit) == (other.left, other.fit)
    }

    /// Returns the range of words that the left shift can make of `xs`.
    pub(super) fn shifted(&self, xs: &RangeInclusive<i64>, word: Word) -> RangeInclusive<i64> {
        if self.left == 0 || self.fit == Fit::Exact { xs.clone() } else { whole(word) }
    }

    /// Returns the part of `xs` that stays in the word after the left shift, or all of `xs` if the shift is exact.
    pub(super) fn inside(&self, xs: &RangeInclusive<i64>, word: Word) -> RangeInclusive<i64> {
        let (min, max) = (-(-word.min() >> self.left), word.max() >> self.left);
        if self.fit == Fit::Exact { xs.clone() } else { common(xs, &(min as i64..=max as i64)) }
    }
}

fn common(a: &RangeInclusive<i64>, b: &RangeInclusive<i64>) -> RangeInclusive<i64> {
    *a.start().max(b.start())..=*a.end().min(b.end())
}
