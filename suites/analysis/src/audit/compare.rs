//! Counts of inputs with different results: accumulators of a channel for two requantizations, and operand pairs for two operations on tensors.

use super::reach::Reach;
use super::report::{ChannelCounts, Input, Witness};
use crate::model::Quantized;
use crate::model::operators::Elementwise;
use std::collections::BTreeMap;
use tiebreak_impls::element::Element;
use tiebreak_oracle::census::{Comparison, Requantizer};
use tiebreak_oracle::elementwise::{self, add, mul};
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Scheme;

/// Upper bound on accumulators visited one by one. This happens only if a left shift wraps so often that no other method applies.
const MOST_VISITED: i64 = 1 << 20;

/// Counts the accumulators within int32. The error is the reason, if there are too many.
pub(super) fn channel(
    left: &Requantizer,
    right: &Requantizer,
    output: &Output,
    reach: &Reach,
) -> Result<ChannelCounts, String> {
    let Some(xs) = reach.within(i32::MIN.into(), i32::MAX.into()) else { return Ok(none()) };
    let method = method(left, right, output, &xs);
    if method == "each" && xs.end() - xs.start() >= MOST_VISITED {
        return Err("its left shift wraps so often that its accumulators cannot be counted".to_owned());
    }
    let (lo, hi) = (i64::from(output.min), i64::from(output.max));
    let mut counts = ChannelCounts { method, ..none() };
    let mut nearest: Option<(i64, i64, i64)> = None;
    for step in (Comparison { left, right, output: Some(output) }).steps(xs) {
        let inputs = reach.count(step.lo, step.hi);
        counts.inputs += inputs;
        let inside = if step.left > lo && step.left < hi { inputs } else { 0 };
        counts.inside += inside;
        if !step.differs() || inputs == 0 {
            continue;
        }
        counts.differ += inputs;
        counts.differ_inside += inside;
        *counts.by_delta.entry(step.right - step.left).or_default() += inputs;
        let here = reach.nearest(step.lo, step.hi).map(|x| (x, step.left, step.right));
        nearest = [nearest, here].into_iter().flatten().min_by_key(|(x, ..)| (x.abs(), *x < 0));
    }
    counts.witness = nearest.map(|(x, left, right)| Witness { input: Input::Accumulator { x }, left, right });
    Ok(finished(counts))
}

fn method(
    left: &Requantizer,
    right: &Requantizer,
    output: &Output,
    xs: &std::ops::RangeInclusive<i64>,
) -> &'static str {
    let each = |of: &Requantizer| of.runs(Some(output), xs.clone()).visits_each();
    match (left, right) {
        _ if each(left) || each(right) => "each",
        (Requantizer::Fixed(..), Requantizer::Fixed(..)) => "closed-form",
        _ => "bisection",
    }
}

fn none() -> ChannelCounts {
    ChannelCounts {
        ways: None,
        channel: None,
        left: None,
        right: None,
        inputs: 0,
        inside: 0,
        differ: 0,
        differ_inside: 0,
        rate: 0.0,
        by_delta: BTreeMap::new(),
        witness: None,
        method: "each",
    }
}

fn finished(mut counts: ChannelCounts) -> ChannelCounts {
    counts.rate = counts.totals().rate();
    counts
}

/// Operation on two tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Mul,
}

