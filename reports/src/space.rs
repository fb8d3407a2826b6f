//! The ledger of a whole space: two schemes at every multiplier and shift, over every accumulator.
//!
//! Its lines are JSON: the plan ([`Plan`]), one line for each chunk in the plan's order, one for each shift, the total. Nothing in it
//! depends on which machine counted a chunk, or when. Counts of accumulators are decimal strings, because many readers of JSON
//! round numbers above 2^53.
//!
//! The ledger has chunks, not only sums: anyone can count the chunk of a line again (`--shift=S --multipliers=A..B`), and
//! sums that are read back must equal, to the byte, the sums of their chunks. Times go to standard error, because they are
//! no part of the count.
//!
//! A checksum proves nothing about the author. Ledgers and journals that are read back are therefore compared with the
//! schemes again: the ranges of all counts, the two pairs that each chunk names, and one chunk in 64 as a whole (all chunks
//! if there are few). The content decides which chunks, and the run prints how many; `--verify-all` counts all of them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use crate::space_plan::{Place, Plan};
pub use tiebreak_shards::Shard;

/// Accumulators at each pair of multiplier and shift: all int32.
pub const ACCUMULATORS: u64 = 1 << 32;

/// A count of accumulators, up to 2^67.
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

/// What was counted, of one chunk or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Pairs of multiplier and shift.
    pub pairs: u64,
    /// Pairs at which the schemes differ on some accumulator.
    pub pairs_differ: u64,
    /// Accumulators, over all pairs, for which both schemes have a value.
    pub inputs: Accumulators,
    /// The others.
    pub out_of_domain: Accumulators,
    /// Inputs on which the schemes differ.
    pub differ: Accumulators,
    /// Those by right minus left; `other` counts the deltas that a census does not list.
    pub by_delta: BTreeMap<String, Accumulators>,
    /// The pair with the most differing inputs; among equals the one with the smallest multiplier, then the largest shift.
    pub most: Option<Most>,
    /// The smallest multiplier at which the schemes differ, at the largest shift, on the accumulator nearest to zero.
    pub first: Option<First>,
}

/// A pair and how many inputs differ there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
    /// Inputs that differ, of 2^32 accumulators.
    pub differ: u64,
}

/// A pair, an accumulator, and the results of both schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct First {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
    /// Accumulator.
    pub x: i64,
    /// The result of the left scheme.
    pub left: i64,
    /// The result of the right scheme.
    pub right: i64,
}

impl Sums {
    /// Adds other counts. The order and grouping of such sums do not matter.
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

/// One chunk and what was counted there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Which.
    #[serde(flatten)]
    pub place: Place,
    /// What.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums that contradict their place or each other.
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

/// The sums of one shift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftSums {
    /// The shift.
    pub shift: i32,
    /// Over its multipliers.
    #[serde(flatten)]
    pub sums: Sums,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first.
    Plan(Plan),
    /// One for each chunk.
    Chunk(Chunk),
    /// One for each shift.
    Shift(ShiftSums),
    /// The last.
    Total(Sums),
}

/// All counts of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// What was to be counted.
    pub plan: Plan,
    /// In the plan's order.
    pub chunks: Vec<Chunk>,
}

/// Why a text is not a ledger.
#[derive(Debug, thiserror::Error)]
pub enum NotALedger {
    /// A line is not one of a ledger.
    #[error("line {line} is not a line of a ledger: {cause}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// It is empty, or it begins with something else.
    #[error("it does not begin with a plan")]
    NoPlan,
    /// It has a format that this program does not know.
    #[error(
        "it has format {found}, and this program reads format {}; use the version of tiebreak that wrote it",
        Plan::FORMAT
    )]
    Format {
        /// The format it has.
        found: u32,
    },
    /// A chunk has impossible sums.
    #[error("line {line}: {cause}")]
    Impossible {
        /// From 1.
        line: usize,
        /// What contradicts what.
        cause: Impossible,
    },
    /// It differs from what its own chunks give.
    #[error("line {line} is not what its plan and chunks make: the file is incomplete, damaged or edited")]
    Otherwise {
        /// From 1.
        line: usize,
    },
}

impl Ledger {
    /// Of chunks in any order.
    pub fn new(plan: Plan, mut chunks: Vec<Chunk>) -> Self {
        chunks.sort_unstable_by_key(|chunk| chunk.place);
        Self { plan, chunks }
    }

    /// The sums of each shift, in increasing order.
    pub fn shifts(&self) -> Vec<ShiftSums> {
        let mut shifts: BTreeMap<i32, Sums> = BTreeMap::new();
        for chunk in &self.chunks {
            shifts.entry(chunk.place.shift).or_default().add(&chunk.sums);
        }
        shifts.into_iter().map(|(shift, sums)| ShiftSums { shift, sums }).collect()
    }

    /// The sums of everything.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.chunks.iter().for_each(|chunk| total.add(&chunk.sums));
        total
    }

    /// The text of the ledger.
    pub fn render(&self) -> String {
        let chunks = self.chunks.iter().cloned().map(Line::Chunk);
        let shifts = self.shifts().into_iter().map(Line::Shift);
        let lines = std::iter::once(Line::Plan(self.plan.clone())).chain(chunks).chain(shifts);
        lines.chain([Line::Total(self.total())]).map(|line| render(&line)).collect()
    }

    /// Reads a ledger. It must be, to the byte, what its chunks give.
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

/// One line with its end.
pub fn render(line: &Line) -> String {
    serde_json::to_string(line).expect("names and numbers") + "\n"
}
