//! Bugs that a run detects: each known bug with the generators that detect it, and the injected local faults.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Known bug, and the part of the plan that detects it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kill {
    /// Operation.
    pub op: String,
    /// Mutant.
    pub mutant: String,
    /// Lane of the run.
    pub lane: String,
    /// Class of its differences.
    pub class: String,
    /// Generator of the first case that differs; `None` if no case differs.
    pub generator: Option<String>,
    /// Number of that case in the plan, from 1; number of all cases if no case differs.
    pub cases: u64,
    /// Generators with a case that differs.
    pub generators: Vec<String>,
    /// Smallest difference, as text.
    pub witness: String,
}

/// Faults of one kind and threshold, injected one at a time into the kernels of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planted {
    /// Operation.
    pub op: String,
    /// Kind of the fault, such as `from element`.
    pub family: String,
    /// Rarity of the fault: size, width, or period.
    pub threshold: String,
    /// Faults injected.
    pub tried: u64,
    /// Faults that caused a difference in the run.
    pub detected: u64,
    /// Median number of cases until the difference, over the detected faults.
    pub cases: u64,
    /// Largest number of cases until the difference, over the detected faults.
    pub most_cases: u64,
    /// Number of detected faults that only one part of the plan detects, by part.
    pub only: BTreeMap<String, u64>,
    /// Undetected faults.
    pub holes: Vec<Hole>,
}

/// Fault that no case detects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// Kernel with the fault.
    pub kernel: String,
    /// Fault, as JSON.
    pub fault: String,
    /// Results that the fault affected.
    pub struck: u64,
}

/// Returns the mutants that only one generator detects, by operation and generator.
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
