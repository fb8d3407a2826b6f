//! Programs of casts and float arithmetic on quantized values, executed by the oracle's steps, and a comparison of two programs on every input.

use hashbrown::HashMap;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tiebreak_oracle::arithmetic::Arithmetic;
use tiebreak_oracle::quantize::{Quantization, Stored};
use tiebreak_oracle::{dequantize, quantize};

/// Upper bound on the inputs of a program.
pub(super) const INPUTS: usize = 3;

/// Program for one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    /// Stored value of an argument.
    Input(usize),
    /// `quant.dcast`.
    Dcast(Box<Expr>),
    /// `quant.qcast`.
    Qcast(Box<Expr>),
    /// Arithmetic on expressed values.
    Op(Arithmetic, Box<Expr>, Box<Expr>),
}

/// Value in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Stored value, or an undefined value.
    Stored(Stored),
    /// Bit pattern of an expressed value.
    Expressed(u64),
}

/// Schemes of both casts, with a channel.
pub(super) struct Machine {
    /// Channel of the values.
    pub(super) channel: Quantization,
    /// Scheme of `quant.qcast`.
    pub(super) qcast: quantize::Scheme,
    /// Scheme of `quant.dcast`.
    pub(super) dcast: dequantize::Scheme,
}

/// Pair of values of two programs, the number of inputs that give the pair, and the input nearest to zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// Value in the first program.
    pub(super) left: Value,
    /// Value in the second program.
    pub(super) right: Value,
    /// Number of inputs.
    pub(super) inputs: u64,
    /// Input nearest to zero; arguments that the programs do not use are 0.
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

    /// Canonicalizes both casts: each cancels the other (RFC, "Canonicalization" of `quant.dcast` and `quant.qcast`).
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

    /// Removes the outer casts, and returns the rest and the casts, innermost first.
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

    /// Applies arithmetic. An undefined value stays undefined.
    fn apply(&self, op: Arithmetic, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Expressed(a), Value::Expressed(b)) => Value::Expressed(op.apply(self.channel.format, a, b)),
            (Value::Stored(undefined), _) | (_, Value::Stored(undefined)) => Value::Stored(undefined),
        }
    }

    /// Evaluates both programs on every input; `None` unless they differ only in casts: the same arguments through the same arithmetic, each argument
    /// used once. A pair of values is computed once, however many inputs give it. A pair that is undefined on a side stays undefined and is not
    /// computed further.
    pub(super) fn both(&self, left: &Expr, right: &Expr, stored: &RangeInclusive<i64>) -> Option<Vec<Joint>> {
        let ((left, left_casts), (right, right_casts)) = (left.peeled(), right.peeled());
        let cast = |joint: Joint| {
            let (left, right) = (self.cast(&left_casts, joint.left), self.cast(&right_casts, joint.right));
            match (left, right) {
                (Value::Stored(Stored::Poison | Stored::Unspecified), _)
                | (_, Value::Stored(Stored::Poison | Stored::Unspecified)) => {
                    Joint { left: UNDEFINED, right: UNDEFINED, ..joint }
                }
                (left, right) => Joint { left, right, ..joint },
            }
        };
        match (left, right) {
            (Expr::Input(a), Expr::Input(b)) if a == b => {
                Some(merged(stored.clone().into_par_iter().map(|v| cast(input(*a, v)))))
            }
            (Expr::Op(op, a, b), Expr::Op(other, c, d)) if op == other => {
                Some(self.pairs(*op, &self.both(a, c, stored)?, &self.both(b, d, stored)?, cast))
            }
            _ => None,
        }
    }

    /// Combines every value of `a` with every value of `b` by the arithmetic, then applies the casts.
    fn pairs(&self, op: Arithmetic, a: &[Joint], b: &[Joint], cast: impl Fn(Joint) -> Joint + Sync) -> Vec<Joint> {
        let pair = |a: &Joint, b: &Joint| {
            let left = self.apply(op, a.left, b.left);
            let same = a.left == a.right && b.left == b.right;
            let right = if same { left } else { self.apply(op, a.right, b.right) };
            let first = std::array::from_fn(|i| a.first[i] + b.first[i]);
            let sum = Joint { left, right, inputs: a.inputs * b.inputs, first };
            (sum, cast(sum))
        };
        if op != Arithmetic::Add {
            return merged(a.par_iter().flat_map_iter(|a| b.iter().map(|b| pair(a, b).1)));
        }
        let groups = self.increasing(a);
        merged(b.par_iter().flat_map_iter(|b| {
            let mut out = Vec::new();
            for group in &groups {
                if self.is_number(b.right) {
                    runs(group, &|a| pair(a, b), self.channel.format.sign(), &mut out);
                } else {
                    out.extend(group.iter().map(|a| pair(a, b).1));
                }
            }
            out
        }))
    }

    /// Groups values: each group has one left value, and increasing numbers on the right.
    fn increasing(&self, joints: &[Joint]) -> Vec<Vec<Joint>> {
        let key = |value: Value| match value {
            Value::Expressed(bits) => self.channel.format.key(bits),
            Value::Stored(_) => None,
        };
        let mut sorted: Vec<_> = joints.iter().map(|joint| (key(joint.left), key(joint.right), *joint)).collect();
        sorted.sort_unstable_by_key(|(left, right, joint)| (*left, *right, joint.first));
        // A value that is no number on a side is its own group.
        let together = |a: &(Option<i64>, Option<i64>, Joint), b: &(Option<i64>, Option<i64>, Joint)| {
            a.0.is_some() && a.0 == b.0 && a.1.is_some() && b.1.is_some()
        };
        sorted.chunk_by(together).map(|group| group.iter().map(|(_, _, joint)| *joint).collect()).collect()
    }

    fn is_number(&self, value: Value) -> bool {
        let exponent = self.channel.format.infinity();
        matches!(value, Value::Expressed(bits) if bits & exponent != exponent)
    }
}

