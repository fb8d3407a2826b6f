//! Convolutions of random elements: every width and channel count up to 80, filters up to 7, and sizes beyond the first block of a kernel.

use super::plan::spec;
use super::usual;
use crate::matmul::plan::by_turns;
use tiebreak_common::{Budget, below, stream};
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::conv2d::{Domain, Params};

/// Largest width and channel count that is tried.
const SIZES: usize = 80;
/// Number of random small shapes (sizes, filters, strides, dilations, batches, paddings), for each effort.
const SMALL: [usize; 2] = [56, 280];

/// Returns the smallest image with at least one result, enlarged by `more` rows and columns.
fn image(p: &Params, more: [usize; 2]) -> Params {
    let side = |kernel: usize, dilation: usize, padding: usize, more: usize| {
        ((kernel - 1) * dilation + 1).saturating_sub(padding).max(1) + more
    };
    Params {
        height: side(p.kernel_h, p.dilation_h, p.top + p.bottom, more[0]),
        width: side(p.kernel_w, p.dilation_w, p.left + p.right, more[1]),
        ..*p
    }
}

/// Sets the zero points. Each zero point of the operand types occurs equally often.
fn zero_points(domain: &Domain, i: usize, p: Params) -> Params {
    Params {
        input_zero_point: by_turns(&domain.operands.lhs_values, i * 77),
        weight_zero_point: by_turns(&domain.operands.rhs.range(), i * 59),
        ..p
    }
}

/// Returns shapes with one large size each.
pub(super) fn large(domain: &Domain, budget: &Budget) -> Vec<Spec<Params>> {
    let small =
        Params { kernel_h: 2, kernel_w: 3, channels: 3, out_channels: 4, top: 1, right: 1, ..Params::default() };
    let sized = |channels: usize, out_channels: usize| Params { channels, out_channels, ..small };
    let filter = |kernel_h: usize, kernel_w: usize, channels: usize| Params { kernel_h, kernel_w, channels, ..small };
    let grouped = |groups: usize, each: usize, share: usize| Params {
        groups: if domain.grouped { groups } else { 1 },
        channels: groups * each,
        out_channels: groups * share,
        ..small
    };
    let shapes = [
        sized(3, 65),
        sized(3, 130),
        sized(5, 257),
        sized(2, 600),
        sized(65, 5),
        sized(130, 3),
        sized(300, 2),
        filter(5, 5, 3),
        filter(7, 7, 3),
        filter(7, 7, 17),
        filter(1, 7, 5),
        filter(7, 1, 5),
        filter(6, 4, 4),
        filter(11, 9, 2),
        grouped(17, 1, 1),
        grouped(66, 1, 1),
        grouped(9, 1, 2),
        grouped(5, 7, 9),
        Params { stride_h: 4, stride_w: 5, ..small },
        Params { stride_h: 8, stride_w: 7, ..small },
        Params { dilation_h: 4, dilation_w: 5, ..small },
        Params { dilation_h: 7, dilation_w: 8, ..small },
        Params { batches: 5, ..small },
        Params { batches: 17, ..small },
        Params { top: 7, bottom: 5, left: 9, right: 3, ..small },
        Params { top: 0, bottom: 11, left: 0, right: 13, ..small },
        // Every size above two at once, and every long side longer than a vector.
        Params {
            batches: 3,
            kernel_h: 3,
            stride_h: 3,
            stride_w: 3,
            dilation_h: 3,
            dilation_w: 4,
            top: 3,
            bottom: 3,
            left: 3,
            right: 3,
            ..grouped(3, 3, 3)
        },
    ];
    let one = |(i, shape): (usize, Params)| {
        let params = zero_points(domain, i, image(&shape, [shape.stride_h, 2 * shape.stride_w]));
        Spec { misalign: i % 16, ..spec(params, Fill::Varied, Fill::Varied) }
    };
    let mut out: Vec<_> = shapes.into_iter().enumerate().map(one).collect();
    let wide = [
        Params { height: 2, width: 300, ..small },
        Params { height: 300, width: 3, ..small },
        Params { height: 66, width: 71, kernel_h: 1, kernel_w: 1, channels: 2, ..small },
        Params { height: 17, width: 18, ..grouped(18, 1, 1) },
    ];
    // More image elements, and more results, than 16 bits count.
    let point = Params { height: 67, width: 71, kernel_h: 1, kernel_w: 1, top: 0, right: 0, ..small };
    let largest = [Params { channels: 15, ..point }, Params { channels: 2, out_channels: 15, ..point }];
    let largest = largest.into_iter().filter(|_| budget.every_tail);
    out.extend(wide.into_iter().chain(largest).map(|params| spec(params, Fill::Varied, Fill::Varied)));
    // Sums of all inputs, and of all weights, that exceed 16 bits.
    let deep = zero_points(domain, 1, image(&sized(130, 2), [1, 1]));
    out.push(spec(deep, Fill::Largest, Fill::Largest));
    out.extend(usual::plan(domain, budget));
    out
}

