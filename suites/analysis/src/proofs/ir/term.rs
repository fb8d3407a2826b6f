//! Terms over bit vectors of 1 to 128 bits, as a graph in which equal terms are one node.
//!
//! A truth value is a vector of one bit. Constructors fold constants and bring products to one form: a left shift is moved out of a product, and a
//! word that is cut and extended again is an extension. Each rewriting holds for all values modulo `2^width`. [`super::eval`] and the solvers use the
//! same graph, and a differential test compares it with the code.

use super::range::Range;
use std::collections::HashMap;

/// Node of [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(u32);

/// Operation on vectors; operands of binary operations have one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Bitwise operations.
    Not,
    And,
    Or,
    Xor,
    /// Arithmetic modulo `2^width`.
    Add,
    Sub,
    Mul,
    /// Division towards zero. A divisor of 0 gives SMT-LIB's result, and the translator marks it as undefined.
    SignedDiv,
    SignedRem,
    UnsignedDiv,
    UnsignedRem,
    /// Shifts; amounts from the width on give 0, or copies of the sign.
    Shl,
    LogicalShr,
    ArithmeticShr,
    /// Comparisons with a one-bit result.
    Equal,
    UnsignedLess,
    SignedLess,
    /// Choice: the second operand if the first, of one bit, is set, otherwise the third.
    Choose,
    /// Bits from this one upwards; the width of the term is their number.
    Extract(u32),
    ZeroExtend,
    SignExtend,
}

/// Content of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Free vector.
    Variable(String),
    /// Constant with its bits in the low end.
    Constant(u128),
    /// Operation on terms.
    Apply(Op, Vec<Term>),
}

/// Graph of terms. An operand always precedes its user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    nodes: Vec<(Node, u32)>,
    ranges: Vec<Range>,
    known: HashMap<(Node, u32), Term>,
}

/// Returns a mask of all bits of a width.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Returns the bits of a width as a signed number.
pub(crate) fn signed(bits: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((bits << unused) as i128) >> unused
}

impl Terms {
    /// Returns the node of a term.
    pub(crate) fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// Returns the width of a term.
    pub(crate) fn width(&self, term: Term) -> u32 {
        self.nodes[term.0 as usize].1
    }

    /// Returns the position of a term, which is above those of its operands.
    pub(crate) fn position(term: Term) -> usize {
        term.0 as usize
    }

    /// Returns the signed bounds of a term.
    pub(super) fn range(&self, term: Term) -> Range {
        self.ranges[term.0 as usize]
    }

