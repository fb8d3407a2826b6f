//! TensorFlow Lite operations for which only the fallback exists, because the lowering to TOSA refuses quantized operands: `log_softmax`,
//! `l2_normalization`, `split` and `arg_min` (RFC "Improvements in the 'quant' dialect", "Limitations while lowering quantized types"). The fallback
//! is compared with the exact result on every row of two elements.
//!
//! The oracle's rows round the real logarithm of the softmax, and the real normalized element, once. The other two operations need no arithmetic:
//! `split` moves stored values, and the least stored value is the least real value, because scales are positive. The fallback computes each step in
//! f32, correctly rounded, so that every difference comes from f32 and the casts, not from a library's approximation of `exp` and `log`.

use super::{Results, Tensor, claim};
use crate::rewrites::Claim;
use anyhow::{Result, anyhow};
use rayon::prelude::*;
use std::collections::HashMap;
use tiebreak_oracle::arithmetic::Arithmetic::{Add, Divide, Multiply, Subtract};
use tiebreak_oracle::elementary::Elementary;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::float::Format::F32;
use tiebreak_oracle::quantize::{Quantization, Storage, Stored};
use tiebreak_oracle::rows::{self, Row};
use tiebreak_oracle::{dequantize, quantize};

const STORAGE: Storage = Storage { bits: 8, signed: true };

/// Operation on a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    LogSoftmax,
    L2Normalization,
    /// Split into single elements.
    Split,
    /// First index of the least element.
    ArgMin,
}

/// Operations with their names.
const OPERATIONS: [(&str, Operation); 4] = [
    ("log_softmax", Operation::LogSoftmax),
    ("l2_normalization", Operation::L2Normalization),
    ("split", Operation::Split),
    ("arg_min", Operation::ArgMin),
];

/// Quantizations of the result: as by `quant.qcast`, and rounded to nearest even.
const QUANTIZED: [(&str, &str); 2] =
    [("dcast, f32, qcast", "mlir-qcast"), ("dcast, f32, qcast to nearest even", "nearest-even")];

impl Operation {
    /// Returns row and result types: the RFC's; the result type that TensorFlow Lite requires; scales that are not powers of two. `arg_min` also has
    /// a scale at which dequantized values overflow.
    fn tensors(self) -> [[Tensor; 2]; 3] {
        let same = |tensor| [tensor, tensor];
        match self {
            Self::LogSoftmax => [same((0.5, 0)), [(0.1, 3), (0.0625, 127)], [(0.0235, -1), (0.05, 100)]],
            Self::L2Normalization => [same((0.5, 0)), [(0.1, 3), (0.0078125, 0)], [(0.0235, -1), (0.009, 4)]],
            Self::Split => [same((0.5, 0)), same((0.3, 0)), same((0.0235, -1))],
            Self::ArgMin => [same((0.5, 0)), same((0.3, 0)), same((1.7014118e38, 0))],
        }
    }

    /// Returns the exact first element of the result, or the index.
    fn exact(self, [input, out]: [Tensor; 2], row: [i32; 2]) -> Result<Option<i64>> {
        let of = |(scale, zero_point): Tensor| Operand { scale: f32::to_bits(scale), zero_point };
        let real = |operation| -> Result<Option<i64>> {
            let p = Row { input: of(input), out: of(out), storage: STORAGE };
            let results = p.expected(operation, &row).map_err(|e| anyhow!("{e}"))?;
            Ok(results.map(|results| results[0].into()))
        };
        match self {
            Self::LogSoftmax => real(rows::Operation::LogSoftmax),
            Self::L2Normalization => real(rows::Operation::L2Normalization),
            Self::Split => Ok(Some(row[0].into())),
            Self::ArgMin => Ok(Some((row[1] < row[0]).into())),
        }
    }
}

/// Cache of elementary functions.
#[derive(Default)]
struct Known(HashMap<(Elementary, u64), u64>);

