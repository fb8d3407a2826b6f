//! Sums of products in lanes of 16 and 32 bits, as the terms of the same instructions in proofs of code.
//!
//! Sources: Arm Architecture Reference Manual (UMULL, UMLAL, SMULL, SMLAL, UADALP, CNT), Intel 64 and IA-32 Architectures Software Developer's Manual
//! (PMADDUBSW, PMADDWD, VPDPBUSD).

use super::super::ir::{Op, Products, Query, Term, Terms, fitted};
use super::super::solver::Answer;
use super::{Question, Statement, Values, value};
use tiebreak_reports::text::count;

/// Variables of two lanes of each operand.
const PAIR: [&str; 4] = ["a0", "a1", "b0", "b1"];

pub(super) fn all() -> Vec<Statement> {
    vec![
        umlal(),
        smlal(),
        maddubs(),
        maddwd(),
        depth("UADALP, 32-bit lane", false, Depth { of: 255 * 255, terms: 2, low: 0, high: u32::MAX.into() }),
        depth("UADALP, read as int32", false, Depth { of: 255 * 255, terms: 2, low: 0, high: i32::MAX.into() }),
        depth("VPDPBUSD", true, Depth { of: 255 * 128, terms: 4, low: i32::MIN.into(), high: i32::MAX.into() }),
        depth("CNT and UADALP, 16-bit lane", false, Depth { of: 8, terms: 2, low: 0, high: u16::MAX.into() }),
    ]
}

/// Terms of a question, with its assumptions.
struct Asking {
    t: Terms,
    held: Vec<Term>,
}

impl Asking {
    fn new() -> Self {
        Self { t: Terms::default(), held: Vec::new() }
    }

    /// Adds variables of this width.
    fn variables<const N: usize>(&mut self, names: [&str; N], bits: u32) -> [Term; N] {
        names.map(|name| self.t.variable(name, bits))
    }

    fn number(&mut self, value: i128, bits: u32) -> Term {
        self.t.constant(value, bits)
    }

    /// Returns `a <= b` for signed numbers.
    fn at_most(&mut self, a: Term, b: Term) -> Term {
        self.t.at_most(a, b, true)
    }

    /// Returns the question, with the goal as a further assumption.
    fn asks(mut self, what: &str, goal: Term, needs: Answer) -> Question {
        self.held.push(goal);
        let text = Query::new(&mut self.t, &self.held, Products::Full).given(&self.held).text().to_owned();
        Question { what: what.to_owned(), text, needs, variables: &[], replayed: |_| None }
    }
}

/// Form of the two products of a pair, and of their sum.
#[derive(Clone, Copy)]
struct Pair {
    /// Width of a factor.
    bits: u32,
    /// True for signed factors, by operand.
    signs: [bool; 2],
    /// Width of the lane.
    lane: u32,
    saturates: bool,
}

impl Pair {
    /// Returns the sum in the lane and the exact sum. A product fits twice the width of its factors, and a sum of two products one more bit.
    fn sums(self, asking: &mut Asking, a: [Term; 2], b: [Term; 2]) -> [Term; 2] {
        let t = &mut asking.t;
        let (whole, wide) = (2 * self.bits, 2 * self.bits + 2);
        let signed = self.signs[0] || self.signs[1];
        let (mut exact, mut lane) = (t.constant(0, wide), t.constant(0, self.lane));
        for (a, b) in a.into_iter().zip(b) {
            let (a, b) = (t.extend(a, whole, self.signs[0]), t.extend(b, whole, self.signs[1]));
            let product = t.binary(Op::Mul, a, b);
            let widened = t.extend(product, wide, signed);
            exact = t.binary(Op::Add, exact, widened);
            let narrow = t.extract(product, 0, self.lane);
            lane = t.binary(Op::Add, lane, narrow);
        }
        let lane = if self.saturates { fitted(t, exact, self.lane, true) } else { lane };
        [t.extend(lane, wide, signed), exact]
    }