/// Value of both sides if one side is undefined.
const UNDEFINED: Value = Value::Stored(Stored::Poison);

/// Adds one number to each value of a group, and pushes runs of equal results. Sum and casts are monotone in the value added, so all values between
/// two ends with equal results have this result. An undefined result is beyond an end of the stored type. If both sums have one sign, it is the same
/// end, because the zero point is between the ends.
fn runs(group: &[Joint], pair: &impl Fn(&Joint) -> (Joint, Joint), sign: u64, out: &mut Vec<Joint>) {
    let (Some(low), Some(high)) = (group.first(), group.last()) else { return };
    let ((low_sum, low), (high_sum, high)) = (pair(low), pair(high));
    let one_side = match (low_sum.right, high_sum.right) {
        (Value::Expressed(low), Value::Expressed(high)) => (low ^ high) & sign == 0,
        _ => false,
    };
    let same = (low.left, low.right) == (high.left, high.right) && (low.right != UNDEFINED || one_side);
    if group.len() == 1 {
        out.push(low);
    } else if same {
        let nearest = group.iter().min_by_key(|joint| distance(joint.first)).unwrap_or(&group[0]);
        // Inputs of the group, times the inputs that give the added number.
        let times = low.inputs / group[0].inputs;
        let inputs = group.iter().map(|joint| joint.inputs).sum::<u64>() * times;
        out.push(Joint { inputs, first: pair(nearest).0.first, ..low });
    } else {
        let (below, above) = group.split_at(group.len() / 2);
        runs(below, pair, sign, out);
        runs(above, pair, sign, out);
    }
}

fn input(index: usize, stored: i64) -> Joint {
    let value = Value::Stored(Stored::Value(stored));
    let first = std::array::from_fn(|i| if i == index { stored } else { 0 });
    Joint { left: value, right: value, inputs: 1, first }
}

/// Returns the distance of an input from zero, then the input, so that the witness does not depend on the order of work.
fn distance(input: [i64; INPUTS]) -> (u64, [i64; INPUTS]) {
    (input.iter().map(|v| v.unsigned_abs()).sum(), input)
}

