//! What only the composition has: a bias in the wrong scale, the order of the channels of a depthwise convolution, an activation on the wrong side of the zero point,
//! and vectors of the output channels of a pixel.

use super::Qconv2d;
use super::lifted::{Sums, finished, requantized, total};
use crate::conv2d::Conv2d;
use crate::requantize::{Requantize, multiply};
use tiebreak_common::class::Class;
use tiebreak_engine::operation::{Case, Change, Expected, Operation};
use tiebreak_impls::qconv2d::{Domain, Params};
use tiebreak_oracle::qconv2d::Scheme;
use tiebreak_oracle::scheme::Registered;

/// Output channels of a vector, after the last of which a kernel may do otherwise.
const VECTORS: [usize; 3] = [4, 8, 16];

/// Every cause, in the order of preference.
pub(super) fn changes(sums: &Sums, scheme: &Scheme, domain: &Domain) -> Vec<Change<Qconv2d>> {
    let base = total(scheme);
    let mut out = biases(sums, base);
    out.push(order_of_channels(base));
    out.extend(channels(sums, base));
    out.push(activation(sums, base, domain));
    out.extend(tails(sums, base));
    out
}

/// The results before zero point and clamp.
fn scaled(base: &Scheme, p: &Params, sums: &[i32]) -> Option<Expected> {
    finished(base, &Params { zero_point: 0, min: i32::MIN, max: i32::MAX, ..p.clone() }, sums)
}

fn biases(sums: &Sums, base: Scheme) -> Vec<Change<Qconv2d>> {
    let kept = sums.clone();
    let after =
        Change::predicts(Class::Bias, "the bias is added after the multiplication", move |case: &Case<Params>| {
            let p = &case.params;
            let without = Params { bias: vec![0], ..p.clone() };
            let scaled = scaled(&base, &without, &kept.of(case)?)?;
            let one = |(at, v): (usize, i32)| {
                let sum = v.wrapping_add(p.bias(at % p.shape.out_channels)).wrapping_add(p.zero_point);
                sum.clamp(p.min, p.max)
            };
            Some(scaled.into_iter().enumerate().map(|(at, v)| v.map(|v| one((at, v)))).collect())
        });
    let narrowed = |bits: u32, signed: bool| {
        let kept = sums.clone();
        let kind = if signed { "signed" } else { "unsigned" };
        let because = format!("the bias is read as {kind}, of {bits} bits");
        Change::predicts(Class::Bias, because, move |case: &Case<Params>| {
            let low = 32 - bits;
            let read = |bias: &i32| if signed { (bias << low) >> low } else { ((*bias as u32) << low >> low) as i32 };
            let p = Params { bias: case.params.bias.iter().map(read).collect(), ..case.params.clone() };
            finished(&base, &p, &kept.of(case)?)
        })
    };
    let widths = [(16, true), (16, false), (8, true), (24, true)];
    std::iter::once(after).chain(widths.map(|(bits, signed)| narrowed(bits, signed))).collect()
}

/// Output channel `o` of a depthwise convolution taken for one of input channel `o % C`.
fn order_of_channels(base: Scheme) -> Change<Qconv2d> {
    let because = "output channel o of a depthwise convolution is of input channel o % C, and not of o / multiplier";
    Change::predicts(Class::Layout, because, move |case: &Case<Params>| {
        let shape = case.params.shape;
        if shape.groups != shape.channels {
            return None;
        }
        let (inputs, outputs) = (shape.channels, shape.out_channels);
        let each = outputs / inputs;
        // Where the filter of each output channel lies if the others are as promised.
        let moved = |o: usize| o % inputs * each + o / inputs;
        let mut weights = case.tensors[1].clone();
        for (row, from) in weights.chunks_exact_mut(outputs).zip(case.tensors[1].chunks_exact(outputs)) {
            (0..outputs).for_each(|o| row[moved(o)] = from[o]);
        }
        let tensors = [case.tensors[0].clone(), weights, Vec::new()];
        let exact = tiebreak_oracle::matmul::Scheme::parse("exact:wrap").ok()?;
        let sums = Conv2d::expected(&exact, &Case { params: shape, tensors, misalign: 0 }).ok()?;
        let sum = |at: usize| sums[at - at % outputs + moved(at % outputs)];
        let sums: Option<Vec<i32>> = (0..sums.len()).map(sum).collect();
        finished(&base, &case.params, &sums?)
    })
}

/// Parameters of each output channel taken by another index.
fn channels(sums: &Sums, base: Scheme) -> Vec<Change<Qconv2d>> {
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
                ..p.clone()
            };
            finished(&base, &other, &kept.of(case)?)
        })
    };
    all.into_iter().map(change).collect()
}

/// The bounds of the activation before the zero point.
fn activation(sums: &Sums, base: Scheme, domain: &Domain) -> Change<Qconv2d> {
    let (kept, range) = (sums.clone(), domain.requantize.output.range());
    let because = "the activation's bounds are applied before the zero point is added";
    Change::predicts(Class::ClampOrder, because, move |case: &Case<Params>| {
        let p = &case.params;
        let scaled = scaled(&base, p, &kept.of(case)?)?;
        let one = |v: i32| (v.clamp(p.min, p.max) + p.zero_point).clamp(*range.start(), *range.end());
        Some(scaled.into_iter().map(|v| v.map(one)).collect())
    })
}

/// The output channels of a pixel after its last whole vector: another multiplication, or nothing at all.
fn tails(sums: &Sums, base: Scheme) -> Vec<Change<Qconv2d>> {
    let tail = |vector: usize, class: Class, what: String, of: Option<Scheme>| {
        let kept = sums.clone();
        let because = format!("output channels after the last whole vector of {vector} of a pixel: {what}");
        Change::predicts(class, because, move |case: &Case<Params>| {
            let p = &case.params;
            let sums = kept.of(case)?;
            let mut out = finished(&base, p, &sums)?;
            let others = match &of {
                Some(other) => Requantize::expected(other, &requantized(p, &sums)).ok()?,
                None => vec![Some(0); out.len()],
            };
            let (outputs, whole) = (p.shape.out_channels, p.shape.out_channels / vector * vector);
            for (at, (out, other)) in out.iter_mut().zip(others).enumerate() {
                if at % outputs >= whole {
                    *out = other;
                }
            }
            Some(out)
        })
    };
    let others: Vec<Scheme> = tiebreak_oracle::requantize::Definition::all()
        .filter(|definition| {
            definition.name() != base.definition.name()
                && multiply(&Scheme { definition: *definition, ..base }).is_some()
        })
        .map(|definition| Scheme { definition, ..base })
        .collect();
    let mut out = Vec::new();
    for vector in VECTORS {
        for other in others.iter().filter(|_| multiply(&base).is_some()) {
            out.push(tail(vector, Class::Position, format!("{} is computed", other.definition.name()), Some(*other)));
        }
        out.push(tail(vector, Class::TruncatedTail, "results are 0".to_owned(), None));
    }
    out
}
