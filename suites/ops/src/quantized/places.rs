//! Which scale each element of a tensor has, and the ones that it has where a kernel confuses them.

use tiebreak_common::class::Class;
use tiebreak_impls::quantized::{Granularity, Params};

/// An index along an axis that is cut into `blocks` of `size` elements.
struct Place {
    index: usize,
    size: usize,
    blocks: usize,
    /// Blocks of the part of the tensor that the axes before span.
    before: usize,
}

/// How many scales there are along an axis: channels, or blocks.
pub fn blocks(p: &Params, axis: usize) -> usize {
    match &p.quantized.granularity {
        Granularity::Channel { axis: channels } if *channels == axis => p.shape[axis],
        Granularity::Blocks { counts, .. } => counts[axis],
        _ => 1,
    }
}

/// The scales of all elements, axis by axis: `step` takes the block of an element in the axes before to that with one axis more.
fn along_axes(p: &Params, step: impl Fn(usize, &Place) -> usize) -> Vec<usize> {
    let (mut scales, mut before) = (vec![0], 1);
    for (axis, dimension) in p.shape.iter().enumerate() {
        let blocks = blocks(p, axis);
        let place = |index| Place { index, size: dimension / blocks.max(1), blocks, before };
        let step = &step;
        scales = scales.into_iter().flat_map(|at| (0..*dimension).map(move |index| step(at, &place(index)))).collect();
        before *= blocks;
    }
    scales
}

/// The scale of each element, as the type defines it: row-major over the channels or blocks.
pub fn scales(p: &Params) -> Vec<usize> {
    along_axes(p, |at, place| at * place.blocks + place.index / place.size)
}

/// A way to take another scale than an element's own.
pub struct Mistake {
    /// Class of the differences.
    pub class: Class,
    /// What is mistaken.
    pub because: &'static str,
    /// The scale of each element.
    pub scales: fn(&Params) -> Vec<usize>,
}

/// The scale of a channel that far behind, if each channel has its own.
fn next_channel(p: &Params, by: usize) -> Vec<usize> {
    let own = scales(p);
    match p.quantized.granularity {
        Granularity::Channel { .. } => own.into_iter().map(|at| (at + by) % p.quantized.scales.len()).collect(),
        _ => own,
    }
}

/// Every mistake that is looked for.
pub static MISTAKES: [Mistake; 5] = [
    Mistake {
        class: Class::Channel,
        because: "channels are taken along the last axis",
        scales: |p| (0..p.shape.iter().product()).map(|i| i % p.quantized.scales.len()).collect(),
    },
    Mistake {
        class: Class::Channel,
        because: "each channel has the scale and the zero point of the next one",
        scales: |p| next_channel(p, 1),
    },
    Mistake {
        class: Class::Channel,
        because: "each channel has the scale and the zero point of the one before",
        scales: |p| next_channel(p, p.quantized.scales.len().max(1) - 1),
    },
    Mistake {
        class: Class::Block,
        because: "blocks take turns along an axis",
        scales: |p| match p.quantized.granularity {
            Granularity::Blocks { .. } => along_axes(p, |at, place| at * place.blocks + place.index % place.blocks),
            _ => scales(p),
        },
    },
    Mistake {
        class: Class::Block,
        because: "the scales of blocks are read column-major",
        scales: |p| along_axes(p, |at, place| at + place.index / place.size * place.before),
    },
];