    /// Returns the statement: under `condition` on the second operand, every sum is exact; otherwise, the sum for the first operand `worst` is not.
    fn iff(
        self,
        (name, claim): (&'static str, &str),
        condition: fn(&mut Asking, [Term; 2]) -> Term,
        worst: fn(&mut Asking, [Term; 2]) -> [Term; 2],
        replayed: fn(&Values) -> Option<String>,
    ) -> Statement {
        let ask = |within: bool, is_worst: bool, wants_exact: bool, what: &str, needs| {
            let mut asking = Asking::new();
            let [a0, a1, b0, b1] = asking.variables(PAIR, self.bits);
            let holds = condition(&mut asking, [b0, b1]);
            let holds = if within { holds } else { asking.t.not(holds) };
            asking.held.push(holds);
            if is_worst {
                for (a, worst) in [a0, a1].into_iter().zip(worst(&mut asking, [b0, b1])) {
                    let is = asking.t.binary(Op::Equal, a, worst);
                    asking.held.push(is);
                }
            }
            let [lane, exact] = self.sums(&mut asking, [a0, a1], [b0, b1]);
            let equal = asking.t.binary(Op::Equal, lane, exact);
            let goal = if wants_exact { equal } else { asking.t.not(equal) };
            asking.asks(what, goal, needs)
        };
        let witness = ask(false, true, false, "a wrong sum beyond the bound", Answer::Satisfiable);
        Statement {
            name,
            claim: claim.to_owned(),
            questions: vec![
                ask(true, false, false, "a wrong sum within the bound", Answer::Unsatisfiable),
                ask(false, true, true, "weights beyond the bound that no activation shows", Answer::Unsatisfiable),
                Question { variables: &PAIR, replayed, ..witness },
                ask(true, false, true, "an exact sum within the bound", Answer::Satisfiable),
            ],
        }
    }
}

/// Returns the values of the four factors.
fn factors(values: &Values, number: impl Fn(usize, u128) -> i64) -> ([i64; 2], [i64; 2]) {
    let of = |at: usize| number(at, value(values, PAIR[at]));
    ([of(0), of(1)], [of(2), of(3)])
}

fn shown(a: [i64; 2], b: [i64; 2], got: i64) -> Option<String> {
    let exact = a[0] * b[0] + a[1] * b[1];
    (got != exact).then(|| format!("{}*{} + {}*{}: the lane has {got}, exact {exact}", a[0], b[0], a[1], b[1]))
}

/// Returns the statement about two products of UMULL and UMLAL in a 16-bit lane.
fn umlal() -> Statement {
    let pair = Pair { bits: 8, signs: [false; 2], lane: 16, saturates: false };
    let condition = |asking: &mut Asking, b: [Term; 2]| {
        let [b0, b1] = b.map(|b| asking.t.extend(b, 16, false));
        let (sum, most) = (asking.t.binary(Op::Add, b0, b1), asking.number(257, 16));
        asking.at_most(sum, most)
    };
    let worst = |asking: &mut Asking, _: [Term; 2]| [asking.number(255, 8); 2];
    let replayed = |values: &Values| {
        let (a, b) = factors(values, |_, bits| bits as u8 as i64);
        let got = a.iter().zip(&b).fold(0u16, |sum, (a, b)| sum.wrapping_add((a * b) as u16));
        shown(a, b, got.into())
    };
    let claim = "u8 pair sums are exact in 16 bits for all activations if and only if b0 + b1 <= 257";
    pair.iff(("UMULL, UMLAL", claim), condition, worst, replayed)
}

/// Returns the term that is true unless both numbers are the least one of this width.
fn not_both_least(asking: &mut Asking, [b0, b1]: [Term; 2], least: i128, bits: u32) -> Term {
    let least = asking.number(least, bits);
    let (first, second) = (asking.t.binary(Op::Equal, b0, least), asking.t.binary(Op::Equal, b1, least));
    let both = asking.t.binary(Op::And, first, second);
    asking.t.not(both)
}

/// Returns the statement about two products of SMULL and SMLAL in a 16-bit lane.
fn smlal() -> Statement {
    let pair = Pair { bits: 8, signs: [true; 2], lane: 16, saturates: false };
    let condition = |asking: &mut Asking, b: [Term; 2]| not_both_least(asking, b, -128, 8);
    let worst = |asking: &mut Asking, _: [Term; 2]| [asking.number(-128, 8); 2];
    let replayed = |values: &Values| {
        let (a, b) = factors(values, |_, bits| i64::from(bits as u8 as i8));
        let got = a.iter().zip(&b).fold(0i16, |sum, (a, b)| sum.wrapping_add((a * b) as i16));
        shown(a, b, got.into())
    };
    let claim = "s8 pair sums are exact in 16 bits for all activations if and only if b0 and b1 are not both -128";
    pair.iff(("SMULL, SMLAL", claim), condition, worst, replayed)
}

/// Returns the statement about two products of an unsigned and a signed byte, saturated to 16 bits.
fn maddubs() -> Statement {
    let pair = Pair { bits: 8, signs: [false, true], lane: 16, saturates: true };
    let condition = |asking: &mut Asking, b: [Term; 2]| {
        let zero = asking.number(0, 16);
        let [b0, b1] = b.map(|b| asking.t.extend(b, 16, true));
        let mut sum = |largest| {
            let parts = [b0, b1].map(|b| asking.t.extreme(b, zero, true, largest));
            asking.t.binary(Op::Add, parts[0], parts[1])
        };
        let (above, below) = (sum(true), sum(false));
        let (most, least) = (asking.number(128, 16), asking.number(-128, 16));
        let (first, second) = (asking.at_most(above, most), asking.at_most(least, below));
        asking.t.binary(Op::And, first, second)
    };
    // 255 for the weights of the sign whose sum is too large, 0 for the other weights.
    let worst = |asking: &mut Asking, b: [Term; 2]| {
        let (zero, full) = (asking.number(0, 8), asking.number(255, 8));
        let [wide_zero, most] = [0, 128].map(|n| asking.number(n, 16));
        let [b0, b1] = b.map(|b| asking.t.extend(b, 16, true));
        let above = [b0, b1].map(|b| asking.t.extreme(b, wide_zero, true, true));
        let sum = asking.t.binary(Op::Add, above[0], above[1]);
        let is_above = asking.t.binary(Op::SignedLess, most, sum);
        b.map(|b| {
            let negative = asking.t.binary(Op::SignedLess, b, zero);
            let positive = asking.t.not(negative);
            let chosen = asking.t.choose(is_above, positive, negative);
            asking.t.choose(chosen, full, zero)
        })
    };
    let replayed = |values: &Values| {
        let number = |at: usize, bits: u128| if at < 2 { bits as u8 as i64 } else { i64::from(bits as u8 as i8) };
        let (a, b) = factors(values, number);
        let exact = a[0] * b[0] + a[1] * b[1];
        shown(a, b, exact.clamp(i16::MIN.into(), i16::MAX.into()))
    };
    let claim = "u8 by s8 pair sums never saturate if and only if positive weights sum to at most 128, and negative ones to at least -128";
    pair.iff(("PMADDUBSW", claim), condition, worst, replayed)
}

/// Returns the statement about two 16-bit products in a 32-bit lane.
fn maddwd() -> Statement {
    let pair = Pair { bits: 16, signs: [true; 2], lane: 32, saturates: false };
    let condition = |asking: &mut Asking, b: [Term; 2]| not_both_least(asking, b, -32768, 16);
    let worst = |asking: &mut Asking, _: [Term; 2]| [asking.number(-32768, 16); 2];
    let replayed = |values: &Values| {
        let (a, b) = factors(values, |_, bits| i64::from(bits as u16 as i16));
        let got = a.iter().zip(&b).fold(0i32, |sum, (a, b)| sum.wrapping_add((a * b) as i32));
        shown(a, b, got.into())
    };
    let claim = "s16 pair sums are exact in 32 bits for all activations if and only if b0 and b1 are not both -32768";
    pair.iff(("PMADDWD", claim), condition, worst, replayed)
}

/// Width of sums and of numbers of terms, sufficient for all of them.
const WIDE: u32 = 40;

/// Lane to which each step adds terms. The number of terms is a variable.
#[derive(Clone, Copy)]
struct Depth {
    /// Largest absolute value of a term.
    of: i128,
    /// Maximum number of terms that a step adds.
    terms: i128,
    /// Range of the lane.
    low: i128,
    high: i128,
}

impl Depth {
    /// Returns the largest number of terms that always fits.
    fn bound(self, signed: bool) -> i128 {
        if signed { -self.low / self.of } else { self.high / self.of }
    }

