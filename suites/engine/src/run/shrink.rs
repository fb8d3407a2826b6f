//! Shrinking: from a case with a property to the smallest case found that still has it.

use crate::case::text;
use crate::erased::{Domain, Params};
use crate::operation::case::Case;
use crate::operation::observed::Witness;
use crate::operation::selection::CaseSelection;
use std::time::{Duration, Instant};

/// Limits for a witness: runs of the kernel, and elements read in all runs.
const RUNS: usize = 1200;

const ELEMENTS: usize = 1 << 23;

/// Time limit for a witness; slow runs give a larger witness.
const TIME: Duration = Duration::from_secs(20);

/// Largest number of elements that are shrunk singly.
const SINGLE: usize = 96;

/// Returns the witness of a case, if the case has the property.
type Shows<'a> = dyn FnMut(&Case<Params>) -> Option<Witness<Params>> + 'a;

struct Shrinker<'a> {
    domain: &'a Domain,
    selection: &'a CaseSelection,
    shows: &'a mut Shows<'a>,
    runs: usize,
    elements: usize,
    begun: Instant,
}

/// Returns the parts of a batch to try for a smaller batch: either half, ever longer beginnings, and all elements except the first. An effect that
/// starts at some element is found in about as many steps as the length has binary digits.
pub fn cuts(len: usize) -> Vec<std::ops::Range<usize>> {
    let mut out = vec![0..len / 2, len / 2..len];
    out.extend((2..usize::BITS).map(|bits| len >> bits).take_while(|rest| *rest > 1).map(|rest| 0..len - rest));
    out.extend([0..len.max(1) - 1, len.min(1)..len]);
    out.retain(|cut| !cut.is_empty() && cut.len() < len);
    out
}

/// Returns the smallest case found for which `shows` gives a witness, starting from `first`, with parameters that the caller requested.
pub fn shrink_by<'a>(
    domain: &'a Domain,
    selection: &'a CaseSelection,
    first: Witness<Params>,
    shows: &'a mut Shows<'a>,
) -> Witness<Params> {
    let mut shrinker = Shrinker { domain, selection, shows, runs: 0, elements: 0, begun: Instant::now() };
    let mut best = first;
    shrinker.shapes(&mut best);
    for t in 0..domain.op().tensors().len() {
        shrinker.elements(&mut best, t);
        shrinker.values(&mut best, t);
    }
    shrinker.shapes(&mut best);
    // A case without a text can only be shown by the run of the whole plan.
    if text::arguments(domain, &best.case).is_none() {
        (shrinker.runs, shrinker.elements) = (0, 0);
        (0..domain.op().tensors().len()).for_each(|t| shrinker.alike(&mut best, t));
        shrinker.shapes(&mut best);
    }
    best
}

impl Shrinker<'_> {
    /// Returns the witness of a case within the limits.
    fn shows(&mut self, case: &Case<Params>) -> Option<Witness<Params>> {
        if self.spent() {
            return None;
        }
        self.runs += 1;
        self.elements += case.tensors.iter().map(Vec::len).sum::<usize>();
        (self.shows)(case)
    }

    fn spent(&self) -> bool {
        self.runs >= RUNS || self.elements > ELEMENTS || self.begun.elapsed() > TIME
    }

    fn shapes(&mut self, best: &mut Witness<Params>) {
        let (selection, domain) = (self.selection, self.domain);
        let is_asked = domain.capabilities().options.is_asked;
        let kept = |case: &&Case<Params>| is_asked(selection, &case.params) && domain.covers(&case.params);
        while let Some(smaller) = (domain.capabilities().witnesses.simpler)(best, domain)
            .iter()
            .filter(kept)
            .find_map(|case| self.shows(case))
        {
            *best = smaller;
        }
    }

    /// Sets ever shorter runs of a tensor's elements to zero.
    fn elements(&mut self, best: &mut Witness<Params>, t: usize) {
        let element = self.domain.element(&best.case.params, t);
        let (zero, words) = (element.zero(), element.words());
        let mut run = best.case.tensors[t].len() / words;
        while run > 0 && !self.spent() {
            let starts = (0..best.case.tensors[t].len()).step_by(run * words);
            for start in starts {
                let end = (start + run * words).min(best.case.tensors[t].len());
                if best.case.tensors[t][start..end].chunks(words).all(|v| v == zero) {
                    continue;
                }
                if self.spent() {
                    return;
                }
                let mut case = best.case.clone();
                case.tensors[t][start..end].chunks_mut(words).for_each(|v| v.copy_from_slice(&zero));
                if let Some(simpler) = self.shows(&case) {
                    *best = simpler;
                }
            }
            run = if run == 1 { 0 } else { run.div_ceil(2) };
        }
    }

    /// Gives all elements of a tensor one value, its greatest or its least, so that a case of many elements has a text.
    fn alike(&mut self, best: &mut Witness<Params>, t: usize) {
        let element = self.domain.element(&best.case.params, t);
        let places = || best.case.tensors[t].chunks(element.words()).map(|value| element.place(value));
        for place in [places().max(), places().min()].into_iter().flatten() {
            let mut case = best.case.clone();
            case.tensors[t].chunks_mut(element.words()).for_each(|value| value.copy_from_slice(&element.at(place)));
            if let Some(simpler) = self.shows(&case) {
                *best = simpler;
                return;
            }
        }
    }

    /// Moves the remaining elements nearer to zero.
    fn values(&mut self, best: &mut Witness<Params>, t: usize) {
        let element = self.domain.element(&best.case.params, t);
        let words = element.words();
        let place = |case: &Case<Params>, at: usize| element.place(&case.tensors[t][at * words..][..words]);
        let elements = 0..best.case.tensors[t].len() / words;
        let nonzero: Vec<usize> = elements.filter(|at| place(&best.case, *at) != 0).collect();
        if nonzero.len() > SINGLE {
            return;
        }
        for at in nonzero {
            // Bisection for the smallest magnitude that still shows it.
            let (mut low, mut high) = (0i64, place(&best.case, at).saturating_abs());
            let sign = place(&best.case, at).signum();
            while high - low > 1 {
                let middle = low.midpoint(high);
                let mut case = best.case.clone();
                case.tensors[t][at * words..][..words].copy_from_slice(&element.at(sign * middle));
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
