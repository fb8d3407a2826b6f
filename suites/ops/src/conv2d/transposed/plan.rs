//! Cases of transposed convolutions: layers of decoders and generators, one large size in each, every value of each size, every width and channel
//! count, small shapes of random sizes, and combinations of conditions.

use super::shaped;
use crate::conv2d::conjunctions;
use crate::conv2d::plan::spec;
use crate::matmul::plan::by_turns;
use tiebreak_common::{Budget, below, stream};
use tiebreak_engine::operation::{Fill, Spec, by};
use tiebreak_impls::conv2d::{Domain, Params};

/// Number of small shapes of random sizes, for each effort.
const SMALL: [usize; 2] = [24, 72];
/// Largest width and channel count that is tried.
const SIZES: usize = 80;

/// Returns every spec of a run.
pub(crate) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    by("transposed layers", &mut out, |out| out.extend(pointed(domain, layers())));
    by("large transposed shapes", &mut out, |out| out.extend(large(domain)));
    by("every size", &mut out, |out| out.extend(pointed(domain, each())));
    by("every width and number of channels", &mut out, |out| out.extend(pointed(domain, channels())));
    by("random shapes", &mut out, |out| out.extend(pointed(domain, small(budget, seed))));
    by("conjunctions", &mut out, |out| out.extend(conjunctions::plan(domain, budget, seed)));
    out
}

/// Fits the shapes to the domain, and sets zero points by turns.
fn pointed(domain: &Domain, shapes: Vec<Params>) -> Vec<Spec<Params>> {
    let one = |(i, shape): (usize, Params)| {
        let groups = if domain.grouped { shape.groups } else { 1 };
        let params = Params {
            groups,
            input_zero_point: if i % 4 == 3 { 0 } else { by_turns(&domain.operands.lhs_values, i * 77) },
            weight_zero_point: by_turns(&domain.operands.rhs.range(), i * 59),
            ..shaped(domain.transposed, shape)
        };
        let fills = if i % 9 == 8 { [Fill::Extremes, Fill::Extremes] } else { [Fill::Varied, Fill::Varied] };
        let [input, weights] = fills;
        Spec { misalign: i % 16, ..spec(params, input, weights) }
    };
    shapes.into_iter().enumerate().map(one).collect()
}

/// Builds a layer with a square filter, this stride, padding before and after, and output padding.
fn square(kernel: usize, stride: usize, [before, after]: [usize; 2], more: usize) -> Params {
    Params {
        height: 4,
        width: 5,
        channels: 3,
        out_channels: 5,
        kernel_h: kernel,
        kernel_w: kernel,
        stride_h: stride,
        stride_w: stride,
        top: before,
        left: before,
        bottom: after,
        right: after,
        output_padding_h: more,
        output_padding_w: more,
        transposed: true,
        ..Params::default()
    }
}

/// Returns layers of decoders and generators: filters of 2 to 5 that double or keep the size, and strides longer than the filter.
fn layers() -> Vec<Params> {
    let wide = |channels: usize, out_channels: usize, layer: Params| Params { channels, out_channels, ..layer };
    vec![
        square(2, 2, [0, 0], 0),
        wide(17, 9, square(2, 2, [0, 0], 0)),
        square(3, 2, [1, 1], 1),
        square(3, 2, [0, 1], 0),
        wide(9, 17, square(3, 2, [1, 0], 0)),
        square(4, 2, [1, 1], 0),
        wide(16, 8, square(4, 2, [1, 1], 0)),
        Params { batches: 2, ..square(4, 2, [1, 1], 0) },
        square(5, 2, [2, 2], 1),
        square(3, 1, [1, 1], 0),
        wide(18, 4, square(3, 1, [0, 0], 0)),
        square(1, 1, [0, 0], 0),
        square(1, 2, [0, 0], 1),
        square(3, 3, [0, 0], 0),
        square(5, 3, [1, 2], 1),
        square(8, 4, [2, 2], 0),
        Params { kernel_h: 1, stride_h: 1, height: 1, width: 12, top: 0, bottom: 0, ..square(4, 2, [1, 1], 0) },
        Params { kernel_w: 1, stride_w: 1, width: 1, height: 9, left: 0, right: 0, ..square(3, 2, [1, 1], 0) },
        Params { height: 1, width: 1, ..square(7, 1, [3, 0], 0) },
        Params { groups: 6, ..wide(6, 6, square(4, 2, [1, 1], 0)) },
        Params { groups: 3, ..wide(6, 9, square(3, 2, [1, 1], 1)) },
        Params { groups: 5, ..wide(5, 10, square(2, 2, [0, 0], 0)) },
        Params { dilation_h: 2, dilation_w: 2, ..square(3, 2, [2, 2], 1) },
        wide(66, 5, square(2, 2, [0, 0], 0)),
        wide(3, 70, square(3, 2, [1, 1], 1)),
    ]
}

