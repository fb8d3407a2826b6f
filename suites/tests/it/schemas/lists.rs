//! Types of the JSON output of commands that list kernels, schemes, known bugs and vectors.

use super::{Number, forms};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

forms! {
    /// Kernel, or known bug, with its contract.
    struct Kernel {
        op: String,
        kernel: String,
        /// `kernel` or `mutant`.
        kind: String,
        summary: String,
        /// Scheme of the contract.
        scheme: String,
        /// Policy for results beyond int32.
        overflow: String,
        domain: String,
        deviations: Vec<Deviation>,
        /// Repository and file.
        source: String,
        /// Path of the kernel's code on this machine, or the reason why it does not run here.
        host: String,
        /// Instructions that the code must have; null for scalar code.
        vector_instructions: Option<Vec<String>>,
    }

    /// Known deviation of a contract.
    struct Deviation {
        class: String,
        /// Scheme in place of the contract's.
        instead: String,
        reason: String,
    }

    /// Scheme with its steps.
    struct Scheme {
        op: String,
        scheme: String,
        summary: String,
        source: String,
        steps: Vec<String>,
    }

    /// Units of a command, divided into shards.
    struct Plan {
        /// Command with its arguments.
        command: String,
        shards: u32,
        /// Seconds before the first unit of a shard.
        start: f64,
        /// Seconds of the longest shard; null if no unit was measured.
        longest_shard: Option<f64>,
        units: Vec<PlannedUnit>,
    }

    /// Unit of a command.
    struct PlannedUnit {
        unit: String,
        /// Number of the unit's shard, from 1.
        shard: u32,
        /// Null if no unit was measured.
        seconds: Option<f64>,
        /// True if the unit was measured; otherwise the seconds are estimated from other units.
        measured: bool,
    }

    /// Known bug, and the part of a plan that detects it.
    struct Mutant {
        op: String,
        mutant: String,
        lane: String,
        class: String,
        /// Part with the first case that detects the bug; null if no case does.
        generator: Option<String>,
        /// Number of cases up to the first that detects the bug.
        cases: Option<u64>,
        /// Parts that detect the bug.
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
        /// Median number of cases until a fault was detected.
        cases: u64,
        /// Largest number of cases until a fault was detected.
        most_cases: u64,
        /// Number of faults that only one part of the plan detects, by part.
        only: BTreeMap<String, u64>,
        /// Undetected faults.
        holes: Vec<Hole>,
    }

    /// Fault that no case detects.
    struct Hole {
        kernel: String,
        fault: String,
        /// Results that the fault affected without being detected.
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
        /// Known bugs with this scheme as their contract.
        mutants: Share,
        /// Other schemes with different results on some candidate.
        schemes: Share,
        /// Causes of differences that would be visible on some candidate.
        causes: Share,
        /// Local faults.
        faults: Share,
        /// Kernel in which the faults are injected.
        faulty: Option<String>,
        not_detected: Vec<NotDetected>,
        vectors: Vec<Vector>,
    }

    /// Number reached, and total.
    struct Share {
        reached: u64,
        of: u64,
    }

    /// Known bug that no vector detects.
    struct NotDetected {
        mutant: String,
        why: String,
    }

    /// Vector: the fields of a line of `judge`, and what it detects.
    struct Vector {
        op: String,
        scheme: String,
        /// Types of the elements, if the operation has a choice.
        #[serde(rename = "type")]
        types: Option<String>,
        case: String,
        expected: Vec<Number>,
        /// Known bugs that the vector detects.
        detects: Vec<String>,
        /// Schemes that the vector excludes.
        excludes: Vec<String>,
        /// Number of causes that the vector excludes.
        causes: u64,
        bytes: u64,
    }

    /// Bound of a kernel: the largest depth or weight at which it is exact.
    struct Bound {
        op: String,
        kernel: String,
        lane: String,
        /// Bounded quantity.
        quantity: String,
        /// Bound; null if there is none.
        bound: Option<i64>,
        because: String,
        witness_at_bound: Option<AtBound>,
        witness_past_bound: Option<AtBound>,
        /// True if both witnesses have the required results.
        shown: bool,
    }

    /// Case at the bound, or one past it.
    struct AtBound {
        case: String,
        got: i64,
        exact: i64,
        command: String,
    }
}
