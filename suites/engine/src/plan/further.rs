//! Further cases of every plan: calls that differ little from the previous call, and tensors with parts that are zero or alike.
//!
//! Some of the operation's own cases are bases for two kinds of cases: calls that differ in one parameter or by an exchange of two, followed by the
//! first parameters again (`sequences.rs`), and tensors with empty or equal slices (`structured.rs`). Both work on parameters as JSON and on tensor
//! dimensions, so a new operation needs no code for them. `self_check/history.rs` and `self_check/slices.rs` define the same kinds independently, for
//! fault injection.

use crate::erased::{Domain, Params};
use crate::operation::case::{Case, Spec};
use crate::operation::element::Element;
use crate::operation::fill::Fill;
use crate::plan::{sequences, structured};
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_common::budget::Budget;

/// Number of results of a base.
const RESULTS: std::ops::RangeInclusive<usize> = 24..=300;

/// Largest number of words that a base reads.
const WORDS: usize = 3000;

/// Least number of different elements in each tensor of a base, if length and type allow as many.
const DIFFERENT: usize = 12;

/// Number of elements along an axis beyond which more elements bring no advantage.
const BLOCK: u32 = 128;

/// Least number of elements along an axis of slices: two equal slices then leave a third that differs.
const SLICES: usize = 3;

/// Elements of a vector.
const VECTOR: usize = 8;

/// Number of bases of a short run, and of other runs; raised to the number of different ranks.
const BASES: [usize; 2] = [3, 4];

/// Number of candidates in each part of a plan: the cases with the largest extent.
const CHOICE: usize = 16;

/// Makes the further cases from some of the operation's own.
pub(crate) fn plan(domain: &Domain, own: &[Spec<Params>], budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let bases = BASES[usize::from(budget.every_tail)];
    let parts = parts(domain, own, bases);
    let most = bases.max(parts.len());
    let candidates = parts.into_iter().flat_map(|part| candidates(domain, own, part, seed)).collect();
    let mut out = Vec::new();
    for (base, generator) in chosen(domain, candidates, most) {
        let sequence = sequences::around(domain, &base);
        let cases = sequence.into_iter().chain(structured::of(domain, &base));
        out.extend(cases.map(|case| given(case).by(generator)));
    }
    out
}

/// Number of results with three blocks of every period.
const BLOCKS: usize = SLICES * structured::PERIODS[structured::PERIODS.len() - 1];

/// Returns the places of own cases small enough for a base. If no case with three blocks of every period fits, the shortest of them sets the limit.
fn fitting(domain: &Domain, own: &[Spec<Params>]) -> Vec<usize> {
    let results = |spec: &Spec<Params>| {
        let sizes = domain.sizes(&spec.params).ok()?;
        let small = RESULTS.start() <= &sizes.outputs && sizes.inputs.iter().sum::<usize>() <= WORDS;
        (small && domain.covers(&spec.params)).then_some(sizes.outputs)
    };
    let each: Vec<Option<usize>> = own.iter().map(results).collect();
    let enough = each.iter().flatten().filter(|len| **len >= BLOCKS).min();
    let most = enough.map_or(*RESULTS.end(), |least| *RESULTS.end().max(least));
    (0..own.len()).filter(|at| each[*at].is_some_and(|len| len <= most)).collect()
}

/// Returns the cases of a part with the largest extent, and their generators.
fn candidates(domain: &Domain, own: &[Spec<Params>], mut part: Vec<usize>, seed: u64) -> Vec<Candidate> {
    part.sort_by_cached_key(|at| std::cmp::Reverse(extent(domain, &own[*at].params)));
    let made = |at: usize| Some((own[at].case(domain, seed)?, own[at].generator));
    part.into_iter().filter_map(made).filter(|(case, _)| is_varied(domain, case)).take(CHOICE).collect()
}

/// Candidate for a base, with the name of the generator.
type Candidate = (Case<Params>, &'static str);

/// Feature of a base: an axis with slices in a tensor of some rank, an axis with a vector, blocks of a flat tensor, or a change of a parameter.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
    Slices([usize; 3]),
    Vector([usize; 3]),
    Blocks([usize; 2]),
    Change(String),
}

