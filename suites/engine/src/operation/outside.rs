//! Inputs that a worker refuses as outside the domain of its kernel: counted, neither a failure nor a pass.

/// Number of refused inputs, the worker's first reason, and a short refused case.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Number of cases, or of inputs of a sweep.
    pub count: u64,
    /// First reason of the worker; empty if no input was refused.
    pub reason: String,
    /// Refused case with the shortest text; empty for the inputs of a sweep.
    pub case: String,
}

impl Outside {
    /// Counts further inputs.
    pub fn add(&mut self, count: u64, reason: &str, case: &str) {
        self.count += count;
        if self.case.is_empty() || (!case.is_empty() && case.len() < self.case.len()) {
            case.clone_into(&mut self.case);
        }
        if self.reason.is_empty() {
            reason.clone_into(&mut self.reason);
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.count, &other.reason, &other.case);
    }
}

#[cfg(test)]
mod tests {
    use super::Outside;

    #[test]
    fn the_shortest_case_and_the_first_reason_stay() {
        let mut outside = Outside::default();
        outside.add(1, "no left shift", "m=1 s=7 len=834");
        outside.add(1, "too many channels", "m=1 s=7");
        outside.add(5, "of a sweep", "");
        assert_eq!((outside.count, &*outside.reason, &*outside.case), (7, "no left shift", "m=1 s=7"));
    }
}
