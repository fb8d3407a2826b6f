//! From a case that shows a difference to the smallest one that still shows it, for the same cause.

use super::explain::{Cause, Observed};
use super::judge::outs;
use super::{Case, Operation};
use crate::lane::{Lane, Lease};

/// Runs of the kernel that one witness may cost, and elements that they may read in all.
const RUNS: usize = 1200;
const ELEMENTS: usize = 1 << 23;
/// Elements looked at one by one.
const SINGLE: usize = 96;

/// A case with one result that differs.
#[derive(Clone, Debug)]
pub struct Witness<P> {
    /// The case.
    pub case: Case<P>,
    /// Which result.
    pub index: usize,
    /// What the kernel gave.
    pub got: i32,
    /// What the scheme gives.
    pub expected: i32,
}

/// What a witness must show.
pub struct Shown<'a, O: Operation> {
    /// Kernel name.
    pub kernel: &'a str,
    /// The kernel's domain.
    pub domain: &'a O::Domain,
    /// The scheme that it differs from.
    pub scheme: &'a O::Scheme,
    /// Every cause there is.
    pub causes: &'a [Cause<O>],
    /// The class it must keep.
    pub class: &'a str,
}

impl<O: Operation> Shown<'_, O> {
    /// Whether a cause of the class still reproduces it; what has no cause has none to keep.
    fn class_holds(&self, observed: &Observed<O::Params>) -> bool {
        let mut same = self.causes.iter().filter(|cause| cause.class == self.class).peekable();
        same.peek().is_none() || same.any(|cause| cause.explains(&[observed]).is_some())
    }
}

struct Shrinker<'a, O: Operation> {
    shown: &'a Shown<'a, O>,
    lease: Lease<'a>,
    runs: usize,
    elements: usize,
}

/// The smallest case found that shows the same, starting from `seen`.
pub fn shrink<O: Operation>(
    shown: &Shown<'_, O>,
    lane: &Lane,
    seen: &Observed<O::Params>,
) -> Option<Witness<O::Params>> {
    let mut shrinker = Shrinker { shown, lease: lane.lease(), runs: 0, elements: 0 };
    let mut best = shrinker.shows(&seen.case).or_else(|| differing::<O>(shown, seen))?;
    shrinker.shapes(&mut best);
    for t in 0..O::TENSORS.len() {
        shrinker.elements(&mut best, t);
        shrinker.values(&mut best, t);
    }
    shrinker.shapes(&mut best);
    Some(best)
}

/// The first result of a case that differs.
pub fn differing<O: Operation>(shown: &Shown<'_, O>, seen: &Observed<O::Params>) -> Option<Witness<O::Params>> {
    let expected = O::expected(shown.scheme, &seen.case).ok()?;
    let at = expected.iter().zip(&seen.outs).position(|(expected, out)| expected.is_some_and(|e| e != *out))?;
    Some(Witness { case: seen.case.clone(), index: at, got: seen.outs[at], expected: expected[at]? })
}

impl<O: Operation> Shrinker<'_, O> {
    /// The witness that a case is, where it shows what it must.
    fn shows(&mut self, case: &Case<O::Params>) -> Option<Witness<O::Params>> {
        if self.spent() {
            return None;
        }
        self.runs += 1;
        self.elements += case.tensors.iter().map(Vec::len).sum::<usize>();
        let results = O::sizes(self.shown.domain, &case.params).ok()?.outputs;
        let outs = outs::<O>(&mut self.lease, self.shown.kernel, case, results).ok()?;
        let observed = Observed { case: case.clone(), outs, differ: 1 };
        let witness = differing(self.shown, &observed)?;
        self.shown.class_holds(&observed).then_some(witness)
    }

    fn spent(&self) -> bool {
        self.runs >= RUNS || self.elements > ELEMENTS
    }

    fn shapes(&mut self, best: &mut Witness<O::Params>) {
        while let Some(smaller) = O::smaller(&best.case, self.shown.domain).iter().find_map(|case| self.shows(case)) {
            *best = smaller;
        }
    }

    /// Sets ever shorter runs of a tensor's elements to zero.
    fn elements(&mut self, best: &mut Witness<O::Params>, t: usize) {
        let zero = 0.clamp(*O::range(self.shown.domain, t).start(), *O::range(self.shown.domain, t).end());
        let mut run = best.case.tensors[t].len();
        while run > 0 && !self.spent() {
            let starts = (0..best.case.tensors[t].len()).step_by(run);
            for start in starts {
                let end = (start + run).min(best.case.tensors[t].len());
                if best.case.tensors[t][start..end].iter().all(|v| *v == zero) {
                    continue;
                }
                if self.spent() {
                    return;
                }
                let mut case = best.case.clone();
                case.tensors[t][start..end].fill(zero);
                if let Some(simpler) = self.shows(&case) {
                    *best = simpler;
                }
            }
            run = if run == 1 { 0 } else { run.div_ceil(2) };
        }
    }

    /// Brings what is left nearer to zero.
    fn values(&mut self, best: &mut Witness<O::Params>, t: usize) {
        let nonzero: Vec<usize> = (0..best.case.tensors[t].len()).filter(|i| best.case.tensors[t][*i] != 0).collect();
        if nonzero.len() > SINGLE {
            return;
        }
        for at in nonzero {
            // The smallest magnitude that still shows it, by halving the distance; then the positive one of the two.
            let (mut low, mut high) = (0i64, i64::from(best.case.tensors[t][at]).abs());
            let sign = i64::from(best.case.tensors[t][at].signum());
            while high - low > 1 {
                let middle = low.midpoint(high);
                let mut case = best.case.clone();
                case.tensors[t][at] = (sign * middle) as i32;
                match self.shows(&case) {
                    Some(simpler) => {
                        *best = simpler;
                        high = middle;
                    }
                    None => low = middle,
                }
            }
        }
    }
}