fn features(domain: &Domain, params: &Params) -> BTreeSet<Feature> {
    let changes = sequences::neighbours(domain, params).into_iter().map(|(name, _)| Feature::Change(name));
    let mut out: BTreeSet<Feature> = changes.collect();
    for t in 0..domain.op().tensors().len() {
        let sizes = domain.dimensions(params, t);
        for (axis, size) in sizes.iter().enumerate() {
            let place = [sizes.len(), t, axis];
            out.extend((*size >= SLICES).then_some(Feature::Slices(place)));
            out.extend((*size >= VECTOR).then_some(Feature::Vector(place)));
        }
        if let [len] = sizes[..] {
            let blocks = structured::PERIODS.into_iter().filter(|words| len >= SLICES * words);
            out.extend(blocks.map(|words| Feature::Blocks([t, words])));
        }
    }
    out
}

/// Chooses up to `most` candidates by a greedy cover: each adds the most new features.
fn chosen(domain: &Domain, candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    let mut rest: Vec<_> = candidates.into_iter().map(|it| (features(domain, &it.0.params), it)).collect();
    let mut shown = BTreeSet::new();
    let mut out = Vec::new();
    while out.len() < most {
        let new = |at: &usize| rest[*at].0.difference(&shown).count();
        // Equally good candidates: the first wins.
        let Some(best) = (0..rest.len()).min_by_key(|at| std::cmp::Reverse(new(at))).filter(|at| new(at) > 0) else {
            break;
        };
        let (features, candidate) = rest.remove(best);
        shown.extend(features);
        out.push(candidate);
    }
    out
}

/// Returns the sets of cases from which bases are chosen: cases of equal rank of the first tensor or, for a single rank, parts of the plan of
/// different kinds.
fn parts(domain: &Domain, own: &[Spec<Params>], bases: usize) -> Vec<Vec<usize>> {
    let fitting = fitting(domain, own);
    let mut ranks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in &fitting {
        ranks.entry(domain.dimensions(&own[*at].params, 0).len()).or_default().push(*at);
    }
    if ranks.len() > 1 {
        return ranks.into_values().collect();
    }
    let part = |turn: usize| fitting[fitting.len() * turn / bases..fitting.len() * (turn + 1) / bases].to_vec();
    (0..bases).map(part).collect()
}

/// Measures a case: number of axes with enough slices, number of axes with whole vectors, and the extent along all axes together, each axis up to a
/// block. A tensor that is long along one axis only has few slices.
fn extent(domain: &Domain, params: &Params) -> (usize, usize, u32, u32) {
    let axes: Vec<usize> = (0..domain.op().tensors().len()).flat_map(|t| domain.dimensions(params, t)).collect();
    let at_least = |least: usize| axes.iter().filter(|size| **size >= least).count();
    let up_to_a_block = || axes.iter().map(|size| (1 + *size as u32).min(BLOCK));
    let together = up_to_a_block().map(u32::ilog2).sum();
    // Tie break: the longer tensor, because three blocks of 32 elements are more than 64.
    (at_least(SLICES), at_least(VECTOR), together, up_to_a_block().sum())
}

/// True if each tensor has enough different elements: as many as length and type allow, up to [`DIFFERENT`].
fn is_varied(domain: &Domain, case: &Case<Params>) -> bool {
    let values = |t: usize| match domain.element(&case.params, t) {
        Element::Integer(range) => usize::try_from(range.end() - range.start() + 1).unwrap_or(usize::MAX),
        Element::Float(_) => usize::MAX,
    };
    case.tensors.iter().enumerate().filter(|(_, tensor)| !tensor.is_empty()).all(|(t, tensor)| {
        let seen: BTreeSet<i32> = tensor.iter().copied().collect();
        seen.len() >= DIFFERENT.min(tensor.len()).min(values(t))
    })
}

fn given(case: Case<Params>) -> Spec<Params> {
    let fill = |tensor: Vec<i32>| if tensor.is_empty() { Fill::None } else { Fill::Given(tensor) };
    Spec::new(case.params, case.tensors.into_inner().map(fill), case.misalign)
}
