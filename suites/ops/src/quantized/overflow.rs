//! Cases at the overflow edge, the number beyond which a float is infinite: scales that take a value to the edge, and their neighbours.

use super::plan::{Elements, Plan, spec};
use super::{format, quantizations, random, with_one_scale};
use rug::Rational;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::quantized::{Params, Quantized, Scale, Storage};
use tiebreak_oracle::quantize::Quantization;

/// Storage types whose results may overflow.
const WIDE: [Storage; 7] = [
    Storage { bits: 8, signed: true },
    Storage { bits: 8, signed: false },
    Storage { bits: 16, signed: true },
    Storage { bits: 16, signed: false },
    Storage { bits: 32, signed: true },
    Storage { bits: 32, signed: false },
    Storage { bits: 4, signed: true },
];

/// Returns scales for which a value of the cast is next to the overflow edge; in a short run, one of nine.
pub(super) fn plan(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let Plan { domain, budget, elements, .. } = *plan;
    let mut out = Vec::new();
    if domain.compiled {
        return out;
    }
    let storages = if domain.storage.is_empty() { &WIDE[..] } else { domain.storage };
    for (i, (expressed, storage)) in domain
        .expressed
        .iter()
        .flat_map(|expressed| storages.iter().map(move |storage| (*expressed, *storage)))
        .enumerate()
    {
        let (lo, hi) = storage.range().into_inner();
        for (turn, zero_point) in [0.clamp(lo, hi), lo, lo.midpoint(hi) | 1].into_iter().enumerate() {
            if !(budget.every_tail || !domain.storage.is_empty() || turn == i % 3) {
                continue;
            }
            let draft = with_one_scale(storage, (lo, hi), expressed, Scale(1.0), zero_point);
            let scales = edges(&draft, elements).into_iter().enumerate();
            for (at, scale) in scales.filter(|(at, _)| budget.every_tail || (at + turn + i) % 9 == 0) {
                let quantized = Quantized { scales: vec![Scale(scale)], ..draft.clone() };
                let Some(q) = one(&quantized) else { continue };
                let values = elements.overflowing(&q);
                let container = domain.containers[(i + at) % domain.containers.len()];
                let shape = random::shape(values.len() / elements.words(expressed), container, at);
                out.push(spec(Params { quantized, container, shape }, values, i + at));
            }
        }
    }
    out
}

/// Returns the quantization of a type with one scale.
fn one(quantized: &Quantized) -> Option<Quantization> {
    quantizations(quantized).ok()?.pop()
}

/// Returns the scales nearest to those that take a value of the cast to the edge, and their neighbouring floats.
fn edges(draft: &Quantized, elements: &impl Elements) -> Vec<f64> {
    let format = format(draft.expressed);
    let Some(q) = one(draft) else { return Vec::new() };
    let mut out = Vec::new();
    for scale in elements.scales_at_overflow(&q) {
        let Some(key) = format.key(format.nearest(&scale)) else { continue };
        for beside in -1..=1 {
            let Some(scale) = format.decode(format.from_key(key + beside)).finite().map(Rational::to_f64) else {
                continue;
            };
            if scale.is_normal() && scale > 0.0 && !out.contains(&scale) {
                out.push(scale);
            }
        }
    }
    out
}
