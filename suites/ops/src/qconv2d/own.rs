//! Changes that only a depthwise convolution may have: the order of its output channels, and their parameters at another index.

use super::Qconv2d;
use crate::fused::Fused;
use crate::fused::part_changes::{Sums, total};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::qconv2d::Params;
use tiebreak_oracle::qconv2d::Scheme;

/// Returns every change, in the order of preference.
pub(super) fn changes(sums: &Sums<Params>, scheme: &Scheme) -> Vec<Change<Qconv2d>> {
    let base = total(scheme);
    std::iter::once(order_of_channels(base)).chain(channels(sums, base)).collect()
}

/// Predicts that output channel `o` of a depthwise convolution uses input channel `o % C`.
fn order_of_channels(base: Scheme) -> Change<Qconv2d> {
    let because = "output channel o of a depthwise convolution is of input channel o % C, and not of o / multiplier";
    Change::predicts(Class::Layout, because, move |case: &Case<Params>| {
        let shape = case.params.shape;
        if shape.groups != shape.channels {
            return None;
        }
        let (inputs, outputs) = (shape.channels, shape.out_channels);
        let each = outputs / inputs;
        // Place of the filter of each output channel if all other channels are as promised.
        let moved = |o: usize| o % inputs * each + o / inputs;
        let mut weights = case.tensors[1].clone();
        for (row, from) in weights.chunks_exact_mut(outputs).zip(case.tensors[1].chunks_exact(outputs)) {
            (0..outputs).for_each(|o| row[moved(o)] = from[o]);
        }
        let tensors = [case.tensors[0].clone(), weights, Vec::new()];
        let sums = Qconv2d::sums(&Case { params: case.params.clone(), tensors: tensors.into(), misalign: 0 })?;
        let sum = |at: usize| sums[at - at % outputs + moved(at % outputs)];
        let sums: Vec<i64> = (0..sums.len()).map(sum).collect();
        Qconv2d::finished(&base, &case.params, &sums)
    })
}

/// Returns changes that take the parameters of each output channel at another index.
fn channels(sums: &Sums<Params>, base: Scheme) -> Vec<Change<Qconv2d>> {
    type Index = fn(usize, &Params) -> usize;
    let all: [(&str, Index); 2] = [
        ("the parameters are those of output channel o / multiplier", |o, p| {
            o / (p.shape.out_channels / p.shape.groups).max(1)
        }),
        ("the parameters are those of output channel o % multiplier", |o, p| {
            o % (p.shape.out_channels / p.shape.groups).max(1)
        }),
    ];
    let change = |(because, index): (&'static str, Index)| {
        let kept = sums.clone();
        Change::predicts(Class::Channel, because, move |case: &Case<Params>| {
            let p = &case.params;
            let from = |o: usize| index(o, p);
            let other = Params {
                channels: (0..p.shape.out_channels).map(|o| p.channel(from(o))).collect(),
                bias: (0..p.shape.out_channels).map(|o| p.bias(from(o))).collect(),
                bias64: match p.bias64[..] {
                    [] | [_] => p.bias64.clone(),
                    _ => (0..p.shape.out_channels).map(|o| p.bias64[from(o)]).collect(),
                },
                ..p.clone()
            };
            Qconv2d::finished(&base, &other, &kept.of::<Qconv2d>(case)?)
        })
    };
    all.into_iter().map(change).collect()
}
