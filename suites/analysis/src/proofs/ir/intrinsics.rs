//! Functions of LLVM IR that work on each lane: generic ones, and those of AArch64 Advanced SIMD, which inline assembly also uses. Sources: the LLVM
//! Language Reference Manual; Arm Architecture Reference Manual, the pseudocode of each instruction.

use super::term::{Op, Term, Terms};
use super::value::Lane;

/// Returns the result of a generic intrinsic such as `smax` on one lane; `None` for an unknown name.
pub(crate) fn generic(t: &mut Terms, name: &str, of: &[Lane]) -> Option<Lane> {
    let terms: Vec<Term> = of.iter().map(|lane| lane.term).collect();
    let mut poison = t.truth(false);
    for lane in of {
        poison = t.binary(Op::Or, poison, lane.poison);
    }
    let term = match (name, terms.as_slice()) {
        ("smax" | "umax", [a, b]) => t.extreme(*a, *b, name == "smax", true),
        ("smin" | "umin", [a, b]) => t.extreme(*a, *b, name == "smin", false),
        ("sadd.sat" | "uadd.sat", [a, b]) => saturating(t, Op::Add, *a, *b, name == "sadd.sat"),
        ("ssub.sat" | "usub.sat", [a, b]) => saturating(t, Op::Sub, *a, *b, name == "ssub.sat"),
        ("fshl" | "fshr", [high, low, by]) => funnel(t, name == "fshl", *high, *low, *by),
        ("abs", [a, flag]) => {
            let width = t.width(*a);
            let (zero, least) = (t.constant(0, width), t.constant(1i128 << (width - 1), width));
            let (negative, is_least) = (t.binary(Op::SignedLess, *a, zero), t.binary(Op::Equal, *a, least));
            let minus = t.binary(Op::Sub, zero, *a);
            let breach = t.binary(Op::And, is_least, *flag);
            poison = t.binary(Op::Or, poison, breach);
            t.choose(negative, minus, *a)
        }
        ("ctpop", [a]) => {
            let width = t.width(*a);
            let zero = t.constant(0, width);
            (0..width).fold(zero, |sum, bit| {
                let bit = t.extract(*a, bit, 1);
                let bit = t.extend(bit, width, false);
                t.binary(Op::Add, sum, bit)
            })
        }
        ("expect", [a, _]) => *a,
        _ => return None,
    };
    Some(Lane { term, poison })
}

/// Returns bits of two concatenated words, from a position given by the amount modulo the width.
fn funnel(t: &mut Terms, left: bool, high: Term, low: Term, by: Term) -> Term {
    let width = t.width(high);
    let size = t.constant(width.into(), width);
    let by = t.binary(Op::UnsignedRem, by, size);
    let rest = t.binary(Op::Sub, size, by);
    let (up, down) = if left { (by, rest) } else { (rest, by) };
    let (high, low) = (t.binary(Op::Shl, high, up), t.binary(Op::LogicalShr, low, down));
    t.binary(Op::Or, high, low)
}

fn saturating(t: &mut Terms, op: Op, a: Term, b: Term, sign: bool) -> Term {
    let width = t.width(a);
    // Two more bits: an unsigned sum is below 2^(width+1), and a difference above -2^width.
    let (wa, wb) = (t.extend(a, width + 2, sign), t.extend(b, width + 2, sign));
    let exact = t.binary(op, wa, wb);
    fitted(t, exact, width, sign)
}