fn merged(joints: impl ParallelIterator<Item = Joint>) -> Vec<Joint> {
    type Known = HashMap<(Value, Value), Joint>;
    fn add(known: &mut Known, joint: Joint) {
        let place = known.entry((joint.left, joint.right)).or_insert(Joint { inputs: 0, ..joint });
        place.inputs += joint.inputs;
        place.first = nearest(place.first, joint.first);
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

/// Returns the input nearer to zero.
fn nearest(one: [i64; INPUTS], other: [i64; INPUTS]) -> [i64; INPUTS] {
    if distance(other) < distance(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_oracle::arithmetic::Arithmetic::{Add, Multiply};
    use tiebreak_oracle::float::Format;
    use tiebreak_oracle::quantize::Storage;

    /// Evaluates a program on one input, step by step.
    fn alone(machine: &Machine, program: &Expr, input: [i64; INPUTS]) -> Value {
        match program {
            Expr::Input(i) => Value::Stored(Stored::Value(input[*i])),
            Expr::Dcast(inner) => machine.dequantized(alone(machine, inner, input)),
            Expr::Qcast(inner) => machine.quantized(alone(machine, inner, input)),
            Expr::Op(op, a, b) => machine.apply(*op, alone(machine, a, input), alone(machine, b, input)),
        }
    }

    /// Compares counts and nearest inputs of runs with an evaluation of each input.
    #[test]
    fn runs_of_sums_are_those_of_every_input() {
        let argument = |i| Expr::Input(i).dcast();
        let product = argument(0).op(Multiply, argument(1)).qcast();
        let before = product.dcast().op(Add, argument(2)).qcast();
        let after = before.clone().folded();
        let mut kinds = [0; 3];
        for (format, signed) in Format::ALL.into_iter().flat_map(|format| [(format, true), (format, false)]) {
            let storage = Storage { bits: 4, signed };
            for (scale, zero_point) in
                [("0.3", 1), ("0.1", 0), ("2.0", storage.max()), ("0.7", storage.min()), ("1.0", 3), ("60000.0", 1)]
            {
                let scale = format.from_decimal(scale).expect("a number");
                for (min, max) in [(storage.min(), storage.max()), (storage.min() + 2, storage.max() - 3)] {
                    let zero_point = zero_point.clamp(min, max);
                    let channel = Quantization { min, max, ..Quantization::whole(format, scale, zero_point, storage) };
                    let (qcast, dcast) = crate::rewrites::schemes().expect("both are known");
                    let machine = Machine { channel, qcast, dcast };
                    let mut expected: HashMap<(Value, Value), (u64, [i64; INPUTS])> = HashMap::new();
                    let inputs = (min..=max).flat_map(|a| (min..=max).map(move |b| (a, b)));
                    for input in inputs.flat_map(|(a, b)| (min..=max).map(move |c| [a, b, c])) {
                        let values = (alone(&machine, &before, input), alone(&machine, &after, input));
                        let is = |value| matches!(value, Value::Stored(Stored::Value(_)));
                        let defined = is(values.0) && is(values.1);
                        let values = if defined { values } else { (UNDEFINED, UNDEFINED) };
                        kinds[if !defined { 0 } else { 1 + usize::from(values.0 == values.1) }] += 1;
                        let known = expected.entry(values).or_insert((0, input));
                        *known = (known.0 + 1, nearest(known.1, input));
                    }
                    let found = machine.both(&before, &after, &(min..=max)).expect("they differ in casts alone");
                    assert_eq!(found.len(), expected.len(), "{channel:?}");
                    for joint in found {
                        let (inputs, first) = expected[&(joint.left, joint.right)];
                        assert_eq!(joint.inputs, inputs, "{channel:?} {joint:?}");
                        // The nearest of several undefined inputs is not defined.
                        assert!(joint.left == UNDEFINED || joint.first == first, "{channel:?} {joint:?} {first:?}");
                    }
                }
            }
        }
        assert!(kinds.iter().all(|n| *n > 1000), "{kinds:?}");
    }
}
