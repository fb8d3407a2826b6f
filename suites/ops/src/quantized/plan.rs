//! Types, containers and shapes for cases of quantize and dequantize. The operation supplies the elements.

use super::{blocks, covers, domains, overflow, places, quantizations, random, ranks, with_one_scale};
use rand_chacha::ChaCha8Rng;
use rug::Rational;
use tiebreak_common::{Budget, sizes};
use tiebreak_engine::operation::{CaseSelection, Fill, Spec, by, in_turns};
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Scale, Storage};
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_oracle::quantize::Quantization;

/// Source of the elements of tensors, for one operation.
pub trait Elements {
    /// Returns the number of words of an element.
    fn words(&self, expressed: Expressed) -> usize;
    /// Returns elements worth trying with the parameters, in order.
    fn elements(&self, q: &Quantization, seed: u64) -> Vec<i32>;
    /// Draws `count` elements: near changes of the result, subnormal, and any.
    fn some(&self, q: &Quantization, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32>;
    /// Returns every element, if there are few enough to run them all.
    fn every(&self, q: &Quantization) -> Option<Vec<i32>>;
    /// Returns elements at both ends of the storable range, and beyond.
    fn beyond(&self, q: &Quantization) -> Vec<i32>;
    /// Returns scales for which the cast of an element is at the overflow edge of the float. The scale of `q` is ignored.
    fn scales_at_overflow(&self, q: &Quantization) -> Vec<Rational>;
    /// Returns elements whose casts are at the overflow edge.
    fn overflowing(&self, q: &Quantization) -> Vec<i32>;
    /// Returns elements that each fill a whole tensor: elements near a decision boundary for which the schemes have values.
    fn repeated(&self, q: &Quantization) -> Vec<Vec<i32>>;
}

/// What the cases of a run are made from.
pub(super) struct Plan<'a, E> {
    /// Domain of the kernel.
    pub(super) domain: &'a Domain,
    /// Numbers of cases.
    pub(super) budget: &'a Budget,
    /// Seed of the run.
    pub(super) seed: u64,
    /// Elements of the operation.
    pub(super) elements: &'a E,
}

const fn storage(bits: u32, signed: bool) -> Storage {
    Storage { bits, signed }
}

/// Storage types for a domain without a list.
const STORAGE: [Storage; 7] = [
    storage(8, true),
    storage(8, false),
    storage(16, true),
    storage(16, false),
    storage(32, true),
    storage(32, false),
    storage(4, true),
];

/// Kernels that share the cases at bounds, at a float's end and along an axis in a short run: one of every [`TURNS`] kernels runs each case.
const TURNS: usize = 5;

/// Number of kinds of a type's parameters.
const KINDS: usize = 6;

/// Largest length of a tensor of one value: two vectors of any type, and elements after them.
const REPEATED: usize = 70;

/// Larger lengths that are whole numbers of vectors.
const WHOLE: [usize; 2] = [128, 192];

/// Returns the cases of a run.
pub fn plan(
    domain: &Domain,
    selection: &CaseSelection,
    budget: &Budget,
    seed: u64,
    elements: &impl Elements,
) -> Vec<Spec<Params>> {
    let plan = &Plan { domain, budget, seed, elements };
    let own = types(domain, budget);
    let types = if selection.types.is_empty() { &own } else { &selection.types };
    let mut out = Vec::new();
    for (i, quantized) in types.iter().enumerate() {
        match quantized.granularity {
            Granularity::Layer => by("types", &mut out, |out| layer(plan, (i, quantized), out)),
            Granularity::Channel { .. } => by("channels", &mut out, |out| channels(plan, (i, quantized), out)),
            Granularity::Blocks { .. } => by("blocks", &mut out, |out| blocks::asked(plan, (i, quantized), out)),
        }
    }
    if selection.types.is_empty() && domain.finest != Finest::Layer {
        for (i, quantized) in of_channels(domain, budget, types).into_iter().enumerate() {
            by("channels", &mut out, |out| channels(plan, (i, &quantized), out));
        }
    }
    if selection.types.is_empty() {
        by("random types", &mut out, |out| out.extend(random::plan(plan)));
        by("every length", &mut out, |out| out.extend(random::lengths(plan)));
        by("a long tensor", &mut out, |out| out.extend(random::long(plan)));
        by("a long tensor of channels", &mut out, |out| out.extend(random::long_channels(plan)));
        by("every number of channels", &mut out, |out| out.extend(random::numbers_of_channels(plan)));
        by("stored types", &mut out, |out| out.extend(in_turns(domains::plan(plan), TURNS, budget)));
        by("overflow", &mut out, |out| out.extend(in_turns(overflow::plan(plan), TURNS, budget)));
        by("every axis", &mut out, |out| out.extend(in_turns(ranks::plan(plan), TURNS, budget)));
        by("blocks", &mut out, |out| blocks::plan(plan, types, out));
        for quantized in repeated_types(types, 1) {
            by("one value a block", &mut out, |out| blocks::repeated(plan, quantized, out));
        }
    }
    let some = if budget.every_tail { 4 } else { 1 };
    for quantized in repeated_types(types, some) {
        by("one value a tensor", &mut out, |out| repeated(plan, quantized, out));
    }
    out.retain(|spec| covers(domain, &spec.params));
    out
}