/// Clamps a signed number to the values of a signed or unsigned word.
pub(crate) fn fitted(t: &mut Terms, exact: Term, width: u32, sign: bool) -> Term {
    let wide = t.width(exact);
    let (least, most) =
        if sign { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
    let (least, most) = (t.constant(least, wide), t.constant(most, wide));
    let (below, above) = (t.binary(Op::SignedLess, exact, least), t.binary(Op::SignedLess, most, exact));
    // The choice is between words, not wide numbers, so that a product sees a word.
    let (least, most, word) = (t.extract(least, 0, width), t.extract(most, 0, width), t.extract(exact, 0, width));
    let capped = t.choose(above, most, word);
    t.choose(below, least, capped)
}

/// Returns the result of an Advanced SIMD instruction on one lane; `None` for an unknown name.
pub(crate) fn neon(t: &mut Terms, name: &str, of: &[Term], result: u32) -> Option<Term> {
    let width = t.width(*of.first()?);
    Some(match (name, of) {
        ("sqrdmulh" | "sqdmulh", [a, b]) => {
            let product = wide_product(t, *a, *b, true);
            let product = t.extend(product, 2 * width + 1, true);
            let half = t.constant(if name == "sqrdmulh" { 1i128 << (width - 2) } else { 0 }, 2 * width + 1);
            let sum = t.binary(Op::Add, product, half);
            let by = t.constant(i128::from(width) - 1, 2 * width + 1);
            let high = t.binary(Op::ArithmeticShr, sum, by);
            fitted(t, high, width, true)
        }
        ("srshl" | "sshl" | "sqshl" | "sqrshl", [a, by]) => shifted(t, name, *a, *by),
        ("sqadd" | "uqadd", [a, b]) => saturating(t, Op::Add, *a, *b, name == "sqadd"),
        ("sqsub" | "uqsub", [a, b]) => saturating(t, Op::Sub, *a, *b, name == "sqsub"),
        ("add", [a, b]) => t.binary(Op::Add, *a, *b),
        ("sub", [a, b]) => t.binary(Op::Sub, *a, *b),
        ("mul", [a, b]) => t.binary(Op::Mul, *a, *b),
        ("and", [a, b]) => t.binary(Op::And, *a, *b),
        ("orr", [a, b]) => t.binary(Op::Or, *a, *b),
        ("eor", [a, b]) => t.binary(Op::Xor, *a, *b),
        ("smax" | "umax", [a, b]) => t.extreme(*a, *b, name == "smax", true),
        ("smin" | "umin", [a, b]) => t.extreme(*a, *b, name == "smin", false),
        ("srhadd" | "urhadd" | "shadd" | "uhadd", [a, b]) => {
            let sign = name.starts_with('s');
            let (wa, wb) = (t.extend(*a, width + 1, sign), t.extend(*b, width + 1, sign));
            let sum = t.binary(Op::Add, wa, wb);
            let one = t.constant(i128::from(name.contains('r')), width + 1);
            let sum = t.binary(Op::Add, sum, one);
            t.extract(sum, 1, width)
        }
        ("smull" | "umull", [a, b]) => wide_product(t, *a, *b, name == "smull"),
        ("sqxtn" | "sqxtun", [a]) => fitted(t, *a, result, name == "sqxtn"),
        ("uqxtn", [a]) => {
            let wide = t.extend(*a, width + 1, false);
            fitted(t, wide, result, false)
        }
        _ => return None,
    })
}

/// Returns the product in twice the width.
pub(crate) fn wide_product(t: &mut Terms, a: Term, b: Term, sign: bool) -> Term {
    let wide = 2 * t.width(a);
    let (a, b) = (t.extend(a, wide, sign), t.extend(b, wide, sign));
    t.binary(Op::Mul, a, b)
}

/// Shifts by the signed low byte: left, or right with or without rounding. `q` in the name saturates left shifts.
fn shifted(t: &mut Terms, name: &str, a: Term, by: Term) -> Term {
    let width = t.width(a);
    // Width for a word shifted left by its width, and a rounding constant.
    let wide = 2 * width + 2;
    let rounds = name.contains('r');
    let byte = t.extract(by, 0, 8);
    let by = t.extend(byte, wide, true);
    let (zero, limit) = (t.constant(0, wide), t.constant(i128::from(width) + 1, wide));
    let left = t.binary(Op::SignedLess, zero, by);
    let minus = t.binary(Op::Sub, zero, by);
    // Larger amounts than the width have the same effect: all bits have left the word, or only sign bits remain.
    let (up, down) = (t.extreme(by, limit, true, false), t.extreme(minus, limit, true, false));
    let number = t.extend(a, wide, true);
    let raised = t.binary(Op::Shl, number, up);
    let raised = if name.starts_with("sq") { fitted(t, raised, width, true) } else { t.extract(raised, 0, width) };
    let half = if rounds {
        let (one, two) = (t.constant(1, wide), t.constant(1, wide));
        let power = t.binary(Op::Shl, one, down);
        t.binary(Op::LogicalShr, power, two)
    } else {
        zero
    };
    let biased = t.binary(Op::Add, number, half);
    let lowered = t.binary(Op::ArithmeticShr, biased, down);
    let lowered = t.extract(lowered, 0, width);
    t.choose(left, raised, lowered)
}
