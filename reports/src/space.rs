//! Ledger of a whole space: two schemes at every multiplier and shift, over every accumulator.
//!
//! The lines are JSON: the plan ([`Plan`]), a line for each chunk in the plan's order, a line for each shift, the total. The content is the same
//! for every machine and time of counting. Counts of accumulators are decimal strings, because many JSON readers round numbers
//! above 2^53.
//!
//! The ledger has chunks in addition to sums, so anyone can count the chunk of a line again (`--shift=S --multipliers=A..B`). Sums that are
//! read back must equal the sums of their chunks byte for byte. Times are not part of the count and go to standard error.
//!
//! A checksum proves nothing about the author. Ledgers and journals that are read back are therefore compared with the schemes again: the
//! ranges of all counts, the two pairs that each chunk names, and one chunk in 64 as a whole (all chunks if there are few). The content
//! selects these chunks, and the run prints their number; `--verify-all` counts all chunks.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use crate::space_plan::{Place, Plan};
pub use tiebreak_shards::Shard;

/// Accumulators at each pair of multiplier and shift: all int32 values.
pub const ACCUMULATORS: u64 = 1 << 32;

/// Count of accumulators, up to 2^67.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accumulators(pub u128);

impl Serialize for Accumulators {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Accumulators {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|e| serde::de::Error::custom(format!("`{text}` is no count: {e}")))
    }
}

/// Counts of one or several chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Pairs of multiplier and shift.
    pub pairs: u64,
    /// Pairs at which the schemes differ on some accumulator.
    pub pairs_differ: u64,
    /// Accumulators, over all pairs, for which both schemes have a value.
    pub inputs: Accumulators,
    /// Accumulators for which a scheme has no value.
    pub out_of_domain: Accumulators,
    /// Inputs on which the schemes differ.
    pub differ: Accumulators,
    /// Differing inputs by right minus left; `other` counts the deltas that a census does not list.
    pub by_delta: BTreeMap<String, Accumulators>,
    /// Pair with the most differing inputs; of equal pairs, the one with the smallest multiplier, then the largest shift.
    pub most: Option<Most>,
    /// First difference: the smallest multiplier with one, at the largest shift, on the accumulator nearest to zero.
    pub first: Option<First>,
}

/// Pair, with the number of inputs that differ at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
    /// Inputs that differ, among 2^32 accumulators.
    pub differ: u64,
}

/// Pair, accumulator, and the results of both schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct First {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
    /// Accumulator.
    pub x: i64,
    /// Result of the left scheme.
    pub left: i64,
    /// Result of the right scheme.
    pub right: i64,
}

impl Sums {
    /// Adds other counts. The order and grouping of additions do not matter.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.pairs_differ += other.pairs_differ;
        self.inputs.0 += other.inputs.0;
        self.out_of_domain.0 += other.out_of_domain.0;
        self.differ.0 += other.differ.0;
        for (delta, count) in &other.by_delta {
            self.by_delta.entry(delta.clone()).or_default().0 += count.0;
        }
        let most = [self.most, other.most].into_iter().flatten();
        self.most = most.max_by_key(|m| (m.differ, -i64::from(m.multiplier), m.shift));
        let first = [self.first, other.first].into_iter().flatten();
        self.first = first.min_by_key(|f| (f.multiplier, -i64::from(f.shift)));
    }
}

/// Chunk, with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Multipliers and shift.
    #[serde(flatten)]
    pub place: Place,
    /// Counts.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Error: sums that contradict their place or each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "shift {}, multipliers {}..{}: the counts do not add up to the accumulators there: the file is damaged or edited",
    .0.shift, .0.from, .0.to
)]
pub struct Impossible(Place);

impl Chunk {
    /// Checks that the counts fit the place and add up, for any schemes.
    pub fn possible(&self) -> Result<(), Impossible> {
        let Self { place, sums } = self;
        let all = u128::from(place.pairs()) * u128::from(ACCUMULATORS);
        let by_delta = sums.by_delta.values().try_fold(0u128, |all, count| all.checked_add(count.0));
        let adds_up = sums.pairs == place.pairs()
            && sums.pairs_differ <= sums.pairs
            && sums.inputs.0.checked_add(sums.out_of_domain.0) == Some(all)
            && sums.differ.0 <= sums.inputs.0
            && by_delta == Some(sums.differ.0);
        if adds_up { Ok(()) } else { Err(Impossible(*place)) }
    }
}

