//! What a kernel is held against: its contract, or the reference.

use super::Case;
use super::hypotheses::{Hypothesis, hypotheses};
use tiebreak_common::class::Class;
use tiebreak_impls::contract::{Contract, Domain, Overflow as Declared, Promise, Region};
use tiebreak_impls::fpm::{Kernel, Params};
use tiebreak_oracle::fpm::{Parameters, Scheme, scheme::DEFINITIONS};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::ledger::Against;

/// A scheme with everything that explains departures from it.
#[derive(Clone, Debug)]
pub struct Norm {
    /// The scheme.
    pub scheme: Scheme,
    /// Ways to depart from it.
    pub hypotheses: Vec<Hypothesis>,
}

impl Norm {
    /// `scheme` with its hypotheses.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, hypotheses: hypotheses(&scheme) }
    }

    fn promised(promise: Promise) -> Result<Self, UnknownName> {
        Ok(Self::new(promised(promise)?))
    }
}

/// The oracle's scheme for a contract's promise.
pub fn promised(promise: Promise) -> Result<Scheme, UnknownName> {
    let definition = DEFINITIONS
        .iter()
        .find(|d| d.name == promise.scheme)
        .ok_or_else(|| unknown("scheme", promise.scheme, DEFINITIONS.iter().map(|d| d.name)))?;
    let overflow = match promise.overflow {
        Declared::Wrap => Overflow::Wrap,
        Declared::Saturate => Overflow::Saturate,
        Declared::OutOfDomain => Overflow::OutOfDomain,
    };
    Ok(Scheme { definition, overflow })
}

/// A region of a batch with what holds in it.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Where; nothing for the rest of the batch.
    pub region: Option<(Region, Class)>,
    /// What it is held against there.
    pub norm: Norm,
    /// What the contract says holds there.
    pub own: Scheme,
}

/// Everything one kernel is judged by, against its contract or against the reference.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// Contract or reference.
    pub against: Against,
    /// Declared deviations first, then the rest; never empty.
    pub zones: Vec<Zone>,
    /// The contract's scheme, which a kernel that keeps its contract has been found equal to.
    pub own: Scheme,
    /// The contract's domain.
    pub domain: Domain,
}

impl Yardstick {
    /// The kernel's own contract.
    pub fn contract(contract: &Contract) -> Result<Self, UnknownName> {
        let mut zones = Vec::new();
        for deviation in contract.deviations {
            let norm = Norm::promised(deviation.instead)?;
            let own = norm.scheme;
            zones.push(Zone { region: Some((deviation.region, deviation.class.parse()?)), norm, own });
        }
        let norm = Norm::promised(contract.promise)?;
        let own = norm.scheme;
        zones.push(Zone { region: None, norm, own });
        Ok(Self { against: Against::Contract, zones, own, domain: contract.domain.clone() })
    }

    /// The operation's reference. The zones of the contract are kept, so that a body and a tail that follow different
    /// schemes are explained apart.
    pub fn reference(contract: &Contract, reference: &Norm) -> Result<Self, UnknownName> {
        let mut yardstick = Self { against: Against::Reference, ..Self::contract(contract)? };
        for zone in &mut yardstick.zones {
            zone.norm = reference.clone();
        }
        Ok(yardstick)
    }

    /// What it is held against, by name.
    pub fn scheme(&self) -> &Scheme {
        &self.rest().norm.scheme
    }

    /// What holds outside every region.
    pub fn rest(&self) -> &Zone {
        self.zones.last().expect("never empty")
    }

    /// The zone of element `index` of `len`.
    pub fn zone_at(&self, index: usize, len: usize, q: u32) -> usize {
        let inside = |zone: &Zone| zone.region.is_none_or(|(region, _)| region.contains(index, len, q));
        self.zones.iter().position(inside).expect("the last zone holds everything")
    }

    /// The zone of a case.
    pub fn zone_of(&self, case: &Case) -> usize {
        self.zone_at(case.index, case.len, case.q)
    }

    /// What is expected of an accumulator in a zone. Where the contract promises nothing, nothing is expected by any reference.
    pub fn expected_in(&self, zone: usize, x: i32, p: &Parameters) -> Option<i64> {
        let (zone, x) = (&self.zones[zone], x.into());
        let refused = self.against == Against::Reference
            && zone.own.overflow == Overflow::OutOfDomain
            && zone.own.fast(x, p).is_none();
        if refused { None } else { zone.norm.scheme.fast(x, p) }
    }

    /// What is expected of a case, and in which zone.
    pub fn expected(&self, case: &Case) -> (usize, Option<i64>) {
        let zone = self.zone_of(case);
        (zone, self.expected_in(zone, case.x, &case.parameters()))
    }

    /// Whether every case of the batch is in the last zone.
    pub fn is_uniform(&self, params: &Params, len: usize) -> bool {
        let mut regions = self.zones.iter().filter_map(|z| z.region);
        len == 0 || !regions.any(|(region, _)| region.contains(len - 1, len, params.q))
    }

    /// How an output that follows the contract's scheme where a deviation is declared is named.
    pub fn stale(&self) -> Hypothesis {
        let because = "follows the contract's scheme where a deviation is declared".to_owned();
        Hypothesis::of(&self.own, Class::StaleDeviation, because)
    }
}

/// Whether the kernel promises anything at all for these parameters.
pub fn in_domain(kernel: &Kernel, params: &Params) -> bool {
    params.channels.iter().all(|c| kernel.contract.domain.contains(c.multiplier, c.shift, params.q))
}
