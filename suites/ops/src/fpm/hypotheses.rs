//! Hypotheses about differences from a scheme: the scheme with one change. Each hypothesis is a step list of the exact oracle, with the class of
//! the change. The class of a mismatch is the class of the first hypothesis, simplest first, that reproduces every observed output.

use tiebreak_common::Class;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::steps::{Exponent, Multiplier, Step};
use tiebreak_oracle::fpm::{Definition, Parameters, Scheme, integer};
use tiebreak_oracle::rounding::RoundingRule::{self, *};
use tiebreak_oracle::word::Overflow;

/// Scheme with one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// Class of the change.
    pub class: Class,
    /// Description of the change.
    pub because: String,
    /// Steps of the changed scheme.
    pub steps: Vec<Step>,
    /// Policy for results that do not fit.
    pub overflow: Overflow,
}

impl Hypothesis {
    /// Returns the predicted result.
    pub fn predicts(&self, x: i64, p: &Parameters) -> Option<i64> {
        let unbounded = integer::run(&self.steps, x, p)?;
        self.overflow.fit(p.word, unbounded).map(|v| v as i64)
    }

    /// Builds the hypothesis that equals the scheme.
    pub fn of(scheme: &Scheme, class: Class, because: String) -> Self {
        Self { class, because, steps: steps_of(scheme.definition), overflow: scheme.overflow }
    }
}

fn steps_of(definition: &Definition) -> Vec<Step> {
    definition.steps.iter().map(|(_, step)| *step).collect()
}

/// Returns every hypothesis about kernels that should compute `scheme`, simplest first.
pub fn hypotheses(scheme: &Scheme) -> Vec<Hypothesis> {
    // A kernel always gives an int32. Results without a value in the scheme are not compared, so the hypothesis may wrap.
    let overflow = if scheme.overflow == Overflow::OutOfDomain { Overflow::Wrap } else { scheme.overflow };
    let mut out = Vec::new();
    let mut add = |class, because: String, steps: Vec<Step>, overflow| {
        out.push(Hypothesis { class, because, steps, overflow });
    };
    let steps = steps_of(scheme.definition);
    // Single roundings come before directed roundings: truncation followed by a rounding half away from zero also equals a single rounding.
    let ties = other_rules(scheme, true).into_iter().chain(other_steps(scheme, &steps)).chain(without_f32(&steps));
    for (class, because, changed) in ties.chain(one_rounding(&steps)).chain(other_rules(scheme, false)) {
        add(class, because, changed, overflow);
    }
    match overflow {
        Overflow::Wrap => {
            add(Class::Saturation, "the result saturates".to_owned(), steps.clone(), Overflow::Saturate);
        }
        _ => add(Class::MissingSaturation, "the result wraps".to_owned(), steps.clone(), Overflow::Wrap),
    }
    for (class, because, changed) in narrow_words().into_iter().chain(two_roundings()) {
        add(class, because, changed, overflow);
    }
    out
}

type Change = (Class, String, Vec<Step>);

/// Returns changes of one rounding to another rule: nearest rules or directed rules.
fn other_rules(scheme: &Scheme, nearest: bool) -> Vec<Change> {
    let steps = &steps_of(scheme.definition);
    let mut out = Vec::new();
    let rounds = steps.iter().filter(|s| matches!(s, Step::Round(_))).count();
    for (at, step) in steps.iter().enumerate() {
        let Step::Round(was) = *step else { continue };
        for rule in RoundingRule::ALL.into_iter().filter(|r| *r != was && r.is_nearest() == nearest) {
            let class = Class::rounding(was, rule);
            let place = if rounds > 1 { format!(" in \"{}\"", scheme.definition.steps[at].0) } else { String::new() };
            let because = format!("{} where {} is promised{place}", rule.name(), was.name());
            out.push((class, because, replaced(steps, at, &[Step::Round(rule)])));
        }
    }
    out
}

/// Returns changes of one other step to a step of the same kind.
fn other_steps(scheme: &Scheme, steps: &[Step]) -> Vec<Change> {
    let mut out = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let name = scheme.definition.steps[at].0;
        match *step {
            Step::FixupNegative => {
                out.push((Class::TieDirection, format!("\"{name}\" is dropped"), replaced(steps, at, &[])));
            }
            Step::Saturate => out.push((
                Class::MissingSaturation,
                format!("wraps where \"{name}\" is promised"),
                replaced(steps, at, &[Step::Wrap]),
            )),
            Step::Wrap => out.push((
                Class::Saturation,
                format!("saturates where \"{name}\" is promised"),
                replaced(steps, at, &[Step::Saturate]),
            )),
            Step::F32 => out.push((Class::F32Step, format!("\"{name}\" is exact"), replaced(steps, at, &[]))),
            Step::Multiply(was) => {
                out.extend(narrowed_multipliers(was).map(|kind| {
                    let because = format!("{} multiplier", multiplier_name(kind));
                    (Class::MultiplierNarrowed, because, multiplied_by(steps, at, was, kind))
                }));
            }
            _ => {}
        }
    }
    out
}