/// Counts every pair of stored values; a constant has only its own values. The error is the reason, if a scheme does not accept the scales.
pub(super) fn pairs(which: Binary, schemes: [&str; 2], layer: &Elementwise) -> Result<ChannelCounts, String> {
    let (lhs, rhs) = values(layer);
    let [left, right] = schemes.map(|name| results(which, name, layer, &lhs, &rhs));
    let (left, right) = (left?, right?);
    let mut counts = none();
    let mut nearest: Option<(i32, Witness)> = None;
    let zero = layer.operands.map(|operand| operand.zero_point);
    for ((lhs, rhs), (left, right)) in lhs.iter().zip(&rhs).zip(left.iter().zip(&right)) {
        let (Some(left), Some(right)) = (*left, *right) else { continue };
        counts.inputs += 1;
        let inside = u64::from(left > layer.clamp.0 && left < layer.clamp.1);
        counts.inside += inside;
        if left == right {
            continue;
        }
        counts.differ += 1;
        counts.differ_inside += inside;
        *counts.by_delta.entry(i64::from(right - left)).or_default() += 1;
        let distance = (lhs - zero[0]).abs() + (rhs - zero[1]).abs();
        let input = Input::Pair { lhs: *lhs, rhs: *rhs };
        let witness = Witness { input, left: left.into(), right: right.into() };
        if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
            nearest = Some((distance, witness));
        }
    }
    counts.witness = nearest.map(|(_, witness)| witness);
    Ok(finished(counts))
}

/// Returns the result of the first pair of values; `None` if the scheme has no result.
#[cfg(test)]
pub(super) fn result(which: Binary, scheme: &str, layer: &Elementwise) -> Result<Option<i32>, String> {
    let (lhs, rhs) = values(layer);
    results(which, scheme, layer, &lhs, &rhs).map(|results| results[0])
}

fn values(layer: &Elementwise) -> (Vec<i32>, Vec<i32>) {
    let of = |at: usize| -> Vec<i32> {
        let all = || layer.operands[at].element.range().collect();
        layer.constants[at].as_ref().map_or_else(all, |values| values.iter().copied().collect())
    };
    let (lhs, rhs) = (of(0), of(1));
    lhs.iter().flat_map(|l| rhs.iter().map(move |r| (*l, *r))).unzip()
}

fn results(
    which: Binary,
    scheme: &str,
    layer: &Elementwise,
    lhs: &[i32],
    rhs: &[i32],
) -> Result<Vec<Option<i32>>, String> {
    let tensors = [layer.operands[0], layer.operands[1], layer.output];
    let element = layer.output.element;
    if tensors.iter().any(|tensor| tensor.element != element) {
        return Err("its tensors have different types".to_owned());
    }
    let storage = Storage { bits: 8, signed: element == Element::I8 };
    let [l, r, out] = tensors.map(operand);
    let (min, max) = layer.clamp;
    let refused = || format!("{scheme} does not take these scales");
    match which {
        Binary::Add => {
            let p = add::Parameters { lhs: l, rhs: r, out, storage, own: add::left_shift(storage), min, max };
            p.check(lhs, rhs).map_err(|error| error.to_string())?;
            let domain = match scheme {
                "xnnpack" | "onnx-neon" => add::Scales::Ratios,
                "onnx" | "pytorch" => add::Scales::Any,
                _ => add::Scales::Rescaled,
            };
            if !p.takes(domain) {
                return Err(refused());
            }
            let scheme = Scheme::<&'static add::Definition>::parse(scheme).map_err(|error| error.to_string())?;
            scheme.expected(&p, lhs, rhs).map_err(|error| error.to_string())
        }
        Binary::Mul => {
            let p = mul::Parameters { lhs: l, rhs: r, out, storage, own: mul::PRODUCT_BITS, min, max };
            p.check(lhs, rhs).map_err(|error| error.to_string())?;
            let domain = match scheme {
                "xnnpack-fp32" | "xnnpack-rndnu" => Some(mul::Scales::Ratio),
                "onnx" | "onnx-neon" | "pytorch" => None,
                _ => Some(mul::Scales::Rescaled),
            };
            if domain.is_some_and(|domain| !p.takes(domain)) {
                return Err(refused());
            }
            let scheme = Scheme::<&'static mul::Definition>::parse(scheme).map_err(|error| error.to_string())?;
            scheme.expected(&p, lhs, rhs).map_err(|error| error.to_string())
        }
    }
}

fn operand(tensor: Quantized) -> elementwise::Operand {
    elementwise::Operand { scale: tensor.scale.to_bits(), zero_point: tensor.zero_point }
}
