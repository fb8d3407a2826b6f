//! Signed bounds of a term, and operations with fewer bits if the bounds show that the result is the same number.
//!
//! The bounds decide comparisons, and reduce a definition in 128 bits and code in 64 bits to one term.

use super::term::{Node, Op, Term, Terms, mask, signed};

/// Smallest and largest value, signed.
pub(super) type Range = (i128, i128);

/// Returns all values of a width.
pub(super) fn whole(width: u32) -> Range {
    (signed(1 << (width - 1), width), signed(mask(width) >> 1, width))
}

fn inside(range: Option<Range>, width: u32) -> Range {
    let all = whole(width);
    range.filter(|(low, high)| all.0 <= *low && *high <= all.1).unwrap_or(all)
}

fn corners(a: Range, b: Range, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Range> {
    let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}

impl Terms {
    /// Returns the bounds of a node that is not in the graph yet.
    pub(super) fn bounds(&self, node: &Node, width: u32) -> Range {
        match node {
            Node::Constant(bits) => (signed(*bits, width), signed(*bits, width)),
            Node::Variable(_) => whole(width),
            Node::Apply(op, operands) => self.bounds_of(*op, operands, width),
        }
    }

    fn bounds_of(&self, op: Op, operands: &[Term], width: u32) -> Range {
        let a = self.range(operands[0]);
        let b = operands.get(1).map_or((0, 0), |b| self.range(*b));
        let by = operands
            .get(1)
            .and_then(|by| self.value(*by))
            .and_then(|by| u32::try_from(by).ok())
            .filter(|by| *by < width);
        let found = match op {
            Op::Not => Some((-1 - a.1, -1 - a.0)),
            Op::Add => corners(a, b, i128::checked_add),
            Op::Sub => corners(a, b, i128::checked_sub),
            Op::Mul => corners(a, b, i128::checked_mul),
            Op::SignExtend => Some(a),
            Op::ZeroExtend if a.0 >= 0 => Some(a),
            Op::ZeroExtend => Some((0, mask(self.width(operands[0])) as i128)),
            Op::ArithmeticShr => Some(by.map_or((a.0.min(0), a.1.max(0)), |by| (a.0 >> by, a.1 >> by))),
            Op::LogicalShr if a.0 >= 0 => Some(by.map_or((0, a.1), |by| (a.0 >> by, a.1 >> by))),
            Op::LogicalShr => by.filter(|by| *by > 0).map(|by| (0, (mask(width) >> by) as i128)),
            Op::Shl => by.filter(|by| *by < 127).and_then(|by| corners(a, a, |n, _| n.checked_mul(1i128 << by))),
            Op::And if a.0 >= 0 || b.0 >= 0 => {
                Some((0, [a, b].into_iter().filter(|r| r.0 >= 0).map(|r| r.1).min().unwrap_or(i128::MAX)))
            }
            Op::SignedDiv if b.0 == b.1 && b.0 > 0 => Some((a.0 / b.0, a.1 / b.0)),
            Op::UnsignedRem if b.0 == b.1 && b.0 > 0 => Some((0, b.0 - 1)),
            Op::Choose => Some(self.chosen(operands)),
            Op::Extract(low) if low < 127 => Some((a.0 >> low, a.1 >> low)),
            _ => None,
        };
        inside(found, width)
    }

    /// Returns the bounds of a choice, which is between its parts. A choice of the smaller or larger part has tighter bounds.
    fn chosen(&self, operands: &[Term]) -> Range {
        let (then, other) = (self.range(operands[1]), self.range(operands[2]));
        if let Node::Apply(Op::SignedLess, compared) = self.node(operands[0]) {
            if compared.as_slice() == &operands[1..] {
                return (then.0.min(other.0), then.1.min(other.1));
            }
            if (compared[0], compared[1]) == (operands[2], operands[1]) {
                return (then.0.max(other.0), then.1.max(other.1));
            }
        }
        (then.0.min(other.0), then.1.max(other.1))
    }

    /// True if the bounds show that a signed product does not wrap.
    pub(super) fn product_fits(&self, a: Term, b: Term) -> bool {
        let all = whole(self.width(a));
        corners(self.range(a), self.range(b), i128::checked_mul)
            .is_some_and(|(low, high)| all.0 <= low && high <= all.1)
    }

    /// Returns the result of a comparison that the bounds decide.
    pub(super) fn compared(&self, op: Op, a: Term, b: Term) -> Option<bool> {
        let (a, b) = (self.range(a), self.range(b));
        match op {
            Op::Equal if a.1 < b.0 || b.1 < a.0 => Some(false),
            Op::UnsignedLess if a.0 < 0 || b.0 < 0 => None,
            Op::SignedLess | Op::UnsignedLess if a.1 < b.0 => Some(true),
            Op::SignedLess | Op::UnsignedLess if a.0 >= b.1 => Some(false),
            _ => None,
        }
    }

    /// Returns the number in `width` bits, if it is an extension of at most `width` bits, or a constant that fits.
    pub(super) fn narrow(&mut self, a: Term, width: u32) -> Option<Term> {
        match self.node(a).clone() {
            Node::Apply(Op::SignExtend, inner) if self.width(inner[0]) <= width => {
                Some(self.extend(inner[0], width, true))
            }
            Node::Apply(Op::ZeroExtend, inner) if self.width(inner[0]) < width => {
                Some(self.extend(inner[0], width, false))
            }
            Node::Constant(_) => {
                let (value, all) = (self.range(a).0, whole(width));
                (all.0 <= value && value <= all.1).then(|| self.constant(value, width))
            }
            _ => None,
        }
    }

    /// Returns the same operation in 32 or 64 bits, extended, if operands and result fit.
    pub(super) fn narrowed(&mut self, op: Op, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        let shift = matches!(op, Op::Shl | Op::ArithmeticShr);
        if !shift && !matches!(op, Op::Add | Op::Sub | Op::Equal | Op::SignedLess | Op::UnsignedLess) {
            return None;
        }
        let bounds = self.bounds_of(op, &[a, b], width);
        for less in [32, 64].into_iter().filter(|less| *less < width) {
            let all = whole(less);
            let compares = matches!(op, Op::Equal | Op::SignedLess | Op::UnsignedLess);
            if op == Op::UnsignedLess && (self.range(a).0 < 0 || self.range(b).0 < 0) {
                return None;
            }
            if !(compares || all.0 <= bounds.0 && bounds.1 <= all.1) {
                continue;
            }
            let Some(na) = self.narrow(a, less) else { continue };
            let nb = match (shift, self.value(b)) {
                (true, Some(by)) => {
                    self.constant(by.min(u128::from(less - u32::from(op == Op::ArithmeticShr))) as i128, less)
                }
                (true, None) => return None,
                (false, _) => match self.narrow(b, less) {
                    Some(nb) => nb,
                    None => continue,
                },
            };
            let result = self.binary(op, na, nb);
            return Some(if compares { result } else { self.extend(result, width, true) });
        }
        None
    }
}