/// Removes every rounding to f32; `None` if the steps have none.
fn without_f32(steps: &[Step]) -> Option<Change> {
    let exact: Vec<Step> = steps.iter().filter(|step| **step != Step::F32).copied().collect();
    let because = "no step is rounded to f32".to_owned();
    (exact.len() < steps.len()).then_some((Class::F32Step, because, exact))
}

fn replaced(steps: &[Step], at: usize, with: &[Step]) -> Vec<Step> {
    [&steps[..at], with, &steps[at + 1..]].concat()
}

fn narrowed_multipliers(was: Multiplier) -> impl Iterator<Item = Multiplier> {
    use Multiplier::*;
    [HighHalfWrapped, HighHalfSaturated, Significand24, Full].into_iter().filter(move |kind| *kind != was)
}

fn multiplier_name(kind: Multiplier) -> &'static str {
    match kind {
        Multiplier::Full => "full 32-bit",
        Multiplier::HighHalfSaturated => "16-bit (saturated)",
        Multiplier::HighHalfWrapped => "16-bit (rounding addition wrapped)",
        Multiplier::Significand24 => "24-bit",
    }
}

/// Replaces the multiplier of the product, and rescales if the multiplier lost its low half.
fn multiplied_by(steps: &[Step], at: usize, was: Multiplier, kind: Multiplier) -> Vec<Step> {
    let is_half = |m| matches!(m, Multiplier::HighHalfSaturated | Multiplier::HighHalfWrapped);
    let lost = 16 * (i32::from(is_half(kind)) - i32::from(is_half(was)));
    replaced(steps, at, &[Step::Multiply(kind), Step::Scale(Exponent::Constant(lost))])
}

const PRODUCT: Step = Step::Multiply(Multiplier::Full);
const LEFT: [Step; 2] = [Step::Scale(Exponent::Left), Step::Wrap];

/// Returns single roundings with an intermediate value in a narrow word.
fn narrow_words() -> Vec<Change> {
    let single = [PRODUCT, Step::Scale(Exponent::RightAndFraction), Step::Round(TiesUp)];
    let early = [PRODUCT, Step::Scale(Exponent::WholeButOne), Step::Round(TowardNegative), Step::Wrap];
    let halve = [Step::Add(1), Step::Scale(Exponent::Constant(-1)), Step::Round(TowardNegative)];
    let change = |because: &str, steps: Vec<Step>| (Class::Wrap, because.to_owned(), steps);
    let saturated = [&LEFT[..], &single, &[Step::Saturate]].concat();
    let saturating = [&[Step::Scale(Exponent::Left), Step::Saturate][..], &single].concat();
    vec![
        change("the left shift wraps before the product", [&LEFT[..], &single].concat()),
        change("the left shift wraps before a saturating product", saturated),
        change("the value wraps before its last rounding place", [&early[..], &halve].concat()),
        change(
            "the value wraps before and after the rounding addition",
            [&early[..], &[Step::Add(1), Step::Wrap], &halve[1..]].concat(),
        ),
        change("a shift in place of the multiply wraps in its rounding addition", vec![Step::PowerOfTwoShift]),
        change(
            "the product wraps before the scaling",
            vec![PRODUCT, Step::Wrap, Step::Scale(Exponent::Whole), Step::Round(TiesUp)],
        ),
        (Class::Saturation, "the left shift saturates before the product".to_owned(), saturating),
        change("the left shift wraps before a product that floors", floor_then_shift(Step::Wrap)),
        (
            Class::Saturation,
            "the left shift saturates before a product that floors".to_owned(),
            floor_then_shift(Step::Saturate),
        ),
    ]
}

fn high_multiply(round: RoundingRule, fit: Step) -> Vec<Step> {
    [&LEFT[..], &[PRODUCT, Step::Scale(Exponent::Fraction), Step::Round(round), fit]].concat()
}

fn floor_then_shift(left_fit: Step) -> Vec<Step> {
    vec![
        Step::Scale(Exponent::LeftOfRightAtLeastOne),
        left_fit,
        PRODUCT,
        Step::Scale(Exponent::Fraction),
        Step::Round(TowardNegative),
        Step::Saturate,
        Step::Scale(Exponent::RightAtLeastOne),
        Step::Round(TiesUp),
    ]
}

