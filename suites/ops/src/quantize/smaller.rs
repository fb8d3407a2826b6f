//! Smaller cases of quantize and dequantize.

use crate::quantized::{covers, places, with_one_scale};
use std::ops::Range;
use tiebreak_engine::operation::{Case, fill};
use tiebreak_engine::run::shrink;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Granularity, Params, Quantized, Scale};

/// Returns halves of a tensor; the elements of one channel or block, or fewer channels, or fewer or smaller blocks; for a single element, simpler
/// parameters. `words` is the number of words of an input element.
pub fn smaller(case: &Case<Params>, words: usize, domain: &Domain) -> Vec<Case<Params>> {
    let p = &case.params;
    let len = case.tensors[0].len() / words;
    let mut out = match p.quantized.granularity {
        Granularity::Layer if p.shape.len() > 1 => {
            vec![part(case, words, Params { shape: vec![len], ..p.clone() }, 0..len)]
        }
        Granularity::Layer if len > 1 => {
            let part = |cut: Range<usize>| part(case, words, Params { shape: vec![cut.len()], ..p.clone() }, cut);
            shrink::cuts(len).into_iter().map(part).collect()
        }
        Granularity::Layer => plainer(p).into_iter().map(|params| Case { params, ..case.clone() }).collect(),
        Granularity::Channel { .. } | Granularity::Blocks { .. } => {
            let single = by_scale(p).into_iter().enumerate();
            let single = single.map(|(scale, elements)| of_scale(case, words, scale, elements));
            single.chain(fewer(case, words)).collect()
        }
    };
    out.extend(case.aligned());
    out.retain(|smaller| smaller != case && covers(domain, &smaller.params));
    out
}

/// Returns the case of a single element, per layer, and the case of this element in its place among zeros.
pub fn isolate_result(case: &Case<Params>, words: usize, index: usize) -> Vec<(Case<Params>, usize)> {
    let p = &case.params;
    let one = places::scales(p).get(index).map(|scale| {
        let params = Params { quantized: per_layer(&p.quantized, *scale), container: p.container, shape: vec![1] };
        (Case { misalign: 0, ..part(case, words, params, [index]) }, 0)
    });
    one.into_iter().chain([(fill::only(case, [words, 0, 0], index), index)]).collect()
}

fn part(case: &Case<Params>, words: usize, params: Params, elements: impl IntoIterator<Item = usize>) -> Case<Params> {
    let element = |at: usize| &case.tensors[0][at * words..][..words];
    let values: Vec<i32> = elements.into_iter().flat_map(element).copied().collect();
    Case { params, tensors: [values, Vec::new(), Vec::new()].into(), misalign: case.misalign }
}

/// Returns the elements of each channel or block.
fn by_scale(p: &Params) -> Vec<Vec<usize>> {
    let mut elements = vec![Vec::new(); p.quantized.scales.len()];
    places::scales(p).into_iter().enumerate().for_each(|(at, scale)| elements[scale].push(at));
    elements
}

/// Returns the elements of one channel or block, per layer. The other scales are not copied, because there may be thousands.
fn of_scale(case: &Case<Params>, words: usize, scale: usize, elements: Vec<usize>) -> Case<Params> {
    let p = &case.params;
    let quantized = per_layer(&p.quantized, scale);
    part(case, words, Params { quantized, container: p.container, shape: vec![elements.len()] }, elements)
}

/// Returns the type with one of its scales for all elements.
fn per_layer(quantized: &Quantized, scale: usize) -> Quantized {
    let Quantized { storage, min, max, expressed, ref scales, ref zero_points, .. } = *quantized;
    with_one_scale(storage, (min, max), expressed, scales[scale], zero_points[scale])
}

/// Returns cases reduced along each axis: half of the channels, blocks or block elements, or all but one at an end.
fn fewer(case: &Case<Params>, words: usize) -> Vec<Case<Params>> {
    let p = &case.params;
    let mut out = Vec::new();
    for (axis, dimension) in p.shape.iter().enumerate() {
        let count = places::blocks(p, axis);
        let size = dimension / count.max(1);
        out.extend(shrink::cuts(count).into_iter().map(|blocks| cut(case, words, axis, blocks, 0..size)));
        out.extend(shrink::cuts(size).into_iter().map(|inside| cut(case, words, axis, 0..count, inside)));
    }
    out.into_iter().flatten().collect()
}

/// Keeps some blocks (or channels) along an axis, and some elements of each; `None` if nothing remains.
fn cut(
    case: &Case<Params>,
    words: usize,
    axis: usize,
    blocks: Range<usize>,
    inside: Range<usize>,
) -> Option<Case<Params>> {
    let p = &case.params;
    if blocks.is_empty() || inside.is_empty() {
        return None;
    }
    let mut left = p.clone();
    left.shape[axis] = blocks.len() * inside.len();
    if let Granularity::Blocks { sizes, counts } = &mut left.quantized.granularity {
        counts[axis] = blocks.len();
        sizes.iter_mut().filter(|(a, _)| *a == axis).for_each(|(_, size)| *size = inside.len());
    }
    let scales = places::scales(p);
    let inner: usize = p.shape[axis + 1..].iter().product();
    let size = p.shape[axis] / places::blocks(p, axis).max(1);
    let kept = |at: &usize| {
        let index = at / inner % p.shape[axis];
        blocks.contains(&(index / size)) && inside.contains(&(index % size))
    };
    let elements: Vec<usize> = (0..scales.len()).filter(kept).collect();
    let mut of: Vec<usize> = elements.iter().map(|at| scales[*at]).collect();
    of.sort_unstable();
    of.dedup();
    left.quantized.scales = of.iter().map(|scale| p.quantized.scales[*scale]).collect();
    left.quantized.zero_points = of.iter().map(|scale| p.quantized.zero_points[*scale]).collect();
    Some(part(case, words, left, elements))
}

/// Returns parameters with one simplification each.
fn plainer(p: &Params) -> Vec<Params> {
    let quantized = &p.quantized;
    let (lo, hi) = (*quantized.storage.range().start(), *quantized.storage.range().end());
    let with = |quantized: Quantized| Params { quantized, ..p.clone() };
    vec![
        Params { container: Container::Ranked, ..p.clone() },
        with(Quantized { min: lo, max: hi, ..quantized.clone() }),
        with(Quantized { zero_points: vec![0.clamp(quantized.min, quantized.max)], ..quantized.clone() }),
        with(Quantized { scales: vec![Scale(1.0)], ..quantized.clone() }),
    ]
}