    /// Returns the value of a constant.
    pub(crate) fn value(&self, term: Term) -> Option<u128> {
        match self.node(term) {
            Node::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    /// Returns every term that `roots` need, operands first.
    pub(crate) fn needed(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: Vec<Term> = roots.to_vec();
        while let Some(term) = open.pop() {
            if !std::mem::replace(&mut seen[term.0 as usize], true)
                && let Node::Apply(_, operands) = self.node(term)
            {
                open.extend(operands);
            }
        }
        (0..self.nodes.len()).filter(|at| seen[*at]).map(|at| Term(at as u32)).collect()
    }

    fn made(&mut self, node: Node, width: u32) -> Term {
        let next = Term(self.nodes.len() as u32);
        let term = *self.known.entry((node.clone(), width)).or_insert(next);
        if term == next {
            self.ranges.push(self.bounds(&node, width));
            self.nodes.push((node, width));
        }
        term
    }

    /// Returns the free vector of this name.
    pub(crate) fn variable(&mut self, name: &str, width: u32) -> Term {
        self.made(Node::Variable(name.to_owned()), width)
    }

    /// Returns a constant, modulo `2^width`.
    pub(crate) fn constant(&mut self, value: i128, width: u32) -> Term {
        self.made(Node::Constant(value as u128 & mask(width)), width)
    }

    /// Returns a constant truth value.
    pub(crate) fn truth(&mut self, value: bool) -> Term {
        self.constant(value.into(), 1)
    }

    fn apply(&mut self, op: Op, operands: Vec<Term>, width: u32) -> Term {
        let constants: Option<Vec<(u128, u32)>> =
            operands.iter().map(|t| Some((self.value(*t)?, self.width(*t)))).collect();
        match constants {
            Some(values) => {
                let value = super::eval::operation(op, &values, width);
                self.made(Node::Constant(value), width)
            }
            None => self.made(Node::Apply(op, operands), width),
        }
    }

    /// Returns an operation on two vectors of one width. The result has this width, or one bit for a comparison.
    pub(crate) fn binary(&mut self, op: Op, a: Term, b: Term) -> Term {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "{op:?}");
        let (va, vb) = (self.value(a), self.value(b));
        let all = mask(width);
        if let Some(truth) = self.compared(op, a, b) {
            return self.truth(truth);
        }
        match op {
            Op::Equal if a == b => return self.truth(true),
            Op::UnsignedLess | Op::SignedLess if a == b => return self.truth(false),
            Op::Equal | Op::UnsignedLess | Op::SignedLess => {
                return self.narrowed(op, a, b).unwrap_or_else(|| self.apply(op, ordered(op, a, b), 1));
            }
            Op::And if va == Some(0) || vb == Some(all) || a == b => return a,
            Op::And if vb == Some(0) || va == Some(all) => return b,
            Op::Or if vb == Some(0) || va == Some(all) || a == b => return a,
            Op::Or if va == Some(0) || vb == Some(all) => return b,
            Op::Add | Op::Xor if va == Some(0) => return b,
            Op::Add | Op::Sub | Op::Xor | Op::Shl | Op::LogicalShr | Op::ArithmeticShr if vb == Some(0) => return a,
            Op::Shl | Op::LogicalShr if vb.is_some_and(|by| by >= u128::from(width)) => return self.constant(0, width),
            Op::Mul => return self.product(a, b),
            Op::SignedDiv if vb.is_some_and(|by| by.is_power_of_two() && by <= all >> 1) && va.is_none() => {
                return self.halved(a, vb.map_or(0, u128::trailing_zeros));
            }
            Op::ArithmeticShr => {
                if let Some(cut) = self.cut_and_extended(a, b) {
                    return cut;
                }
            }
            Op::Shl => {
                if let Some(joined) = self.shifted_again(a, b) {
                    return joined;
                }
            }
            _ => {}
        }
        if let Some(narrow) = self.narrowed(op, a, b) {
            return narrow;
        }
        self.apply(op, ordered(op, a, b), width)
    }

    /// Returns `a / 2^k` towards zero: a floor, after adding `2^k - 1` to a negative dividend.
    fn halved(&mut self, a: Term, k: u32) -> Term {
        let width = self.width(a);
        let (zero, by) = (self.constant(0, width), self.constant(k.into(), width));
        let bias = self.constant((mask(k.max(1)) * u128::from(k > 0)) as i128, width);
        let negative = self.binary(Op::SignedLess, a, zero);
        let bias = self.choose(negative, bias, zero);
        let raised = self.binary(Op::Add, a, bias);
        self.binary(Op::ArithmeticShr, raised, by)
    }

    /// Returns `(v << j) >> k`, arithmetic, `j >= k`: the low bits of `v << (j-k)`, extended.
    fn cut_and_extended(&mut self, a: Term, by: Term) -> Option<Term> {
        let width = self.width(a);
        let (Node::Apply(Op::Shl, inner), Some(k)) = (self.node(a).clone(), self.value(by)) else { return None };
        let kept = width.checked_sub(u32::try_from(k).ok()?).filter(|kept| *kept > 0)?;
        let rest = self.value(inner[1])?.checked_sub(k)?;
        let rest = self.constant(rest as i128, width);
        let shifted = self.binary(Op::Shl, inner[0], rest);
        let low = self.extract(shifted, 0, kept);
        Some(self.extend(low, width, true))
    }

    /// Returns two left shifts as one. The inner shift may be extended by bits that leave the word.
    fn shifted_again(&mut self, a: Term, by: Term) -> Option<Term> {
        let width = self.width(a);
        let k = self.value(by)?;
        let (inner, whole) = match self.node(a).clone() {
            Node::Apply(Op::Shl, inner) => (inner, false),
            Node::Apply(Op::SignExtend | Op::ZeroExtend, inner) if u128::from(width - self.width(inner[0])) <= k => {
                match self.node(inner[0]).clone() {
                    Node::Apply(Op::Shl, inner) => (inner, true),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let j = self.value(inner[1])?;
        let operand = if whole { self.extend(inner[0], width, true) } else { inner[0] };
        let sum = self.constant((j + k).min(width.into()) as i128, width);
        Some(self.binary(Op::Shl, operand, sum))
    }

    /// Returns `a * b` modulo `2^width`. Left shifts come after the product, and a power of two is a shift.
    fn product(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        for (one, other) in [(a, b), (b, a)] {
            match self.value(one) {
                Some(0) => return one,
                Some(power) if power.is_power_of_two() => {
                    let by = self.constant(power.trailing_zeros().into(), width);
                    return self.binary(Op::Shl, other, by);
                }
                _ => {}
            }
            if let Node::Apply(Op::Shl, inner) = self.node(one).clone() {
                let rest = self.product(inner[0], other);
                return self.binary(Op::Shl, rest, inner[1]);
            }
        }
        self.apply(Op::Mul, ordered(Op::Mul, a, b), width)
    }

    /// Returns the bitwise complement.
    pub(crate) fn not(&mut self, a: Term) -> Term {
        if let Node::Apply(Op::Not, inner) = self.node(a) {
            return inner[0];
        }
        self.apply(Op::Not, vec![a], self.width(a))
    }

    /// Returns `then` if `condition` is set, otherwise `other`.
    pub(crate) fn choose(&mut self, condition: Term, then: Term, other: Term) -> Term {
        match self.value(condition) {
            _ if then == other => then,
            Some(0) => other,
            Some(_) => then,
            None => self.chosen_narrow(condition, then, other),
        }
    }

    /// Returns a choice in as few bits as both parts need, extended.
    fn chosen_narrow(&mut self, condition: Term, then: Term, other: Term) -> Term {
        let width = self.width(then);
        for less in [32, 64].into_iter().filter(|less| *less < width) {
            if let (Some(a), Some(b)) = (self.narrow(then, less), self.narrow(other, less)) {
                let chosen = self.choose(condition, a, b);
                return self.extend(chosen, width, true);
            }
        }
        self.apply(Op::Choose, vec![condition, then, other], width)
    }

    /// Returns `width` bits from bit `low` upwards.
    pub(crate) fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        if low == 0 && width == self.width(a) {
            return a;
        }
        match self.node(a).clone() {
            Node::Apply(Op::Extract(from), inner) => return self.extract(inner[0], from + low, width),
            Node::Apply(Op::SignExtend | Op::ZeroExtend, inner) if low + width <= self.width(inner[0]) => {
                return self.extract(inner[0], low, width);
            }
            // The low bits of a shifted extension are those of the shifted word.
            Node::Apply(Op::Shl, inner) if low == 0 && self.is_extension(inner[0], width) => {
                if let Some(by) = self.value(inner[1]) {
                    let word = self.extract(inner[0], 0, width);
                    let by = self.constant(by.min(width.into()) as i128, width);
                    return self.binary(Op::Shl, word, by);
                }
            }
            _ => {}
        }
        self.apply(Op::Extract(low), vec![a], width)
    }

    fn is_extension(&self, a: Term, width: u32) -> bool {
        matches!(self.node(a), Node::Apply(Op::SignExtend | Op::ZeroExtend, inner) if self.width(inner[0]) == width)
    }

    /// Extends a vector with copies of its sign, or with zeros.
    pub(crate) fn extend(&mut self, a: Term, width: u32, sign: bool) -> Term {
        if width == self.width(a) {
            return a;
        }
        let op = if sign { Op::SignExtend } else { Op::ZeroExtend };
        match self.node(a).clone() {
            Node::Apply(inner, operand) if inner == op => self.extend(operand[0], width, sign),
            // An extension by zeros is never negative.
            Node::Apply(Op::ZeroExtend, operand) => self.extend(operand[0], width, false),
            // All cut bits were copies of the sign.
            Node::Apply(Op::Extract(0), operand) if self.fits(operand[0], self.width(a), sign) => {
                self.resize(operand[0], width, true)
            }
            _ => self.apply(op, vec![a], width),
        }
    }

    /// True if the bounds show that cutting to `width` and extending again changes nothing.
    fn fits(&self, a: Term, width: u32, sign: bool) -> bool {
        let (all, range) = (super::range::whole(width), self.range(a));
        range.1 <= all.1 && range.0 >= if sign { all.0 } else { 0 }
    }

    /// Cuts or extends a vector to a width.
    pub(crate) fn resize(&mut self, a: Term, width: u32, sign: bool) -> Term {
        if width < self.width(a) { self.extract(a, 0, width) } else { self.extend(a, width, sign) }
    }

    /// Returns `a <= b`.
    pub(crate) fn at_most(&mut self, a: Term, b: Term, sign: bool) -> Term {
        let greater = self.binary(if sign { Op::SignedLess } else { Op::UnsignedLess }, b, a);
        self.not(greater)
    }

    /// Returns the smaller or the larger vector.
    pub(crate) fn extreme(&mut self, a: Term, b: Term, sign: bool, largest: bool) -> Term {
        let less = self.binary(if sign { Op::SignedLess } else { Op::UnsignedLess }, a, b);
        if largest { self.choose(less, b, a) } else { self.choose(less, a, b) }
    }

    /// Returns the conjunction of truth values.
    pub(crate) fn every(&mut self, all: &[Term]) -> Term {
        let truth = self.truth(true);
        all.iter().fold(truth, |a, b| self.binary(Op::And, a, *b))
    }

    /// Returns the operand of a product as a 32-bit word, if its type or its bounds show that it fits.
    pub(crate) fn word(&mut self, a: Term) -> Option<Term> {
        let written = match self.node(a).clone() {
            Node::Apply(Op::SignExtend, inner) if self.width(inner[0]) <= 32 => Some(self.extend(inner[0], 32, true)),
            Node::Apply(Op::ZeroExtend, inner) if self.width(inner[0]) < 32 => Some(self.extend(inner[0], 32, false)),
            Node::Apply(Op::Choose, parts) => match (self.word(parts[1]), self.word(parts[2])) {
                (Some(then), Some(other)) => Some(self.choose(parts[0], then, other)),
                _ => None,
            },
            _ => None,
        };
        // The bounds of a constant, or of a term whose type does not show it, can also show a word.
        written.or_else(|| (self.width(a) >= 32 && self.fits(a, 32, true)).then(|| self.extract(a, 0, 32)))
    }
}

/// Orders the operands of a commutative operation, so that both orders are one term.
fn ordered(op: Op, a: Term, b: Term) -> Vec<Term> {
    match op {
        Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul | Op::Equal if b < a => vec![b, a],
        _ => vec![a, b],
    }
}
