//! Cases of quantized convolutions: sums around the ties of every result, corners of fixed point multiply, depth multipliers, every number of output
//! channels, borders, strides, dilations, groups, combinations of conditions, layers of real networks, and the layers of a caller's model.

use super::outputs::{self, bounds, fitted};
use super::{Qconv2d, of_conv2d, wide};
use crate::conv2d::{conjunctions, large, networks, plan as convolutions, transposed, usual};
use crate::requantize::channels::any;
use crate::requantize::targets::Target;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, below, int32, stream};
use tiebreak_engine::operation::{Case, Fill, Layer, Spec, Turn, by, kernels};
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qconv2d::{Domain, Params};
use tiebreak_impls::{conv2d, requantize};

/// Number of batches of sums around ties, for each effort.
pub(crate) const TIES: [usize; 2] = [8, 40];
/// Width, and least number of output channels, of a convolution with a corner of fixed point multiply.
const CORNER: usize = 3;
/// Number of sums around each tie.
const WINDOW: usize = 32;
/// Sampling step of the convolution plan's cases, for each effort.
const ONE_IN: [usize; 2] = [10, 4];
/// Largest number of output channels up to which every number is tried.
const CHANNELS: usize = 70;
/// Upper bound on the average cost of a case for each kernel, in products, for each effort. Each result also costs [`RESULT`], because it is
/// written, sent and judged twice. More expensive cases are shared among the kernels.
const EACH: [usize; 2] = [2_000, 12_000];
const RESULT: usize = 30;
/// Upper bound on products of a layer, for each effort.
const MOST: [usize; 2] = [300_000, 2_000_000];

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let (inner, long) = (of_conv2d(domain), usize::from(budget.every_tail));
    let draft = Draft { domain, seed, long, kernels: kernels::<Qconv2d>().len() };
    let some = |specs: Vec<Spec<conv2d::Params>>| specs.into_iter().step_by(ONE_IN[long]).collect::<Vec<_>>();
    let mut out = Vec::new();
    by("ties", &mut out, |out| out.extend((0..TIES[long]).map(|i| draft.ties(i))));
    by("corners of fixed point multiply", &mut out, |out| out.extend(draft.corners_of_multiply()));
    by("sums of 64 bits", &mut out, |out| {
        if domain.wide {
            out.extend(wide::sums(domain, long, seed));
        }
    });
    if domain.transposed.is_some() {
        out.extend(draft.around(transposed::plan(&inner, budget, seed)));
        return out;
    }
    by("depth multipliers", &mut out, |out| out.extend(draft.around(depthwise())));
    by("every number of channels", &mut out, |out| out.extend(draft.around(every_channel(long))));
    by("more than 1,024 elements", &mut out, |out| out.extend(draft.around(many_elements().into())));
    by("borders", &mut out, |out| out.extend(draft.around(some(convolutions::borders(&inner, budget)))));
    by("shapes", &mut out, |out| out.extend(draft.around(some(convolutions::shapes(&inner)))));
    by("usual layers", &mut out, |out| out.extend(draft.around(some(usual::plan(&inner, budget)))));
    by("random shapes", &mut out, |out| out.extend(draft.around(some(large::varied(&inner, budget, seed)))));
    by("conjunctions", &mut out, |out| out.extend(draft.around(conjunctions::plan(&inner, budget, seed))));
    by("networks", &mut out, |out| {
        let layers = networks::plan(&inner, budget, seed, kernels::<Qconv2d>().len());
        let small = |layer: &Spec<conv2d::Params>| usual::products(&layer.params) < MOST[long];
        out.extend(draft.around(layers.into_iter().filter(small).collect()));
    });
    out
}

