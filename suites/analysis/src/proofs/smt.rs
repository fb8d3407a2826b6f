//! SMT-LIB text of a verdict, for a solver that shares nothing with the folding of pieces. Each step of a scheme is an operation on bit vectors, on
//! numerators `n / 2^f` that are wide enough for any shift.
//!
//! The product is one free 64-bit integer `p`. Axioms restrict it: `2^62`, or at most `2^62 - 2^31` from zero. If no such `p` contradicts a
//! statement, no product does. The axioms are proved by [`axioms`], in the same run. There is no statement about an accumulator that a left shift
//! takes beyond the word, so a scheme whose left shift is not 0 at this shift has no query.

use std::fmt::Write;
use tiebreak_oracle::fpm::steps::{Exponent, Multiplier, Step};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::proof::{Delta, Difference, Extent, Verdict};
use tiebreak_oracle::rounding::RoundingRule;

/// Width of a numerator: 64-bit products, shifted left by up to 32, and rounding constants.
const WIDTH: u32 = 128;

/// Queries about one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queries {
    /// Satisfiable if an integer contradicts the statement.
    pub(super) counterexample: String,
    /// Query without the statement: unsatisfiable if the assumptions contradict each other, so that any statement would follow.
    pub(super) vacuity: String,
}

/// Returns the queries about a verdict at shift `s`; `None` if the verdict has no statement about products, or has sets with varying differences.
pub(super) fn queries(left: &Scheme, right: &Scheme, s: i32, verdict: &Verdict) -> Option<Queries> {
    let differences = match verdict {
        Verdict::Identical { .. } => &[][..],
        Verdict::Differ { differences, extent: Extent::All, .. } => differences,
        _ => return None,
    };
    let p = Parameters::q31(1, s);
    let (a, b) = (value(left, &p)?, value(right, &p)?);
    let expected = expected(differences)?;
    let mut text = String::from("(set-logic QF_BV)\n(declare-const p (_ BitVec 64))\n");
    let top = 1i128 << 62;
    let most = top - (1 << 31);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "(assert (or (= p {}) (and (bvsge p {}) (bvsle p {}))))",
        constant(top, 64),
        constant(-most, 64),
        constant(most, 64)
    );
    for side in [&a, &b] {
        for condition in &side.conditions {
            let _ = writeln!(text, "(assert {condition})");
        }
    }
    let vacuity = text.clone() + "(check-sat)\n";
    let _ = writeln!(text, "(assert (not (= (bvsub {} {}) {expected})))\n(check-sat)", b.n, a.n);
    Some(Queries { counterexample: text, vacuity })
}

/// Returns the negated axioms of the product over integers: two words and their product. Unsatisfiable.
pub(super) fn axioms() -> String {
    let (word, top, most) = (1i64 << 31, 1i64 << 62, (1i64 << 62) - (1 << 31));
    format!(
        "(set-logic QF_NIA)\n(declare-const x Int)\n(declare-const m Int)\n\
         (assert (and (<= (- {word}) x) (< x {word}) (<= (- {word}) m) (< m {word})))\n\
         (assert (not (and (or (= (* x m) {top}) (and (<= (- {most}) (* x m)) (<= (* x m) {most})))\n\
         (=> (>= m 0) (< (* x m) {top})))))\n(check-sat)\n"
    )
}

/// Numerator over `2^f`, and the conditions under which it is a value.
struct Value {
    n: String,
    f: u32,
    conditions: Vec<String>,
}

/// Returns the value after the steps that follow the product, and after the policy.
fn value(scheme: &Scheme, p: &Parameters) -> Option<Value> {
    let steps = scheme.definition.steps.iter().map(|(_, step)| *step);
    let mut value = Value { n: format!("((_ sign_extend {}) p)", WIDTH - 64), f: 0, conditions: Vec::new() };
    let mut product = false;
    for step in steps {
        match step {
            Step::Multiply(Multiplier::Full) if !product => product = true,
            Step::Multiply(_) => return None,
            // The largest product has two negative factors.
            Step::RequireNonNegativeMultiplier => {
                value.conditions.push(format!("(bvslt p {})", constant(1i128 << 62, 64)));
            }
            _ if !product => before(step, p)?,
            step => value.step(step, p)?,
        }
    }
    value.step(Step::fitting(scheme.overflow, p.word), p)?;
    product.then_some(value)
}

/// Accepts steps before the product that shift nothing; they are left out. Their requirements only restrict the inputs of the statement.
fn before(step: Step, p: &Parameters) -> Option<()> {
    match step {
        Step::Scale(e) => (e.at(p) == 0).then_some(()),
        Step::Wrap | Step::Saturate | Step::RequireBits(Exponent::TotalRight) => Some(()),
        _ => None,
    }
}