impl Known {
    fn apply(&mut self, function: Elementary, x: u64) -> u64 {
        *self.0.entry((function, x)).or_insert_with(|| function.apply(F32, x))
    }
}

/// Returns the first element of the result in f32, by TensorFlow Lite's steps for floats.
fn of_floats(operation: Operation, [a, b]: [u64; 2], known: &mut Known) -> u64 {
    match operation {
        Operation::LogSoftmax => {
            let largest = if F32.key(a) < F32.key(b) { b } else { a };
            let [x, y] = [a, b].map(|v| Subtract.apply(F32, v, largest));
            let [e, f] = [x, y].map(|v| known.apply(Elementary::Exp, v));
            Subtract.apply(F32, x, known.apply(Elementary::Log, Add.apply(F32, e, f)))
        }
        Operation::L2Normalization => {
            let [x, y] = [a, b].map(|v| Multiply.apply(F32, v, v));
            Divide.apply(F32, a, known.apply(Elementary::SquareRoot, Add.apply(F32, x, y)))
        }
        Operation::Split | Operation::ArgMin => a,
    }
}

/// Computes the fallback of each row with this quantization.
fn fallback(operation: Operation, scheme: &str, tensors: [Tensor; 2], rows: &[[i32; 2]]) -> Result<Results> {
    let (quantize, dequantize) = (quantize::Scheme::parse(scheme)?, dequantize::Scheme::parse("mlir-dcast")?);
    let channel = |(scale, z): Tensor| Quantization::whole(F32, scale.to_bits().into(), z.into(), STORAGE);
    let [input, out] = tensors.map(channel);
    let mut known = Known::default();
    let one = |row: &[i32; 2]| {
        let floats = row.map(|q| dequantize.expected(&input, q.into()));
        if operation == Operation::ArgMin {
            return Some((F32.key(floats[1]) < F32.key(floats[0])).into());
        }
        match quantize.expected(&out, of_floats(operation, floats, &mut known)) {
            Stored::Value(q) => Some(q),
            Stored::Poison | Stored::Unspecified => None,
        }
    };
    Ok(rows.iter().map(one).collect())
}

