//! LLVM IR integer instructions on one lane, with poison and undefined behaviour. Source: the LLVM Language Reference Manual.

use super::term::{Op, Term, Terms};
use super::value::Lane;
use anyhow::{Result, bail};

/// Lane, and the truth value of undefined behaviour.
pub(crate) struct Computed {
    pub(crate) lane: Lane,
    pub(crate) undefined: Term,
}

/// Executes a binary instruction; `None` for an unknown name.
pub(crate) fn binary(t: &mut Terms, name: &str, flags: &[&str], a: Lane, b: Lane) -> Option<Computed> {
    let op = match name {
        "add" => Op::Add,
        "sub" => Op::Sub,
        "mul" => Op::Mul,
        "shl" => Op::Shl,
        "lshr" => Op::LogicalShr,
        "ashr" => Op::ArithmeticShr,
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "sdiv" => Op::SignedDiv,
        "srem" => Op::SignedRem,
        "udiv" => Op::UnsignedDiv,
        "urem" => Op::UnsignedRem,
        _ => return None,
    };
    let term = t.binary(op, a.term, b.term);
    let mut poison = t.binary(Op::Or, a.poison, b.poison);
    for flag in flags {
        let breach = breach(t, op, flag, a.term, b.term, term);
        poison = t.binary(Op::Or, poison, breach);
    }
    if matches!(op, Op::Shl | Op::LogicalShr | Op::ArithmeticShr) {
        let width = t.width(a.term);
        let limit = t.constant(width.into(), width);
        let inside = t.binary(Op::UnsignedLess, b.term, limit);
        let outside = t.not(inside);
        poison = t.binary(Op::Or, poison, outside);
    }
    let undefined = match op {
        Op::SignedDiv | Op::SignedRem | Op::UnsignedDiv | Op::UnsignedRem => {
            let division = undefined_division(t, op, a.term, b.term);
            t.binary(Op::Or, division, b.poison)
        }
        _ => t.truth(false),
    };
    Some(Computed { lane: Lane { term, poison }, undefined })
}

fn undefined_division(t: &mut Terms, op: Op, a: Term, b: Term) -> Term {
    let width = t.width(a);
    let zero = t.constant(0, width);
    let by_zero = t.binary(Op::Equal, b, zero);
    if matches!(op, Op::UnsignedDiv | Op::UnsignedRem) {
        return by_zero;
    }
    let (least, minus) = (t.constant(1i128 << (width - 1), width), t.constant(-1, width));
    let (is_least, is_minus) = (t.binary(Op::Equal, a, least), t.binary(Op::Equal, b, minus));
    let overflow = t.binary(Op::And, is_least, is_minus);
    t.binary(Op::Or, by_zero, overflow)
}

/// Returns the truth value that the promise of a flag is broken.
fn breach(t: &mut Terms, op: Op, flag: &str, a: Term, b: Term, result: Term) -> Term {
    let width = t.width(a);
    let sign = flag == "nsw";
    match (op, flag) {
        (Op::Add | Op::Sub, "nsw" | "nuw") => {
            let (wa, wb) = (t.extend(a, width + 1, sign), t.extend(b, width + 1, sign));
            let (exact, got) = (t.binary(op, wa, wb), t.extend(result, width + 1, sign));
            different(t, exact, got)
        }
        // The absolute product of two int32 is less than 2^63.
        (Op::Mul, "nsw") if width >= 64 && t.word(a).is_some() && t.word(b).is_some() => t.truth(false),
        (Op::Mul, "nsw") if t.product_fits(a, b) => t.truth(false),
        (Op::Mul, "nsw" | "nuw") => {
            let wide = (2 * width).min(128);
            let (wa, wb) = (t.extend(a, wide, sign), t.extend(b, wide, sign));
            let (exact, got) = (t.binary(op, wa, wb), t.extend(result, wide, sign));
            different(t, exact, got)
        }
        (Op::Shl, _) => {
            let back = t.binary(if sign { Op::ArithmeticShr } else { Op::LogicalShr }, result, b);
            different(t, back, a)
        }
        (Op::LogicalShr | Op::ArithmeticShr, "exact") => {
            let back = t.binary(Op::Shl, result, b);
            different(t, back, a)
        }
        (Op::SignedDiv | Op::UnsignedDiv, "exact") => {
            let back = t.binary(Op::Mul, result, b);
            different(t, back, a)
        }
        (Op::Or, "disjoint") => {
            let (both, zero) = (t.binary(Op::And, a, b), t.constant(0, width));
            different(t, both, zero)
        }
        _ => t.truth(true),
    }
}

/// Returns `a != b`.
pub(crate) fn different(t: &mut Terms, a: Term, b: Term) -> Term {
    let equal = t.binary(Op::Equal, a, b);
    t.not(equal)
}

/// Returns the truth value of a comparison.
pub(crate) fn compare(t: &mut Terms, predicate: &str, a: Term, b: Term) -> Result<Term> {
    Ok(match predicate {
        "eq" => t.binary(Op::Equal, a, b),
        "ne" => different(t, a, b),
        "ult" => t.binary(Op::UnsignedLess, a, b),
        "ugt" => t.binary(Op::UnsignedLess, b, a),
        "ule" => t.at_most(a, b, false),
        "uge" => t.at_most(b, a, false),
        "slt" => t.binary(Op::SignedLess, a, b),
        "sgt" => t.binary(Op::SignedLess, b, a),
        "sle" => t.at_most(a, b, true),
        "sge" => t.at_most(b, a, true),
        _ => bail!("the comparison `{predicate}` is not known"),
    })
}

/// Converts an integer; the second term is true if a flag is broken.
pub(crate) fn convert(t: &mut Terms, name: &str, flags: &[&str], a: Term, width: u32) -> (Term, Term) {
    // A nonnegative number also extends by its sign, and the term of a product stays the same.
    let result = t.resize(a, width, name == "sext" || flags.contains(&"nneg"));
    let mut poison = t.truth(false);
    for flag in flags {
        let of = t.width(a);
        let breach = match *flag {
            "nneg" => {
                let zero = t.constant(0, of);
                t.binary(Op::SignedLess, a, zero)
            }
            _ => {
                let back = t.extend(result, of, *flag == "nsw");
                different(t, back, a)
            }
        };
        poison = t.binary(Op::Or, poison, breach);
    }
    (result, poison)
}
