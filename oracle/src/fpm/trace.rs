//! Trace of an input through a step list: the exact value before and after each step, and the loss.

use super::steps::{Exponent, Multiplier, Step, effective_multiplier, power_of_two_shift};
use super::{Parameters, exact};
use crate::rounding::RoundingRule;
use crate::word::Overflow;
use rug::{Integer, Rational};
use std::borrow::Cow;

/// Name of a step, or of the operation if the step has no name.
pub type Name = Cow<'static, str>;

/// Trace of an input through a step list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `x * m * 2^(s-Q)`.
    pub exact: Rational,
    /// All steps, or the steps up to the step that rejects the input. If the result does not fit in the word, a last step fits the result.
    pub steps: Vec<Traced>,
    /// Result, or `None` if the input is out of domain.
    pub result: Option<Integer>,
}

/// One step with the exact value before and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Name of the step in the source.
    pub name: Name,
    /// Step.
    pub step: Step,
    /// Value before the step.
    pub before: Rational,
    /// Value after the step, or `None` if the step rejects the input.
    pub after: Option<Rational>,
    /// Deviation from exact arithmetic.
    pub effect: Effect,
}

/// Deviation of a step from exact arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No deviation: a scaling, product or sum, or a rounding, wrap or saturation without effect.
    Exact,
    /// A fraction was rounded away.
    Rounded {
        /// Rounding rule.
        rule: RoundingRule,
        /// Number of bits of `x*m` rounded away: the unit of the result is `2^bit` times the unit of the product.
        bit: i32,
        /// True if the fraction was exactly one half.
        tie: bool,
    },
    /// A multiple of `2^bits` of the word was lost.
    Wrapped,
    /// The value became the nearest value of the word, or the nearer bound of a clamp.
    Saturated,
    /// The value was changed on purpose, by a rounding constant or a fixup.
    Moved,
    /// Multiplier that was used. It differs from the given multiplier, even after rescaling.
    Narrowed(Integer),
    /// The step has no value.
    Refused,
}

impl Traced {
    /// Returns the value after the step minus the value before.
    pub fn change(&self) -> Option<Rational> {
        self.after.as_ref().map(|after| Rational::from(after - &self.before))
    }
}

impl Trace {
    /// Traces `x` through `steps`, with the result fitted by `overflow`.
    pub fn of(steps: impl IntoIterator<Item = (Name, Step)>, overflow: Overflow, x: i64, p: &Parameters) -> Self {
        let mut walk = Walk { p, bit: 0, value: Some(Rational::from(x)), steps: Vec::new() };
        for (name, step) in steps {
            walk.spelled(name, step);
        }
        walk.fit(overflow);
        let result = walk.value.map(|v| {
            assert!(v.is_integer(), "a step list ends in the fraction {v}");
            v.numer().clone()
        });
        Self { exact: exact(x, p), steps: walk.steps, result }
    }

    /// Returns the steps that deviate from exact arithmetic.
    pub fn events(&self) -> impl Iterator<Item = &Traced> {
        self.steps.iter().filter(|s| s.effect != Effect::Exact)
    }
}

struct Walk<'a> {
    p: &'a Parameters,
    /// Exponent of the value's unit: `2^bit` times the unit of `x*m`.
    bit: i32,
    value: Option<Rational>,
    steps: Vec<Traced>,
}

