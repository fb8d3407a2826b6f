//! Cases of convolutions: every stride, dilation and border with unequal sides, groups, zero points at both ends, extreme fills, every width and
//! channel count up to 80, combinations of conditions, layers of networks, and the layers of a caller's model. Larger shapes are in `large.rs`.

use super::{Conv2d, conjunctions, large, networks};
use tiebreak_common::Budget;
use tiebreak_engine::operation::parameter_coverage::distinct;
use tiebreak_engine::operation::{Fill, Layer, Operation, ParameterCoverage, Spec, by, in_turns, kernels};
use tiebreak_impls::conv2d::{Domain, Params};
use tiebreak_impls::element::Element;
use tiebreak_reports::ledger::Unit;
use tiebreak_reports::text;

/// Kernels that share the combined conditions in a short run: one of every [`TURNS`] kernels runs each case.
const TURNS: usize = 4;

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut specs = Vec::new();
    by("borders", &mut specs, |out| out.extend(borders(domain, budget)));
    by("shapes", &mut specs, |out| out.extend(shapes(domain)));
    by("fills", &mut specs, |out| out.extend(fills(domain, budget)));
    by("beyond f32", &mut specs, |out| out.extend(beyond_f32(domain)));
    by("large shapes", &mut specs, |out| out.extend(large::large(domain, budget)));
    by("every size", &mut specs, |out| out.extend(large::each(domain)));
    by("random shapes", &mut specs, |out| out.extend(large::varied(domain, budget, seed)));
    by("conjunctions", &mut specs, |out| out.extend(in_turns(conjunctions::plan(domain, budget, seed), TURNS, budget)));
    by("networks", &mut specs, |out| {
        out.extend(networks::plan(domain, budget, seed, kernels::<Conv2d>().len()));
    });
    specs
}

pub(super) fn spec(params: Params, input: Fill, weights: Fill) -> Spec<Params> {
    Spec::new(params, [input, weights, Fill::None], 0)
}

/// Returns input zero points: both ends, their neighbours, and the value just above the middle.
fn zero_points(domain: &Domain) -> Vec<i32> {
    let range = &domain.operands.lhs_values;
    let (lo, hi) = (*range.start(), *range.end());
    vec![lo, lo + 1, hi, hi - 1, lo.midpoint(hi) + 1]
}

/// Returns padding of 0, 1 and 2 on each side alone and together, under each of three filters; in a short run under one of them by turns.
pub(crate) fn borders(domain: &Domain, budget: &Budget) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    let zero_points = zero_points(domain);
    for (filter, (kernel_h, kernel_w)) in [(3, 3), (1, 3), (2, 1)].into_iter().enumerate() {
        for code in (0..81usize).filter(|code| budget.every_tail || (code + code / 3 + code / 9) % 3 == filter) {
            let side = |power: usize| code / 3usize.pow(power as u32) % 3;
            let (top, bottom, left, right) = (side(0), side(1), side(2), side(3));
            let params = Params {
                height: 4,
                width: 5,
                channels: 3,
                kernel_h,
                kernel_w,
                out_channels: 5,
                top,
                bottom,
                left,
                right,
                input_zero_point: zero_points[code % zero_points.len()],
                weight_zero_point: [0, 3, -128, 127][code % 4],
                ..Params::default()
            };
            out.push(spec(params, Fill::Extremes, Fill::Uniform));
        }
    }
    out
}

/// Returns strides and dilations with unequal sides, batches, groups and depthwise shapes.
pub(crate) fn shapes(domain: &Domain) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    for (i, (stride_h, stride_w, dilation_h, dilation_w)) in
        [(1, 1, 1, 1), (2, 1, 1, 1), (1, 2, 1, 2), (2, 2, 2, 1), (3, 1, 1, 3), (1, 3, 3, 1), (2, 3, 2, 2)]
            .into_iter()
            .enumerate()
    {
        for (groups, channels, out_channels) in [(1, 5, 6), (5, 5, 5), (3, 3, 6), (2, 4, 6), (1, 17, 4), (1, 1, 1)] {
            for batches in [1, 2] {
                let params = Params {
                    batches,
                    height: 7,
                    width: 8,
                    channels,
                    kernel_h: 3,
                    kernel_w: 2,
                    out_channels,
                    groups: if domain.grouped { groups } else { 1 },
                    stride_h,
                    stride_w,
                    dilation_h,
                    dilation_w,
                    top: 1,
                    bottom: i % 3,
                    left: 2,
                    right: i % 2,
                    input_zero_point: zero_points(domain)[i % 5],
                    weight_zero_point: [0, -7, 200][i % 3],
                    ..Params::default()
                };
                let mut one = spec(params, Fill::Uniform, Fill::RANDOM[i % 3].clone());
                one.misalign = i;
                out.push(one);
            }
        }
    }
    out
}