/// Compares the fallback of an operation with the exact result, for each quantization; `None` for another name.
pub(super) fn claims(name: &str) -> Result<Option<Vec<Claim>>> {
    let Some((_, operation)) = OPERATIONS.into_iter().find(|(known, _)| *known == name) else { return Ok(None) };
    let rows: Vec<[i32; 2]> = (-128..128).flat_map(|a| (-128..128).map(move |b| [a, b])).collect();
    let pairs: (Vec<i32>, Vec<i32>) = rows.iter().map(|[a, b]| (*a, *b)).unzip();
    let of = |tensors: [Tensor; 2]| -> Result<Vec<Claim>> {
        let exact: Results = rows.iter().map(|row| operation.exact(tensors, *row)).collect::<Result<_>>()?;
        // An index is not quantized.
        let ways = if operation == Operation::ArgMin { &[("dcast, f32", "mlir-qcast")][..] } else { &QUANTIZED };
        let one = |(way, scheme): &(&str, &str)| {
            let got = fallback(operation, scheme, tensors, &rows)?;
            let [input, out] = tensors.map(|(scale, zero_point)| format!("{scale:?}:{zero_point}"));
            let ty =
                if operation == Operation::ArgMin { format!("i8, {input}") } else { format!("i8, {input} to {out}") };
            Ok(claim(name, ("exact", &exact), (way, &got), &ty, (&pairs.0, &pairs.1)))
        };
        ways.iter().map(one).collect()
    };
    let all: Vec<Vec<Claim>> = operation.tensors().into_par_iter().map(of).collect::<Result<_>>()?;
    Ok(Some(all.into_iter().flatten().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<Claim> {
        let all = claims(name).expect("the schemes are known").expect("an operation");
        assert!(all.iter().all(|claim| claim.inputs == 1 << 16), "{all:?}");
        all
    }

    fn counts(all: &[Claim], ty: &str, way: &str) -> [u128; 3] {
        let is = |claim: &&Claim| claim.ty.starts_with(ty) && claim.rewrite.ends_with(way);
        let found: Vec<&Claim> = all.iter().filter(is).collect();
        let [claim] = found[..] else { panic!("{ty} {way}: {found:?}") };
        [claim.same, claim.differ, claim.undefined]
    }

    /// The fallback of a split is a round trip of casts. The machine's floats count how many of 256 values change, each with 256 other elements.
    #[test]
    fn a_split_is_a_cast_there_and_back() {
        let all = of("split");
        let machine = |scale: f32, z: i32| {
            let back = |q: i32| (((q - z) as f32 * scale) / scale + z as f32).trunc() as i32;
            (-128..128).filter(|q| back(*q) != *q).count() as u128 * 256
        };
        for (ty, expected) in [("i8, 0.5:0", 0), ("i8, 0.3:0", machine(0.3, 0)), ("i8, 0.0235:-1", machine(0.0235, -1))]
        {
            assert_eq!(counts(&all, ty, "qcast"), [(1 << 16) - expected, expected, 0], "{ty}");
            assert_eq!(counts(&all, ty, "to nearest even"), [1 << 16, 0, 0], "{ty}");
        }
        assert_eq!(machine(0.3, 0), 16 * 256);
    }

    /// Values below -1 or above 1 overflow to equal infinities, so that the first is taken for the least, even if the second is less.
    #[test]
    fn an_index_is_lost_by_an_overflow_alone() {
        let all = of("arg_min");
        assert_eq!(["i8, 0.5:0", "i8, 0.3:0"].map(|ty| counts(&all, ty, "f32")[1]), [0, 0]);
        let less = |n: u128| n * (n - 1) / 2;
        assert_eq!(counts(&all, "i8, 1.7014118e38:0", "f32")[1], less(126) + less(127));
    }

    /// Compares with the machine's floats, whose square root is correctly rounded. A row of zeros has no norm.
    #[test]
    fn a_normalization_is_as_the_machine_has_it() {
        let all = of("l2_normalization");
        let [scale, out] = [0.1f32, 0.0078125];
        let mut expected = [0; 3];
        for (a, b) in (-128..128i32).flat_map(|a| (-128..128i32).map(move |b| (a, b))) {
            let [x, y] = [a, b].map(|q| (q - 3) as f32 * scale);
            let stored = (x / (x * x + y * y).sqrt() / out + 0.0).trunc();
            let real = f64::from(a - 3) / f64::from((a - 3).pow(2) + (b - 3).pow(2)).sqrt();
            let exact = (real * 128.0 + 0.5).floor().min(127.0);
            expected[if stored.is_nan() || stored > 127.0 { 2 } else { usize::from(f64::from(stored) != exact) }] += 1;
        }
        assert_eq!(counts(&all, "i8, 0.1:3", "f32, qcast"), expected);
        assert!(expected[1] > 10_000 && expected[2] > 100, "{expected:?}");
    }

    /// Results depend only on the difference of the elements: ln(1/2) for equal elements, and at most ln 1.
    #[test]
    fn a_logarithm_depends_on_the_difference() {
        let of = |row| Operation::LogSoftmax.exact([(0.1, 3), (0.0625, 127)], row).expect("a row");
        // -ln(1/2) is 11.09 sixteenths.
        assert_eq!((-128..128).map(|q| of([q, q])).collect::<Vec<_>>(), vec![Some(127 - 11); 256]);
        for difference in 0..256 {
            let all: Vec<_> = (-128..128 - difference).map(|q| of([q + difference, q])).collect();
            assert!(all.windows(2).all(|pair| pair[0] == pair[1]) && all[0] <= Some(127), "{all:?}");
        }
        let all = super::tests::of("log_softmax");
        assert!(counts(&all, "i8, 0.1:3", "f32, qcast")[1] > 10_000);
        assert!(counts(&all, "i8, 0.1:3", "to nearest even")[1] < 500);
    }
}
