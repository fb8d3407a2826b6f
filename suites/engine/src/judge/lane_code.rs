//! Code of a kernel in a lane, and the known faults in the results of the code.

use crate::erased::{Params, Scheme};
use crate::operation::case::Case;
use crate::operation::expected::Expected;
use crate::operation::fault::{self, Faulty, Seen};

/// Code of a kernel in a lane, with the contract for judging.
#[derive(Clone, Copy, Debug)]
pub struct LaneCode<'a> {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Name of the lane.
    pub lane: &'a str,
    /// Scheme of the contract.
    pub contract: &'a Scheme,
}

impl LaneCode<'_> {
    /// Returns and counts the known-fault class of each result that breaks the contract; empty without such results. `words` is the size of a result.
    pub fn faulty(
        &self,
        case: &Case<Params>,
        expected: &Expected,
        words: usize,
        outs: &[i32],
        seen: &mut Seen,
    ) -> Faulty {
        let faults = (case.params.op().capabilities().compiled.at_fault)(self.kernel, self.lane, self.contract, case);
        fault::faulty(&faults, expected, words, outs, seen)
    }

    /// Returns the known-fault classes for results not judged yet, without counting.
    pub fn among(&self, case: &Case<Params>, words: usize, outs: &[i32]) -> Faulty {
        if (case.params.op().capabilities().compiled.faults)(self.kernel, self.lane, &case.params).is_empty() {
            return Faulty::new();
        }
        let expected = self.contract.expected(case);
        expected.map_or_else(|_| Faulty::new(), |expected| self.faulty(case, &expected, words, outs, &mut Seen::new()))
    }
}
