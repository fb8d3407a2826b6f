//! Channels and blocks along each axis of tensors of up to five dimensions, because code has separate loops by the number of axes.

use super::plan::{Elements, Plan, spec};
use super::random;
use tiebreak_common::stream;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::quantized::{Container, Granularity, Params, Storage};

/// Numbers of dimensions of tensors with channels and blocks along every axis.
const RANKS: std::ops::RangeInclusive<usize> = 1..=5;

/// Returns the cases that the domain covers. Empty for compiled kernels, which need one function for each type.
pub(super) fn plan(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let rounds = if plan.budget.every_tail { 3 } else { 1 };
    let mut out = Vec::new();
    if plan.domain.compiled {
        return out;
    }
    for rank in RANKS {
        for axis in 0..rank {
            for form in [Form::Channels, Form::OneAxis, Form::Blocks] {
                for round in 0..rounds {
                    let i = out.len() + axis;
                    out.extend(of_rank(plan, (rank, axis, form), round, i));
                }
            }
        }
    }
    out
}

/// Elements that share a scale.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Elements with the same index along the axis.
    Channels,
    /// Elements of a block along the axis, with the same indices along the other axes.
    OneAxis,
    /// Elements of a block along the axis and other axes.
    Blocks,
}

fn of_rank(
    plan: &Plan<'_, impl Elements>,
    (rank, axis, form): (usize, usize, Form),
    round: usize,
    i: usize,
) -> Option<Spec<Params>> {
    let Plan { domain, seed, elements, .. } = *plan;
    let mut rng = stream(seed, &format!("quantized/rank/{rank}/{axis}/{form:?}/{round}"));
    let mut size = |least: i64, most: i64| random::between(least, most, &mut rng) as usize;
    // Long along the axis and short along the others; sizes differ if possible.
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
    Some(spec(params, values, i))
}
