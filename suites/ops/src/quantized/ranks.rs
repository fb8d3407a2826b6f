//! Channels, and blocks, along each axis of tensors of one to five dimensions: code has a loop of its own for each number of axes, or of those before the
//! axis and behind it.

use super::plan::{Elements, spec};
use super::random;
use tiebreak_common::budget::Budget;
use tiebreak_common::stream::stream;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Granularity, Params, Storage};

/// Dimensions of tensors whose channels and blocks lie along every axis.
const RANKS: std::ops::RangeInclusive<usize> = 1..=5;

/// The cases, as far as a domain has such channels and blocks. In lanes of compiled modules, where each type is a function of its own, there are none.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64, elements: &impl Elements) -> Vec<Spec<Params>> {
    let rounds = if budget.every_tail { 3 } else { 1 };
    let mut out = Vec::new();
    if domain.compiled {
        return out;
    }
    for rank in RANKS {
        for axis in 0..rank {
            for form in [Form::Channels, Form::OneAxis, Form::Blocks] {
                for round in 0..rounds {
                    let i = out.len() + axis;
                    out.extend(of_rank(domain, (rank, axis, form), (seed, round), i, elements));
                }
            }
        }
    }
    out
}

/// What has scales of its own.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Each index of the axis.
    Channels,
    /// Each block along the axis, for each index of the others.
    OneAxis,
    /// Blocks along the axis and along others.
    Blocks,
}

fn of_rank(
    domain: &Domain,
    (rank, axis, form): (usize, usize, Form),
    (seed, round): (u64, usize),
    i: usize,
    elements: &impl Elements,
) -> Option<Spec<Params>> {
    let mut rng = stream(seed, &format!("quantized/rank/{rank}/{axis}/{form:?}/{round}"));
    let mut size = |least: i64, most: i64| random::between(least, most, &mut rng) as usize;
    // Long along the axis, short along the others; none are as many as another, as far as that goes.
    let (mut counts, mut lengths): (Vec<usize>, Vec<usize>) = match form {
        Form::Channels | Form::OneAxis => ((0..rank).map(|_| size(1, 3)).collect(), vec![1; rank]),
        Form::Blocks => (0..rank).map(|_| (size(1, 2), size(1, 2))).unzip(),
    };
    (counts[axis], lengths[axis]) = match form {
        Form::Channels => (size(2, 20), 1),
        _ => (size(2, 5), size(2, 9)),
    };
    let shape: Vec<usize> = counts.iter().zip(&lengths).map(|(count, length)| count * length).collect();
    let granularity = match form {
        Form::Channels => Granularity::Channel { axis },
        _ => Granularity::Blocks { sizes: lengths.into_iter().enumerate().collect(), counts },
    };
    if !domain.finest.takes(&granularity, &shape) {
        return None;
    }
    let scales = granularity.scales(&shape).ok()?;
    let any = Storage { bits: 1 + (i * 7 % 16) as u32, signed: i.is_multiple_of(2) };
    let ty = random::layer(domain, i, any, &mut rng);
    let quantized = random::several(&ty, scales, granularity, i, &mut rng);
    let params = Params { quantized, container: Container::Ranked, shape };
    let values = random::filled(&params, elements, &mut rng)?;
    Some(spec(&params.quantized, params.container, params.shape.clone(), values, i))
}
