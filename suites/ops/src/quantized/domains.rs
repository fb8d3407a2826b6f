//! Cases of every storage type with every kind of bounds, at both ends and beyond, because clamps differ by width, sign and bounds.

use super::plan::{Elements, Plan, spec};
use super::{format, quantizations, random, with_one_scale};
use tiebreak_common::stream;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::quantized::{Container, Expressed, Params, Scale, Storage};

/// Kind of bounds of a type's stored values.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    /// All values.
    Whole,
    /// All values except for the smallest (narrow range): as many values below 0 as above.
    Narrow,
    /// No values below 0 for a signed type; all but the largest for an unsigned type.
    OneSide,
    /// Some values in the middle.
    Inner,
}

const BOUNDS: [Bounds; 4] = [Bounds::Narrow, Bounds::OneSide, Bounds::Inner, Bounds::Whole];

/// Storage types for compiled kernels, which need one function for each type.
const COMPILED: [Storage; 4] = [
    Storage { bits: 4, signed: true },
    Storage { bits: 4, signed: false },
    Storage { bits: 8, signed: true },
    Storage { bits: 8, signed: false },
];

/// Returns each storage type with each kind of bounds and each expressed type; in a short run, one or two kinds with one expressed type.
pub(super) fn plan(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let Plan { domain, budget, .. } = *plan;
    let any = (1..=32).flat_map(|bits| [true, false].map(|signed| Storage { bits, signed }));
    let storages: Vec<Storage> = match (domain.compiled, domain.storage) {
        (true, _) => COMPILED.to_vec(),
        (false, []) => any.collect(),
        (false, named) => named.to_vec(),
    };
    let kinds: Vec<Bounds> = BOUNDS.into_iter().filter(|kind| domain.bounds || matches!(kind, Bounds::Whole)).collect();
    let all = budget.every_tail && !domain.compiled;
    let mut out = Vec::new();
    for (i, storage) in storages.iter().enumerate() {
        for (k, kind) in kinds.iter().enumerate() {
            // A short run has the narrow range of each type, and one of the other bounds in turn if there are few types.
            if !all && k > 0 && (domain.compiled || domain.storage.is_empty() || k != (i + i / 2) % kinds.len()) {
                continue;
            }
            let turns = if all { domain.expressed.len() } else { 1 };
            for turn in 0..turns {
                let expressed = domain.expressed[(i / kinds.len() + k + turn) % domain.expressed.len()];
                let number = (i * BOUNDS.len() + k) * Expressed::ALL.len() + turn;
                out.extend(of(plan, (*storage, *kind, expressed), number));
            }
        }
    }
    out
}

fn of(
    plan: &Plan<'_, impl Elements>,
    (storage, kind, expressed): (Storage, Bounds, Expressed),
    i: usize,
) -> Option<Spec<Params>> {
    let Plan { domain, seed, elements, .. } = *plan;
    let (lo, hi) = storage.range().into_inner();
    let (min, max) = match kind {
        Bounds::Whole => (lo, hi),
        Bounds::Narrow => (lo + 1, hi),
        Bounds::OneSide if lo < 0 => (0, hi),
        Bounds::OneSide => (lo, hi - 1),
        Bounds::Inner => (lo + (hi - lo) / 5, hi - (hi - lo) / 3),
    };
    // A type has at least two values.
    if min >= max {
        return None;
    }
    let mut rng = stream(seed, &format!("quantized/domain/{}/{kind:?}/{}", storage.name(), expressed.name()));
    let zero_point = [0.clamp(min, max), min, max, random::between(min, max, &mut rng)][i / 3 % 4];
    // Small enough that some floats are beyond the ends.
    let largest = format(expressed).decode(format(expressed).largest()).finite()?.clone();
    let most = (largest / (8 * (max - min))).to_f64();
    let usual = random::scale(expressed, storage, &mut rng).0;
    let scale = if usual < most { usual } else { most };
    let quantized = with_one_scale(storage, (min, max), expressed, Scale(scale), zero_point);
    let q = quantizations(&quantized).ok()?.pop()?;
    let mut values = elements.beyond(&q);
    values.extend(elements.some(&q, INSIDE, &mut rng));
    let container = if domain.compiled { Container::Ranked } else { domain.containers[i % domain.containers.len()] };
    let shape = random::shape(values.len() / elements.words(expressed), container, i);
    Some(spec(Params { quantized, container, shape }, values, i))
}

/// Number of random values besides those at the ends.
const INSIDE: usize = 24;
