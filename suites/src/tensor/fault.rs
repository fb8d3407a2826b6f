//! Known faults of what made a lane's code: results that follow the fault are counted, told with the reason, and judged as if they were
//! right. Everything else is judged as ever.

use super::judge::differs;
use super::{Case, Expected, Operation};
use std::collections::BTreeMap;

/// How many results follow each known fault, by its class, with the reason. A class of which none does is there, too.
pub type Seen = BTreeMap<&'static str, (u64, &'static str)>;

/// Adds what another part of a run saw.
pub fn merge(seen: &mut Seen, other: Seen) {
    for (class, (n, reason)) in other {
        seen.entry(class).or_insert((0, reason)).0 += n;
    }
}

/// A kernel's code in a lane, with the contract it is held to.
#[derive(Debug)]
pub struct Made<'a, O: Operation> {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Name of the lane.
    pub lane: &'a str,
    /// Scheme of the contract.
    pub contract: &'a O::Scheme,
}

impl<O: Operation> Made<'_, O> {
    /// Puts what the contract expects in the place of each result that follows a known fault, and counts it. `words` is the size of a result.
    pub fn forgive(
        &self,
        case: &Case<O::Params>,
        expected: &Expected,
        words: usize,
        outs: &mut [i32],
        seen: &mut Seen,
    ) {
        for fault in O::at_fault(self.kernel, self.lane, self.contract, case) {
            let forgiven = fault.forgive(outs, expected, words);
            seen.entry(fault.class).or_insert((0, fault.reason)).0 += forgiven;
        }
    }
}

/// A known fault, at one case.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Class of the differences.
    pub class: &'static str,
    /// What is at fault, with a reproducer of one line.
    pub reason: &'static str,
    /// What each result of the case may be beside what the contract says.
    pub instead: Instead,
}

/// What a fault makes of results.
#[derive(Clone, Debug)]
pub enum Instead {
    /// These values.
    Values(Expected),
    /// Any value where this says so.
    Open(Vec<bool>),
}

impl Fault {
    /// Puts what the contract expects in the place of results that follow the fault; how many. `words` is the size of a result.
    pub fn forgive(&self, outs: &mut [i32], expected: &Expected, words: usize) -> u64 {
        let mut forgiven = 0;
        for (i, (out, expected)) in outs.chunks_mut(words).zip(expected.chunks(words)).enumerate() {
            let follows = match &self.instead {
                Instead::Values(values) => !differs(&values[i * words..(i + 1) * words], out),
                Instead::Open(open) => open[i],
            };
            if follows && differs(expected, out) {
                out.iter_mut().zip(expected).for_each(|(out, expected)| *out = expected.unwrap_or(*out));
                forgiven += 1;
            }
        }
        forgiven
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_the_fault_is_forgiven() {
        let expected: Expected = [1, 2, 3, 4].map(Some).to_vec();
        let fault = |instead| Fault { class: "tie-direction", reason: "", instead };
        let mut outs = [1, 9, 3, 9];
        let open = fault(Instead::Open(vec![true, true, false, false]));
        assert_eq!((open.forgive(&mut outs, &expected, 1), outs), (1, [1, 2, 3, 9]));
        let mut outs = [1, 9, 8, 9];
        let values = fault(Instead::Values([1, 9, 3, 8].map(Some).to_vec()));
        assert_eq!((values.forgive(&mut outs, &expected, 1), outs), (1, [1, 2, 8, 9]));
        let mut outs = [1, 9, 3, 9];
        assert_eq!((values.forgive(&mut outs, &expected, 2), outs), (1, [1, 2, 3, 9]));
    }
}