    /// Returns the induction step: after `k` terms the lane has their exact sum, whose absolute value is at most `k` times the largest term. The same
    /// holds after the next `j` terms. The counterexample for one more term is the sum of the largest terms.
    fn asks(self, signed: bool, most: i128, what: &str, needs: Answer) -> Question {
        let mut asking = Asking::new();
        let [k, j, sum, next] = asking.variables(["k", "j", "sum", "next"], WIDE);
        let [zero, one, of, terms, most, low, high] =
            [0, 1, self.of, self.terms, most, self.low, self.high].map(|n| asking.number(n, WIDE));
        let less = |signed, asking: &mut Asking, bound| match signed {
            true => asking.t.binary(Op::Sub, zero, bound),
            false => zero,
        };
        let (before, adds) = (asking.t.binary(Op::Mul, k, of), asking.t.binary(Op::Mul, j, of));
        let all = asking.t.binary(Op::Add, k, j);
        // Product of (k + j) and the largest term.
        let after = asking.t.binary(Op::Add, before, adds);
        let inside = |asking: &mut Asking, value, bound| {
            let least = less(signed, asking, bound);
            let (above, below) = (asking.at_most(least, value), asking.at_most(value, bound));
            asking.t.binary(Op::And, above, below)
        };
        let held = [inside(&mut asking, sum, before), inside(&mut asking, next, adds)];
        asking.held.extend(held);
        for (a, b) in [(zero, k), (k, most), (one, j), (j, terms), (all, most)] {
            let at_most = asking.at_most(a, b);
            asking.held.push(at_most);
        }
        let total = asking.t.binary(Op::Add, sum, next);
        let (fits_low, fits_high) = (asking.at_most(low, total), asking.at_most(total, high));
        let fits = asking.t.binary(Op::And, fits_low, fits_high);
        let stays = inside(&mut asking, total, after);
        let held = asking.t.binary(Op::And, fits, stays);
        let goal = if needs == Answer::Unsatisfiable { asking.t.not(held) } else { held };
        asking.asks(what, goal, needs)
    }

