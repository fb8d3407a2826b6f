//! Loops around the steps of `quant.qcast` and `quant.dcast`, in the cases that the lowering distinguishes.
//!
//! - Case 1, per layer, scalar or ranked: elementwise, in the tensor's own dimensions.
//! - Case 2, per layer, unranked: reshaped to one dimension.
//! - Case 3, per channel, ranked: `linalg.generic`, scales indexed by the axis.
//! - Case 4, per channel, unranked: reshaped to three dimensions: the product of the dimensions left of the axis, the number of scales, and the
//!   product of the dimensions right of the axis; scales indexed by the middle dimension.
//! - Sub-channel, ranked, since the RFC: as case 3, indexed by each dimension divided by its block's size.
//!
//! Source: MLIR RFC "Improvements in the 'quant' dialect", pass `--lower-quant-ops`; llvm/llvm-project
//! `mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp`.

use crate::quantized::{Container, Granularity, Params};
use std::ops::Range;

/// Elements of one innermost loop, with the scale of each element; a single scale applies to all elements.
pub(crate) struct Row<'a> {
    /// Elements, as indices in memory.
    pub(crate) elements: Range<usize>,
    scales: &'a [usize],
    /// Iteration of the next outer loop, and the number of its iterations.
    pub(crate) turn: (usize, usize),
}

impl Row<'_> {
    /// Returns the index of the scale and zero point of the element at `place` of this row.
    #[inline(always)]
    pub(crate) fn scale(&self, place: usize) -> usize {
        if let [scale] = self.scales { *scale } else { self.scales[place] }
    }

    /// True if all elements of this row have the same scale.
    pub(crate) fn has_one_scale(&self) -> bool {
        self.scales.iter().all(|scale| *scale == self.scales[0])
    }
}

/// Calls `row` for every innermost loop, in order.
pub(crate) fn rows(params: &Params, row: impl FnMut(Row)) {
    let Params { quantized, container, shape } = params;
    match (&quantized.granularity, container) {
        (Granularity::Layer, Container::Scalar) => scalars(shape, row),
        (Granularity::Layer, Container::Ranked) => elementwise(shape, row),
        (Granularity::Layer, Container::Unranked) => flat(shape, row),
        (Granularity::Channel { axis }, Container::Unranked) => {
            around_axis(&shape[..*axis], quantized.scales.len(), &shape[axis + 1..], row);
        }
        (Granularity::Channel { axis }, _) => generic(shape, |indices| indices[*axis], row),
        (Granularity::Blocks { sizes, .. }, _) => generic(shape, |indices| block(sizes, shape, indices), row),
    }
}

/// Case 1 without a tensor: one call per element.
fn scalars(shape: &[usize], mut row: impl FnMut(Row)) {
    (0..shape.iter().product()).for_each(|i| row(Row { elements: i..i + 1, scales: &[0], turn: (0, 1) }));
}

/// Case 1: nested loops over splats.
fn elementwise(shape: &[usize], mut row: impl FnMut(Row)) {
    let Some((inner, outer)) = shape.split_last() else { return };
    for start in (0..outer.iter().product()).map(|r: usize| r * inner) {
        row(Row { elements: start..start + inner, scales: &[0], turn: (0, 1) });
    }
}

/// Case 2: one loop over all elements.
fn flat(shape: &[usize], mut row: impl FnMut(Row)) {
    row(Row { elements: 0..shape.iter().product(), scales: &[0], turn: (0, 1) });
}

/// Case 4: a tensor of `? x channels x ?`.
fn around_axis(left: &[usize], channels: usize, right: &[usize], mut row: impl FnMut(Row)) {
    let (left, right): (usize, usize) = (left.iter().product(), right.iter().product());
    for i in 0..left {
        for channel in 0..channels {
            let start = (i * channels + channel) * right;
            row(Row { elements: start..start + right, scales: &[channel], turn: (channel, channels) });
        }
    }
}

