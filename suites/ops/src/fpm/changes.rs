//! Changes that a kernel may make to a fixed point multiply: the hypotheses about a scheme, and a different scheme in the tail of a vector. A
//! kernel that keeps its contract has only changes that are equal to its contract's scheme.

use super::hypotheses::{Hypothesis, hypotheses, structural_class};
use super::promised::{Promised, ShiftDirection};
use super::{FixedPointMultiply, Q31, each, parameters};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::{Budget, Class, Effort};
use tiebreak_engine::operation::{Change, Observed};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel};
use tiebreak_oracle::fpm::{Parameters, Scheme};

type Causes = Vec<Change<FixedPointMultiply>>;

/// Vector lengths for which body and tail may differ.
const VECTOR_LANES: [usize; 3] = [4, 8, 16];

/// Returns the hypotheses about differences in a group, in the order of preference. `kept` is true if the kernel keeps its contract.
pub fn possible(group: usize, contract: &Promised, scheme: &Promised, kept: bool) -> Vec<Hypothesis> {
    let (zone, _) = Promised::of_group(group);
    let (norm, own) = (scheme.at(zone), contract.at(zone));
    let stale = scheme.zones.get(zone).map(|_| {
        let because = "follows the contract's scheme where a deviation is declared".to_owned();
        Hypothesis::of(&contract.scheme, Class::StaleDeviation, because)
    });
    let follows = kept.then(|| {
        let class = structural_class(norm.definition, own.definition);
        Hypothesis::of(own, class, format!("follows {}, as its contract says", own.definition.name))
    });
    stale.into_iter().chain(hypotheses(norm)).chain(follows).collect()
}

/// Returns [`possible`] as changes, and for a broken contract also different schemes in body and tail.
pub fn changes_in(group: usize, contract: &Promised, scheme: &Promised, domain: &Domain, kept: bool) -> Causes {
    let (zone, direction) = Promised::of_group(group);
    let (norm, own) = (*scheme.at(zone), *contract.at(zone));
    let all = possible(group, contract, scheme, kept);
    if !kept {
        return all.into_iter().map(cause).chain([position(norm)]).collect();
    }
    // The last hypothesis is the kernel's own scheme.
    let last = all.len() - 1;
    let own = |(at, hypothesis): (usize, Hypothesis)| match at == last {
        true => cause(hypothesis),
        false => {
            let same = Same { hypothesis: hypothesis.clone(), norm, own, domain: domain.clone(), direction };
            let known: Mutex<BTreeMap<u32, bool>> = Mutex::default();
            let everywhere = move |evidence: &[&Observed<Batch>]| {
                let formats: BTreeSet<u32> = evidence.iter().map(|seen| seen.case.params.params.q).collect();
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                formats.into_iter().all(|q| *known.entry(q).or_insert_with(|| same.is(q)))
            };
            cause(hypothesis).only_if(everywhere)
        }
    };
    all.into_iter().enumerate().map(own).collect()
}

/// Returns every change of a scheme, for any place.
pub(super) fn changes(scheme: &Scheme) -> Causes {
    hypotheses(scheme).into_iter().map(cause).chain([position(*scheme)]).collect()
}

fn cause(hypothesis: Hypothesis) -> Change<FixedPointMultiply> {
    let (class, because) = (hypothesis.class, hypothesis.because.clone());
    Change::predicts(class, because, move |case| {
        Some(each(case, |_, x, p| hypothesis.predicts(x, p).map(|v| v as i32)))
    })
}

/// Check that a hypothesis equals the contract's scheme, for the observed formats and direction of the shift.
struct Same {
    hypothesis: Hypothesis,
    norm: Scheme,
    own: Scheme,
    domain: Domain,
    direction: ShiftDirection,
}

impl Same {
    fn is(&self, q: u32) -> bool {
        is(&self.hypothesis, &self.norm, &self.own, probes(&self.domain, q, self.direction))
    }
}

/// Multipliers and shifts for which different schemes give different results.
const PROBE_MULTIPLIERS: [i32; 8] =
    [1_395_864_371, 1 << 30, (1 << 30) + 1, i32::MAX, 1_518_500_250, 3, 0x7FFF_EA86, -1_395_864_371];
const PROBE_SHIFTS: [i32; 12] = [-1, -2, -3, -8, -15, -31, 0, 1, 2, 7, 8, 30];

