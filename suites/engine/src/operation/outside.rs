//! Inputs that a worker calls outside the domain of its kernel: counted, and neither a failure nor a pass.

/// How many inputs, and the reason that the worker gave first.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Number of cases, or of the inputs of a sweep.
    pub count: u64,
    /// The worker's first reason; empty if there is no such input.
    pub reason: String,
}

impl Outside {
    /// Counts further inputs.
    pub fn add(&mut self, count: u64, reason: &str) {
        self.count += count;
        if self.reason.is_empty() {
            reason.clone_into(&mut self.reason);
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.count, &other.reason);
    }
}
