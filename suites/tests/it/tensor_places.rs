//! Invariant 9 for tensor kernels: the result of an element does not depend on its place, at any alignment.

use crate::common::{aarch64, channel, lane};
use tiebreak_impls::{conv2d, dot, matmul, requantize, transform};
use tiebreak_suites::engine::erased::AnyCase;
use tiebreak_suites::engine::run::answers::outs;
use tiebreak_suites::lane::{Lane, Lease};
use tiebreak_suites::operation::{Case, Operation};
use tiebreak_suites::{conv2d::Conv2d, dot::Dot, matmul::Matmul, requantize::Requantize, transform::Transform};

/// Elements between a cache line and the first element.
const MISALIGNMENTS: usize = 16;

fn results<O: Operation>(lease: &mut Lease<'_>, kernel: &str, case: Case<O::Params>, len: usize) -> Vec<i32> {
    let case = AnyCase::of::<O>(case);
    outs(lease, kernel, &case, len).unwrap_or_else(|e| panic!("{kernel}: {e}: {case:?}"))
}

/// Returns a tensor that is zero except for one element.
fn only(len: usize, at: usize, value: i32) -> Vec<i32> {
    let mut tensor = vec![0; len];
    tensor[at] = value;
    tensor
}

fn both(check: fn(&Lane)) {
    for name in ["host", aarch64()] {
        check(&lane(name));
    }
}

/// One element of lhs meets one of rhs at every row, column and depth: one result is their product, all others are 0.
fn every_product(lane: &Lane) {
    let (m, n) = (5, 6);
    let mut lease = lane.lease();
    for kernel in matmul::kernels() {
        let domain = &kernel.contract.domain;
        let (a, b) = (*domain.lhs_values.end(), (*domain.rhs_values.start()).clamp(-3, 1));
        let b = if b == 0 { 1 } else { b };
        for k in [1, 4, 15, 16, 17, 35] {
            for place in 0..m * n * k {
                let (i, j, at) = (place / (n * k), place / k % n, place % k);
                let params = matmul::Params { m, n, k, lhs_offset: 0, rhs_offset: 0 };
                let tensors = [only(m * k, i * k + at, a), only(k * n, at * n + j, b), Vec::new()];
                let case = Case { params, tensors: tensors.into(), misalign: place % MISALIGNMENTS };
                let out = results::<Matmul>(&mut lease, kernel.name, case, m * n);
                assert_eq!(
                    out,
                    only(m * n, i * n + j, a * b),
                    "{} {}: ({i},{j},{at}) of K={k}",
                    kernel.name,
                    lane.name
                );
            }
        }
    }
}

#[test]
fn products_at_every_row_column_and_depth() {
    both(every_product);
}

/// Product of full operands with offsets, at every misalignment.
fn every_alignment(lane: &Lane) {
    let mut lease = lane.lease();
    for kernel in matmul::kernels() {
        let domain = &kernel.contract.domain;
        let values = |range: &std::ops::RangeInclusive<i32>, len: i32| -> Vec<i32> {
            let width = range.end() - range.start() + 1;
            (0..len).map(|i| range.start() + i * 37 % width).collect()
        };
        let params = matmul::Params { m: 7, n: 5, k: 19, lhs_offset: -3, rhs_offset: 1000 };
        let tensors = [values(&domain.lhs_values, 7 * 19), values(&domain.rhs_values, 19 * 5), Vec::new()];
        let case = |misalign| Case { params, tensors: tensors.clone().into(), misalign };
        let first = results::<Matmul>(&mut lease, kernel.name, case(0), 35);
        for misalign in 1..MISALIGNMENTS {
            let out = results::<Matmul>(&mut lease, kernel.name, case(misalign), 35);
            assert_eq!(out, first, "{} {} misaligned by {misalign}", kernel.name, lane.name);
        }
        assert!(first.iter().any(|v| *v != first[0]), "{}: all elements are the same", kernel.name);
    }
}

#[test]
fn products_at_every_alignment() {
    both(every_alignment);
}

/// One pixel under one element of the filter, at every place of either. One result is their product, wherever the place; other pixels under this
/// filter element are zero.
fn every_pixel(lane: &Lane) {
    let mut lease = lane.lease();
    let shape = conv2d::Params { height: 4, width: 3, channels: 5, out_channels: 6, ..conv2d::Params::default() };
    for kernel in conv2d::kernels() {
        // A filter of one element gives the same result when transposed.
        let shape = conv2d::Params { transposed: kernel.contract.domain.transposed.is_some(), ..shape };
        let a = *kernel.contract.domain.operands.lhs_values.end();
        let (pixels, weights) = (4 * 3 * 5, 5 * 6);
        for pixel in 0..pixels {
            let (place, c) = (pixel / 5, pixel % 5);
            for o in 0..6 {
                let tensors = [only(pixels, pixel, a), only(weights, c * 6 + o, 1), Vec::new()];
                let case = Case { params: shape, tensors: tensors.into(), misalign: (pixel + o) % MISALIGNMENTS };
                let out = results::<Conv2d>(&mut lease, kernel.name, case, 12 * 6);
                assert_eq!(out, only(12 * 6, place * 6 + o, a), "{} {}: {pixel} to {o}", kernel.name, lane.name);
            }
        }
    }
}

#[test]
fn pixels_at_every_place() {
    both(every_pixel);
}