impl Value {
    fn step(&mut self, step: Step, p: &Parameters) -> Option<()> {
        match step {
            Step::Scale(e) => {
                let e = e.at(p);
                let cancelled = e.max(0).min(self.f as i32);
                self.f = (self.f as i32 - cancelled + (-e).max(0)) as u32;
                if e - cancelled > 0 {
                    self.n = format!("(bvshl {} {})", self.n, wide((e - cancelled).into()));
                }
            }
            Step::Round(rule) => self.round(rule),
            Step::Wrap => self.n = format!("((_ sign_extend {}) ((_ extract 31 0) {}))", WIDTH - 32, self.integer()?),
            Step::Saturate => {
                let (n, min, max) = (self.integer()?.to_owned(), wide(p.word.min()), wide(p.word.max()));
                self.n = format!("(let ((n {n})) (ite (bvslt n {min}) {min} (ite (bvsgt n {max}) {max} n)))");
            }
            Step::Add(k) | Step::Offset(k) => self.n = format!("(bvadd {} {})", self.n, wide(i128::from(k) << self.f)),
            Step::FixupNegative if p.s < 0 => self.by_sign(-1i128 << self.f, 0),
            Step::NudgeAwayFromZero if p.s < 0 => self.by_sign(-(1i128 << 30) << self.f, (1i128 << 30) << self.f),
            Step::FixupNegative | Step::NudgeAwayFromZero => {}
            Step::RequireBits(e) => {
                let half = 1i128.checked_shl(u32::try_from(e.at(p) - 1).ok()?)?;
                let n = self.integer()?;
                self.conditions.push(format!("(and (bvsge {n} {}) (bvslt {n} {}))", wide(-half), wide(half)));
            }
            _ => return None,
        }
        Some(())
    }

    fn integer(&self) -> Option<&str> {
        (self.f == 0).then_some(&self.n)
    }

    /// Adds one constant to a negative numerator, and another constant to any other numerator.
    fn by_sign(&mut self, negative: i128, other: i128) {
        self.n =
            format!("(let ((n {})) (bvadd n (ite (bvslt n {}) {} {})))", self.n, wide(0), wide(negative), wide(other));
    }

    fn round(&mut self, rule: RoundingRule) {
        let f = std::mem::take(&mut self.f);
        if f == 0 {
            return;
        }
        let (half, all) = (1i128 << (f - 1), (1i128 << f) - 1);
        match rule {
            RoundingRule::TiesUp => self.by_sign(half, half),
            RoundingRule::TiesDown => self.by_sign(half - 1, half - 1),
            RoundingRule::TiesAway => self.by_sign(half - 1, half),
            RoundingRule::TiesToZero => self.by_sign(half, half - 1),
            RoundingRule::TowardPositive => self.by_sign(all, all),
            RoundingRule::TowardZero => self.by_sign(all, 0),
            RoundingRule::TowardNegative => {}
            // Half to even: the bit that becomes the last one decides whether a tie goes up.
            RoundingRule::TiesEven => {
                let odd = format!("(bvand (bvlshr n {}) {})", wide(f.into()), wide(1));
                self.n = format!("(let ((n {})) (bvadd n (bvadd {} {odd})))", self.n, wide(half - 1));
            }
        }
        self.n = format!("(bvashr {} {})", self.n, wide(f.into()));
    }
}

/// Returns the difference given by closed sets of the product `p`.
fn expected(differences: &[Difference]) -> Option<String> {
    differences.iter().try_fold(wide(0), |rest, d| {
        let Delta::By(delta) = d.delta else { return None };
        let mask = constant((1i128 << d.bits) - 1, 64);
        let residue = format!("(bvand p {mask})");
        let (first, last) = (constant(d.first.into(), 64), constant(d.last.into(), 64));
        let interval = format!("(bvsge p {}) (bvsle p {})", constant(d.lo.into(), 64), constant(d.hi.into(), 64));
        Some(format!(
            "(ite (and {interval} (bvuge {residue} {first}) (bvule {residue} {last})) {} {rest})",
            wide(delta.into())
        ))
    })
}

fn wide(n: i128) -> String {
    constant(n, WIDTH)
}

/// Returns a two's-complement constant.
fn constant(n: i128, width: u32) -> String {
    let digits = (width / 4) as usize;
    let bits = if width == 128 { n as u128 } else { n as u128 & ((1 << width) - 1) };
    format!("#x{bits:0digits$x}")
}