/// Sums of one shift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftSums {
    /// Shift.
    pub shift: i32,
    /// Sums over the multipliers of the shift.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// First line.
    Plan(Plan),
    /// Line of a chunk.
    Chunk(Chunk),
    /// Line of a shift.
    Shift(ShiftSums),
    /// Last line.
    Total(Sums),
}

/// All counts of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Plan of the count.
    pub plan: Plan,
    /// Chunks, in the plan's order.
    pub chunks: Vec<Chunk>,
}

/// Reason why a text is not a ledger.
#[derive(Debug, thiserror::Error)]
pub enum NotALedger {
    /// A line does not belong to a ledger.
    #[error("line {line} is not a line of a ledger: {cause}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Error of the parser.
        cause: serde_json::Error,
    },
    /// The text is empty, or begins with another line.
    #[error("it does not begin with a plan")]
    NoPlan,
    /// This program cannot read the format.
    #[error(
        "it has format {found}, and this program reads format {}; use the version of tiebreak that wrote it",
        Plan::FORMAT
    )]
    Format {
        /// Format of the text.
        found: u32,
    },
    /// A chunk has impossible sums.
    #[error("line {line}: {cause}")]
    Impossible {
        /// Line number, from 1.
        line: usize,
        /// Contradiction.
        cause: Impossible,
    },
    /// The text differs from the rendering of its own chunks.
    #[error("line {line} is not what its plan and chunks make: the file is incomplete, damaged or edited")]
    Otherwise {
        /// Line number, from 1.
        line: usize,
    },
}

impl Ledger {
    /// Makes a ledger of chunks in any order.
    pub fn new(plan: Plan, mut chunks: Vec<Chunk>) -> Self {
        chunks.sort_unstable_by_key(|chunk| chunk.place);
        Self { plan, chunks }
    }

    /// Returns the sums of each shift, in increasing order.
    pub fn shifts(&self) -> Vec<ShiftSums> {
        let mut shifts: BTreeMap<i32, Sums> = BTreeMap::new();
        for chunk in &self.chunks {
            shifts.entry(chunk.place.shift).or_default().add(&chunk.sums);
        }
        shifts.into_iter().map(|(shift, sums)| ShiftSums { shift, sums }).collect()
    }

    /// Returns the sums of all chunks.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.chunks.iter().for_each(|chunk| total.add(&chunk.sums));
        total
    }

    /// Returns the text of the ledger.
    pub fn render(&self) -> String {
        let chunks = self.chunks.iter().cloned().map(Line::Chunk);
        let shifts = self.shifts().into_iter().map(Line::Shift);
        let lines = std::iter::once(Line::Plan(self.plan.clone())).chain(chunks).chain(shifts);
        lines.chain([Line::Total(self.total())]).map(|line| render(&line)).collect()
    }

    /// Reads a ledger. The text must equal the rendering of its chunks byte for byte.
    pub fn parse(text: &str) -> Result<Self, NotALedger> {
        let mut plan = None;
        let mut chunks = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let parsed = serde_json::from_str(line).map_err(|cause| NotALedger::Line { line: i + 1, cause })?;
            match parsed {
                Line::Plan(found) if found.format != Plan::FORMAT => {
                    return Err(NotALedger::Format { found: found.format });
                }
                Line::Plan(found) => plan = plan.or(Some(found)),
                Line::Chunk(chunk) => {
                    chunk.possible().map_err(|cause| NotALedger::Impossible { line: i + 1, cause })?;
                    chunks.push(chunk);
                }
                Line::Shift(_) | Line::Total(_) => {}
            }
        }
        let ledger = Self::new(plan.ok_or(NotALedger::NoPlan)?, chunks);
        let whole = ledger.chunks.iter().map(|chunk| chunk.place).eq(ledger.plan.places());
        let rendered = ledger.render();
        if whole && rendered == text {
            return Ok(ledger);
        }
        let same = rendered.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
        Err(NotALedger::Otherwise { line: same + 1 })
    }
}

/// Returns a line with its line end.
pub fn render(line: &Line) -> String {
    serde_json::to_string(line).expect("names and numbers") + "\n"
}