/// Returns every storage type with every expressed type, each with several kinds of scales, zero points and bounds.
fn types(domain: &Domain, budget: &Budget) -> Vec<Quantized> {
    let storage = if domain.storage.is_empty() { &STORAGE[..] } else { domain.storage };
    // A compiled module costs a large part of a second.
    let kinds = match (budget.every_tail, domain.compiled) {
        (false, _) => 2,
        (true, true) => 3,
        (true, false) => KINDS,
    };
    let mut out = Vec::new();
    for kind in 0..kinds {
        for expressed in domain.expressed {
            out.extend(storage.iter().map(|storage| of_kind(domain, *storage, *expressed, kind)));
        }
    }
    out
}

fn of_kind(domain: &Domain, storage: Storage, expressed: Expressed, kind: usize) -> Quantized {
    let (lo, hi) = (*storage.range().start(), *storage.range().end());
    // Odd; beyond 24 bits, so that f32 rounds it, to a value halfway between two bf16 values. For u32 it is within the narrow bounds.
    let odd = match (storage.bits, storage.signed) {
        (32, true) => 16_842_753,
        (32, false) => 134_742_017,
        (16, _) => 3001,
        (8, false) => 129,
        _ => 1.min(hi),
    };
    let narrow = match storage {
        Storage { bits: 8, signed: true } => (-8, 7),
        _ => (lo + (hi - lo) / 64, hi - (hi - lo) / 3),
    };
    let bounded = if domain.bounds && matches!(kind, 1 | 5) && narrow.0 < narrow.1 { narrow } else { (lo, hi) };
    let (tiny, huge) = match expressed {
        Expressed::F16 => (1e-4, 1e4),
        Expressed::Bf16 | Expressed::F32 => (1e-30, 1e30),
        Expressed::F64 => (1e-300, 1e300),
    };
    let (scale, zero_point) = match kind {
        0 => (0.1, 0),
        1 => (0.3, odd),
        2 => (0.0625, lo),
        3 => (1.0 / 255.0, hi),
        4 => (tiny, odd),
        _ => (huge, odd),
    };
    with_one_scale(storage, bounded, expressed, Scale(scale), zero_point.clamp(bounded.0, bounded.1))
}

/// Adds the elements of interest in one tensor, and every element in another.
fn layer(plan: &Plan<'_, impl Elements>, (i, quantized): (usize, &Quantized), out: &mut Vec<Spec<Params>>) {
    let Plan { domain, budget, seed, elements } = *plan;
    let Ok([q]) = quantizations(quantized).as_deref().map(|all| [all[0]]) else { return };
    let some = elements.elements(&q, seed);
    let every = elements.every(&q).filter(|_| budget.sweep || i % if budget.every_tail { 7 } else { usize::MAX } == 0);
    let words = elements.words(quantized.expressed);
    let every = every.map(|values| beyond_16_bits(values, words));
    for (at, values) in [Some(some), every].into_iter().flatten().enumerate() {
        let container = domain.containers[(i + at) % domain.containers.len()];
        let shape = random::shape(values.len() / words, container, i + at);
        out.push(spec(Params { quantized: quantized.clone(), container, shape }, values, i));
    }
}

/// Extends a tensor of all 16-bit elements beyond 2^16, so that an element after the last 16-bit index differs from the first elements.
fn beyond_16_bits(mut values: Vec<i32>, words: usize) -> Vec<i32> {
    let more = sizes::LENGTHS[0] - (1 << 16);
    if values.len() == words << 16 {
        values.extend_from_within(words * FURTHER..words * (FURTHER + more));
    }
    values
}

/// Place of the elements that are repeated.
const FURTHER: usize = 15_361;

/// Builds a tensor at one of sixteen alignments.
pub(super) fn spec(params: Params, values: Vec<i32>, i: usize) -> Spec<Params> {
    Spec::new(params, [Fill::Given(values), Fill::None, Fill::None], i % 16)
}

/// Returns the first type of each expressed type, and of each storage type.
pub(super) fn new_types(types: &[Quantized]) -> Vec<&Quantized> {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for ty in types {
        if !seen.contains(&(Some(ty.expressed), None)) || !seen.contains(&(None, Some(ty.storage))) {
            out.push(ty);
        }
        seen.extend([(Some(ty.expressed), None), (None, Some(ty.storage))]);
    }
    out
}

