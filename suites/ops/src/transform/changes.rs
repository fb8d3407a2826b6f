//! Changes that a kernel may make to a layout transform.

use super::{Layout, Transform, exact, few_bits, maps, padding};
use crate::matmul::orders;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected, Observed, Operation};
use tiebreak_impls::transform::{Kind, Params};
use tiebreak_oracle::transform::Source;

/// Returns the number of elements in a row of a block, for each transform. Permutations move whole rows.
fn row(layout: Layout) -> usize {
    match layout.kind {
        Kind::Unpack => 4,
        _ => 16,
    }
}

/// Returns every change, in the order of preference.
pub(super) fn changes(layout: Layout) -> Vec<Change<Transform>> {
    let padded = |value: i32| {
        let because = format!("padding is {value} where it must be the zero point");
        Change::predicts(Class::Padding, because, move |case| {
            by_source(layout, case, |_, source| match source {
                Source::ZeroPoint => Some(value),
                _ => None,
            })
        })
    };
    let mut out = vec![padded(0), padded(-128), padded(128)];
    out.extend(padding::changes());
    out.extend(few_bits::changes(layout));
    out.extend(maps::changes(layout));
    out.push(plain_stride(layout));
    out.push(channels_first(layout));
    for (because, block) in
        [("elements after the last whole 4 rows are lost", 4), ("elements after the last whole 16 are lost", 16)]
    {
        for along_rows in [true, false] {
            let because = format!("{because}, along {}", if along_rows { "rows" } else { "columns" });
            out.push(Change::predicts(Class::TruncatedTail, because, move |case| {
                let Params::Matrix { rows, columns, .. } = case.params else { return None };
                by_source(layout, case, |_, source| match source {
                    Source::Element(at) => {
                        let at = at % (rows * columns);
                        let (place, size) = if along_rows { (at / columns, rows) } else { (at % columns, columns) };
                        (place >= size - size % block).then_some(0)
                    }
                    _ => None,
                })
            }));
        }
    }
    out.push(Change::found(Class::Layout, move |evidence| permutation(layout, evidence)));
    out
}

/// Predicts that the blocks of each matrix of a batch are as far apart as the plain matrices. A later block overwrites the end of an earlier one.
fn plain_stride(layout: Layout) -> Change<Transform> {
    let because = "the blocks of a batch lie as far apart as the plain matrices";
    Change::predicts(Class::Layout, because, move |case| {
        let Params::Matrix { batches, rows, columns } = case.params else { return None };
        let all = (layout.kind == Kind::Interleave).then(|| Transform::expected(&layout, case).ok()).flatten()?;
        let blocks = all.len() / batches;
        let mut out = vec![Some(0); all.len()];
        for (b, matrix) in all.chunks(blocks).enumerate() {
            out[b * rows * columns..][..blocks].copy_from_slice(matrix);
        }
        Some(out)
    })
}

/// Predicts weights that are flattened with their input channels as the outer axis.
fn channels_first(layout: Layout) -> Change<Transform> {
    let because = "the depth is flattened channel by channel, and not place by place of the filter";
    Change::predicts(Class::Layout, because, move |case| {
        let Params::Conv2d(p) = case.params else { return None };
        let (taps, outputs) = (p.kernel_h * p.kernel_w, p.out_channels);
        if layout.kind != Kind::WeightPrepack {
            return None;
        }
        let from = |at: usize| (at / outputs % taps * p.channels + at / outputs / taps) * outputs + at % outputs;
        let mut read = case.clone();
        read.tensors[0] = (0..case.tensors[0].len()).map(|at| case.tensors[0][from(at)]).collect();
        Transform::expected(&layout, &read).ok()
    })
}

/// Returns the transform's results with some of them replaced.
fn by_source(layout: Layout, case: &Case<Params>, instead: impl Fn(usize, Source) -> Option<i32>) -> Option<Expected> {
    let sources = exact(layout, &case.params)?.sources().ok()?;
    let mut expected = Transform::expected(&layout, case).ok()?;
    for (at, (value, source)) in expected.iter_mut().zip(sources).enumerate() {
        if let Some(other) = instead(at, source) {
            *value = Some(other);
        }
    }
    Some(expected)
}

/// Finds the order of rows within each block that turns the expected results into the observed results. If there is none but all elements are
/// present, describes the places of elements.
fn permutation(layout: Layout, evidence: &[&Observed<Params>]) -> Option<String> {
    let expected: Option<Vec<Expected>> =
        evidence.iter().map(|seen| Transform::expected(&layout, &seen.case).ok()).collect();
    let expected = expected?;
    let width = row(layout);
    for order in orders(4) {
        let same = evidence.iter().zip(&expected).all(|(seen, expected)| {
            seen.outs.len().is_multiple_of(4 * width)
                && seen.outs.iter().enumerate().all(|(at, out)| {
                    let (block, within) = (at / (4 * width), at % (4 * width));
                    let from = block * 4 * width + order[within / width] * width + within % width;
                    expected[from] == Some(*out)
                })
        });
        if same {
            return Some(format!("rows of each block come in the order {order:?}"));
        }
    }
    moved(evidence, &expected)
}

/// Describes the first misplaced element, if all elements are present.
fn moved(evidence: &[&Observed<Params>], expected: &[Expected]) -> Option<String> {
    let mut first = None;
    for (seen, expected) in evidence.iter().zip(expected) {
        let (mut given, mut wanted) = (seen.outs.clone(), expected.iter().flatten().copied().collect::<Vec<_>>());
        if first.is_none() {
            let at = wanted.iter().zip(&given).position(|(w, g)| w != g);
            first = at.map(|at| {
                format!("all elements are there, in other places: out[{at}] holds element {}", given[at] - 1)
            });
        }
        given.sort_unstable();
        wanted.sort_unstable();
        if given != wanted {
            return None;
        }
    }
    first
}
