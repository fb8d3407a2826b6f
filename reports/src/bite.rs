//! What a run detects: the part of a plan that detects each known bug, and the detected localized faults.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A known bug with what of the plan shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kill {
    /// Operation.
    pub op: String,
    /// The mutant.
    pub mutant: String,
    /// Lane of the run.
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
    /// Rarity of the fault: size, width, or period.
    pub threshold: String,
    /// Faults planted.
    pub tried: u64,
    /// Faults of which the run saw a difference.
    pub detected: u64,
    /// Cases until the difference, of those detected: the median.
    pub cases: u64,
    /// The same: the most.
    pub most_cases: u64,
    /// Number of detected faults that only one part of the plan detects, by part.
    pub only: BTreeMap<String, u64>,
    /// Undetected faults.
    pub holes: Vec<Hole>,
}

/// A fault that no case shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// The kernel it was planted in.
    pub kernel: String,
    /// The fault, as JSON.
    pub fault: String,
    /// Results that it struck.
    pub struck: u64,
}

/// Mutants that only one generator detects, by generator.
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