/// The same step at every place of a batch, among others, at every alignment: the accumulators, and their operands.
fn every_step(lane: &Lane) {
    let mut lease = lane.lease();
    for kernel in dot::kernels() {
        let domain = &kernel.contract.domain;
        let (each, wide) = (domain.results, domain.elements);
        let value = |i: usize| [1, 2, 3, 5, 7, 11, 13][i % 7];
        let step = [
            (0..each).map(|i| 1000 * value(i)).collect::<Vec<i32>>(),
            (0..wide).map(|i| value(i) & *domain.lhs.range().end()).collect(),
            (0..wide).map(|i| value(i + 3) & *domain.rhs.range().end()).collect(),
        ];
        let batch = |steps: usize, at: usize| {
            let tensor = |t: usize| {
                let mut tensor = vec![1; step[t].len() * steps];
                tensor[at * step[t].len()..][..step[t].len()].copy_from_slice(&step[t]);
                tensor
            };
            [tensor(0), tensor(1), tensor(2)]
        };
        let mut alone = None;
        for steps in 1..=5 {
            for at in 0..steps {
                for misalign in 0..MISALIGNMENTS {
                    let params = dot::Params { len: steps * each };
                    let case = Case { params, tensors: batch(steps, at).into(), misalign };
                    let out = results::<Dot>(&mut lease, kernel.name, case, steps * each);
                    let here = out[at * each..][..each].to_vec();
                    let first = alone.get_or_insert_with(|| here.clone());
                    assert_eq!(&here, first, "{} {}: step {at} of {steps}", kernel.name, lane.name);
                }
            }
        }
        let alone = alone.expect("it ran");
        assert!(alone.iter().zip(&step[0]).any(|(out, acc)| out != acc), "{}: nothing was added", kernel.name);
    }
}

#[test]
fn steps_at_every_place() {
    both(every_step);
}

/// The same accumulator in body and tail, among others, at every length and alignment.
fn every_accumulator(lane: &Lane) {
    let mut lease = lane.lease();
    for kernel in requantize::kernels() {
        let domain = &kernel.contract.domain;
        let range = domain.output.range();
        // The pipeline that multiplies by one needs an integer multiplier.
        let (m, s) = if kernel.contract.promise.scheme.starts_with("legacy") { (3, -3) } else { (1 << 30, -3) };
        let mut alone = None;
        for len in 1..=17 {
            for at in 0..len {
                let params = requantize::Params {
                    len,
                    channels: vec![channel(m, s)],
                    bias: vec![0],
                    zero_point: 0,
                    min: *range.start(),
                    max: *range.end(),
                };
                let mut xs = vec![-40; len];
                xs[at] = 123;
                let case =
                    Case { params, tensors: [xs, Vec::new(), Vec::new()].into(), misalign: (at + len) % MISALIGNMENTS };
                let out = results::<Requantize>(&mut lease, kernel.name, case, len);
                let first = *alone.get_or_insert(out[at]);
                assert_eq!(out[at], first, "{} {}: {at} of {len}", kernel.name, lane.name);
                assert!(len == 1 || out[(at + 1) % len] != first, "{}: all elements are the same", kernel.name);
            }
        }
    }
}

#[test]
fn accumulators_at_every_place() {
    both(every_accumulator);
}

/// Every element is moved to the same place for any alignment, and no element is lost.
fn every_move(lane: &Lane) {
    let mut lease = lane.lease();
    for kernel in transform::kernels() {
        let matrix = transform::Params::Matrix { batches: 1, rows: 9, columns: 21 };
        let image =
            conv2d::Params { height: 5, width: 4, channels: 3, out_channels: 3, top: 1, ..conv2d::Params::default() };
        let domain = &kernel.contract.domain;
        let fits = |params: &transform::Params| domain.sizes(params).ok().map(|sizes| (*params, sizes));
        let pad = transform::pad::Params { height: 5, width: 4, top: 1, right: 2, ..Default::default() };
        let few = transform::packing::Params { rows: 2, columns: 24, bits: 4, word: 8, signed: true };
        let map = transform::map::Params { rows: 4, columns: 9, stride: 9, column_major: false };
        let all = [
            matrix,
            transform::Params::Conv2d(image),
            transform::Params::Pad(pad),
            transform::Params::Map(map),
            transform::Params::Packed(few),
        ];
        let (params, sizes) = all.iter().find_map(fits).expect("one of them");
        let tensors = [(1..=sizes.inputs[0] as i32).collect::<Vec<_>>(), Vec::new(), Vec::new()];
        let case = |misalign| Case { params, tensors: tensors.clone().into(), misalign };
        let first = results::<Transform>(&mut lease, kernel.name, case(0), sizes.outputs);
        for misalign in 1..MISALIGNMENTS {
            let out = results::<Transform>(&mut lease, kernel.name, case(misalign), sizes.outputs);
            assert_eq!(out, first, "{} {} misaligned by {misalign}", kernel.name, lane.name);
        }
        // A word has parts of several elements; the tests of `packing` unpack such words.
        if matches!(params, transform::Params::Packed(_)) {
            continue;
        }
        let mut kept: Vec<i32> = first.iter().copied().filter(|v| *v != 0).collect();
        kept.sort_unstable();
        kept.dedup();
        assert_eq!(kept.len(), sizes.inputs[0].min(sizes.outputs), "{}: elements are lost", kernel.name);
    }
}

#[test]
fn moves_at_every_alignment() {
    both(every_move);
}