/// Returns some of the types with three channels along each axis; in a short run, along one axis in turn.
fn of_channels(domain: &Domain, budget: &Budget, types: &[Quantized]) -> Vec<Quantized> {
    let mut out = Vec::new();
    for (i, ty) in new_types(types).into_iter().enumerate() {
        let (lo, hi) = (ty.min, ty.max);
        for axis in (0..3).filter(|axis| budget.every_tail || i % 3 == *axis) {
            let scales = [0.1, 0.25, 1.0 / 255.0].map(Scale).to_vec();
            let zero_points = vec![0.clamp(lo, hi), hi, (lo.midpoint(hi) | 1).clamp(lo, hi)];
            out.push(Quantized { granularity: Granularity::Channel { axis }, scales, zero_points, ..ty.clone() });
        }
    }
    let few = if domain.compiled { 12 } else { out.len() };
    out.truncate(few);
    out
}

/// Adds tensors of three dimensions, in every container, in which every channel has the elements of interest for its own parameters.
fn channels(plan: &Plan<'_, impl Elements>, (i, quantized): (usize, &Quantized), out: &mut Vec<Spec<Params>>) {
    let Plan { domain, seed, elements, .. } = *plan;
    let Granularity::Channel { axis } = quantized.granularity else { return };
    let Ok(all) = quantizations(quantized) else { return };
    let words = elements.words(quantized.expressed);
    let own: Vec<Vec<i32>> = all.iter().map(|q| elements.elements(q, seed)).collect();
    // If one tensor cannot hold all elements of each scale, the elements are cut off.
    let room = MAX_ELEMENTS / all.len().max(1) / 5 * 5;
    let most = own.iter().map(|values| values.len() / words).max().unwrap_or(0).min(room);
    // The other axes have five elements, and as many as are needed.
    let rest = [5, most.div_ceil(5)];
    let mut shape: Vec<usize> = (0..axis.max(2) + 1).map(|_| 1).collect();
    let others = (0..shape.len()).filter(|a| *a != axis);
    others.zip(rest).for_each(|(at, size)| shape[at] = size);
    shape[axis] = all.len();
    for container in domain.containers.iter().filter(|c| **c != Container::Scalar) {
        let params = Params { quantized: quantized.clone(), container: *container, shape: shape.clone() };
        let Some(values) = filled(plan, &params, (0, 1)) else { return };
        out.push(spec(params, values, i));
    }
}

/// Fills tensor `at` of `tensors` with the elements of interest of each scale, in order if they fit, otherwise spread over the tensors.
pub(super) fn filled(
    plan: &Plan<'_, impl Elements>,
    params: &Params,
    (at, tensors): (usize, usize),
) -> Option<Vec<i32>> {
    let words = plan.elements.words(params.quantized.expressed);
    let all = quantizations(&params.quantized).ok()?;
    let own: Vec<Vec<i32>> = all.iter().map(|q| plan.elements.elements(q, plan.seed)).collect();
    let scales = places::scales(params);
    let held = scales.len() / own.len().max(1);
    let mut next = vec![at * held; own.len()];
    let mut values = Vec::with_capacity(scales.len() * words);
    for scale in scales {
        let (there, room) = (own[scale].len() / words, held * tensors);
        let from = if there <= room { next[scale] % there.max(1) } else { next[scale] * there / room } * words;
        values.extend_from_slice(&own[scale][from..from + words]);
        next[scale] += 1;
    }
    Some(values)
}

/// Returns the first `some` types of each expressed type.
fn repeated_types(types: &[Quantized], some: usize) -> Vec<&Quantized> {
    let mut out: Vec<&Quantized> = Vec::new();
    for ty in types.iter().filter(|ty| ty.granularity == Granularity::Layer) {
        if out.iter().filter(|known| known.expressed == ty.expressed).count() < some {
            out.push(ty);
        }
    }
    out
}

/// Adds tensors of one value of every length; body and tail must give the same results.
fn repeated(plan: &Plan<'_, impl Elements>, quantized: &Quantized, out: &mut Vec<Spec<Params>>) {
    let Plan { domain, elements, .. } = *plan;
    let Ok(all) = quantizations(quantized) else { return };
    for (i, element) in elements.repeated(&all[0]).into_iter().enumerate() {
        for len in (0..=REPEATED).chain(WHOLE) {
            let container = domain.containers[(i + 1) % domain.containers.len()];
            let params = Params { quantized: quantized.clone(), container, shape: vec![len] };
            out.push(spec(params, element.repeat(len), len));
        }
    }
}