/// Returns shapes with one large size each, with unequal sides, with all sizes above one, with padding up to the filter, and large sums.
fn large(domain: &Domain) -> Vec<Spec<Params>> {
    let small = square(2, 2, [0, 0], 0);
    let wide = |channels: usize, out_channels: usize| Params { height: 1, width: 3, channels, out_channels, ..small };
    // Base of calls that differ little: every axis has three slices, and the output is not empty when strides or dilations are exchanged.
    let unequal = Params {
        batches: 3,
        height: 3,
        width: 3,
        channels: 9,
        out_channels: 3,
        groups: 3,
        kernel_h: 3,
        kernel_w: 4,
        stride_h: 2,
        stride_w: 3,
        dilation_h: 2,
        top: 2,
        bottom: 1,
        left: 3,
        right: 2,
        output_padding_w: 1,
        ..Params::default()
    };
    let seventeen = Params { height: 17, width: 17, channels: 17, out_channels: 17, ..small };
    let shapes = vec![
        unequal,
        Params { dilation_w: 2, output_padding_h: 2, output_padding_w: 3, stride_h: 3, stride_w: 4, top: 3, ..unequal },
        wide(3, 130),
        wide(5, 257),
        wide(2, 600),
        wide(130, 3),
        wide(300, 2),
        Params { height: 1, width: 28, channels: 40, out_channels: 1, ..square(1, 1, [0, 0], 0) },
        Params { groups: 66, height: 2, ..wide(66, 66) },
        Params { height: 40, width: 3, ..small },
        Params { height: 2, width: 70, ..small },
        seventeen,
        Params { groups: 17, ..seventeen },
        Params { dilation_h: 2, dilation_w: 2, ..square(3, 1, [3, 1], 0) },
        Params { dilation_h: 2, dilation_w: 2, ..square(3, 1, [1, 3], 0) },
    ];
    let mut out = pointed(domain, shapes);
    let exchanged = exchanged(domain, &out[0]);
    out.extend(exchanged);
    let deep = pointed(domain, vec![wide(130, 2)]);
    out.extend(deep.into_iter().map(|one| Spec { fills: [Fill::Largest, Fill::Largest, Fill::None], ..one }));
    out
}

/// Returns a call in alternation with calls that exchange two of its parameters.
fn exchanged(domain: &Domain, base: &Spec<Params>) -> Vec<Spec<Params>> {
    let p = base.params;
    let others = [
        Params { stride_h: p.stride_w, stride_w: p.stride_h, ..p },
        Params { output_padding_h: p.output_padding_w, output_padding_w: p.output_padding_h, ..p },
        Params { bottom: p.right, right: p.bottom, ..p },
    ];
    let taken = others.into_iter().filter(|other| shaped(domain.transposed, *other) == *other);
    taken.flat_map(|params| [base.clone(), Spec { params, ..base.clone() }]).collect()
}

/// Returns every value of each size by itself, along one axis.
fn each() -> Vec<Params> {
    let small = Params { height: 2, width: 3, channels: 2, out_channels: 3, ..square(3, 2, [1, 0], 0) };
    let of = |n: usize| {
        [
            Params { kernel_h: n, ..small },
            Params { kernel_w: n, stride_w: 3, ..small },
            Params { stride_h: n, ..small },
            Params { stride_w: n, kernel_w: 4, ..small },
            Params { dilation_h: n, stride_h: 1 + n % 3, ..small },
            Params { dilation_w: n, ..small },
            Params { top: n - 1, kernel_h: 8, stride_h: 1 + n % 4, height: 4, ..small },
            Params { bottom: n - 1, kernel_h: 8, stride_h: 3, ..small },
            Params { left: n - 1, kernel_w: 8, stride_w: 1 + n % 4, ..small },
            Params { right: n - 1, kernel_w: 8, ..small },
            Params { output_padding_h: n - 1, stride_h: 8, ..small },
            Params { output_padding_w: n - 1, stride_w: 8, right: 2, kernel_w: 9, ..small },
            Params { batches: n, ..small },
            Params { height: n, ..small },
            Params { width: 3 * n, ..small },
        ]
    };
    (1..=8).flat_map(of).collect()
}

/// Returns every number of input channels and every width; the numbers of output channels vary along.
fn channels() -> Vec<Params> {
    let of = |n: usize| {
        let small = square(2, 2, [0, 0], 0);
        let out_channels = 1 + n * 37 % SIZES;
        [
            Params { height: 1, width: 2, channels: n, out_channels, kernel_h: 1, ..small },
            Params { height: 1, width: n, channels: 2, out_channels: 2, kernel_h: 1, ..small },
        ]
    };
    (1..=SIZES).flat_map(of).collect()
}

/// Returns small shapes that combine every filter, stride, dilation and padding.
fn small(budget: &Budget, seed: u64) -> Vec<Params> {
    let mut rng = stream(seed, "conv2d/transposed");
    let one = |i: usize| {
        let mut size = |least: usize, most: usize| least + below(&mut rng, (most - least + 1) as u32) as usize;
        let groups = size(1, 3);
        Params {
            batches: 1 + i % 3,
            height: size(1, 4),
            width: size(1, 5),
            channels: groups * size(1, 4),
            out_channels: groups * size(1, 5),
            groups,
            kernel_h: size(1, 6),
            kernel_w: size(1, 6),
            stride_h: size(1, 4),
            stride_w: size(1, 4),
            dilation_h: size(1, 2),
            dilation_w: size(1, 2),
            top: size(0, 4),
            bottom: size(0, 4),
            left: size(0, 4),
            right: size(0, 4),
            output_padding_h: size(0, 3),
            output_padding_w: size(0, 3),
            ..Params::default()
        }
    };
    (0..SMALL[usize::from(budget.every_tail)]).map(one).collect()
}
