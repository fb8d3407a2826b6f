//! Types of what the commands that list kernels, schemes, known bugs and vectors print as JSON.

use super::{Number, forms};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

forms! {
    /// A kernel, or a known bug, with its contract.
    struct Kernel {
        op: String,
        kernel: String,
        /// `kernel` or `mutant`.
        kind: String,
        summary: String,
        /// The scheme that it promises.
        scheme: String,
        /// What a result beyond int32 becomes.
        overflow: String,
        domain: String,
        deviations: Vec<Deviation>,
        /// Repository and file.
        source: String,
        /// The path of its code on this machine, or why it does not run here.
        host: String,
        /// Instructions that it must have; null for scalar code.
        vector_instructions: Option<Vec<String>>,
    }

    /// A known deviation of a contract.
    struct Deviation {
        class: String,
        /// The scheme in place of the promised one.
        instead: String,
        reason: String,
    }

    /// A scheme with its steps.
    struct Scheme {
        op: String,
        scheme: String,
        summary: String,
        source: String,
        steps: Vec<String>,
    }

    /// The units of a command, cut into shards.
    struct Plan {
        /// The command with its arguments.
        command: String,
        shards: u32,
        /// Seconds before the first unit of a shard.
        start: f64,
        /// Seconds of the longest shard; null if no unit was measured.
        longest_shard: Option<f64>,
        units: Vec<PlannedUnit>,
    }

    /// A unit of a command.
    struct PlannedUnit {
        unit: String,
        /// Number of its shard, from 1.
        shard: u32,
        /// Null if no unit was measured.
        seconds: Option<f64>,
        /// Whether it was run; otherwise the seconds are those of others.
        measured: bool,
    }

    /// A known bug, and the part of a plan that detects it.
    struct Mutant {
        op: String,
        mutant: String,
        lane: String,
        class: String,
        /// The part whose case is the first that shows it; null if none does.
        generator: Option<String>,
        /// Cases up to it.
        cases: Option<u64>,
        /// Every part that detects it.
        generators: Vec<String>,
        witness: Option<String>,
    }

    /// Injected faults of a family.
    struct Faults {
        op: String,
        family: String,
        threshold: String,
        tried: u64,
        detected: u64,
        /// Cases of the plan.
        cases: u64,
        /// Cases until the last one was detected.
        most_cases: u64,
        /// Faults that one part of the plan alone detects, by that part.
        only: BTreeMap<String, u64>,
        /// Faults that no case detects.
        holes: Vec<Hole>,
    }

    /// A fault that no case detects.
    struct Hole {
        kernel: String,
        fault: String,
        /// Results that it changed, without effect.
        struck: u64,
    }

    /// Test vectors of a scheme.
    struct Vectors {
        op: String,
        scheme: String,
        seed: u64,
        /// Bytes of all vectors.
        bytes: u64,
        /// Results of all vectors.
        results: u64,
        /// Known bugs that promise the scheme.
        mutants: Share,
        /// Other schemes that give other results on some candidate.
        schemes: Share,
        /// Causes of differences that would show on some candidate.
        causes: Share,
        /// Faults of one place.
        faults: Share,
        /// The kernel in which they are injected.
        faulty: Option<String>,
        not_detected: Vec<NotDetected>,
        vectors: Vec<Vector>,
    }

    /// How many of so many.
    struct Share {
        reached: u64,
        of: u64,
    }

    /// A known bug that no vector detects.
    struct NotDetected {
        mutant: String,
        why: String,
    }

    /// A vector: what a line of `judge` has, and what it detects.
    struct Vector {
        op: String,
        scheme: String,
        /// Types of the elements, if the operation has any to choose.
        #[serde(rename = "type")]
        types: Option<String>,
        case: String,
        expected: Vec<Number>,
        /// Known bugs.
        detects: Vec<String>,
        /// Schemes.
        excludes: Vec<String>,
        /// Number of causes.
        causes: u64,
        bytes: u64,
    }

    /// A bound of a kernel: the largest depth or weight at which it is exact.
    struct Bound {
        op: String,
        kernel: String,
        lane: String,
        /// What is bounded.
        quantity: String,
        /// Null if there is no bound.
        bound: Option<i64>,
        because: String,
        witness_at_bound: Option<AtBound>,
        witness_past_bound: Option<AtBound>,
        /// Whether both witnesses showed what they must.
        shown: bool,
    }

    /// A case at the bound, or one past it.
    struct AtBound {
        case: String,
        got: i64,
        exact: i64,
        command: String,
    }
}