/// Returns single roundings in place of two promised roundings.
fn one_rounding(steps: &[Step]) -> Vec<Change> {
    let rounds = steps.iter().filter(|s| matches!(s, Step::Round(_))).count();
    let rules = RoundingRule::ALL.into_iter().filter(|rule| rounds > 1 && rule.is_nearest());
    rules
        .map(|rule| {
            let single = vec![PRODUCT, Step::Scale(Exponent::Whole), Step::Round(rule)];
            (Class::DoubleRounding, format!("one rounding ({}) where two are promised", rule.name()), single)
        })
        .collect()
}

/// Returns pairs of roundings, including a second rounding without its fixup and a first rounding without its truncation.
fn two_roundings() -> Vec<Change> {
    let mut out = Vec::new();
    for second in [TiesUp, TiesAway, TiesEven, TiesDown, TiesToZero] {
        let mut double = high_multiply(TiesUp, Step::Saturate);
        double.extend([Step::Scale(Exponent::Right), Step::Round(second)]);
        let because = format!("rounds twice: product ties-up, then right shift {}", second.name());
        out.push((Class::DoubleRounding, because, double));
    }
    out.push((
        Class::DoubleRounding,
        "rounds twice: half a unit of the product away from zero, then ties-up".to_owned(),
        vec![PRODUCT, Step::NudgeAwayFromZero, Step::Scale(Exponent::Whole), Step::Round(TiesUp)],
    ));
    for fit in [Step::Saturate, Step::Wrap] {
        let mut lost = high_multiply(TiesUp, fit);
        lost.extend([Step::FixupMasked, Step::Scale(Exponent::Right), Step::Round(TowardNegative)]);
        out.push((
            Class::FixupLost,
            "the fixup is masked but not reduced to a sign, and the shift floors".to_owned(),
            lost,
        ));
        // This nudge exists only for Q0.31.
        let truncates = [PRODUCT, Step::Add(1 << 30), Step::Scale(Exponent::Fraction), Step::Round(TowardZero), fit];
        for second in [TiesAway, TiesUp] {
            let shift = [Step::Scale(Exponent::Right), Step::Round(second)];
            out.push((
                Class::DirectedRounding,
                "the doubling high multiply adds 2^30 to negative products too, and truncates".to_owned(),
                [&LEFT[..], &truncates, &shift].concat(),
            ));
        }
        let floors = [PRODUCT, Step::NudgeBySign, Step::Scale(Exponent::Fraction), Step::Round(TowardNegative), fit];
        for second in [TiesAway, TiesUp] {
            let shift = [Step::Scale(Exponent::Right), Step::Round(second)];
            out.push((
                Class::DirectedRounding,
                "the doubling high multiply floors where its nudge wants a truncation".to_owned(),
                [&LEFT[..], &floors, &shift].concat(),
            ));
        }
    }
    out
}

/// Finds the rule by which a scheme rounds eighths, which its first rounding keeps exact. Sources write the rule in many ways.
pub fn last_rule(definition: &Definition) -> Option<RoundingRule> {
    let eighths = Parameters::q31(1 << 30, -2);
    let rounds = |rule: RoundingRule| {
        let same = |x: i64| definition.exact(Overflow::Wrap, x, &eighths) == Some(rule.round(&Rational::from((x, 8))));
        (-16..=16).step_by(2).all(same)
    };
    RoundingRule::ALL.into_iter().find(|rule| rounds(*rule))
}

/// Returns the class of the difference between two step lists: the last resort for a kernel that equals its own scheme everywhere.
pub fn structural_class(reference: &Definition, own: &Definition) -> Class {
    let (a, b) = (steps_of(reference), steps_of(own));
    let rounds = |steps: &[Step]| {
        let nudges = steps.iter().filter(|s| matches!(s, Step::NudgeAwayFromZero)).count();
        nudges + steps.iter().filter(|s| matches!(s, Step::Round(r) if r.is_nearest())).count()
    };
    let multiplier = |steps: &[Step]| steps.iter().find(|s| matches!(s, Step::Multiply(_))).copied();
    let rules = |steps: &[Step]| -> Vec<RoundingRule> {
        steps.iter().filter_map(|s| if let Step::Round(r) = s { Some(*r) } else { None }).collect()
    };
    if a.contains(&Step::F32) != b.contains(&Step::F32) {
        Class::F32Step
    } else if multiplier(&a) != multiplier(&b) {
        Class::MultiplierNarrowed
    } else if (rounds(&a) == 0) != (rounds(&b) == 0) {
        Class::DirectedRounding
    } else if rounds(&a) != rounds(&b) {
        Class::DoubleRounding
    } else if rules(&a) == rules(&b) {
        if b.contains(&Step::Saturate) { Class::Saturation } else { Class::Wrap }
    } else if rules(&a).iter().chain(&rules(&b)).all(|r| r.is_nearest()) {
        Class::TieDirection
    } else {
        Class::DirectedRounding
    }
}
