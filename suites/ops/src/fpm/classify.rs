//! The class of a set of outputs: the first hypothesis that reproduces all of them.

use super::hypotheses::{Hypothesis, hypotheses, structural_class};
use super::tally::Regime;
use super::yardstick::{Yardstick, Zone};
use super::{Case, parameters};
use std::collections::BTreeSet;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::{Budget, Effort};
use tiebreak_common::class::Class;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::ledger::Against;
use tiebreak_reports::text;

/// A case with what the kernel gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The input.
    pub case: Case,
    /// The output.
    pub got: i32,
}

/// Why outputs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The class.
    pub class: Class,
    /// In words.
    pub because: String,
    /// What reproduces every output; nothing where body and tail need one each, or nothing does.
    pub hypothesis: Option<Hypothesis>,
}

impl Explanation {
    /// Nothing explains it.
    pub fn none() -> Self {
        Self {
            class: Class::Unexplained,
            because: "no hypothesis reproduces every output".to_owned(),
            hypothesis: None,
        }
    }

    fn by(hypothesis: &Hypothesis, observations: &[Observation]) -> Self {
        let because = format!("{} ({})", hypothesis.because, examined(observations));
        Self { class: hypothesis.class, because, hypothesis: Some(hypothesis.clone()) }
    }

    /// Whether it also explains another output.
    pub fn covers(&self, observation: &Observation) -> bool {
        self.hypothesis.as_ref().is_none_or(|h| reproduces(h, observation))
    }
}

fn examined(observations: &[Observation]) -> String {
    format!("reproduces all {} outputs examined", text::count(observations.len() as u64))
}

/// Vector lengths at which a body and a tail are told apart.
const VECTOR_LANES: [usize; 3] = [4, 8, 16];

fn reproduces(hypothesis: &Hypothesis, o: &Observation) -> bool {
    hypothesis.predicts(o.case.x.into(), &o.case.parameters()) == Some(o.got.into())
}

fn reproduces_all(hypothesis: &Hypothesis, observations: &[Observation]) -> bool {
    observations.iter().all(|o| reproduces(hypothesis, o))
}

/// Explains `observations`, all of one zone, of which at least one differs from the zone's scheme; the differing ones come first.
/// `holds` says that the kernel keeps its contract on all of them. Nothing where no hypothesis does.
pub fn explain(yardstick: &Yardstick, zone: usize, observations: &[Observation], holds: bool) -> Option<Explanation> {
    let zone = &yardstick.zones[zone];
    let by = |hypothesis: &Hypothesis| Explanation::by(hypothesis, observations);
    let stale = yardstick.stale();
    if zone.region.is_some() && yardstick.against == Against::Contract && reproduces_all(&stale, observations) {
        return Some(by(&stale));
    }
    if holds && yardstick.against == Against::Reference {
        let probes = probes(yardstick, observations);
        let found = zone
            .norm
            .hypotheses
            .iter()
            .find(|h| reproduces_all(h, observations) && is(h, &zone.norm.scheme, &zone.own, &probes));
        return found.map(by).or_else(|| by_own_scheme(zone, observations));
    }
    let found = zone.norm.hypotheses.iter().find(|h| reproduces_all(h, observations));
    found.map(by).or_else(|| by_position(zone, observations))
}

/// Multipliers and shifts at which sequences that are not the same part.
const PROBE_MULTIPLIERS: [i32; 8] =
    [1_395_864_371, 1 << 30, (1 << 30) + 1, i32::MAX, 1_518_500_250, 3, 0x7FFF_EA86, -1_395_864_371];
const PROBE_SHIFTS: [i32; 12] = [-1, -2, -3, -8, -15, -31, 0, 1, 2, 7, 8, 30];

/// Parameters with accumulators.
type Probe = (Parameters, Vec<i32>);