/// Case 3: one loop per dimension; `scale` is the map of the scales' operand.
fn generic(shape: &[usize], scale: impl Fn(&[usize]) -> usize, mut row: impl FnMut(Row)) {
    let Some((inner, outer)) = shape.split_last() else { return };
    let (mut indices, mut scales) = (vec![0; shape.len()], vec![0; *inner]);
    for start in (0..outer.iter().product()).map(|r: usize| r * inner) {
        for (last, at) in scales.iter_mut().enumerate() {
            indices[outer.len()] = last;
            *at = scale(&indices);
        }
        let turn = outer.len().checked_sub(1).map_or((0, 1), |last| (indices[last], outer[last]));
        row(Row { elements: start..start + inner, scales: &scales, turn });
        for (index, size) in indices.iter_mut().zip(outer).rev() {
            *index = (*index + 1) % size;
            if *index != 0 {
                break;
            }
        }
    }
}

/// Returns the scale of a block, row-major. A dimension without a size has the constant map 0.
fn block(sizes: &[(usize, usize)], shape: &[usize], indices: &[usize]) -> usize {
    shape.iter().zip(indices).enumerate().fold(0, |at, (axis, (dimension, index))| {
        match sizes.iter().find(|(a, _)| *a == axis) {
            Some((_, size)) => at * (dimension / size) + index / size,
            None => at,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantized::{Expressed, Quantized, Scale, Storage};

    fn scales(container: Container, granularity: Granularity, count: usize, shape: &[usize]) -> (Vec<usize>, Params) {
        let quantized = Quantized {
            storage: Storage { bits: 8, signed: true },
            min: -128,
            max: 127,
            expressed: Expressed::F32,
            granularity,
            scales: vec![Scale(0.5); count],
            zero_points: vec![0; count],
        };
        let params = Params { quantized, container, shape: shape.to_vec() };
        let mut seen = Vec::new();
        rows(&params, |row| {
            assert_eq!(row.elements.start, seen.len());
            seen.extend((0..row.elements.len()).map(|place| row.scale(place)));
        });
        (seen, params)
    }

    /// Visits every element once, in order, with the scale from the type's definition.
    #[test]
    fn every_case_visits_every_element_with_its_scale() {
        let shapes: [&[usize]; 5] = [&[7], &[2, 3], &[4, 2, 5], &[3, 1, 2, 4], &[1, 1]];
        let mut cases = 0;
        for shape in shapes {
            let mut try_it = |container, granularity, count| {
                let (seen, params) = scales(container, granularity, count, shape);
                let defined: Vec<usize> =
                    (0..params.elements().expect("a shape")).map(|i| params.scale_of(i)).collect();
                assert_eq!(seen, defined, "{params:?}");
                cases += 1;
            };
            for container in [Container::Scalar, Container::Ranked, Container::Unranked] {
                try_it(container, Granularity::Layer, 1);
                for (axis, size) in shape.iter().enumerate().filter(|_| container != Container::Scalar) {
                    try_it(container, Granularity::Channel { axis }, *size);
                }
            }
            let mut blocks = |sizes: Vec<(usize, usize)>| {
                let of = |axis| sizes.iter().find(|(a, _)| *a == axis).map_or(shape[axis], |(_, size)| *size);
                let counts: Vec<usize> = (0..shape.len()).map(|axis| shape[axis] / of(axis)).collect();
                let count = counts.iter().product();
                try_it(Container::Ranked, Granularity::Blocks { sizes, counts }, count);
            };
            for (axis, dimension) in shape.iter().enumerate() {
                blocks(vec![(axis, if dimension % 2 == 0 { 2 } else { 1 })]);
            }
            blocks((0..shape.len()).map(|axis| (axis, 1)).rev().collect());
            blocks(Vec::new());
        }
        assert_eq!(cases, 5 * 3 + 12 * 2 + 12 + 5 + 5);
    }
}
