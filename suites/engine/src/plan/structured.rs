//! Tensors with parts that are zero or alike: a slice along an axis, all other slices, a slice equal to the previous slice, runs of one value, a few
//! values repeated, short values in wide words. Code has special paths for them (pruned filters, padded channels, broadcasts), and random data does
//! not reach these paths.

use crate::erased::{Domain, Params};
use crate::operation::case::Case;
use crate::operation::element::Element;

/// Periods in elements: lengths of runs, and distances of repetitions.
pub(crate) const PERIODS: [usize; 4] = [8, 16, 24, 32];

/// Periods within a vector, for tensors with a single axis.
const SHORT: [usize; 2] = [2, 4];

/// Number of slices in a block.
const BLOCK: usize = 16;

/// Structure imposed on a tensor. Slices lie along an axis of `size` indices, `stride` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Neutral elements in slice `at`.
    Without { stride: usize, size: usize, at: usize },
    /// Neutral elements in all slices except slice `at`.
    Only { stride: usize, size: usize, at: usize },
    /// Neutral elements in the second block of slices.
    WithoutBlock { stride: usize, size: usize },
    /// Slice `at` equal to the previous slice.
    Twice { stride: usize, size: usize, at: usize },
    /// All slices equal to the first.
    Alike { stride: usize, size: usize },
    /// First elements, repeated.
    Repeated(usize),
    /// Runs: each of some elements, repeated.
    Runs(usize),
    /// Neutral elements at the beginning.
    Late(usize),
    /// Values shortened by a number of bits at the top.
    Narrow(u32),
    /// Values with a number of low bits cleared.
    Coarse(u32),
    /// Values with some bits cleared: a float without exponent bits is zero or subnormal.
    Clear(i32),
}

/// Returns the cases of a base: each tensor in every structure, and all tensors together in the periodic structures if all tensors have a single
/// axis.
pub(crate) fn of(domain: &Domain, base: &Case<Params>) -> Vec<Case<Params>> {
    let mut out = Vec::new();
    for t in 0..domain.op().tensors().len() {
        let element = domain.element(&base.params, t);
        let nothing = element.nearest(base.params.neutral_element(t));
        let dimensions = domain.dimensions(&base.params, t);
        for shape in shapes(&dimensions, base.tensors[t].len(), &element) {
            let shaped = shaped(&base.tensors[t], shape, nothing);
            if shaped != base.tensors[t] {
                let mut case = base.clone();
                case.tensors[t] = shaped;
                out.push(case);
            }
        }
    }
    let flat = |t: usize| domain.dimensions(&base.params, t).len() == 1;
    if domain.op().tensors().len() > 1 && (0..domain.op().tensors().len()).all(flat) {
        let together = SHORT.into_iter().chain(PERIODS).flat_map(|words| [Shape::Repeated(words), Shape::Runs(words)]);
        out.extend(together.map(|shape| {
            let tensors = base.tensors.each_ref().map(|tensor| shaped(tensor, shape, 0));
            Case { tensors: tensors.into(), ..base.clone() }
        }));
    }
    out
}

fn shapes(dimensions: &[usize], len: usize, element: &Element) -> Vec<Shape> {
    let mut out = Vec::new();
    // Tensors with several words for an element have no axes of words.
    if dimensions.iter().product::<usize>() == len {
        let mut stride = len;
        for size in dimensions.iter().copied().filter(|size| *size > 1) {
            stride /= size;
            let last = size - 1;
            for at in [0, size / 2, last] {
                out.extend([Shape::Without { stride, size, at }, Shape::Only { stride, size, at }]);
            }
            out.extend([1, last].map(|at| Shape::Twice { stride, size, at }));
            out.push(Shape::Alike { stride, size });
            if size > 2 * BLOCK {
                out.push(Shape::WithoutBlock { stride, size });
            }
        }
        if dimensions.len() == 1 {
            out.extend(SHORT.into_iter().flat_map(|words| [Shape::Repeated(words), Shape::Runs(words)]));
        }
        for period in PERIODS.into_iter().filter(|period| *period < len) {
            out.extend([Shape::Repeated(period), Shape::Runs(period), Shape::Late(period)]);
            // Blocks serve as slices: one block equal to the previous block, among others.
            let blocks = len / period;
            if dimensions.len() == 1 && blocks > 2 {
                out.extend([1, blocks - 1].map(|at| Shape::Twice { stride: period, size: blocks, at }));
            }
        }
    }
    if let Element::Float(format) = element
        && element.words() == 1
    {
        out.push(Shape::Clear(format.infinity() as i32));
    }
    if element.is_every_word() {
        out.extend([Shape::Narrow(16), Shape::Narrow(24), Shape::Coarse(8), Shape::Coarse(16)]);
    }
    out.dedup();
    out
}

