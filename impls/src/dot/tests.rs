//! Tests of every step, in both forms, against the promise of its contract.

use super::{Domain, Dot, Kernel, Params, find, kernels};
use crate::Form;
use crate::contract::Overflow;
use crate::element::Element;
use crate::operation::{Operation, TensorOperation};

/// Computes one result by the scheme, with products in 64 bits.
fn expected(kernel: &Kernel, acc: &[i32], a: &[i32], b: &[i32], result: usize) -> i32 {
    let term = |k: usize| i64::from(a[k]) * i64::from(b[k]);
    let i = result;
    let sum: i64 = match kernel.contract.promise.scheme {
        "products-1" => term(i),
        "products-2" => term(2 * i) + term(2 * i + 1),
        "products-4" => (4 * i..4 * i + 4).map(term).sum(),
        "products-4-halves" => [2 * i, 2 * i + 1, 8 + 2 * i, 9 + 2 * i].into_iter().map(term).sum(),
        "products-4-halves-u16-wrap" => {
            [2 * i, 2 * i + 1].into_iter().map(|k| i64::from((term(k) + term(k + 8)) as u16)).sum()
        }
        "products-4-halves-s16-wrap" => {
            [2 * i, 2 * i + 1].into_iter().map(|k| i64::from((term(k) + term(k + 8)) as i16)).sum()
        }
        "products-4-s16-saturate" => {
            [4 * i, 4 * i + 2].into_iter().map(|k| (term(k) + term(k + 1)).clamp(-32768, 32767)).sum()
        }
        "products-8-outer" => (0..8).map(|k| i64::from(a[i / 2 * 8 + k]) * i64::from(b[i % 2 * 8 + k])).sum(),
        "popcount-2" => {
            let counts: u32 = [2 * i, 2 * i + 1].into_iter().map(|k| (a[k] & b[k]).count_ones()).sum();
            return i32::from((acc[i] as u16).wrapping_add(counts as u16));
        }
        "popcount-2-signed" => {
            let counts: u32 = [2 * i, 2 * i + 1].into_iter().map(|k| (a[k] & b[k]).count_ones()).sum();
            return i32::from((acc[i] as i16).wrapping_add(counts as i16));
        }
        "products-32" => (0..32).map(term).sum(),
        "products-32-counts-u8-wrap" => {
            let shared = |byte: usize, i: u32, j: u32| {
                let both = |k: &usize| a[*k] >> i & b[*k] >> j & 1 == 1;
                let count = (8 * byte..8 * byte + 8).filter(both).count();
                (count << (i + j)) as i64 % 256
            };
            let weights = || (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
            (0..4).map(|byte| weights().map(|(i, j)| shared(byte, i, j)).sum::<i64>()).sum()
        }
        other if other.starts_with("products-32-bipolar-") => {
            let most = (1 << other[20..].parse::<u32>().expect("bits")) - 1;
            (0..32).map(|k| i64::from(a[k]) * i64::from(2 * b[k] - most)).sum()
        }
        other => panic!("no definition of {other}"),
    };
    let exact = i64::from(acc[i]) + sum;
    match kernel.contract.promise.overflow {
        Overflow::Saturate => exact.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        _ => exact as i32,
    }
}

/// Packed elements, `misalign` bytes past the start of an allocation.
struct Operand {
    bytes: Vec<u8>,
    misalign: usize,
}

impl Operand {
    fn new(element: Element, values: &[i32], misalign: usize) -> Self {
        let mut bytes = vec![0xA5; misalign + values.len() * element.bytes()];
        element.pack(values, &mut bytes[misalign..]);
        Self { bytes, misalign }
    }

    fn get(&self) -> &[u8] {
        &self.bytes[self.misalign..]
    }
}

/// Checks that both forms give the promised results for every step of the batch.
fn check(kernel: &Kernel, acc: &[i32], a: &[i32], b: &[i32], misalign: usize) {
    let Domain { lhs, rhs, results, elements, .. } = kernel.contract.domain;
    let sizes = kernel.contract.domain.sizes(&Params { len: acc.len() }).expect("a batch");
    assert_eq!(sizes.inputs, [acc.len(), a.len(), b.len()]);
    let (lhs, rhs) = (Operand::new(lhs, a, misalign), Operand::new(rhs, b, misalign));
    let steps = acc.chunks(results).zip(a.chunks(elements).zip(b.chunks(elements)));
    let expected: Vec<i32> =
        steps.flat_map(|(acc, (a, b))| (0..results).map(move |i| expected(kernel, acc, a, b, i))).collect();
    for form in [Form::Portable, Form::Native] {
        let mut out = vec![0x5A5A_5A5A; acc.len()];
        kernel.run(form)(acc, lhs.get(), rhs.get(), &mut out);
        if let Some(at) = (0..out.len()).find(|at| out[*at] != expected[*at]) {
            let (step, i) = (at / results, at % results);
            let (a, b) = (&a[step * elements..][..elements], &b[step * elements..][..elements]);
            panic!("{} {form:?} result {i} of {a:?} {b:?}: {} not {}", kernel.name, out[at], expected[at]);
        }
    }
}

/// All 2^16 pairs of bytes at every position: once with the same pair at all positions of a step, so that sums are as large as possible, and once
/// with a different pair at each position. An int16 operand has 256 values from extreme to extreme.
#[test]
fn every_pair_of_bytes_in_every_place() {
    for kernel in kernels() {
        let Domain { lhs, rhs, results, elements, .. } = kernel.contract.domain;
        let value = |element: Element, byte: usize| {
            let (min, max) = (*element.range().start(), *element.range().end());
            let span = max - min;
            if span > 255 { min + byte as i32 * (span / 255) } else { min + byte as i32 % (span + 1) }
        };
        for stride in [0, 0x9E37] {
            for first in 0..256 {
                let pairs = (0..256 * elements).map(|at| 256 * first + at / elements + at % elements * stride);
                let (a, b): (Vec<i32>, Vec<i32>) =
                    pairs.map(|pair| (value(lhs, pair / 256 % 256), value(rhs, pair % 256))).unzip();
                check(kernel, &vec![first as i32 - 128; 256 * results], &a, &b, first % 16);
            }
        }
    }
}

#[test]
fn accumulators_at_the_ends_of_int32_wrap_or_saturate() {
    for kernel in kernels() {
        let Domain { lhs, rhs, results, elements, .. } = kernel.contract.domain;
        for acc in [i32::MIN, i32::MIN + 1, -1, 0, 65535, 65536, i32::MAX - 1, i32::MAX] {
            for a in [*lhs.range().start(), *lhs.range().end()] {
                for b in [*rhs.range().start(), *rhs.range().end()] {
                    check(kernel, &vec![acc; results], &vec![a; elements], &vec![b; elements], 1);
                }
            }
        }
    }
}

/// Checks the only sum of two int16 products that does not fit in int32.
#[test]
fn vpmaddwd_of_four_extremes_wraps() {
    let madd = super::find("x86-madd").expect("registered");
    check(madd, &[0; 8], &[-32768; 16], &[-32768; 16], 0);
    check(madd, &[-1; 8], &[-32768; 16], &[-32768; 16], 3);
}

/// Positions in the domain are those of the scheme: the two elements of a pair sum overflow 16 bits, and change only their own result.
#[test]
fn pairs_are_where_sixteen_bits_do_not_suffice() {
    for kernel in kernels() {
        let Domain { lhs, rhs, results, elements, pairs, .. } = kernel.contract.domain;
        let narrow = kernel.contract.promise.scheme.contains("16");
        assert_eq!(pairs.len(), if narrow { results } else { 0 }, "{}", kernel.name);
        // The largest product, which is that of two minima if both types are signed.
        let extreme = |start: i32, end: i32| if -start > end { start } else { end };
        let a = extreme(*lhs.range().start(), *lhs.range().end());
        let b = if *lhs.range().start() < 0 { *rhs.range().start() } else { *rhs.range().end() };
        for (result, pair) in pairs.iter().enumerate() {
            let (mut left, mut right) = (vec![0; elements], vec![0; elements]);
            for k in pair {
                (left[*k], right[*k]) = (a, b);
            }
            let acc = vec![0; results];
            check(kernel, &acc, &left, &right, 0);
            let got: Vec<i32> = (0..results).map(|i| expected(kernel, &acc, &left, &right, i)).collect();
            let exact = 2 * i64::from(a) * i64::from(b);
            assert_ne!(i64::from(got[result]), exact, "{}", kernel.name);
            assert!(got.iter().enumerate().all(|(i, got)| i == result || *got == 0), "{} {got:?}", kernel.name);
        }
    }
}

#[test]
fn names_are_each_used_once() {
    let names: std::collections::BTreeSet<_> = kernels().iter().map(|kernel| kernel.name).collect();
    assert_eq!(names.len(), kernels().len());
}

/// Small positive bytes at each position, so that no sum of two products leaves 16 bits.
#[test]
fn a_range_gives_each_result_the_pair_of_its_own_four_bytes() {
    let mut swept = 0;
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        let params = Params { len: 3 * domain.results };
        assert_eq!(<Dot as TensorOperation>::takes_ranges(domain, &params), !domain.pairs.is_empty());
        if domain.pairs.is_empty() {
            continue;
        }
        let mut input = vec![7; domain.sizes(&params).expect("whole steps").input()];
        <Dot as TensorOperation>::fill(domain, &params, 0x0403_0201, &mut input);
        let mut out = vec![0; params.len];
        Dot::execute(kernel, &params, Form::Portable, &input, &mut out, 0).expect("it runs");
        let pairs: Vec<i32> = (1..).map(|first| first * 3 + 2 * 4).take(params.len).collect();
        assert_eq!(out, pairs, "{}", kernel.name);
        swept += 1;
    }
    assert!(swept >= 3, "{swept}");
}

#[test]
fn kernels_are_found_by_their_names() {
    assert!(kernels().iter().all(|kernel| find(kernel.name).is_some_and(|found| found.name == kernel.name)));
    assert!(find("no-such-kernel").is_none());
}
