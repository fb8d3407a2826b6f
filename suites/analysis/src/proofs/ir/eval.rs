//! Evaluation of terms: single operations on numbers, and whole graphs for given variables.

use super::term::{Node, Op, Term, Terms, mask, signed};
use std::collections::HashMap;

/// Evaluates an operation on operands with their widths; the result has `width` bits.
pub(crate) fn operation(op: Op, operands: &[(u128, u32)], width: u32) -> u128 {
    let (a, of) = operands[0];
    let b = operands.get(1).map_or(0, |operand| operand.0);
    let (sa, sb) = (signed(a, of), signed(b, operands.get(1).map_or(1, |operand| operand.1)));
    let by = u32::try_from(b).unwrap_or(u32::MAX);
    let bits = match op {
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        // SMT-LIB: a quotient by 0 is all ones, or 1 for a negative dividend; a remainder by 0 is the dividend.
        Op::SignedDiv if sb == 0 && sa < 0 => 1,
        Op::SignedDiv if sb == 0 => u128::MAX,
        Op::SignedDiv => sa.wrapping_div(sb) as u128,
        Op::UnsignedDiv => a.checked_div(b).unwrap_or(u128::MAX),
        Op::SignedRem => sa.checked_rem(sb).unwrap_or(if sb == 0 { sa } else { 0 }) as u128,
        Op::UnsignedRem => a.checked_rem(b).unwrap_or(a),
        Op::Shl if by < of => a << by,
        Op::LogicalShr if by < of => a >> by,
        Op::Shl | Op::LogicalShr => 0,
        Op::ArithmeticShr => (sa >> by.min(of - 1)) as u128,
        Op::Equal => (a == b).into(),
        Op::UnsignedLess => (a < b).into(),
        Op::SignedLess => (sa < sb).into(),
        Op::Choose if a == 1 => b,
        Op::Choose => operands[2].0,
        Op::Extract(low) => a >> low,
        Op::ZeroExtend => a,
        Op::SignExtend => sa as u128,
    };
    bits & mask(width)
}

/// Terms in evaluation order, for many inputs.
#[derive(Clone, Debug)]
pub(crate) struct Program<'a> {
    terms: &'a Terms,
    order: Vec<Term>,
}

impl<'a> Program<'a> {
    /// Collects the terms that `roots` need.
    pub(crate) fn new(terms: &'a Terms, roots: &[Term]) -> Self {
        Self { terms, order: terms.needed(roots) }
    }

    /// Returns the value of each needed term. A variable without a value is 0.
    pub(crate) fn run(&self, variables: &[(&str, u128)]) -> HashMap<Term, u128> {
        let mut values: HashMap<Term, u128> = HashMap::with_capacity(self.order.len());
        for term in &self.order {
            let width = self.terms.width(*term);
            let value = match self.terms.node(*term) {
                Node::Constant(bits) => *bits,
                Node::Variable(name) => {
                    variables.iter().find(|(other, _)| other == name).map_or(0, |(_, v)| v & mask(width))
                }
                Node::Apply(op, operands) => {
                    let of = operands.iter().map(|t| (values[t], self.terms.width(*t))).collect::<Vec<_>>();
                    operation(*op, &of, width)
                }
            };
            values.insert(*term, value);
        }
        values
    }
}
