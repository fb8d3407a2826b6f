//! Faults of every structural family that a quick run of quantize and dequantize must detect.

use crate::plans::Planned;
use std::fmt::Debug;
use tiebreak_impls::quantized::{Expressed, Granularity, Params};
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::Quantization;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::dequantize::Dequantize;
use tiebreak_suites::operation::element::bits;
use tiebreak_suites::operation::{Case, Operation};
use tiebreak_suites::quantize::Quantize;
use tiebreak_suites::quantized::{is_subnormal, places, quantizations};

/// Result of a case, with the case and its parameters.
struct At<'a> {
    case: &'a Case<Params>,
    /// Index of the element.
    index: usize,
    /// Index of the scale.
    scale: usize,
    q: Quantization,
    len: usize,
}

/// Plan of a kernel with the parameters of every element.
struct Plan<O: Operation<Params = Params>> {
    planned: Planned<O>,
    parameters: Vec<(Vec<Quantization>, Vec<usize>)>,
    missed: Vec<String>,
    words: fn(Expressed) -> usize,
}

impl<O: Operation<Params = Params>> Plan<O> {
    fn of(kernel: &str, words: fn(Expressed) -> usize) -> Self {
        let planned = Planned::<O>::of(kernel, Effort::Quick);
        let of = |case: &Case<Params>| {
            (quantizations(&case.params.quantized).expect("a type"), places::scales(&case.params))
        };
        let parameters = planned.0.iter().map(|(case, _)| of(case)).collect();
        Self { planned, parameters, missed: Vec::new(), words }
    }

