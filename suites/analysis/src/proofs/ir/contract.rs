//! Terms of an oracle scheme: each step on a numerator `n / 2^f`, and the condition under which the scheme has a value.

use super::term::{Op, Term, Terms};
use anyhow::{Result, bail};
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::steps::{Multiplier, Step};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// Width of a numerator: a 64-bit product, shifted left by up to 32, and rounding constants.
const WIDTH: u32 = 128;
/// Width of accumulators, multipliers and results.
const WORD: u32 = 32;

/// Result of the scheme, a word, and whether the scheme has a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) result: Term,
    pub(crate) promised: Term,
}

/// Returns the result of a scheme for an accumulator and a multiplier, both of 32 bits, and a constant shift.
pub(crate) fn expected(
    t: &mut Terms,
    scheme: &Scheme,
    output: Option<&Output>,
    x: Term,
    m: Term,
    s: i32,
) -> Result<Expected> {
    let p = Parameters::q31(0, s);
    let mut value = Number { n: t.extend(x, WIDTH, true), f: 0, promised: t.truth(true) };
    for (_, step) in scheme.definition.steps {
        value.step(t, *step, m, &p)?;
    }
    value.step(t, Step::fitting(scheme.overflow, p.word), m, &p)?;
    for step in output.into_iter().flat_map(|output| after(output, scheme, &p)) {
        value.step(t, step, m, &p)?;
    }
    if value.f != 0 {
        bail!("{} ends in a fraction", scheme.label());
    }
    Ok(Expected { result: t.extract(value.n, 0, WORD), promised: value.promised })
}

/// Returns the steps of a requantization that follow the scheme.
fn after(output: &Output, scheme: &Scheme, p: &Parameters) -> [Step; 3] {
    [
        Step::Offset(output.zero_point.into()),
        Step::fitting(scheme.overflow, p.word),
        Step::Clamp(output.min.into(), output.max.into()),
    ]
}

/// Computes the same result with the oracle, in machine integers.
pub(crate) fn oracle(scheme: &Scheme, output: Option<&Output>, x: i32, m: i32, s: i32) -> Option<i32> {
    let p = Parameters::q31(m, s);
    i32::try_from(scheme.placed(&p, output, scheme.fast(x.into(), &p)?)?).ok()
}

/// Number `n / 2^f`.
struct Number {
    n: Term,
    f: u32,
    promised: Term,
}

impl Number {
    fn step(&mut self, t: &mut Terms, step: Step, m: Term, p: &Parameters) -> Result<()> {
        match step {
            Step::Scale(e) => {
                let e = e.at(p);
                let cancelled = e.max(0).min(self.f as i32);
                self.f = (self.f as i32 - cancelled + (-e).max(0)) as u32;
                let by = t.constant(i128::from((e - cancelled).max(0)), WIDTH);
                self.n = t.binary(Op::Shl, self.n, by);
            }
            Step::Multiply(kind) => {
                let m = multiplier(t, kind, m)?;
                self.n = product(t, self.n, m);
            }
            Step::Round(rule) => self.round(t, rule),
            Step::Wrap => {
                let word = t.extract(self.integer()?, 0, WORD);
                self.n = t.extend(word, WIDTH, true);
            }
            Step::Saturate => {
                let word = super::intrinsics::fitted(t, self.integer()?, WORD, true);
                self.n = t.extend(word, WIDTH, true);
            }
            Step::Add(k) | Step::Offset(k) => self.add(t, i128::from(k), i128::from(k)),
            Step::FixupNegative if p.s < 0 => self.add(t, -1, 0),
            Step::NudgeAwayFromZero if p.s < 0 => self.add(t, -(1 << 30), 1 << 30),
            Step::NudgeBySign => self.add(t, 1 - (1 << 30), 1 << 30),
            Step::FixupNegative | Step::NudgeAwayFromZero => {}
            Step::RequireNonNegativeMultiplier => {
                let zero = t.constant(0, WORD);
                let held = t.at_most(zero, m, true);
                self.promised = t.binary(Op::And, self.promised, held);
            }
            Step::RequireBits(e) => self.require(t, e.at(p))?,
            Step::Clamp(min, max) => {
                let (n, min, max) = (self.integer()?, t.constant(min.into(), WIDTH), t.constant(max.into(), WIDTH));
                let capped = t.extreme(n, max, true, false);
                self.n = t.extreme(capped, min, true, true);
            }
            Step::FixupMasked | Step::PowerOfTwoShift | Step::F32 => bail!("the step `{step}` has no term"),
        }
        Ok(())
    }

