//! Change of a transposed convolution that keeps one row of accumulators for each filter row: rows that are finished too late are written too high.

use super::Qconv2d;
use crate::fused::Fused;
use crate::fused::part_changes::total;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::conv2d::Params as Shape;
use tiebreak_impls::qconv2d::Params;
use tiebreak_oracle::qconv2d::Scheme;

/// Predicts that no row is finished before the padding ends.
pub(super) fn change(scheme: &Scheme) -> Change<Qconv2d> {
    let base = total(scheme);
    let because = "no row is finished before the padding ends, even if it ends within a step: later rows lie too high, and the last ones stay 0";
    Change::predicts(Class::Layout, because, move |case: &Case<Params>| predict(&base, case))
}

fn predict(base: &Scheme, case: &Case<Params>) -> Option<Expected> {
    let p = &case.params.shape;
    let (rows, columns) = p.output().ok()?;
    let width = columns * p.out_channels;
    let images = case.tensors[0].chunks_exact(p.height * p.width * p.channels);
    let written = images.flat_map(|image| written(p, image, &case.tensors[1], rows, columns));
    let mut sums: Vec<i64> = written.map(i64::from).collect();
    let there = sums.len();
    sums.resize(p.batches * rows * width, 0);
    let mut out = Qconv2d::finished(base, &case.params, &sums)?;
    out.iter_mut().skip(there).for_each(|result| *result = Some(0));
    Some(out)
}

/// Returns the sums of the rows that are written for one image, each at the place where it is written.
fn written(p: &Shape, image: &[i32], weights: &[i32], rows: usize, columns: usize) -> Vec<i32> {
    // Only whole steps are finished, beginning with the first input row that no padding covers.
    let finished = |row: usize| row.saturating_sub(p.top.div_ceil(p.stride_h)) * p.stride_h;
    let width = columns * p.out_channels;
    let mut lines = vec![0i32; (finished(p.height) + p.kernel_h.max(p.stride_h)) * width];
    for (at, value) in image.iter().enumerate() {
        let (y, x, c) = (at / (p.width * p.channels), at / p.channels % p.width, at % p.channels);
        let begin = y * p.stride_h;
        let above = p.top.saturating_sub(begin);
        let below = (begin + p.kernel_h).saturating_sub(p.top + rows + 1);
        for i in above..p.kernel_h.saturating_sub(below) {
            for j in 0..p.kernel_w {
                let Some(column) = (x * p.stride_w + j).checked_sub(p.left).filter(|at| *at < columns) else {
                    continue;
                };
                let filter = &weights[((i * p.kernel_w + j) * p.channels + c) * p.out_channels..][..p.out_channels];
                let line = finished(y) + i - above;
                let sums = &mut lines[line * width + column * p.out_channels..][..p.out_channels];
                for (sum, weight) in sums.iter_mut().zip(filter) {
                    let weight = weight.wrapping_sub(p.weight_zero_point);
                    *sum = sum.wrapping_add(value.wrapping_sub(p.input_zero_point).wrapping_mul(weight));
                }
            }
        }
    }
    let rest = (0..p.kernel_h.saturating_sub(p.stride_h))
        .filter(|y| (p.top..p.top + rows).contains(&(p.height * p.stride_h + y)))
        .map(|y| finished(p.height) + y);
    let kept = (0..finished(p.height)).chain(rest);
    kept.flat_map(|line| lines[line * width..][..width].iter().copied()).collect()
}