/// Adapts a shape to the domain: one group, one group for each channel, or a filter of one element.
pub(super) fn taken(domain: &Domain, shape: conv2d::Params) -> conv2d::Params {
    let mut shape = shape;
    shape.input_zero_point = negated(&domain.operands.lhs_offsets, shape.input_zero_point);
    shape.weight_zero_point = negated(&domain.operands.rhs_offsets, shape.weight_zero_point);
    if !domain.grouped {
        shape.groups = 1;
    }
    if !domain.dense && shape.groups != shape.channels {
        let each = shape.out_channels.div_ceil(shape.channels);
        shape.groups = shape.channels;
        shape.out_channels = each * shape.channels;
    }
    if !domain.spatial {
        let (top, bottom, left, right) = (0, 0, 0, 0);
        shape = conv2d::Params {
            kernel_h: 1,
            kernel_w: 1,
            stride_h: 1,
            stride_w: 1,
            dilation_h: 1,
            dilation_w: 1,
            ..shape
        };
        shape = conv2d::Params { top, bottom, left, right, ..shape };
    }
    transposed::shaped(domain.transposed, shape)
}

/// Returns the nearest zero point whose negative is in the range of offsets.
fn negated(offsets: &RangeInclusive<i32>, zero_point: i32) -> i32 {
    zero_point.clamp(offsets.end().saturating_neg(), offsets.start().saturating_neg())
}

fn spec(shape: conv2d::Params) -> Spec<conv2d::Params> {
    Spec::new(shape, [Fill::Varied, Fill::Varied, Fill::None], 0)
}

/// Returns depthwise convolutions of every multiplier up to 8, with one and two images, dilated and not dilated.
fn depthwise() -> Vec<Spec<conv2d::Params>> {
    let of = |at: usize| {
        let (multiplier, channels) = (1 + at % 8, [3, 5, 8, 2, 17][at % 5]);
        let shape = conv2d::Params {
            batches: 1 + at % 2,
            height: 3,
            width: 4,
            channels,
            groups: channels,
            out_channels: channels * multiplier,
            kernel_h: 3,
            kernel_w: [3, 2, 1][at % 3],
            stride_h: 1 + at / 8 % 2,
            dilation_w: if at.is_multiple_of(3) && at % 4 == 3 { 2 } else { 1 },
            top: 1,
            bottom: at % 2,
            left: at % 3,
            right: 1,
            input_zero_point: 0,
            ..conv2d::Params::default()
        };
        Spec { misalign: at % 16, ..spec(shape) }
    };
    (0..24).map(of).collect()
}

/// Returns every number of output channels, with varying numbers of input channels.
fn every_channel(long: usize) -> Vec<Spec<conv2d::Params>> {
    let of = |out_channels: usize| {
        let channels = 1 + out_channels * 37 % 19;
        let shape = conv2d::Params { height: 1, width: 1 + long, channels, out_channels, ..conv2d::Params::default() };
        Spec { misalign: out_channels % 16, ..spec(shape) }
    };
    (1..=CHANNELS).map(of).collect()
}

/// Returns more than 1,024 weights, and more than 1,024 image elements, with few products, so that kernels of short sums run them too.
fn many_elements() -> [Spec<conv2d::Params>; 2] {
    let weights = conv2d::Params { channels: 64, out_channels: 18, ..conv2d::Params::default() };
    let image = conv2d::Params { height: 33, width: 33, stride_h: 8, stride_w: 8, ..conv2d::Params::default() };
    [weights, image].map(spec)
}

/// Plan for a domain under a seed.
pub(crate) struct Draft<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) seed: u64,
    /// Effort: 1 in a long run, 0 in a short run.
    pub(crate) long: usize,
    /// Number of kernels that share expensive cases.
    pub(crate) kernels: usize,
}

