//! From a case that shows a difference to the smallest one that still shows it, for the same cause.

use super::answers::tried;
use super::change::Change;
use super::explain::Observed;
use super::explained::Basis;
use super::fault::Faulty;
use super::judge::held_against;
use super::side::differs;
use super::{Asked, Case, Operation};
use crate::activity::doing;
use crate::lane::{Lane, Lease};
use std::time::{Duration, Instant};
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::Value;

/// Runs of the kernel that one witness may cost, and elements that they may read in all.
const RUNS: usize = 1200;
const ELEMENTS: usize = 1 << 23;
/// How long one witness may take: where each run takes long, a larger one is found.
const TIME: Duration = Duration::from_secs(20);
/// Runs that it may wait for in vain.
const WAITED_FOR: usize = 2;
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
    pub got: Value,
    /// What the scheme gives.
    pub expected: Value,
}

/// What a witness must show.
pub struct Shown<'a, O: Operation> {
    /// The kernel, and the scheme that it differs from.
    pub basis: &'a Basis<'a, O>,
    /// Every cause there is.
    pub causes: &'a [Change<O>],
    /// The class it must keep.
    pub class: Class,
}

impl<O: Operation> Shown<'_, O> {
    /// The witness that a case is, where it shows this.
    fn by(&self, lease: &mut Lease<'_>, case: &Case<O::Params>) -> Option<Witness<O::Params>> {
        let Basis { kernel, made, domain, contract, scheme, .. } = *self.basis;
        let outs = tried::<O>(lease, kernel, domain, case)?;
        let words = O::element(domain, &case.params, O::TENSORS.len()).words();
        let faulty = made.map_or_else(Faulty::new, |made| made.among(case, words, &outs));
        let expected = held_against::<O>(contract, scheme, case).ok()?;
        let observed = Observed { case: case.clone(), outs, expected, differ: 1, faulty };
        let witness = first_difference::<O>(domain, &observed)?;
        self.class_holds(&observed).then_some(witness)
    }

    /// Whether a cause of the class still reproduces it; what has no cause has none to keep.
    fn class_holds(&self, observed: &Observed<O::Params>) -> bool {
        let mut same = self.causes.iter().filter(|cause| cause.class == self.class).peekable();
        same.peek().is_none() || same.any(|cause| cause.explains(&[observed]).is_some())
    }
}

/// The witness that a case is, where it shows what it must.
type Shows<'a, O> = dyn FnMut(&Case<<O as Operation>::Params>) -> Option<Witness<<O as Operation>::Params>> + 'a;

struct Shrinker<'a, O: Operation> {
    domain: &'a O::Domain,
    asked: &'a Asked,
    shows: &'a mut Shows<'a, O>,
    runs: usize,
    elements: usize,
    begun: Instant,
}

/// Parts of a batch that are tried for a smaller one: either half, ever more of its beginning, and all but the first element. What shows from some element on is
/// found in as many steps as a length has binary digits.
pub fn cuts(len: usize) -> Vec<std::ops::Range<usize>> {
    let mut out = vec![0..len / 2, len / 2..len];
    out.extend((2..usize::BITS).map(|bits| len >> bits).take_while(|rest| *rest > 1).map(|rest| 0..len - rest));
    out.extend([0..len.max(1) - 1, len.min(1)..len]);
    out.retain(|cut| !cut.is_empty() && cut.len() < len);
    out
}

/// The smallest case found that shows the same, starting from `seen`.
pub fn shrink<O: Operation>(
    shown: &Shown<'_, O>,
    lane: &Lane,
    seen: &Observed<O::Params>,
) -> Option<Witness<O::Params>> {
    let mut lease = lane.lease();
    let Basis { domain, asked, kernel, .. } = *shown.basis;
    let _doing =
        doing(|| format!("{} {kernel} in lane {}: a smaller input that differs is looked for", O::OP, lane.name));
    let mut shows = |case: &Case<O::Params>| {
        if lease.hung() < WAITED_FOR { shown.by(&mut lease, case) } else { None }
    };
    let first = shows(&seen.case).or_else(|| first_difference::<O>(domain, seen))?;
    Some(shrink_by::<O>(domain, asked, first, &mut shows))
}