/// Parameters with accumulators.
type Probe = (Parameters, Vec<i32>);

fn probes(domain: &Domain, q: u32, direction: ShiftDirection) -> impl Iterator<Item = Probe> {
    let budget = Budget { random_accumulators: 32, near_ties: 16, ..Effort::Quick.budget() };
    let probe = move |channel| (parameters(channel, q), accumulators(channel, q, &budget, 0));
    probe_channels(domain, q, direction).map(probe)
}

/// Returns the class of the difference between two schemes: the class of the first hypothesis equal to `own`. Results are cached.
pub fn class_of(promised: &Scheme, own: &Scheme) -> Class {
    static KNOWN: Mutex<BTreeMap<[String; 2], Class>> = Mutex::new(BTreeMap::new());
    let pair = [promised, own].map(Scheme::label);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(class) = known().get(&pair) {
        return *class;
    }
    let class = first_class(promised, own);
    known().insert(pair, class);
    class
}

fn first_class(promised: &Scheme, own: &Scheme) -> Class {
    let probes: Vec<Probe> =
        ShiftDirection::ALL.into_iter().flat_map(|direction| probes(&Domain::ALL, Q31, direction)).collect();
    let found = hypotheses(promised).into_iter().find(|h| is(h, promised, own, probes.iter().cloned()));
    found.map_or_else(|| structural_class(promised.definition, own.definition), |h| h.class)
}

/// Returns the pairs of `domain`, for one direction of the shift, for which different schemes give different results.
pub fn probe_channels(domain: &Domain, q: u32, direction: ShiftDirection) -> impl Iterator<Item = Channel> {
    let shifts = PROBE_SHIFTS.into_iter().filter(move |s| ShiftDirection::of(*s) == direction);
    let all = shifts.flat_map(|shift| PROBE_MULTIPLIERS.map(|multiplier| Channel { multiplier, shift }));
    all.filter(move |c| domain.contains(c.multiplier, c.shift, q))
}

/// True if a hypothesis is equal to the scheme `own` for all probes for which `promised` has a value.
fn is(hypothesis: &Hypothesis, promised: &Scheme, own: &Scheme, mut probes: impl Iterator<Item = Probe>) -> bool {
    probes.all(|(p, xs)| {
        xs.iter().map(|x| i64::from(*x)).all(|x| match (promised.fast(x, &p), own.fast(x, &p)) {
            (Some(_), Some(own)) => hypothesis.predicts(x, &p) == Some(own),
            _ => true,
        })
    })
}

/// Result with its input and its place.
struct Element {
    x: i64,
    p: Parameters,
    got: i32,
    index: usize,
    len: usize,
}

/// Returns the results for which the scheme has a value.
fn elements(evidence: &[&Observed<Batch>]) -> Vec<Element> {
    let of = |seen: &&Observed<Batch>| {
        let len = seen.outs.len();
        let all = each(&seen.case, |index, x, p| {
            seen.expected[index].map(|_| Element { x, p: *p, got: seen.outs[index], index, len })
        });
        all.into_iter().flatten().collect::<Vec<_>>()
    };
    evidence.iter().flat_map(of).collect()
}

/// Finds different hypotheses for body and tail. A single case may show only one of them.
fn position(norm: Scheme) -> Change<FixedPointMultiply> {
    let as_promised = Hypothesis::of(&norm, Class::Position, "as promised".to_owned());
    let candidates: Arc<[Hypothesis]> = std::iter::once(as_promised).chain(hypotheses(&norm)).collect();
    Change::found(Class::Position, move |evidence| {
        let elements = elements(evidence);
        let reproduces = |h: &Hypothesis, e: &Element| h.predicts(e.x, &e.p) == Some(e.got.into());
        let first = |part: &[&Element]| candidates.iter().find(|h| part.iter().all(|e| reproduces(h, e)));
        VECTOR_LANES.into_iter().find_map(|lanes| {
            let (tail, body): (Vec<&Element>, Vec<&Element>) =
                elements.iter().partition(|e| e.index >= e.len - e.len % lanes);
            if evidence.len() > 1 && (body.is_empty() || tail.is_empty()) {
                return None;
            }
            let (in_body, in_tail) = (first(&body)?, first(&tail)?);
            if std::ptr::eq(in_body, in_tail) {
                return None;
            }
            Some(format!("vectors of {lanes}, body: {}, tail: {}", in_body.because, in_tail.because))
        })
    })
}
