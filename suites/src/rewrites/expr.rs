//! Programs of casts and float arithmetic on quantized values, executed by the oracle's steps, and two of them compared on every input.

use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use tiebreak_oracle::arithmetic::Arithmetic;
use tiebreak_oracle::quantize::{Quantization, Stored};
use tiebreak_oracle::{dequantize, quantize};

/// Inputs a program has at most.
pub(super) const INPUTS: usize = 3;

/// A program of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    /// An argument, a stored value.
    Input(usize),
    /// `quant.dcast`.
    Dcast(Box<Expr>),
    /// `quant.qcast`.
    Qcast(Box<Expr>),
    /// Arithmetic on expressed values.
    Op(Arithmetic, Box<Expr>, Box<Expr>),
}

/// What a program has at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Stored, or undefined.
    Stored(Stored),
    /// Expressed: a pattern.
    Expressed(u64),
}

/// The schemes of both casts, of one channel.
pub(super) struct Machine {
    /// The channel.
    pub(super) channel: Quantization,
    /// `quant.qcast`.
    pub(super) qcast: quantize::Scheme,
    /// `quant.dcast`.
    pub(super) dcast: dequantize::Scheme,
}

/// What two programs have together, how many inputs give it, and the one nearest to zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// The first program's.
    pub(super) left: Value,
    /// The second's.
    pub(super) right: Value,
    /// Inputs.
    pub(super) inputs: u64,
    /// One of them; arguments that the programs do not have are 0.
    pub(super) first: [i64; INPUTS],
}

impl Expr {
    pub(super) fn dcast(self) -> Self {
        Self::Dcast(Box::new(self))
    }

    pub(super) fn qcast(self) -> Self {
        Self::Qcast(Box::new(self))
    }

    pub(super) fn op(self, op: Arithmetic, other: Self) -> Self {
        Self::Op(op, Box::new(self), Box::new(other))
    }

    /// The canonicalization of both casts: each undoes the other (RFC, "Canonicalization" of `quant.dcast` and `quant.qcast`).
    pub(super) fn folded(self) -> Self {
        match self {
            Self::Input(_) => self,
            Self::Op(op, a, b) => a.folded().op(op, b.folded()),
            Self::Dcast(inner) => match inner.folded() {
                Self::Qcast(kept) => *kept,
                inner => inner.dcast(),
            },
            Self::Qcast(inner) => match inner.folded() {
                Self::Dcast(kept) => *kept,
                inner => inner.qcast(),
            },
        }
    }

    /// What is left without the casts outside, and these, innermost first.
    fn peeled(&self) -> (&Self, Vec<&Self>) {
        let (mut core, mut casts) = (self, Vec::new());
        while let Self::Dcast(inner) | Self::Qcast(inner) = core {
            casts.push(core);
            core = inner;
        }
        casts.reverse();
        (core, casts)
    }
}

impl Machine {
    fn dequantized(&self, value: Value) -> Value {
        match value {
            Value::Stored(Stored::Value(stored)) => Value::Expressed(self.dcast.expected(&self.channel, stored)),
            other => other,
        }
    }

    fn quantized(&self, value: Value) -> Value {
        match value {
            Value::Expressed(bits) => Value::Stored(self.qcast.expected(&self.channel, bits)),
            other => other,
        }
    }

    fn cast(&self, casts: &[&Expr], value: Value) -> Value {
        casts.iter().fold(value, |value, cast| match cast {
            Expr::Dcast(_) => self.dequantized(value),
            _ => self.quantized(value),
        })
    }

    /// What is undefined stays so, whatever is done with it.
    fn apply(&self, op: Arithmetic, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Expressed(a), Value::Expressed(b)) => Value::Expressed(op.apply(self.channel.format, a, b)),
            (Value::Stored(undefined), _) | (_, Value::Stored(undefined)) => Value::Stored(undefined),
        }
    }

    /// Both programs on every input, where they differ in casts alone: the same arguments through the same arithmetic, each argument used
    /// once. Values that come together are computed once, however many inputs give them.
    pub(super) fn both(&self, left: &Expr, right: &Expr, stored: &RangeInclusive<i64>) -> Option<Vec<Joint>> {
        let ((left, left_casts), (right, right_casts)) = (left.peeled(), right.peeled());
        let cores: Vec<Joint> = match (left, right) {
            (Expr::Input(a), Expr::Input(b)) if a == b => stored.clone().map(|v| input(*a, v)).collect(),
            (Expr::Op(op, a, b), Expr::Op(other, c, d)) if op == other => {
                self.pairs(*op, &self.both(a, c, stored)?, &self.both(b, d, stored)?)
            }
            _ => return None,
        };
        let cast = |joint: &Joint| Joint {
            left: self.cast(&left_casts, joint.left),
            right: self.cast(&right_casts, joint.right),
            ..*joint
        };
        Some(merged(cores.par_iter().map(cast)))
    }

    fn pairs(&self, op: Arithmetic, a: &[Joint], b: &[Joint]) -> Vec<Joint> {
        let pair = |a: &Joint, b: &Joint| Joint {
            left: self.apply(op, a.left, b.left),
            right: self.apply(op, a.right, b.right),
            inputs: a.inputs * b.inputs,
            first: std::array::from_fn(|i| a.first[i] + b.first[i]),
        };
        merged(a.par_iter().flat_map_iter(|a| b.iter().map(move |b| pair(a, b))))
    }
}

fn input(index: usize, stored: i64) -> Joint {
    let value = Value::Stored(Stored::Value(stored));
    let first = std::array::from_fn(|i| if i == index { stored } else { 0 });
    Joint { left: value, right: value, inputs: 1, first }
}

/// How far an input is from zero, then the input, so that the witness is one whatever the order of work.
fn distance(input: [i64; INPUTS]) -> (u64, [i64; INPUTS]) {
    (input.iter().map(|v| v.unsigned_abs()).sum(), input)
}

fn merged(joints: impl ParallelIterator<Item = Joint>) -> Vec<Joint> {
    type Known = HashMap<(Value, Value), Joint>;
    fn add(known: &mut Known, joint: Joint) {
        let place = known.entry((joint.left, joint.right)).or_insert(Joint { inputs: 0, ..joint });
        place.inputs += joint.inputs;
        place.first = place.first.min_by_distance(joint.first);
    }
    let one = |mut known: Known, joint| {
        add(&mut known, joint);
        known
    };
    let two = |mut known: Known, other: Known| {
        other.into_values().for_each(|joint| add(&mut known, joint));
        known
    };
    joints.fold(Known::default, one).reduce(Known::default, two).into_values().collect()
}

trait Nearest {
    fn min_by_distance(self, other: Self) -> Self;
}

impl Nearest for [i64; INPUTS] {
    fn min_by_distance(self, other: Self) -> Self {
        if distance(other) < distance(self) { other } else { self }
    }
}