/// Returns every value of each size by itself: filters, strides, dilations, paddings, batches and groups.
pub(super) fn each(domain: &Domain) -> Vec<Spec<Params>> {
    let small = Params { kernel_h: 2, kernel_w: 2, channels: 2, out_channels: 3, ..Params::default() };
    let mut shapes = Vec::new();
    for n in 1..=16 {
        shapes.extend([
            Params { kernel_h: n, ..small },
            Params { kernel_w: n, ..small },
            Params { batches: n, ..small },
            Params { top: n, kernel_h: 3, ..small },
            Params { bottom: n, kernel_h: 3, ..small },
            Params { left: n, kernel_w: 3, ..small },
            Params { right: n, kernel_w: 3, ..small },
        ]);
        if n <= 8 {
            shapes.extend([
                Params { stride_h: n, ..small },
                Params { stride_w: n, ..small },
                // Padding that keeps the size of the image.
                Params { dilation_h: n, kernel_h: 3, top: n, bottom: n, ..small },
                Params { dilation_w: n, kernel_w: 3, left: n, right: n, ..small },
            ]);
        }
        if domain.grouped {
            shapes.push(Params { groups: n, channels: 2 * n, out_channels: n, ..small });
        }
    }
    let one = |(i, shape): (usize, Params)| {
        // Enough rows and columns that every filter element meets the image.
        let more = [shape.stride_h + shape.dilation_h - 1, shape.stride_w + shape.dilation_w - 1];
        let params = zero_points(domain, i, image(&shape, more));
        Spec { misalign: i % 16, ..spec(params, Fill::Varied, Fill::Varied) }
    };
    let mut out: Vec<_> = shapes.into_iter().enumerate().map(one).collect();
    let heights = (1..=SIZES).map(|height| Params { height: height + 1, width: 3, ..small });
    out.extend(heights.map(|params| spec(params, Fill::Varied, Fill::Varied)));
    out
}

/// Returns every width and channel count up to 80, then small shapes of every filter, stride, dilation, batch and padding.
pub(crate) fn varied(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "conv2d/shape");
    let mut out = Vec::new();
    for i in 0..3 * SIZES + SMALL[usize::from(budget.every_tail)] {
        let mut size = |least: usize, most: usize| least + below(&mut rng, (most - least + 1) as u32) as usize;
        let long = (i < 3 * SIZES).then_some(1 + i / 3 * 37 % SIZES);
        let [filter, step, border, more] = if long.is_some() { [3, 2, 1, 1] } else { [7, 4, 6, 0] };
        let groups = if domain.grouped && long.is_none() { size(1, 4) } else { 1 };
        let mut p = Params {
            batches: if long.is_some() { size(1, 2) } else { 1 + i % 5 },
            channels: groups * size(1, if groups > 1 { 4 } else { 9 }),
            kernel_h: size(1, filter),
            kernel_w: size(1, filter),
            out_channels: groups * size(1, if groups > 1 { 4 } else { 9 }),
            groups,
            stride_h: size(1, step),
            stride_w: size(1, step),
            dilation_h: size(1, step),
            dilation_w: size(1, step),
            top: size(0, border),
            bottom: size(0, border),
            left: size(0, border),
            right: size(0, border),
            ..Params::default()
        };
        // One row and column more, so that no long axis is in the padding alone.
        p = image(&p, [size(more, 2), size(more, 3)]);
        match (long, i % 3) {
            (Some(long), 0) => p.out_channels = long,
            (Some(long), 1) => p.channels = long,
            (Some(long), _) => p.width = long.max(p.width),
            (None, _) => {}
        }
        let input = if i % 7 == 6 && long.is_none() { Fill::Extremes } else { Fill::Varied };
        let mut one = spec(zero_points(domain, i, p), input, Fill::Varied);
        one.misalign = size(0, 15);
        out.push(one);
    }
    out
}