impl Draft<'_> {
    /// Returns convolutions with output parameters that fit their sums.
    pub(crate) fn around(&self, specs: Vec<Spec<conv2d::Params>>) -> Vec<Spec<Params>> {
        let one = |(i, spec): (usize, Spec<conv2d::Params>)| {
            let Spec { params, fills, misalign, generator, turn, .. } = spec;
            let mut shape = taken(self.domain, params);
            let mut rng = stream(self.seed, &format!("qconv2d/{i}/{shape:?}"));
            let range = self.domain.operands.lhs_values.clone();
            if shape.input_zero_point == 0 && i % 3 > 0 {
                let any = range.start() + below(&mut rng, (range.end() - range.start() + 1) as u32) as i32;
                // After an activation without negative values, the zero point is the least value of the type.
                let point = if i % 6 == 1 { *range.start() } else { any };
                shape.input_zero_point = negated(&self.domain.operands.lhs_offsets, point);
            }
            let outputs = shape.sizes().map_or(0, |sizes| sizes.outputs);
            let of = (usual::products(&shape) + RESULT * outputs).div_ceil(EACH[self.long]);
            let turn = match turn.is_all() {
                true => Turn::one_in(of.min(self.kernels), i + self.seed as usize % 1024),
                false => turn,
            };
            let params = fitted(self.domain, shape, i, &mut rng);
            Spec { misalign, turn, ..Spec::new(params, fills, misalign).by(generator) }
        };
        specs.into_iter().enumerate().map(one).collect()
    }

    /// Returns a convolution of one input channel with a filter of 1: its sums are around a tie of a result or an end of the clamp.
    pub(crate) fn ties(&self, i: usize) -> Spec<Params> {
        let mut rng = stream(self.seed, &format!("qconv2d/ties/{i}"));
        let requantize = &self.domain.requantize;
        let operands = &self.domain.operands;
        let middle = operands.lhs_values.start().midpoint(*operands.lhs_values.end());
        let out_channels = [16, 7, 9, 5, 17, 4, 12, 3][i % 8];
        let input_zero_point = [middle, *operands.lhs_values.start(), *operands.lhs_values.end(), 0][i % 4];
        let shape = conv2d::Params {
            width: WINDOW,
            out_channels,
            input_zero_point: negated(
                &operands.lhs_offsets,
                input_zero_point.clamp(*operands.lhs_values.start(), *operands.lhs_values.end()),
            ),
            ..conv2d::Params::default()
        };
        let shape = transposed::shaped(self.domain.transposed, shape);
        let count = if requantize.channels.per_channel { out_channels } else { 1 };
        let channels: Vec<Channel> = (0..count).map(|_| any(requantize, &mut rng)).collect();
        let [zero_point, min, max] = bounds(requantize, i, &mut rng);
        let bias = vec![0; out_channels];
        let mut params = Params { shape, channels, bias, bias64: Vec::new(), zero_point, min, max };
        for o in 0..out_channels {
            let target = self.target(&params, o, &mut rng);
            params.bias[o] = target.wrapping_sub(middle - shape.input_zero_point);
        }
        if self.domain.wide {
            params = outputs::wide(params, 0);
        }
        let input = (0..WINDOW).map(|at| middle + at as i32 - WINDOW as i32 / 2).collect();
        Spec::new(params, [Fill::Given(input), Fill::Constant(1), Fill::None], i % 16)
    }

    /// Returns convolutions with sums at the corners of fixed point multiply, each corner alone and all corners together. The products are 0, so that
    /// no sum wraps on the way to an end of int32.
    pub(crate) fn corners_of_multiply(&self) -> Vec<Spec<Params>> {
        let operands = &self.domain.operands;
        let point = 0.clamp(*operands.lhs_values.start(), *operands.lhs_values.end());
        let input_zero_point = negated(&operands.lhs_offsets, point);
        let one = |(i, (p, accumulators)): (usize, (requantize::Params, Vec<i32>))| {
            let requantize::Params { channels, bias, zero_point, min, max, .. } = p;
            let out_channels = channels.len().max(CORNER);
            let shape = conv2d::Params { width: CORNER, out_channels, input_zero_point, ..conv2d::Params::default() };
            let shape = transposed::shaped(self.domain.transposed, shape);
            let sum = |o: usize| accumulators[o % channels.len()] + bias[o % channels.len()];
            let bias = (0..out_channels).map(sum).collect();
            let params = Params { shape, channels, bias, bias64: Vec::new(), zero_point, min, max };
            let params = if self.domain.wide { outputs::wide(params, 0) } else { params };
            Spec::new(params, [Fill::Constant(input_zero_point), Fill::Constant(1), Fill::None], i % 16)
        };
        crate::requantize::corners::of_multiply(&self.domain.requantize).into_iter().enumerate().map(one).collect()
    }

    /// Returns a sum at a tie of a result within the clamp's bounds, or of the first result beyond them; any sum if no sum reaches the result.
    fn target(&self, p: &Params, o: usize, rng: &mut ChaCha8Rng) -> i32 {
        let target = Target::new(p.channel(o), 0, self.domain.requantize.fraction(), &p.requantize(1));
        let (low, high) = (p.min - p.zero_point, p.max - p.zero_point);
        let result = match below(rng, 6) {
            0 => low,
            1 => high + 1,
            _ => low + below(rng, (high - low + 1) as u32) as i32,
        };
        target.around(2 * i64::from(result) - 1).map_or_else(|| int32(rng), |[_, at, _]| at)
    }
}

