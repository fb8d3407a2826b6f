//! Smaller cases of the same kind: one output channel, a simpler shape, simpler parameters.

use super::Qconv2d;
use crate::conv2d::{cropped, simpler};
use tiebreak_engine::operation::{Case, Operation};
use tiebreak_impls::conv2d;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qconv2d::{Domain, Params};

/// Largest number of output channels of which each is tried by itself.
const EACH: usize = 16;

/// Returns smaller cases, the smallest first.
pub(super) fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
    let mut out = channels(case);
    out.extend(simpler(&case.params.shape).into_iter().filter_map(|shape| reshaped(case, shape)));
    out.extend(plainer(&case.params, domain).into_iter().map(|params| Case { params, ..case.clone() }));
    out.extend(case.aligned());
    out.retain(|smaller| smaller != case && Qconv2d::covers(domain, &smaller.params));
    out
}

/// Selects the parameters of the given output channels.
fn of_channels(p: &Params, shape: conv2d::Params, channels: &[usize]) -> Params {
    let some = |len: usize| if len == 1 { &channels[..1] } else { channels };
    Params {
        shape,
        channels: some(p.channels.len()).iter().map(|o| p.channel(*o)).collect(),
        bias: some(p.bias.len()).iter().map(|o| p.bias(*o)).collect(),
        bias64: some(p.bias64.len()).iter().filter_map(|o| p.bias64.get(*o).copied()).collect(),
        ..p.clone()
    }
}

/// Selects columns of a tensor whose last axis has `width` elements.
fn columns(tensor: &[i32], width: usize, kept: &[usize]) -> Vec<i32> {
    tensor.chunks_exact(width).flat_map(|row| kept.iter().map(|at| row[*at])).collect()
}

/// Returns cases of one output channel of a single group, or of one input channel of a depthwise convolution with its results.
fn channels(case: &Case<Params>) -> Vec<Case<Params>> {
    let (p, shape) = (&case.params, case.params.shape);
    let depthwise = shape.groups == shape.channels && shape.groups > 1;
    if shape.out_channels == 1 || !(depthwise || shape.groups == 1) {
        return Vec::new();
    }
    let each = shape.out_channels / shape.groups;
    let one = |at: usize| {
        let outputs: Vec<usize> = if depthwise { (at * each..(at + 1) * each).collect() } else { vec![at] };
        let (input, inputs) = match depthwise {
            true => (columns(&case.tensors[0], shape.channels, &[at]), 1),
            false => (case.tensors[0].clone(), shape.channels),
        };
        let smaller = conv2d::Params { channels: inputs, groups: 1, out_channels: outputs.len(), ..shape };
        let weights = columns(&case.tensors[1], shape.out_channels, &outputs);
        let params = of_channels(p, smaller, &outputs);
        Case { params, tensors: [input, weights, Vec::new()].into(), misalign: case.misalign }
    };
    let count = if depthwise { shape.channels } else { shape.out_channels };
    (0..count.min(EACH)).map(one).collect()
}

/// Crops the case to a smaller shape: the leading elements along every axis, and the parameters of the leading output channels.
fn reshaped(case: &Case<Params>, shape: conv2d::Params) -> Option<Case<Params>> {
    shape.sizes().ok()?;
    let inner = Case { params: case.params.shape, tensors: case.tensors.clone(), misalign: case.misalign };
    let Case { tensors, misalign, .. } = cropped(&inner, shape);
    let outputs: Vec<usize> = (0..shape.out_channels).collect();
    Some(Case { params: of_channels(&case.params, shape, &outputs), tensors, misalign })
}

/// Returns simpler parameters.
fn plainer(p: &Params, domain: &Domain) -> Vec<Params> {
    let range = domain.requantize.output.range();
    let mut out = vec![
        Params { bias: vec![0], ..p.clone() },
        Params { bias: vec![p.bias[0]], ..p.clone() },
        Params { channels: vec![p.channels[0]], ..p.clone() },
        Params { zero_point: 0.clamp(*range.start(), *range.end()), ..p.clone() },
        Params { zero_point: p.zero_point / 2, ..p.clone() },
        Params { min: *range.start(), max: *range.end(), ..p.clone() },
        Params { min: *range.start(), ..p.clone() },
        Params { max: *range.end(), ..p.clone() },
    ];
    if p.is_wide() {
        out.retain(|smaller| smaller.bias.iter().all(|bias| *bias == 0));
        let with = |bias64: Vec<i64>| Params { bias64, ..p.clone() };
        let halves = p.bias64.iter().map(|bias| bias / 2).collect();
        out.extend([with(vec![0]), with(vec![p.bias64[0]]), with(halves)]);
    }
    let halves = p.bias.iter().map(|bias| bias / 2).collect();
    out.push(Params { bias: halves, ..p.clone() });
    if let [Channel { multiplier, shift }] = p.channels[..] {
        let order = |c: Channel| (c.multiplier.unsigned_abs().count_ones(), c.shift.unsigned_abs());
        for (m, s) in [(1 << 30, 0), (1 << 30, -1), (1 << 30, 1), (1 << 30, shift), (multiplier, 0), (multiplier, -1)] {
            let channel = Channel { multiplier: m, shift: s };
            if order(channel) < order(p.channels[0]) {
                out.push(Params { channels: vec![channel], ..p.clone() });
            }
        }
    }
    out
}