impl Walk<'_> {
    /// Traces a step, or the steps of which it consists.
    fn spelled(&mut self, name: Name, step: Step) {
        match (step, power_of_two_shift(self.p), &self.value) {
            (Step::PowerOfTwoShift, Some(k), _) => {
                self.bit += self.p.m.trailing_zeros() as i32;
                self.step("add the rounding constant".into(), Step::Add(1 << ((k + 31) % 32)));
                self.step("the sum wraps".into(), Step::Wrap);
                self.step(format!("shift right by {k}").into(), Step::Scale(Exponent::Constant(-(k as i32))));
                self.step("the shift floors".into(), Step::Round(RoundingRule::TowardNegative));
            }
            (Step::FixupMasked, _, Some(v)) if self.p.s < 0 => {
                let masked = Integer::from(v.numer() & -self.p.s).to_i64().unwrap_or_default();
                self.step("add the masked fixup".into(), Step::Add(masked));
                self.step("the sum wraps".into(), Step::Wrap);
            }
            _ => self.step(name, step),
        }
    }

    fn step(&mut self, name: Name, step: Step) {
        let Some(before) = self.value.take() else { return };
        let after = step.apply(before.clone(), self.p);
        match step {
            Step::Scale(e) => self.bit -= e.at(self.p),
            Step::Multiply(Multiplier::HighHalfSaturated | Multiplier::HighHalfWrapped) => self.bit += 16,
            _ => {}
        }
        let effect = after.as_ref().map_or(Effect::Refused, |after| self.effect(step, &before, after));
        self.value.clone_from(&after);
        self.steps.push(Traced { name, step, before, after, effect });
    }

    fn effect(&self, step: Step, before: &Rational, after: &Rational) -> Effect {
        match step {
            Step::Scale(_) | Step::Offset(_) => Effect::Exact,
            Step::Multiply(kind) => {
                let used = effective_multiplier(kind, self.p);
                let lost =
                    if matches!(kind, Multiplier::HighHalfSaturated | Multiplier::HighHalfWrapped) { 16 } else { 0 };
                if Integer::from(&used << lost) == self.p.m { Effect::Exact } else { Effect::Narrowed(used) }
            }
            _ if before == after => Effect::Exact,
            Step::Round(rule) => {
                let twice = Rational::from(before * 2);
                Effect::Rounded { rule, bit: self.bit, tie: twice.is_integer() }
            }
            Step::Wrap => Effect::Wrapped,
            Step::Saturate | Step::Clamp(..) => Effect::Saturated,
            _ => Effect::Moved,
        }
    }

    /// Fits a result outside the word, as a step.
    fn fit(&mut self, overflow: Overflow) {
        let Some(v) = &self.value else { return };
        if v.is_integer() && !self.p.word.holds_exact(v.numer()) {
            let name = match overflow {
                Overflow::Wrap => "the result wraps",
                Overflow::Saturate => "the result saturates",
                Overflow::OutOfDomain => "the result does not fit",
            };
            self.step(name.into(), Step::fitting(overflow, self.p.word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::Scheme;

    fn at(scheme: &str, x: i64, m: i32, s: i32) -> Trace {
        let scheme = Scheme::parse(scheme).expect("a scheme");
        scheme.definition.trace(scheme.overflow, x, &Parameters::q31(m, s))
    }

    fn rounded(trace: &Trace) -> Vec<(i32, bool, String)> {
        let one = |t: &Traced| match t.effect {
            Effect::Rounded { bit, tie, .. } => Some((bit, tie, format!("{} by {}", t.before, t.change()?))),
            _ => None,
        };
        trace.steps.iter().filter_map(one).collect()
    }

    /// At 4 bits, for every input, shift and policy: the trace ends in the result of the definition, each step begins with the last value,
    /// and only scalings and products may be exact and change the value.
    #[test]
    fn traces_end_in_the_result() {
        let mut events = 0;
        for scheme in Scheme::every() {
            for (x, m, s) in (-8..8).flat_map(|x| (-8..8).flat_map(move |m| (-4..=4).map(move |s| (x, m, s)))) {
                let p = Parameters::narrow(m, s, 4);
                let trace = scheme.definition.trace(scheme.overflow, x, &p);
                assert_eq!(trace.result, scheme.definition.exact(scheme.overflow, x, &p), "{}", scheme.label());
                for pair in trace.steps.windows(2) {
                    assert_eq!(pair[0].after.as_ref(), Some(&pair[1].before));
                }
                for t in trace.steps.iter().filter(|t| t.effect == Effect::Exact) {
                    let arithmetic = matches!(t.step, Step::Scale(_) | Step::Multiply(_));
                    assert!(arithmetic || t.after.as_ref() == Some(&t.before), "{t:?}");
                }
                events += trace.events().count();
            }
        }
        assert!(events > 100_000, "{events}");
    }

    #[test]
    fn a_quarter_is_rounded_up_twice() {
        let double = at("gemmlowp-double", 1, 1 << 30, -1);
        assert_eq!(rounded(&double), [(31, true, "1/2 by 1/2".to_owned()), (32, true, "1/2 by 1/2".to_owned())]);
        let single = at("ties-up", 1, 1 << 30, -1);
        assert_eq!(rounded(&single), [(32, false, "1/4 by -1/4".to_owned())]);
        // Left of the point, both schemes count bits of the product without the shift.
        assert_eq!(rounded(&at("gemmlowp-double", 3, 1, 2))[0].0, 29);
        assert_eq!(rounded(&at("ties-up", 3, 1, 2))[0].0, 29);
        assert_eq!(rounded(&at("tflite-int16-multiplier", 3, 1 << 16, -2))[0].0, 33);
    }

    #[test]
    fn what_does_not_fit_says_how() {
        let effects = |trace: Trace| trace.events().map(|t| t.effect.clone()).collect::<Vec<_>>();
        let min = i32::MIN;
        assert_eq!(effects(at("gemmlowp-double", min.into(), min, 0)), [Effect::Saturated]);
        assert_eq!(effects(at("cmsis-nn-double", min.into(), min, 0)), [Effect::Wrapped]);
        assert_eq!(effects(at("ties-up", min.into(), min, 0)), [Effect::Refused]);
        assert_eq!(effects(at("ties-up:saturate", min.into(), min, 0)), [Effect::Saturated]);
        let narrowed = at("tflite-int16-multiplier", 10_000, 0x7FFF_EA86, -10);
        assert_eq!(narrowed.events().next().map(|t| &t.effect), Some(&Effect::Narrowed(0x7FFF.into())));
    }

    /// Shortcuts are traced as their parts: a rounding constant that wraps, then a shift.
    #[test]
    fn a_shift_in_place_of_the_product() {
        let p = Parameters::q31(1 << 30, -1);
        let steps = [("".into(), Step::PowerOfTwoShift)];
        let trace = Trace::of(steps, Overflow::Wrap, i64::from(i32::MAX) - 1, &p);
        assert_eq!(trace.result, Some((-(1 << 29)).into()));
        assert!(trace.steps.iter().any(|t| t.effect == Effect::Wrapped));
        let odd = Trace::of([("".into(), Step::PowerOfTwoShift)], Overflow::Wrap, 1, &p);
        assert_eq!(rounded(&odd), [(32, false, "3/4 by -3/4".to_owned())]);
    }

    /// A masked fixup is traced as its parts if it has a mask, for a shift to the right.
    #[test]
    fn a_masked_fixup_is_a_sum_where_there_is_a_mask() {
        let names = |s: i32| {
            let steps = [("the fixup".into(), Step::FixupMasked)];
            let trace = Trace::of(steps, Overflow::Wrap, 5, &Parameters::q31(1 << 30, s));
            trace.steps.iter().map(|t| t.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(-1), ["add the masked fixup", "the sum wraps"]);
        assert_eq!([names(0), names(1)], [["the fixup"]; 2]);
    }
}