/// Converts an int8 value to another type; unsigned bytes are 128 larger.
fn moved(v: i32, element: Element) -> i32 {
    if element == Element::U8 { v + 128 } else { v }
}

/// Converts int8 parameters to the same convolution on the kernel's types.
fn on_types(domain: &Domain, p: Params) -> Params {
    let shape = conv2d::Params {
        input_zero_point: moved(p.shape.input_zero_point, domain.operands.lhs),
        weight_zero_point: moved(p.shape.weight_zero_point, domain.operands.rhs),
        ..p.shape
    };
    let is_one = p.channels.iter().all(|channel| *channel == p.channels[0]);
    let channels =
        if is_one && !domain.requantize.channels.per_channel { p.channels[..1].to_vec() } else { p.channels };
    let [zero_point, min, max] = [p.zero_point, p.min, p.max].map(|v| moved(v, domain.requantize.output));
    Params { shape, channels, zero_point, min, max, bias: p.bias, bias64: p.bias64 }
}

/// Converts an int8 case to the kernel's types.
pub(super) fn case_on_types(domain: &Domain, case: Case<Params>) -> Case<Params> {
    let [mut input, mut weights, nothing] = case.tensors.into_inner();
    input.iter_mut().for_each(|v| *v = moved(*v, domain.operands.lhs));
    weights.iter_mut().for_each(|v| *v = moved(*v, domain.operands.rhs));
    Case { params: on_types(domain, case.params), tensors: [input, weights, nothing].into(), misalign: case.misalign }
}

/// Converts an int8 layer of a model to the kernel's types; `None` without output scales, or if the domain does not cover the layer.
pub(super) fn of_layer(domain: &Domain, layer: &Layer) -> Option<Params> {
    let output = layer.output.as_ref()?;
    let requantize::Params { channels, bias, zero_point, min, max, .. } = output.clone();
    let params =
        on_types(domain, Params { shape: layer.shape, channels, bias, bias64: Vec::new(), zero_point, min, max });
    <Qconv2d as tiebreak_engine::operation::Operation>::covers(domain, &params).then_some(params)
}

/// Returns each layer with random and extreme data, with random weights and with its own weights.
pub(super) fn layers(domain: &Domain, layers: &[Layer]) -> Vec<Spec<Params>> {
    let of = |layer: &Layer| {
        let params = of_layer(domain, layer);
        let fills = crate::matmul::layers::fills(&domain.operands, layer);
        params.into_iter().flat_map(move |params| {
            let spec = |[input, weights]: [Fill; 2]| Spec::new(params.clone(), [input, weights, Fill::None], 0);
            fills.clone().into_iter().map(spec).collect::<Vec<_>>()
        })
    };
    layers.iter().flat_map(of).collect()
}