    /// Returns the question whether the sum of this number of largest terms is outside the lane.
    fn overflows(self, signed: bool, terms: i128) -> Question {
        let mut asking = Asking::new();
        let [total] = asking.variables(["total"], WIDE);
        let sign = if signed { -1 } else { 1 };
        let largest = asking.number(sign * terms * self.of, WIDE);
        let (low, high) = (asking.number(self.low, WIDE), asking.number(self.high, WIDE));
        let is = asking.t.binary(Op::Equal, total, largest);
        asking.held.push(is);
        let (fits_low, fits_high) = (asking.at_most(low, total), asking.at_most(total, high));
        let fits = asking.t.binary(Op::And, fits_low, fits_high);
        let goal = asking.t.not(fits);
        asking.asks("one term more in an overflow", goal, Answer::Satisfiable)
    }
}

fn depth(name: &'static str, signed: bool, depth: Depth) -> Statement {
    let bound = depth.bound(signed);
    Statement {
        name,
        claim: format!(
            "{} terms of at most {} from zero fit the lane, {} do not",
            count(bound as u64),
            count(depth.of as u64),
            count(bound as u64 + 1)
        ),
        questions: vec![
            depth.asks(signed, bound, "an overflow within the bound", Answer::Unsatisfiable),
            depth.asks(signed, bound, "a sum within the bound", Answer::Satisfiable),
            depth.overflows(signed, bound + 1),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_those_of_the_facts() {
        let claims: Vec<String> = all().into_iter().map(|statement| statement.claim).collect();
        for bound in ["66,051 terms", "66,052 do not", "33,025 terms", "65,793 terms", "8,191 terms"] {
            assert!(claims.iter().any(|claim| claim.contains(bound)), "{bound}: {claims:#?}");
        }
    }
}