/// What a kernel is known to compute although this run did not see it: it keeps its contract, so the contract's scheme. Probed in
/// the formats and in the directions of the shift that were observed.
fn probes(yardstick: &Yardstick, observations: &[Observation]) -> Vec<Probe> {
    let seen: BTreeSet<(u32, Regime)> =
        observations.iter().map(|o| (o.case.q, Regime::of(o.case.channel.shift))).collect();
    seen.into_iter().flat_map(|(q, regime)| probes_of(&yardstick.domain, q, regime)).collect()
}

fn probes_of(domain: &Domain, q: u32, regime: Regime) -> impl Iterator<Item = Probe> {
    let budget = Budget { random_accumulators: 32, near_ties: 16, ..Effort::Quick.budget() };
    let probe = move |channel| (parameters(channel, q), accumulators(channel, q, &budget, 0));
    probe_channels(domain, q, regime).map(probe)
}

/// The class of a scheme against the promised one, in any direction of the shift: that of the first hypothesis that is the scheme.
pub fn class_of(promised: &Scheme, own: &Scheme) -> Class {
    let regimes = [Regime::Right, Regime::None, Regime::Left].into_iter();
    let probes: Vec<Probe> = regimes.flat_map(|regime| probes_of(&Domain::ALL, 31, regime)).collect();
    let found = hypotheses(promised).into_iter().find(|h| is(h, promised, own, &probes));
    found.map_or_else(|| structural_class(promised.definition, own.definition), |h| h.class)
}

/// Where in `domain` sequences that are not the same part, for one direction of the shift.
pub fn probe_channels(domain: &Domain, q: u32, regime: Regime) -> impl Iterator<Item = Channel> {
    let shifts = PROBE_SHIFTS.into_iter().filter(move |s| Regime::of(*s) == regime);
    let all = shifts.flat_map(|shift| PROBE_MULTIPLIERS.map(|multiplier| Channel { multiplier, shift }));
    all.filter(move |c| domain.contains(c.multiplier, c.shift, q))
}

/// Whether a hypothesis is a scheme, wherever the one it departs from has a value.
fn is(hypothesis: &Hypothesis, promised: &Scheme, own: &Scheme, probes: &[Probe]) -> bool {
    probes.iter().all(|(p, xs)| {
        xs.iter().map(|x| i64::from(*x)).all(|x| match (promised.fast(x, p), own.fast(x, p)) {
            (Some(_), Some(own)) => hypothesis.predicts(x, p) == Some(own),
            _ => true,
        })
    })
}

/// A kernel that follows its own scheme against another one needs no change to explain it, only a name for what separates the two.
pub fn by_own_scheme(zone: &Zone, observations: &[Observation]) -> Option<Explanation> {
    let class = structural_class(zone.norm.scheme.definition, zone.own.definition);
    let because = format!("follows {}, as its contract says", zone.own.definition.name);
    let own = Hypothesis::of(&zone.own, class, because);
    reproduces_all(&own, observations).then(|| Explanation::by(&own, observations))
}

/// Body and tail each follow something, but not the same thing.
fn by_position(zone: &Zone, observations: &[Observation]) -> Option<Explanation> {
    let as_promised = Hypothesis::of(&zone.norm.scheme, Class::Position, "as promised".to_owned());
    let candidates: Vec<&Hypothesis> = std::iter::once(&as_promised).chain(&zone.norm.hypotheses).collect();
    let first = |part: &[Observation]| candidates.iter().find(|h| reproduces_all(h, part)).copied();
    VECTOR_LANES.into_iter().find_map(|lanes| {
        let (tail, body): (Vec<_>, Vec<_>) = observations.iter().partition(|o| o.case.is_in_tail(lanes));
        if body.is_empty() || tail.is_empty() {
            return None;
        }
        let (in_body, in_tail) = (first(&body)?, first(&tail)?);
        let because = format!(
            "vectors of {lanes}, body: {}, tail: {} ({})",
            in_body.because,
            in_tail.because,
            examined(observations)
        );
        Some(Explanation { class: Class::Position, because, hypothesis: None })
    })
}
