//! What a run catches: which part of a plan shows each known bug, and which faults of one place are seen.

use serde::Serialize;
use std::collections::BTreeMap;

/// A known bug with what of the plan shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kill {
    /// Operation.
    pub op: String,
    /// The mutant.
    pub mutant: String,
    /// Where it ran.
    pub lane: String,
    /// Class of its differences.
    pub class: String,
    /// The generator of the first case that differs; none where no case does.
    pub generator: Option<String>,
    /// The number of that case in the plan, from 1; all cases where none differs.
    pub cases: u64,
    /// Every generator of which a case differs.
    pub generators: Vec<String>,
    /// The smallest difference, in words.
    pub witness: String,
}

/// Faults of one kind at one threshold, planted one at a time in the kernels of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planted {
    /// Operation.
    pub op: String,
    /// Kind of the fault, such as `from element`.
    pub family: String,
    /// How rare it is: the size, the width, or the period.
    pub threshold: String,
    /// Faults planted.
    pub tried: u64,
    /// Faults of which the run saw a difference.
    pub convicted: u64,
    /// Cases until the difference, of those convicted: the median.
    pub cases: u64,
    /// The same: the most.
    pub most_cases: u64,
    /// Of those convicted, how many one part of the plan shows and no other.
    pub only: BTreeMap<String, u64>,
    /// Those that were not convicted.
    pub holes: Vec<Hole>,
}

/// A fault that no case shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hole {
    /// The kernel it was planted in.
    pub kernel: String,
    /// The fault, as JSON.
    pub fault: String,
    /// Results that it struck.
    pub struck: u64,
}

/// Of the mutants those that a generator shows and no other.
pub fn indispensable(kills: &[Kill]) -> BTreeMap<(&str, &str), Vec<&str>> {
    let mut all: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for kill in kills {
        for generator in &kill.generators {
            let only = all.entry((&kill.op, generator)).or_default();
            if kill.generators.len() == 1 && !only.contains(&kill.mutant.as_str()) {
                only.push(&kill.mutant);
            }
        }
    }
    all
}
