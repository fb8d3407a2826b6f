//! Transposed convolutions: the shapes that a kernel takes of them, what is tried, and what a kernel may do otherwise.

use super::geometry::{added, column, fitted, row};
use super::plan::spec;
use super::{Conv2d, conjunctions};
use crate::matmul::plan::by_turns;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_common::stream::{below, stream};
use tiebreak_engine::operation::fill::Fill;
use tiebreak_engine::operation::{Arguments, Case, Change, Operation, Spec, by};
use tiebreak_impls::conv2d::transposed::{Dilation, Outputs, Transposed};
use tiebreak_impls::conv2d::{Domain, Params};
use tiebreak_oracle::matmul::Scheme;
use tiebreak_reports::ledger::Value;

/// Small shapes of random sizes, in a short run and in others.
const SMALL: [usize; 2] = [24, 72];
/// Channels up to which every number of them is tried.
const CHANNELS: usize = 36;

/// What a case of a caller's asks for.
pub(crate) fn open(arguments: &Arguments) -> Option<Transposed> {
    let is_transposed = arguments.get("transposed").is_some_and(|value| *value != Value::Integer(0));
    is_transposed.then_some(Transposed { dilation: Dilation::Any, outputs: Outputs::Any })
}

/// What a kernel takes, in words; nothing if none is transposed.
pub(crate) fn text(domain: Option<Transposed>) -> &'static str {
    match domain {
        None => "",
        Some(Transposed { outputs: Outputs::WholeSteps, .. }) => ", transposed, whole steps",
        Some(Transposed { dilation: Dilation::One, .. }) => ", transposed, not dilated",
        Some(_) => ", transposed",
    }
}

/// The shape as a kernel takes it: padding within the reach of the filter, and an output that is there.
pub(crate) fn shaped(domain: Option<Transposed>, p: Params) -> Params {
    let Some(taken) = domain else { return p };
    let mut p = Params { transposed: true, ..p };
    if taken.dilation == Dilation::One {
        (p.dilation_h, p.dilation_w) = (1, 1);
    }
    let rows = [p.height, p.kernel_h, p.stride_h, p.dilation_h];
    [p.top, p.bottom, p.output_padding_h] = side(taken, rows, [p.top, p.bottom, p.output_padding_h]);
    let columns = [p.width, p.kernel_w, p.stride_w, p.dilation_w];
    [p.left, p.right, p.output_padding_w] = side(taken, columns, [p.left, p.right, p.output_padding_w]);
    p
}

/// Padding before and after, and output padding, as a kernel takes them along one side.
fn side(
    taken: Transposed,
    [size, kernel, stride, dilation]: [usize; 4],
    [before, after, more]: [usize; 3],
) -> [usize; 3] {
    let reach = (kernel - 1) * dilation;
    let [mut before, mut after, mut more] = [before.min(reach), after.min(reach), more];
    match taken.outputs {
        Outputs::Any => {}
        Outputs::BelowStride => more = more.min(stride - 1),
        Outputs::WholeSteps => {
            before = before.min(size * stride);
            (after, more) = (after.min(kernel.saturating_sub(stride)), stride.saturating_sub(kernel));
        }
    }
    let covered = (size - 1) * stride + reach + 1 + more;
    after = after.min(covered - 1);
    [before.min(covered - 1 - after), after, more]
}

/// Every spec of a run.
pub(crate) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    by("transposed layers", &mut out, |out| out.extend(pointed(domain, layers())));
    by("every size", &mut out, |out| out.extend(pointed(domain, each())));
    by("every number of channels", &mut out, |out| out.extend(pointed(domain, channels())));
    by("random shapes", &mut out, |out| out.extend(pointed(domain, small(budget, seed))));
    by("conjunctions", &mut out, |out| out.extend(conjunctions::plan(domain, budget, seed)));
    out
}

/// The shapes as the kernel takes them, with zero points by turns.
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

/// A square filter with these strides and padding.
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

/// Layers as decoders and generators have them: the size doubled by filters of 2, 3, 4 and 5, kept, made larger by a step above the filter.
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

/// Every value of each size by itself, along one axis of each.
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

/// Every number of channels of the output, with others of the input.
fn channels() -> Vec<Params> {
    let of = |n: usize| {
        let (channels, out_channels) = if n.is_multiple_of(2) { (n, 1 + n * 37 % 19) } else { (1 + n * 37 % 19, n) };
        Params { height: 1, width: 2, channels, out_channels, ..square(2, 2, [0, 0], 0) }
    };
    (1..=CHANNELS).map(of).collect()
}

/// Small shapes of every filter, stride, dilation and padding together.
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

