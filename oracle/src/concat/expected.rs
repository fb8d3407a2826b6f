//! Concatenations in machine integers, derived independently of the steps on rationals. Each result is fetched from the run that contains it,
//! and the rescaling of a stored value is computed once for each input and each value of 8 bits.

use super::{Concatenation, Input};
use crate::derivation::dyadic::Dyadic;
use crate::float::Format::F32;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::{self, *};

/// Computation of a scheme's results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fast {
    /// Stored value, unchanged.
    Copied,
    /// Single quotient of integers.
    Once(RoundingRule),
    /// Single quotient of integers, zero point included.
    Placed(RoundingRule),
    /// One shift of a product by a Q0.31 multiplier.
    Multiplied(RoundingRule),
    /// Product by an f32 plus a bias in f32, rounded. `placed` adds the zero point before the rounding.
    Biased { placed: bool },
    /// Dequantization and division in f32.
    Divided,
    /// One shift of a product by a multiplier of 8 fractional bits.
    EightBits,
}

impl Fast {
    pub(super) fn each(self, p: &Concatenation, values: &[i32]) -> Vec<i32> {
        let inner: usize = p.shape[p.axis + 1..].iter().product();
        let runs: Vec<usize> = p.inputs.iter().map(|input| input.size * inner).collect();
        let outer: usize = p.shape[..p.axis].iter().product();
        // Start of each input among the values.
        let begins = |i: usize| outer * runs[..i].iter().sum::<usize>();
        let whole: usize = runs.iter().sum();
        let small = p.storage.bits == 8;
        let least = p.storage.min() as i32;
        let tables: Vec<Vec<i32>> = match small && values.len() >= 256 {
            true => p.inputs.iter().map(|input| (0..256).map(|i| self.one(p, input, least + i)).collect()).collect(),
            false => Vec::new(),
        };
        let of = |i: usize, stored: i32| match tables.get(i) {
            Some(table) => table[(stored - least) as usize],
            None => self.one(p, &p.inputs[i], stored),
        };
        let fetch = |at: usize| {
            let (row, mut within) = (at / whole, at % whole);
            let mut i = 0;
            while within >= runs[i] {
                within -= runs[i];
                i += 1;
            }
            of(i, values[begins(i) + row * runs[i] + within])
        };
        (0..values.len()).map(fetch).collect()
    }

    /// Rescales a stored value of an input.
    fn one(self, p: &Concatenation, input: &Input, stored: i32) -> i32 {
        let clamped = |v: i128| v.clamp(p.storage.min().into(), p.storage.max().into()) as i32;
        let zero_point = i128::from(p.out.zero_point);
        let placed = |v: i128| clamped(v + zero_point);
        let (own, out) = (input.operand.dyadic(), p.out.dyadic());
        let difference = i128::from(stored) - i128::from(input.operand.zero_point);
        let least = own.e.min(out.e);
        let [dividend, divisor] = [own, out].map(|scale| scale.n << (scale.e - least));
        match self {
            Self::Copied => stored,
            Self::Once(rule) => placed(rule.quotient(difference * dividend, divisor)),
            Self::Placed(rule) => clamped(rule.quotient(difference * dividend + zero_point * divisor, divisor)),
            Self::Multiplied(rule) => {
                let (m, s) = own.over(out).rounded(53).q31();
                placed(rule.shift_right(difference * i128::from(m), (31 - s).unsigned_abs()))
            }
            Self::EightBits => {
                let Dyadic { n, e } = own.over(out).rounded(24);
                let by = if e + 8 < 0 { TiesEven.shift_right(n, (e + 8).unsigned_abs()) } else { n << (e + 8) };
                placed(TiesUp.shift_right(difference * by, 8))
            }
            Self::Divided => {
                let [own, out] = [input.operand, p.out].map(|operand| Soft::of(F32, operand.scale.into()));
                let real = Soft::integer(difference as i64).times(own).rounded(F32);
                placed(real.divided_by(out).rounded(F32).to_integer(TiesEven).number())
            }
            Self::Biased { placed: first } => {
                let [own, out] = [input.operand, p.out].map(|operand| Soft::of(F32, operand.scale.into()));
                let inverse = Soft::integer(1).divided_by(out).rounded(F32);
                let scale = own.times(inverse).rounded(F32);
                let bias = Soft::integer(-i64::from(input.operand.zero_point)).times(scale).rounded(F32);
                let sum = Soft::integer(stored.into()).times(scale).rounded(F32).plus(bias).rounded(F32);
                match first {
                    false => placed(sum.to_integer(TiesAway).number()),
                    true => {
                        let moved = sum.plus(Soft::integer(p.out.zero_point.into())).rounded(F32);
                        clamped(moved.to_integer(TiesAway).number())
                    }
                }
            }
        }
    }
}