    /// Records the values for which no case detects a kernel that gives `lie` in place of the right words.
    fn each<T: Copy + Debug>(
        &mut self,
        name: &str,
        all: impl IntoIterator<Item = T>,
        lie: impl Fn(T, &At<'_>, u64) -> Option<u64>,
    ) {
        for value in all {
            let lied = self.planned.0.iter().zip(&self.parameters).any(|((case, expected), (all, scales))| {
                let words = (self.words)(case.params.quantized.expressed);
                expected.chunks(words).enumerate().any(|(index, right)| {
                    let Some(right) = right.iter().copied().collect::<Option<Vec<i32>>>() else { return false };
                    let (right, scale) = (bits(&right), scales[index]);
                    let at = At { case, index, scale, q: all[scale], len: scales.len() };
                    lie(value, &at, right).is_some_and(|wrong| wrong != right)
                })
            });
            if !lied {
                self.missed.push(format!("{name} {value:?}"));
            }
        }
    }

    /// Tests faults that depend on places, not on values.
    fn places(&mut self, deepest: usize, most: usize) {
        let wrong = |is: bool, right: u64| is.then_some(right ^ 1);
        self.each("position mod 64", 0..64, |p, at, right| wrong(at.index % 64 == p, right));
        self.each("length mod 64", 0..64, |l, at, right| {
            wrong(at.len % 64 == l && (l == 0 || at.index >= at.len / 64 * 64), right)
        });
        self.each("misaligned by", 0..16, |m, at, right| wrong(at.case.misalign == m, right));
        self.each("elements from", [64, 128, deepest], |i, at, right| wrong(at.index >= i, right));
        self.each("scale number", 0..most, |s, at, right| wrong(at.scale == s, right));
        self.each("octave of the scale", -20..4, |e, at, right| {
            let scale = at.q.exact_scale().to_f64();
            wrong((2f64.powi(e)..2f64.powi(e + 1)).contains(&scale), right)
        });
        self.each("zero point at an end", [false, true], |upper, at, right| {
            wrong(at.q.zero_point == if upper { at.q.max } else { at.q.min }, right)
        });
        self.each("beside a power of two", [1i64, -1], |side, at, right| {
            let beside = at.q.scale.wrapping_add_signed(-side);
            let is =
                at.q.format
                    .decode(beside)
                    .finite()
                    .is_some_and(|v| v.numer().is_power_of_two() && v.denom().is_power_of_two());
            wrong(is, right)
        });
    }

    #[track_caller]
    fn holds(self, kernel: &str) {
        assert!(self.missed.is_empty(), "{kernel} in a quick run: {:?}", self.missed);
    }
}

fn is_of(at: &At<'_>, expressed: Expressed) -> bool {
    at.case.params.quantized.expressed == expressed
}

/// A scale is a normal double, so f64 has no subnormal scale, and no subnormal multiple of one.
fn without_f64(all: &[Expressed]) -> impl Iterator<Item = Expressed> {
    all.iter().copied().filter(|expressed| *expressed != Expressed::F64)
}

/// Returns the input of an element, as a pattern.
fn input(at: &At<'_>) -> u64 {
    let words = at.case.params.quantized.expressed.words();
    bits(&at.case.tensors[0][at.index * words..][..words])
}

#[test]
fn quantize() {
    for (kernel, all, most) in [("mlir-qcast", &Expressed::ALL[..], 70), ("tflite-quantize", &[Expressed::F32], 70)] {
        let mut plan = Plan::<Quantize>::of(kernel, |_| 1);
        plan.places(400, most);
        let at_zero = |at: &At<'_>| at.q.zero_point.clamp(at.q.min, at.q.max) as i32 as u32 as u64;
        plan.each("subnormal inputs are zero in", all.iter().copied(), |expressed, at, _| {
            (is_of(at, expressed) && is_subnormal(at.q.format, input(at))).then(|| at_zero(at))
        });
        plan.each("subnormal scales in", without_f64(all), |expressed, at, right| {
            (is_of(at, expressed) && is_subnormal(at.q.format, at.q.scale)).then_some(right ^ 1)
        });
        plan.each("each stored value of i8", -128i64..=127, |v, at, right| {
            (at.q.storage.bits == 8 && at.q.storage.signed && right as u32 as i32 as i64 == v).then_some(right ^ 1)
        });
        if kernel == "mlir-qcast" {
            widths(&mut plan);
        }
        plan.holds(kernel);
    }
}

#[test]
fn dequantize() {
    for (kernel, all, most) in [("mlir-dcast", &Expressed::ALL[..], 70), ("tflite-dequantize", &[Expressed::F32], 70)] {
        let mut plan = Plan::<Dequantize>::of(kernel, Expressed::words);
        plan.places(400, most);
        plan.each("subnormal results are zero in", without_f64(all), |expressed, at, right| {
            let flushed = is_of(at, expressed) && is_subnormal(at.q.format, right);
            flushed.then(|| right & at.q.format.sign())
        });
        plan.each("subnormal scales in", without_f64(all), |expressed, at, right| {
            (is_of(at, expressed) && is_subnormal(at.q.format, at.q.scale)).then_some(right ^ 1)
        });
        plan.each("infinite results in", all.iter().filter(|e| **e == Expressed::F16), |expressed, at, right| {
            let infinite = matches!(at.q.format.decode(right), Float::Infinite { .. });
            (is_of(at, *expressed) && infinite).then_some(right ^ 1)
        });
        if kernel == "mlir-dcast" {
            widths(&mut plan);
        }
        plan.holds(kernel);
    }
}

/// Tests faults that require domains of any type.
fn widths<O: Operation<Params = Params>>(plan: &mut Plan<O>) {
    plan.each("storage of so many bits", 1..=32, |n, at, right| (at.q.storage.bits == n).then_some(right ^ 1));
    plan.each("signed storage", [false, true], |signed, at, right| {
        (at.q.storage.signed == signed).then_some(right ^ 1)
    });
    plan.each("blocks from", [9, 16, 32], |n, at, right| {
        let blocks = matches!(at.case.params.quantized.granularity, Granularity::Blocks { .. });
        (blocks && at.scale >= n).then_some(right ^ 1)
    });
    plan.each("bounds narrower than the storage in", [4u32, 8, 12, 20], |n, at, right| {
        let narrow = (at.q.min, at.q.max) != (at.q.storage.min(), at.q.storage.max());
        (narrow && at.q.storage.bits >= n).then_some(right ^ 1)
    });
}