/// The convolution of stride 1 over the image with `value` between its elements and around them, by the filter in reverse: the same sums, if the value is the zero
/// point.
pub(super) fn inserted(case: &Case<Params>, value: i32) -> Case<Params> {
    let p = case.params;
    let (rows, columns) = p.output().unwrap_or_default();
    let (high, wide) = ((p.kernel_h - 1) * p.dilation_h, (p.kernel_w - 1) * p.dilation_w);
    let (height, width) = (rows + high, columns + wide);
    let mut input = vec![value; p.batches * height * width * p.channels];
    for (at, pixel) in case.tensors[0].chunks_exact(p.channels).enumerate() {
        let (b, y, x) = (at / (p.height * p.width), at / p.width % p.height, at % p.width);
        let (row, column) = (y * p.stride_h + high - p.top, x * p.stride_w + wide - p.left);
        if row < height && column < width {
            input[((b * height + row) * width + column) * p.channels..][..p.channels].copy_from_slice(pixel);
        }
    }
    let plain = Params { height, width, stride_h: 1, stride_w: 1, top: 0, bottom: 0, left: 0, right: 0, ..p };
    let params = Params { transposed: false, output_padding_h: 0, output_padding_w: 0, ..plain };
    Case { params, tensors: [input, reversed(case), Vec::new()], misalign: case.misalign }
}

/// Filter elements in the opposite order.
fn reversed(case: &Case<Params>) -> Vec<i32> {
    let each = case.params.channels / case.params.groups * case.params.out_channels;
    case.tensors[1].chunks_exact(each).rev().flatten().copied().collect()
}

/// What a kernel of transposed convolutions may do otherwise in its loops.
pub(super) fn changes(base: Scheme) -> Vec<Change<Conv2d>> {
    let mut out = vec![
        Change::of_case(Class::Layout, "the filter is not rotated", base, |case: &mut Case<Params>| {
            case.tensors[1] = reversed(case);
        }),
        Change::predicts(Class::Padding, "results of the output padding are 0", move |case: &Case<Params>| {
            without_output_padding(base, case)
        }),
    ];
    if base.definition.narrow.is_none() {
        out.push(Change::predicts(
            Class::Layout,
            "windows of a filter with an even number of rows or columns begin one place too low",
            move |case: &Case<Params>| {
                let p = &case.params;
                let later =
                    |kernel: usize, at: usize| if kernel.is_multiple_of(2) { at.checked_sub(1) } else { Some(at) };
                // One row above the output is row 0 without its padding.
                let above = |y: usize, i: usize| match later(p.kernel_h, y) {
                    Some(y) => row(p, y, i),
                    None => row(&Params { top: p.top.checked_sub(1)?, ..*p }, 0, i),
                };
                let beside = |x: usize, j: usize| match later(p.kernel_w, x) {
                    Some(x) => column(p, x, j),
                    None => column(&Params { left: p.left.checked_sub(1)?, ..*p }, 0, j),
                };
                Some(fitted(base, added(case, [&above, &beside], |sum, product| sum + product)?))
            },
        ));
        out.push(Change::predicts(
            Class::Layout,
            "the padding before the output is left out of the phase of a result",
            move |case: &Case<Params>| phases(base, case),
        ));
    }
    out
}

fn without_output_padding(base: Scheme, case: &Case<Params>) -> Option<Vec<Option<i32>>> {
    let p = &case.params;
    let (rows, columns) = p.output().ok()?;
    let mut expected = Conv2d::expected(&base, case).ok()?;
    for (at, pixel) in expected.chunks_exact_mut(p.out_channels).enumerate() {
        let (y, x) = (at / columns % rows, at % columns);
        if y + p.output_padding_h >= rows || x + p.output_padding_w >= columns {
            pixel.fill(Some(0));
        }
    }
    Some(expected)
}

/// Every `stride`th filter element from the rest of the result's own place on, as many steps before the place in the padded output.
fn phases(base: Scheme, case: &Case<Params>) -> Option<Vec<Option<i32>>> {
    let p = &case.params;
    if p.dilation_h > 1 || p.dilation_w > 1 || p.stride_h > p.kernel_h || p.stride_w > p.kernel_w {
        return Conv2d::expected(&base, case).ok();
    }
    let met = |[output, element]: [usize; 2], stride: usize, before: usize| {
        let is_met = output % stride == element % stride;
        if is_met { ((output + before) / stride).checked_sub(element / stride) } else { None }
    };
    let above = |y: usize, i: usize| met([y, i], p.stride_h, p.top);
    let beside = |x: usize, j: usize| met([x, j], p.stride_w, p.left);
    Some(fitted(base, added(case, [&above, &beside], |sum, product| sum + product)?))
}
