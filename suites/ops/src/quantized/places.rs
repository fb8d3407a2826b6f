//! Scale index of each element of a tensor, as the type defines it and as kernels confuse it.

use tiebreak_common::Class;
use tiebreak_impls::quantized::{Granularity, Params};

/// Index along an axis that is divided into `blocks` of `size` elements.
struct Place {
    index: usize,
    size: usize,
    blocks: usize,
    /// Number of blocks in the axes before this axis.
    before: usize,
}

/// Returns the number of scales along an axis: channels or blocks.
pub fn blocks(p: &Params, axis: usize) -> usize {
    match &p.quantized.granularity {
        Granularity::Channel { axis: channels } if *channels == axis => p.shape[axis],
        Granularity::Blocks { counts, .. } => counts[axis],
        _ => 1,
    }
}

/// Computes the scale indices of all elements, axis by axis. `step` extends an element's block index by one axis.
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

/// Returns the scale index of each element, as the type defines it: row-major over the channels or blocks.
pub fn scales(p: &Params) -> Vec<usize> {
    along_axes(p, |at, place| at * place.blocks + place.index / place.size)
}

/// Returns the channel of each element; nothing if the tensor has one scale, or blocks.
pub fn channels(p: &Params) -> Vec<usize> {
    let several = p.quantized.scales.len() > 1 && matches!(p.quantized.granularity, Granularity::Channel { .. });
    if several { scales(p) } else { Vec::new() }
}

/// Confusion of scale indices.
pub struct ScaleConfusion {
    /// Class of the differences.
    pub class: Class,
    /// Description of the confusion.
    pub because: &'static str,
    /// Returns the scale index of each element.
    pub scales: fn(&Params) -> Vec<usize>,
}

/// Returns the scale index of the channel `by` places after an element's own, if each channel has its own scale.
fn next_channel(p: &Params, by: usize) -> Vec<usize> {
    let own = scales(p);
    match p.quantized.granularity {
        Granularity::Channel { .. } => own.into_iter().map(|at| (at + by) % p.quantized.scales.len()).collect(),
        _ => own,
    }
}

/// Every confusion that is tried.
pub static SCALE_CONFUSIONS: [ScaleConfusion; 5] = [
    ScaleConfusion {
        class: Class::Channel,
        because: "channels are taken along the last axis",
        scales: |p| (0..p.shape.iter().product()).map(|i| i % p.quantized.scales.len()).collect(),
    },
    ScaleConfusion {
        class: Class::Channel,
        because: "each channel has the scale and the zero point of the next one",
        scales: |p| next_channel(p, 1),
    },
    ScaleConfusion {
        class: Class::Channel,
        because: "each channel has the scale and the zero point of the one before",
        scales: |p| next_channel(p, p.quantized.scales.len().max(1) - 1),
    },
    ScaleConfusion {
        class: Class::Block,
        because: "blocks take turns along an axis",
        scales: |p| match p.quantized.granularity {
            Granularity::Blocks { .. } => along_axes(p, |at, place| at * place.blocks + place.index % place.blocks),
            _ => scales(p),
        },
    },
    ScaleConfusion {
        class: Class::Block,
        because: "the scales of blocks are read column-major",
        scales: |p| along_axes(p, |at, place| at + place.index / place.size * place.before),
    },
];