fn fills(domain: &Domain, budget: &Budget) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    let zero_points = zero_points(domain);
    for (i, input) in Fill::PATTERNS.into_iter().enumerate() {
        for (j, weights) in Fill::PATTERNS.into_iter().enumerate() {
            let by_turns = |at: &usize| budget.every_tail || *at == (i + j) % zero_points.len();
            for input_zero_point in (0..zero_points.len()).filter(by_turns).map(|at| zero_points[at]) {
                let params = Params {
                    height: 4,
                    width: 3,
                    channels: 7,
                    kernel_h: 3,
                    kernel_w: 3,
                    out_channels: 6,
                    top: 1,
                    right: 1,
                    input_zero_point,
                    ..Params::default()
                };
                out.push(spec(params, input.clone(), weights.clone()));
            }
        }
    }
    out
}

/// Returns filters whose sums of the largest products of bytes are odd and greater than 2^24, so that a float of 24 bits does not hold them: without
/// zero points, with one and with two. The last one is as small as possible: its inputs are 255 above the zero point.
fn beyond_f32(domain: &Domain) -> impl Iterator<Item = Spec<Params>> {
    let least = if domain.operands.lhs == Element::U8 { 0 } else { -128 };
    let filters = [
        ([2051, 1, 3], [0, 0]),
        ([233, 3, 3], [0, 0]),
        ([2051, 1, 3], [2, 0]),
        ([233, 3, 3], [2, -4]),
        ([519, 1, 1], [least, 0]),
    ];
    filters.into_iter().map(|([channels, kernel, out_channels], [input_zero_point, weight_zero_point])| {
        let params = Params {
            height: kernel,
            width: kernel + usize::from(out_channels > 1),
            channels,
            kernel_h: kernel,
            kernel_w: kernel,
            out_channels,
            input_zero_point,
            weight_zero_point,
            ..Params::default()
        };
        spec(params, Fill::Largest, Fill::Largest)
    })
}

/// Converts an int8 layer of a model to the kernel's types. Unsigned data and zero points are 128 larger, which changes no product.
fn moved(domain: &Domain, layer: &Params) -> Params {
    let moved = |zero_point: i32, element: Element| if element == Element::U8 { zero_point + 128 } else { zero_point };
    Params {
        input_zero_point: moved(layer.input_zero_point, domain.operands.lhs),
        weight_zero_point: moved(layer.weight_zero_point, domain.operands.rhs),
        ..*layer
    }
}

/// Counts the caller's layers, and lists layers without a case.
pub(super) fn caller_coverage(domain: &Domain, layers: &[Layer], run: &[&Params]) -> ParameterCoverage {
    let run = distinct(run);
    let described = |at: usize, layer: &Layer| {
        let arguments = Conv2d::arguments(&layer.shape).into_iter().collect();
        (format!("layer {}, {}", at + 1, text::case(&arguments)), Conv2d::domain_text(domain))
    };
    ParameterCoverage::of(Unit::Layer, layers, |layer| run.contains(&&moved(domain, &layer.shape)), described)
}

/// Returns each layer with random and extreme data, with random weights and with its own weights.
pub(super) fn layers(domain: &Domain, layers: &[Layer]) -> Vec<Spec<Params>> {
    let of = |layer: &Layer| {
        let params = moved(domain, &layer.shape);
        crate::matmul::layers::fills(&domain.operands, layer)
            .into_iter()
            .map(move |[input, weights]| spec(params, input, weights))
    };
    layers.iter().flat_map(of).collect()
}
