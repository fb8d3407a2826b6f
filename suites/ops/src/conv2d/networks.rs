//! Convolutions with the sizes of layers of real networks: many input and output channels on images of several rows and columns, depthwise layers
//! with realistic channel counts, and filters whose stride is their length. Each layer has its own sizes, one more along every axis, and one less.
//!
//! Slow layers are shared among the kernels: the larger a layer, the fewer kernels run it.

use super::plan::spec;
use super::usual::products;
use crate::matmul::plan::by_turns;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{Fill, Spec, Turn};
use tiebreak_impls::conv2d::{Domain, Params};

/// Returns an image of a height, a width and a number of channels.
fn image(height: usize, width: usize, channels: usize) -> Params {
    Params { height, width, channels, ..Params::default() }
}

/// Adds a filter with a stride and output channels to an image, with padding that keeps the image's size or divides it by the stride.
fn filter(input: Params, [kernel_h, kernel_w]: [usize; 2], stride: usize, out_channels: usize) -> Params {
    let sides = |size: usize, kernel: usize| {
        let padding = ((size.div_ceil(stride) - 1) * stride + kernel).saturating_sub(size);
        (padding / 2, padding - padding / 2)
    };
    let ((top, bottom), (left, right)) = (sides(input.height, kernel_h), sides(input.width, kernel_w));
    let (stride_h, stride_w) = (stride, stride);
    Params { kernel_h, kernel_w, stride_h, stride_w, out_channels, top, bottom, left, right, ..input }
}

/// Adds a depthwise filter: one group for each channel, with `each` results.
fn depthwise(input: Params, kernel: [usize; 2], stride: usize, each: usize) -> Params {
    Params { groups: input.channels, ..filter(input, kernel, stride, each * input.channels) }
}

/// Dilates the 3 by 3 filter of a layer, and pads the layer accordingly.
fn dilated(by: usize, layer: Params) -> Params {
    let padding = Params { top: by, bottom: by, left: by, right: by, ..layer };
    Params { dilation_h: by, dilation_w: by, ..padding }
}

fn layers() -> Vec<Params> {
    let grouped = |groups: usize, layer: Params| Params { groups, ..layer };
    let unpadded = |layer: Params| Params { top: 0, bottom: 0, left: 0, right: 0, ..layer };
    vec![
        // Convolutional: first layers, blocks of 3 by 3, bottlenecks, filters with one row or column.
        filter(image(24, 24, 3), [7, 7], 2, 64),
        unpadded(filter(image(23, 23, 3), [11, 11], 4, 48)),
        filter(image(8, 8, 16), [3, 3], 1, 16),
        filter(image(8, 8, 32), [3, 3], 1, 32),
        filter(image(7, 7, 64), [3, 3], 1, 64),
        filter(image(16, 16, 16), [3, 3], 2, 32),
        filter(image(14, 14, 32), [3, 3], 2, 64),
        filter(image(4, 4, 128), [3, 3], 1, 128),
        filter(image(7, 7, 64), [1, 1], 1, 256),
        filter(image(7, 7, 256), [1, 1], 1, 64),
        filter(image(14, 14, 64), [1, 1], 2, 128),
        filter(image(7, 7, 32), [5, 5], 1, 32),
        filter(image(9, 9, 32), [1, 7], 1, 32),
        filter(image(9, 9, 32), [7, 1], 1, 32),
        unpadded(filter(image(10, 10, 6), [5, 5], 1, 16)),
        unpadded(filter(image(5, 5, 16), [5, 5], 1, 120)),
        filter(image(16, 16, 16), [3, 3], 1, 16),
        grouped(32, filter(image(7, 7, 128), [3, 3], 1, 128)),
        grouped(2, filter(image(7, 7, 32), [5, 5], 1, 64)),
        // Sums of more than 2,048 products, twice, so that one of them has a zero point of the weights.
        filter(image(3, 3, 256), [3, 3], 1, 8),
        filter(image(4, 5, 96), [5, 5], 1, 4),
        // More than 4,096 results of a channel.
        unpadded(filter(image(66, 67, 1), [3, 3], 1, 3)),
        unpadded(filter(image(67, 66, 2), [3, 3], 1, 2)),
        // More results than 16 bits count, and more than 15 bits count for a channel.
        filter(image(182, 183, 1), [1, 1], 1, 2),
        // An odd and an even side, so that the padding before the image differs between the axes.
        filter(image(15, 14, 8), [3, 3], 2, 16),
        // Images with fewer rows than the filter.
        filter(image(3, 8, 8), [5, 5], 1, 8),
        // Mobile: a first layer, depthwise layers of every stride, pointwise and grouped layers, and several results of a channel.
        filter(image(32, 32, 3), [3, 3], 2, 32),
        depthwise(image(14, 14, 32), [3, 3], 1, 1),
        depthwise(image(14, 14, 96), [3, 3], 2, 1),
        depthwise(image(7, 7, 160), [3, 3], 1, 1),
        depthwise(image(7, 7, 576), [3, 3], 1, 1),
        depthwise(image(4, 4, 1024), [3, 3], 1, 1),
        depthwise(image(8, 8, 128), [3, 3], 2, 1),
        depthwise(image(7, 7, 240), [5, 5], 1, 1),
        depthwise(image(14, 14, 72), [5, 5], 2, 1),
        depthwise(image(15, 14, 24), [3, 3], 2, 1),
        depthwise(image(12, 13, 20), [3, 3], 2, 1),
        depthwise(image(4, 9, 12), [5, 5], 1, 1),
        depthwise(image(8, 8, 32), [3, 3], 1, 2),
        unpadded(depthwise(image(7, 7, 64), [7, 7], 1, 1)),
        filter(image(14, 14, 96), [1, 1], 1, 24),
        filter(image(14, 14, 24), [1, 1], 1, 144),
        filter(image(7, 7, 160), [1, 1], 1, 320),
        filter(image(1, 1, 96), [1, 1], 1, 24),
        filter(image(1, 1, 1024), [1, 1], 1, 1001),
        grouped(3, filter(image(14, 14, 48), [1, 1], 1, 48)),
        // Segmentation: dilated layers.
        dilated(2, depthwise(image(9, 9, 96), [3, 3], 1, 1)),
        dilated(2, filter(image(9, 9, 32), [3, 3], 1, 32)),
        dilated(6, filter(image(13, 13, 16), [3, 3], 1, 32)),
        // Transformer: patches without gap or overlap, and depthwise layers of 7 by 7.
        filter(image(32, 32, 3), [16, 16], 16, 64),
        filter(image(16, 16, 3), [4, 4], 4, 96),
        filter(image(8, 8, 96), [2, 2], 2, 192),
        depthwise(image(7, 7, 96), [7, 7], 1, 1),
        // Keyword spotting and sequences.
        filter(image(49, 10, 1), [10, 4], 2, 64),
        depthwise(image(25, 5, 64), [3, 3], 1, 1),
        filter(image(25, 5, 64), [1, 1], 1, 64),
        filter(image(49, 1, 40), [3, 1], 1, 16),
        filter(image(49, 1, 16), [9, 1], 2, 24),
        filter(image(1, 98, 40), [1, 3], 1, 32),
        unpadded(filter(image(1, 205, 1), [1, 10], 5, 32)),
    ]
}