fn shaped(tensor: &[i32], shape: Shape, nothing: i32) -> Vec<i32> {
    let along = |i: usize, stride: usize, size: usize| i / stride % size;
    let one = |(i, value): (usize, &i32)| match shape {
        Shape::Without { stride, size, at } if along(i, stride, size) == at => nothing,
        Shape::Only { stride, size, at } if along(i, stride, size) != at => nothing,
        Shape::WithoutBlock { stride, size } if along(i, stride, size) / BLOCK == 1 => nothing,
        Shape::Twice { stride, size, at } if along(i, stride, size) == at => tensor[i - stride],
        Shape::Alike { stride, size } => tensor[i - along(i, stride, size) * stride],
        Shape::Repeated(period) => tensor[i % period],
        Shape::Runs(run) => tensor[i / run],
        Shape::Late(first) if i < first => nothing,
        Shape::Narrow(bits) => value >> bits,
        Shape::Coarse(bits) => value >> bits << bits,
        Shape::Clear(bits) => value & !bits,
        _ => *value,
    };
    tensor.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_lie_along_their_axis() {
        let tensor: Vec<i32> = (1..=12).collect();
        let of = |shape| shaped(&tensor, shape, 0);
        let (stride, size) = (2, 3);
        assert_eq!(of(Shape::Without { stride, size, at: 1 }), [1, 2, 0, 0, 5, 6, 7, 8, 0, 0, 11, 12]);
        assert_eq!(of(Shape::Only { stride, size, at: 2 }), [0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 11, 12]);
        assert_eq!(of(Shape::Twice { stride, size, at: 2 }), [1, 2, 3, 4, 3, 4, 7, 8, 9, 10, 9, 10]);
        assert_eq!(of(Shape::Alike { stride, size }), [1, 2, 1, 2, 1, 2, 7, 8, 7, 8, 7, 8]);
        let block = shaped(&(0..40).collect::<Vec<i32>>(), Shape::WithoutBlock { stride: 1, size: 40 }, -1);
        assert_eq!((&block[14..18], block[32]), (&[14, 15, -1, -1][..], 32));
        assert_eq!(shaped(&[0x3f80_0001, -1], Shape::Clear(0x7f80_0000), 0), [1, 0x807f_ffff_u32 as i32]);
        assert_eq!(of(Shape::Repeated(5)), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
        assert_eq!(of(Shape::Runs(5)), [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]);
        assert_eq!(of(Shape::Late(4)), [0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(shaped(&[-70_000, 0x1234], Shape::Narrow(8), 0), [-274, 0x12]);
        assert_eq!(shaped(&[-1, 0x1234], Shape::Coarse(8), 0), [-256, 0x1200]);
    }

    #[test]
    fn every_axis_has_its_slices() {
        let shapes = shapes(&[2, 1, 3], 6, &Element::Integer(0..=255));
        assert!(shapes.contains(&Shape::Only { stride: 3, size: 2, at: 1 }));
        assert!(shapes.contains(&Shape::Without { stride: 1, size: 3, at: 2 }));
        assert!(!shapes.iter().any(|shape| matches!(shape, Shape::Narrow(_) | Shape::Repeated(_))));
    }
}
