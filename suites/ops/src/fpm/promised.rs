//! What a contract says of each element: its scheme, and in the regions of its declared deviations another one.

use tiebreak_engine::operation::{NamedScheme, Tail, promised};
use tiebreak_impls::contract::Contract;
use tiebreak_impls::fpm::Batch;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;

/// Which way the shift goes: where every known sequence branches, and so where causes may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// `s < 0`.
    Right,
    /// `s = 0`.
    None,
    /// `s > 0`.
    Left,
}

impl Regime {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Right, Self::None, Self::Left];

    /// Of a shift.
    pub fn of(shift: i32) -> Self {
        match shift.signum() {
            -1 => Self::Right,
            0 => Self::None,
            _ => Self::Left,
        }
    }
}

/// A declared deviation.
pub type Zone = Tail<Scheme>;

/// A scheme, with deviations where it is that of a contract.
#[derive(Clone, Debug)]
pub struct Promised {
    /// What holds outside every deviation.
    pub scheme: Scheme,
    /// The deviations; the first region that holds an element decides.
    pub zones: Vec<Zone>,
}

impl NamedScheme for Promised {
    fn described() -> Vec<Described> {
        Scheme::described()
    }

    fn named(text: &str) -> Result<Self, UnknownName> {
        Scheme::parse(text).map(Self::plain)
    }

    fn label(&self) -> String {
        self.scheme.label()
    }
}

impl Promised {
    /// A scheme without deviations.
    pub fn plain(scheme: Scheme) -> Self {
        Self { scheme, zones: Vec::new() }
    }

    /// What a contract says.
    pub fn by<D>(contract: &Contract<D>) -> Result<Self, UnknownName> {
        let zones = contract.deviations.iter().map(Zone::of).collect::<Result<_, _>>()?;
        Ok(Self { scheme: promised(contract.promise)?, zones })
    }

    /// The zone of an element: that of a deviation, or the one after all of them.
    pub fn zone_at(&self, index: usize, batch: &Batch) -> usize {
        let holds = |zone: &Zone| zone.region.contains(index, batch.len, batch.params.q);
        self.zones.iter().position(holds).unwrap_or(self.rest())
    }

    /// The zone outside every deviation.
    pub fn rest(&self) -> usize {
        self.zones.len()
    }

    /// What holds in a zone, which may be one of another contract.
    pub fn at(&self, zone: usize) -> &Scheme {
        self.zones.get(zone).map_or(&self.scheme, |zone| &zone.scheme)
    }

    /// The group in which results of a zone and a regime are explained.
    pub fn group(&self, zone: usize, regime: Regime) -> usize {
        zone * Regime::ALL.len() + regime as usize
    }

    /// Zone and regime of a group.
    pub fn of_group(group: usize) -> (usize, Regime) {
        (group / Regime::ALL.len(), Regime::ALL[group % Regime::ALL.len()])
    }

    /// Whether every element of a batch lies outside the deviations.
    pub fn is_uniform(&self, batch: &Batch) -> bool {
        let last = batch.len.checked_sub(1);
        last.is_none_or(|last| !self.zones.iter().any(|zone| zone.region.contains(last, batch.len, batch.params.q)))
    }
}
