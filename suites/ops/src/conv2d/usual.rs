//! Common convolutions of networks, by which code selects its fast paths: padding that keeps or halves a size, filters of one element, depthwise
//! and grouped layers, filters as large as the image. Each has one to three images, and zero points that are 0 or not.

use super::plan::spec;
use crate::matmul::plan::by_turns;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::conv2d::{Domain, Params};

/// Builds a layer with a square filter, the same padding on both axes, and these channels.
fn square(kernel: usize, stride: usize, padding: [usize; 2], channels: usize, out_channels: usize) -> Params {
    let [before, after] = padding;
    Params {
        height: 5,
        width: 6,
        channels,
        out_channels,
        kernel_h: kernel,
        kernel_w: kernel,
        stride_h: stride,
        stride_w: stride,
        top: before,
        left: before,
        bottom: after,
        right: after,
        ..Params::default()
    }
}

fn layers() -> Vec<Params> {
    let grouped = |groups: usize, layer: Params| Params { groups, ..layer };
    let sized = |height: usize, width: usize, layer: Params| Params { height, width, ..layer };
    let dilated = |by: usize, layer: Params| Params { dilation_h: by, dilation_w: by, ..layer };
    vec![
        square(3, 1, [1, 1], 3, 9),
        square(3, 1, [1, 1], 9, 10),
        square(3, 2, [0, 1], 3, 9),
        square(3, 2, [1, 1], 3, 17),
        sized(3, 3, square(3, 2, [0, 1], 1, 1)),
        sized(9, 8, square(7, 2, [3, 3], 3, 8)),
        square(1, 1, [0, 0], 17, 18),
        sized(1, 1, square(1, 1, [0, 0], 1, 1)),
        square(1, 2, [0, 0], 17, 9),
        sized(9, 9, square(1, 1, [0, 0], 66, 17)),
        sized(2, 66, square(1, 1, [0, 0], 17, 5)),
        sized(2, 20, square(3, 1, [1, 1], 17, 5)),
        sized(17, 17, square(1, 1, [0, 0], 17, 18)),
        // Deep or wide enough that a kernel splits it.
        sized(1, 2, square(1, 1, [0, 0], 258, 66)),
        sized(33, 34, square(1, 1, [0, 0], 33, 34)),
        sized(3, 4, square(3, 1, [0, 0], 33, 65)),
        sized(3, 3, square(3, 1, [0, 0], 17, 18)),
        // Dilations, in two dimensions and in one.
        dilated(4, sized(9, 10, square(3, 1, [4, 4], 17, 2))),
        Params { dilation_w: 4, kernel_h: 1, top: 0, bottom: 0, ..sized(1, 20, square(3, 1, [4, 4], 10, 9)) },
        // Depthwise with one and with two results a channel; groups of several channels.
        grouped(17, sized(2, 20, square(3, 1, [1, 1], 17, 17))),
        grouped(17, sized(6, 20, square(3, 2, [0, 1], 17, 17))),
        grouped(9, square(3, 2, [1, 1], 9, 9)),
        grouped(17, square(3, 1, [1, 1], 17, 34)),
        grouped(2, sized(2, 3, square(3, 1, [1, 1], 34, 36))),
        grouped(4, sized(17, 17, square(1, 1, [0, 0], 8, 4))),
        grouped(3, square(1, 2, [0, 0], 9, 9)),
        grouped(9, sized(9, 10, square(3, 1, [1, 1], 18, 9))),
        grouped(3, dilated(3, sized(9, 10, square(4, 3, [3, 3], 6, 6)))),
        grouped(2, sized(3, 4, square(5, 1, [2, 2], 34, 6))),
        grouped(3, dilated(2, Params { stride_h: 5, stride_w: 5, ..sized(11, 12, square(3, 1, [1, 1], 6, 6)) })),
    ]
}

/// Upper bound on products of a layer that is tried at all four kinds of zero points. Larger layers use one kind.
const FEW: usize = 20_000;
/// Upper bound on products of a layer, for each effort.
const MOST: [usize; 2] = [200_000, 2_000_000];

/// Returns the largest number of products that a layer can have: the number for stride 1.
pub(crate) fn products(layer: &Params) -> usize {
    let Params { height, width, channels, out_channels, kernel_h, kernel_w, groups, .. } = layer;
    height * width * channels * out_channels * kernel_h * kernel_w / groups
}

/// Returns every layer that the kernel accepts with zero points that are 0 and not 0, and by turns one to three images.
pub(crate) fn plan(domain: &Domain, budget: &Budget) -> Vec<Spec<Params>> {
    let other_than_zero = |range: std::ops::RangeInclusive<i32>, i: usize| match by_turns(&range, i) {
        0 => *range.start().max(&1),
        any => any,
    };
    let mut out = Vec::new();
    let layers = layers().into_iter().filter(|layer| domain.grouped || layer.groups == 1);
    for (at, layer) in layers.enumerate().filter(|(_, layer)| products(layer) <= MOST[usize::from(budget.every_tail)]) {
        let kinds = if products(&layer) <= FEW { 4 } else { 1 };
        for kind in (0..4).cycle().skip(at).take(kinds) {
            let i = out.len();
            let input = other_than_zero(domain.operands.lhs_values.clone(), i * 77);
            let weights = other_than_zero(domain.operands.rhs.range(), i * 59);
            let params = Params {
                batches: 1 + (at + kind) % 3,
                input_zero_point: if kind / 2 == 0 { input } else { 0 },
                weight_zero_point: if kind % 2 == 0 { 0 } else { weights },
                ..layer
            };
            out.push(Spec { misalign: i % 16, ..spec(params, Fill::Varied, Fill::Varied) });
        }
    }
    out
}