    fn integer(&self) -> Result<Term> {
        if self.f != 0 {
            bail!("a step needs an integer and has a fraction");
        }
        Ok(self.n)
    }

    /// Adds one constant to a negative number, and another constant to any other number.
    fn add(&mut self, t: &mut Terms, negative: i128, other: i128) {
        let (below, rest) = (t.constant(negative << self.f, WIDTH), t.constant(other << self.f, WIDTH));
        self.add_numerators(t, below, rest);
    }

    fn add_numerators(&mut self, t: &mut Terms, below: Term, rest: Term) {
        let zero = t.constant(0, WIDTH);
        let negative = t.binary(Op::SignedLess, self.n, zero);
        let added = t.choose(negative, below, rest);
        self.n = t.binary(Op::Add, self.n, added);
    }

    fn require(&mut self, t: &mut Terms, bits: i32) -> Result<()> {
        let n = self.integer()?;
        if bits < 1 {
            self.promised = t.truth(false);
            return Ok(());
        }
        let half = 1i128 << (bits - 1);
        let (least, most) = (t.constant(-half, WIDTH), t.constant(half - 1, WIDTH));
        let (above, below) = (t.at_most(least, n, true), t.at_most(n, most, true));
        self.promised = t.every(&[self.promised, above, below]);
        Ok(())
    }

    fn round(&mut self, t: &mut Terms, rule: RoundingRule) {
        let f = std::mem::take(&mut self.f);
        if f == 0 {
            return;
        }
        let (half, all) = (1i128 << (f - 1), (1i128 << f) - 1);
        let by = t.constant(f.into(), WIDTH);
        let (negative, other) = match rule {
            RoundingRule::TiesUp => (half, half),
            RoundingRule::TiesDown => (half - 1, half - 1),
            RoundingRule::TiesAway => (half - 1, half),
            RoundingRule::TiesToZero => (half, half - 1),
            RoundingRule::TowardPositive => (all, all),
            RoundingRule::TowardZero => (all, 0),
            RoundingRule::TowardNegative => (0, 0),
            RoundingRule::TiesEven => {
                let (shifted, one) = (t.binary(Op::LogicalShr, self.n, by), t.constant(1, WIDTH));
                let odd = t.binary(Op::And, shifted, one);
                self.n = t.binary(Op::Add, self.n, odd);
                (half - 1, half - 1)
            }
        };
        let (negative, other) = (t.constant(negative, WIDTH), t.constant(other, WIDTH));
        self.add_numerators(t, negative, other);
        self.n = t.binary(Op::ArithmeticShr, self.n, by);
    }
}

/// Returns `n * m`. The product of two words has 64 bits, so that code that multiplies them has the same term.
fn product(t: &mut Terms, n: Term, m: Term) -> Term {
    match t.word(n) {
        Some(word) => {
            let product = super::intrinsics::wide_product(t, word, m, true);
            t.extend(product, WIDTH, true)
        }
        None => {
            let m = t.extend(m, WIDTH, true);
            t.binary(Op::Mul, n, m)
        }
    }
}

/// Returns the multiplier of the product, a word.
fn multiplier(t: &mut Terms, kind: Multiplier, m: Term) -> Result<Term> {
    let wide = match kind {
        Multiplier::Full => return Ok(m),
        Multiplier::HighHalfSaturated => t.extend(m, WORD + 1, true),
        Multiplier::HighHalfWrapped => m,
        Multiplier::Significand24 => bail!("a multiplier of 24 bits has no term"),
    };
    let width = t.width(wide);
    let (bias, by) = (t.constant(1 << 15, width), t.constant(16, width));
    let sum = t.binary(Op::Add, wide, bias);
    let high = t.binary(Op::ArithmeticShr, sum, by);
    let word = t.extract(high, 0, WORD);
    let most = t.constant(0x7FFF, WORD);
    Ok(if kind == Multiplier::HighHalfSaturated { t.extreme(word, most, true, false) } else { word })
}