/// The smallest case found of which `shows` makes a witness, starting from one; of what the caller gave, where that is anything.
pub fn shrink_by<'a, O: Operation>(
    domain: &'a O::Domain,
    asked: &'a Asked,
    first: Witness<O::Params>,
    shows: &'a mut Shows<'a, O>,
) -> Witness<O::Params> {
    let mut shrinker = Shrinker::<O> { domain, asked, shows, runs: 0, elements: 0, begun: Instant::now() };
    let mut best = first;
    shrinker.shapes(&mut best);
    for t in 0..O::TENSORS.len() {
        shrinker.elements(&mut best, t);
        shrinker.values(&mut best, t);
    }
    shrinker.shapes(&mut best);
    best
}

/// The first result of a case that differs, and follows no known fault.
pub fn first_difference<O: Operation>(domain: &O::Domain, seen: &Observed<O::Params>) -> Option<Witness<O::Params>> {
    first_where::<O>(domain, seen, |index| !seen.is_faulty(index))
}

/// The first result of a case that differs for whatever reason.
pub fn any_difference<O: Operation>(domain: &O::Domain, seen: &Observed<O::Params>) -> Option<Witness<O::Params>> {
    first_where::<O>(domain, seen, |_| true)
}

fn first_where<O: Operation>(
    domain: &O::Domain,
    seen: &Observed<O::Params>,
    counts: impl Fn(usize) -> bool,
) -> Option<Witness<O::Params>> {
    let expected = &seen.expected;
    let element = O::element(domain, &seen.case.params, O::TENSORS.len());
    let mut results = expected.chunks(element.words()).zip(seen.outs.chunks(element.words())).enumerate();
    let (index, _) = results.find(|(index, (expected, out))| counts(*index) && differs(expected, out))?;
    let at = index * element.words()..(index + 1) * element.words();
    let right: Option<Vec<i32>> = expected[at.clone()].iter().copied().collect();
    let (got, expected) = (element.described(&seen.outs[at]), element.described(&right?));
    Some(Witness { case: seen.case.clone(), index, got, expected })
}

impl<O: Operation> Shrinker<'_, O> {
    /// The witness that a case is, where it shows what it must.
    fn shows(&mut self, case: &Case<O::Params>) -> Option<Witness<O::Params>> {
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

    fn shapes(&mut self, best: &mut Witness<O::Params>) {
        let asked = self.asked;
        let kept = |case: &&Case<O::Params>| (O::CAPABILITIES.options.is_asked)(asked, &case.params);
        while let Some(smaller) =
            (O::CAPABILITIES.witnesses.simpler)(best, self.domain).iter().filter(kept).find_map(|case| self.shows(case))
        {
            *best = smaller;
        }
    }

    /// Sets ever shorter runs of a tensor's elements to zero.
    fn elements(&mut self, best: &mut Witness<O::Params>, t: usize) {
        let element = O::element(self.domain, &best.case.params, t);
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

    /// Brings what is left nearer to zero.
    fn values(&mut self, best: &mut Witness<O::Params>, t: usize) {
        let element = O::element(self.domain, &best.case.params, t);
        let words = element.words();
        let place = |case: &Case<O::Params>, at: usize| element.place(&case.tensors[t][at * words..][..words]);
        let elements = 0..best.case.tensors[t].len() / words;
        let nonzero: Vec<usize> = elements.filter(|at| place(&best.case, *at) != 0).collect();
        if nonzero.len() > SINGLE {
            return;
        }
        for at in nonzero {
            // The smallest magnitude that still shows it, by halving the distance; then the positive one of the two.
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