/// Upper bound on products of two elements in a layer, for each effort.
const MOST: [usize; 2] = [300_000, 8_000_000];
/// Number of variants of each layer (own sizes, one more, one less), for each effort.
const VARIANTS: [usize; 2] = [1, 3];
/// Upper bound on the average cost of a layer for each kernel, in products, for each effort. A result costs [`RESULT`] more.
const EACH: [usize; 2] = [2_000, 12_000];
const RESULT: usize = 30;

/// Returns every layer with its own sizes; in a long run also with one more along every axis, and one less.
pub(crate) fn plan(domain: &Domain, budget: &Budget, seed: u64, kernels: usize) -> Vec<Spec<Params>> {
    let long = usize::from(budget.every_tail);
    let mut out = Vec::new();
    for (at, layer) in layers().into_iter().enumerate().filter(|(_, layer)| domain.grouped || layer.groups == 1) {
        for (variant, params) in variants(&layer).into_iter().enumerate().take(VARIANTS[long]) {
            let (products, i) = (taken(&params), 3 * at + variant);
            if products > MOST[long] {
                continue;
            }
            let operands = &domain.operands;
            let params = Params {
                batches: 1 + usize::from(i % 5 == 4),
                input_zero_point: if i % 4 == 3 { 0 } else { by_turns(&operands.lhs_values, i * 77 + 1) },
                weight_zero_point: if i % 2 == 0 { 0 } else { by_turns(&operands.rhs.range(), i * 59) },
                ..params
            };
            let outputs = params.sizes().map_or(0, |sizes| sizes.outputs);
            let of = (products + RESULT * outputs).div_ceil(EACH[long]).min(kernels);
            let turn = Turn::one_in(of, i + (seed % 1024) as usize);
            out.push(Spec { misalign: i % 16, turn, ..spec(params, Fill::Varied, Fill::Varied) });
        }
    }
    out
}

/// Returns the number of products that the stride leaves.
fn taken(layer: &Params) -> usize {
    products(layer) / (layer.stride_h * layer.stride_w)
}

/// Returns the layer and its variants: image and channels one larger and one smaller, as far as filter and groups permit.
fn variants(layer: &Params) -> Vec<Params> {
    let moved = |by: isize| {
        let size = |size: usize| size.saturating_add_signed(by).max(1);
        let (mut one, each) = (*layer, layer.out_channels / layer.groups);
        one.height = size(layer.height).max(layer.kernel_h.saturating_sub(layer.top + layer.bottom));
        one.width = size(layer.width).max(layer.kernel_w.saturating_sub(layer.left + layer.right));
        if layer.groups == 1 {
            (one.channels, one.out_channels) = (size(layer.channels), size(layer.out_channels));
        } else if layer.groups == layer.channels {
            (one.channels, one.groups, one.out_channels) =
                (size(layer.channels), size(layer.channels), each * size(layer.channels));
        }
        one
    };
    vec![*layer, moved(1), moved(-1)]
}
