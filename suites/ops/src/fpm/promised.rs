//! Scheme that a contract promises for each element; the regions of declared deviations have their own schemes.

use tiebreak_engine::operation::{NamedScheme, Tail, promised};
use tiebreak_impls::contract::Contract;
use tiebreak_impls::fpm::Batch;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;

/// Direction of the shift. Every known scheme branches on the direction, so causes may differ by direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShiftDirection {
    /// `s < 0`.
    Right,
    /// `s = 0`.
    None,
    /// `s > 0`.
    Left,
}

impl ShiftDirection {
    /// All directions.
    pub const ALL: [Self; 3] = [Self::Right, Self::None, Self::Left];

    /// Returns the direction of a shift.
    pub fn of(shift: i32) -> Self {
        match shift.signum() {
            -1 => Self::Right,
            0 => Self::None,
            _ => Self::Left,
        }
    }
}

/// Declared deviation.
pub type Zone = Tail<Scheme>;

/// Scheme, with the deviations of a contract if it comes from a contract.
#[derive(Clone, Debug)]
pub struct Promised {
    /// Scheme outside every deviation.
    pub scheme: Scheme,
    /// Deviations; the first deviation whose region contains an element applies.
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
    /// Makes a scheme without deviations.
    pub fn plain(scheme: Scheme) -> Self {
        Self { scheme, zones: Vec::new() }
    }

    /// Reads the scheme and the deviations of a contract.
    pub fn by<D>(contract: &Contract<D>) -> Result<Self, UnknownName> {
        let zones = contract.deviations.iter().map(Zone::of).collect::<Result<_, _>>()?;
        Ok(Self { scheme: promised(contract.promise)?, zones })
    }

    /// Returns the zone of an element: the index of a deviation, or [`Promised::rest`].
    pub fn zone_at(&self, index: usize, batch: &Batch) -> usize {
        let holds = |zone: &Zone| zone.region.contains(index, batch.len, batch.params.q);
        self.zones.iter().position(holds).unwrap_or(self.rest())
    }

    /// Returns the zone outside every deviation.
    pub fn rest(&self) -> usize {
        self.zones.len()
    }

    /// Returns the scheme of a zone. Zones of another contract are accepted.
    pub fn at(&self, zone: usize) -> &Scheme {
        self.zones.get(zone).map_or(&self.scheme, |zone| &zone.scheme)
    }

    /// Returns the group in which the results of a zone and a shift direction are explained.
    pub fn group(&self, zone: usize, direction: ShiftDirection) -> usize {
        zone * ShiftDirection::ALL.len() + direction as usize
    }

    /// Returns the zone and the shift direction of a group.
    pub fn of_group(group: usize) -> (usize, ShiftDirection) {
        (group / ShiftDirection::ALL.len(), ShiftDirection::ALL[group % ShiftDirection::ALL.len()])
    }

    /// True if every element of a batch is outside the deviations.
    pub fn is_uniform(&self, batch: &Batch) -> bool {
        let last = batch.len.checked_sub(1);
        last.is_none_or(|last| !self.zones.iter().any(|zone| zone.region.contains(last, batch.len, batch.params.q)))
    }
}
