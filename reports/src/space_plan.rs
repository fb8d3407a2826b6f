//! Counted part of a space, and its division into chunks, which is the same on every machine.

use serde::{Deserialize, Serialize};
use tiebreak_shards::Shard;

/// Plan of the count of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Format of the ledger.
    pub format: u32,
    /// Name of the space: its multipliers, shifts and accumulators.
    pub space: String,
    /// Version of the program.
    pub version: String,
    /// Commit of the program's sources, with a hash of local changes; absent outside of a repository.
    pub commit: Option<String>,
    /// Scheme whose results are subtracted.
    pub left: String,
    /// Scheme from whose results the results of `left` are subtracted.
    pub right: String,
    /// First and last shift.
    pub shifts: [i32; 2],
    /// First and last multiplier, both positive.
    pub multipliers: [i32; 2],
    /// Upper bound on the multipliers of a chunk. Chunks end before multiples of this number.
    pub chunk: u32,
    /// Shard, if the plan covers only one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shard: Option<Shard>,
}

/// Place of a chunk: some multipliers at one shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Shift.
    pub shift: i32,
    /// First multiplier.
    pub from: i32,
    /// Last multiplier.
    pub to: i32,
}

impl Place {
    /// Returns the number of pairs of multiplier and shift.
    pub fn pairs(&self) -> u64 {
        u64::from(self.to.abs_diff(self.from)) + 1
    }
}

impl Plan {
    /// Format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Returns the chunks of the plan, by shift and then by multiplier.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        let shard = self.shard;
        let mine = move |i: u64| shard.is_none_or(|shard| shard.has(i));
        self.all_places().filter(move |(i, _)| mine(*i)).map(|(_, place)| place)
    }

    /// Returns the chunks of all shards, numbered from 0.
    pub fn all_places(&self) -> impl Iterator<Item = (u64, Place)> + use<> {
        let ([first, last], [lo, hi]) = (self.multipliers.map(i64::from), self.shifts);
        let chunk = i64::from(self.chunk);
        let cuts = first / chunk..=last / chunk;
        let place = move |shift: i32, i: i64| Place {
            shift,
            from: first.max(i * chunk) as i32,
            to: last.min(i * chunk + chunk - 1) as i32,
        };
        let places = (lo..=hi).flat_map(move |shift| cuts.clone().map(move |i| place(shift, i)));
        (0..).zip(places)
    }

    /// Returns the plan without the shard.
    pub fn whole(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// Describes the differences of two plans, with both values; empty if they belong to one space. Shards may differ.
    pub fn unlike(&self, other: &Self) -> Vec<String> {
        let fields = |plan: &Self| match serde_json::to_value(plan.whole()) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let others = fields(other);
        let differs = |(name, value): (String, serde_json::Value)| {
            let there = others.get(&name).unwrap_or(&serde_json::Value::Null);
            (*there != value).then(|| format!("{name} {value} is {there} there"))
        };
        fields(self).into_iter().filter_map(differs).collect()
    }
}
