//! Differences that depend on history or address. Each witness runs again in a fresh worker, like the printed command. If the result is right there,
//! the class is `depends-on-history`, and the fewest earlier calls that reproduce the difference are searched: first calls with the same input, then
//! the calls of the plan. If equal calls differ in one fresh worker and not in the next, the class is `nondeterministic`.
//!
//! Every witness runs again before it is printed, because the printed command starts in a fresh process, in which a fault of history would not occur.
//! `Lane::fresh` starts a worker without earlier calls; for lane `host`, the worker is the hidden command `worker` of the program. The number of
//! fresh workers and the time limit the search, and only broken contracts start it.

use crate::case::again::kernel_again;
use crate::case::{catalogue, text};
use crate::erased::Params;
use crate::explain::cause::Explanation;
use crate::explain::groups::Explained;
use crate::explain::witness::any_difference;
use crate::judge::side::Group;
use crate::lane::Lane;
use crate::operation::case::{Case, Spec};
use crate::operation::expected::{Expected, differs};
use crate::operation::observed::{Observed, Witness};
use crate::operation::request::Request;
use crate::run::answers::{lacks, outs};
use crate::run::subject::Subject;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tiebreak_common::class::Class;
use tiebreak_reports::text as words;
use tiebreak_shards::shell::quoted;

/// Limit on fresh workers in the search for a sequence; the same on a busy and on an idle machine.
const REPLAYS: u32 = 150;

/// Time limits for a sequence, and for all sequences of a run; reached only if a worker takes seconds to start, or many kernels fail.
const EACH: Duration = Duration::from_secs(60);

const ALL: Duration = Duration::from_secs(240);

/// Equal calls that a fresh worker runs, and limit on their elements.
const EQUAL_CALLS: usize = 1024;
const EQUAL_ELEMENTS: usize = 1 << 22;

/// Number of differing cases for which a sequence is searched.
const TARGETS: usize = 3;

/// Largest number of cases in a printed sequence, and of bytes.
const PRINTED: usize = 16;

const BYTES: usize = 4096;

/// Milliseconds that the run has spent on sequences.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// Kernel in a lane, with the cases of the run in order.
pub(crate) struct History<'a> {
    pub(crate) request: &'a Request,
    pub(crate) subject: &'a Subject,
    pub(crate) lane: &'a Lane,
    pub(crate) specs: &'a [Arc<Spec<Params>>],
    /// Number of fresh workers so far.
    pub(crate) replays: Cell<u32>,
}

/// Sequence of cases whose last case differs, with the witness of the difference.
struct Sequence {
    cases: Vec<Case<Params>>,
    witness: Witness<Params>,
}

/// Outcome of equal calls in a fresh worker.
struct EqualCalls {
    /// Number of calls.
    calls: usize,
    /// Numbers of the calls that differ, from 1.
    differ: Vec<usize>,
    /// Witness of the first call that differs.
    witness: Option<Witness<Params>>,
}

impl History<'_> {
    /// Runs the witness of a difference again in a fresh worker. A witness without a difference there is replaced by another case or a sequence.
    pub(crate) fn settle(&self, group: &Group, seen: &mut Explained) {
        let alone = || self.replay(&[&seen.witness.case]);
        // A difference by chance can show once.
        match alone() {
            Some(None) => {}
            Some(Some(_)) if matches!(alone(), Some(None)) => {}
            _ => return,
        }
        let begun = Instant::now();
        let end = begun + EACH.min(ALL.saturating_sub(Duration::from_millis(SPENT.load(Ordering::Relaxed))));
        self.replays.set(0);
        self.replace(group, seen, end);
        SPENT.fetch_add(begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn replace(&self, group: &Group, seen: &mut Explained, end: Instant) {
        let mut smallest: Vec<&Observed<Params>> = group.differing.iter().collect();
        let capabilities = self.subject.kernel.op().capabilities();
        smallest.sort_by_cached_key(|seen| (capabilities.witnesses.shrink_priority)(seen));
        if smallest.first().is_some_and(|smallest| self.by_equal_calls(&smallest.case, seen, end)) {
            return;
        }
        for seen_alone in smallest.iter().take(TARGETS) {
            if let Some(Some(witness)) = self.replay(&[&seen_alone.case]) {
                seen.command = self.printed(&[&witness.case]);
                seen.witness = witness;
                return;
            }
        }
        let found = self.sequence(&smallest, end);
        let (class, cause) = (Class::DependsOnHistory, None);
        let whole = || Some(self.whole());
        let because = match &found {
            Some(Sequence { cases, .. }) => {
                let before = words::plural(cases.len() - 1, "call");
                let is = if cases.len() == 2 { "is" } else { "are" };
                format!(
                    "alone, in a fresh worker, this case is right; it differs after {before}, which {is} run before it"
                )
            }
            None => "alone, in a fresh worker, this case is right; no sequence of calls that was tried shows it again"
                .to_owned(),
        };
        seen.explanation = Explanation { class, because, cause };
        seen.command =
            found.as_ref().and_then(|found| self.printed(&found.cases.iter().collect::<Vec<_>>())).or_else(whole);
        if let Some(found) = found {
            seen.witness = found.witness;
        }
    }

    /// Explains a difference by calls with the same input, of which some differ: always the same calls, or others in another worker. Returns false if
    /// no call differs, if the first one always does, or if the calls take too long.
    fn by_equal_calls(&self, case: &Case<Params>, seen: &mut Explained, end: Instant) -> bool {
        let equal_calls = || self.equal_calls(case, end);
        let (Some(one), Some(other)) = (equal_calls(), equal_calls()) else { return false };
        let EqualCalls { calls, differ, witness } = one;
        let Some(witness) = witness.or(other.witness) else { return false };
        let times = words::count(calls as u64);
        let (class, because, last) = match differ[..] {
            [1, ..] if differ == other.differ => return false,
            [first, ..] if differ == other.differ => {
                let because = format!(
                    "alone, in a fresh worker, this case is right; of {times} equal calls, call {first} is the first that differs, in each fresh worker"
                );
                (Class::DependsOnHistory, because, first)
            }
            _ => {
                let [one, other] = [&differ, &other.differ].map(|differ| words::count(differ.len() as u64));
                let because = format!(
                    "two fresh workers ran this case {times} times each, and other calls differ in each ({one} and {other} calls), so neither the input nor the number of earlier calls decides"
                );
                (Class::Nondeterministic, because, calls)
            }
        };
        let command = self.printed(&vec![&witness.case; last]);
        // If the input does not decide, a shorter case may show the difference, too.
        let is_long = command.is_none() && class == Class::Nondeterministic;
        if is_long && self.first_printable().is_some_and(|case| self.by_equal_calls(&case, seen, end)) {
            return true;
        }
        seen.explanation = Explanation { class, because, cause: None };
        seen.command = command.or_else(|| Some(self.whole()));
        seen.witness = witness;
        true
    }

    /// Returns the first case of the plan that has results and can be printed.
    fn first_printable(&self) -> Option<Case<Params>> {
        let domain = &self.subject.kernel.contract.domain;
        let mut planned = self.specs.iter().filter_map(|spec| spec.case(domain, self.request.seed));
        let has_results = |case: &Case<Params>| self.expected(case).is_some_and(|expected| !expected.is_empty());
        planned.find(|case| has_results(case) && self.printed(&[case]).is_some())
    }

    /// Runs a case many times in a fresh worker; `None` if the calls cannot run, or do not end in time.
    fn equal_calls(&self, case: &Case<Params>, end: Instant) -> Option<EqualCalls> {
        let elements = case.tensors.iter().map(Vec::len).sum::<usize>().max(1);
        let calls = (EQUAL_ELEMENTS / elements).clamp(1, EQUAL_CALLS);
        let (expected, mut lease) = (self.expected(case)?, self.lane.fresh()?);
        let mut all = EqualCalls { calls, differ: Vec::new(), witness: None };
        for call in 1..=calls {
            if Instant::now() >= end {
                return None;
            }
            let given = outs(&mut lease, self.subject.kernel.name, case, expected.len()).ok()?;
            if differs(&expected, &given) {
                all.differ.push(call);
                all.witness = all.witness.or_else(|| self.witness(case, given, expected.clone()));
            }
        }
        Some(all)
    }

    /// Returns the results that the contract promises for a case, if the lane can run the case.
    fn expected(&self, case: &Case<Params>) -> Option<Expected> {
        let domain = &self.subject.kernel.contract.domain;
        let runs = domain.covers(&case.params) && !lacks(self.lane, &case.params);
        self.subject.contract.expected(case).ok().filter(|_| runs)
    }

    fn witness(&self, case: &Case<Params>, outs: Vec<i32>, expected: Expected) -> Option<Witness<Params>> {
        let observed = Observed { case: case.clone(), outs, expected, differ: 1, faulty: Vec::new(), due: Vec::new() };
        any_difference(&self.subject.kernel.contract.domain, &observed)
    }

    /// Returns the shortest sequence found that ends with a target.
    fn sequence(&self, targets: &[&Observed<Params>], end: Instant) -> Option<Sequence> {
        let domain = &self.subject.kernel.contract.domain;
        let planned = self.specs.iter().filter_map(|spec| spec.case(domain, self.request.seed));
        let cases: Vec<_> = self.before().into_iter().chain(planned).collect();
        let mut places: Vec<usize> =
            targets.iter().filter_map(|seen| cases.iter().rposition(|case| *case == seen.case)).collect();
        places.sort_unstable();
        places.into_iter().take(TARGETS).find_map(|at| self.ending(&cases[..=at], end))
    }

    /// Returns the cases of the catalogue, which run before the plan.
    fn before(&self) -> Vec<Case<Params>> {
        let domain = &self.subject.kernel.contract.domain;
        let entries =
            catalogue::read(domain.op(), domain.op().catalogue()).ok().filter(|_| self.request.selection.is_nothing());
        let cases = entries.into_iter().flatten().filter_map(|entry| text::parse(&entry.case, domain).ok());
        cases.filter(|case| domain.covers(&case.params)).collect()
    }

    /// Returns the shortest sequence found for the last of some cases.
    fn ending(&self, cases: &[Case<Params>], end: Instant) -> Option<Sequence> {
        let last = cases.len() - 1;
        let shows = |from: usize| self.shows(&cases[from..].iter().collect::<Vec<_>>(), end);
        // Ever longer tails, then bisection: the effect of a call mostly appears in one of the next calls.
        let (mut right, mut back, mut found) = (last, 1, None);
        while found.is_none() {
            let from = last.saturating_sub(back);
            match shows(from) {
                Some(witness) => found = Some((from, witness)),
                None if from == 0 => return None,
                None => (right, back) = (from, back * 2),
            }
        }
        let (mut from, mut witness) = found?;
        while right - from > 1 {
            let middle = from.midpoint(right);
            match shows(middle) {
                Some(shown) => (from, witness) = (middle, shown),
                None => right = middle,
            }
        }
        let mut sequence = Sequence { cases: cases[from..].to_vec(), witness };
        self.thin(&mut sequence, end);
        self.shrink(&mut sequence, end);
        Some(sequence)
    }

    /// Removes calls between the first and the last, in ever smaller runs.
    fn thin(&self, sequence: &mut Sequence, end: Instant) {
        let mut run = sequence.cases.len().saturating_sub(2);
        while run > 0 {
            let mut from = 1;
            while from + 1 < sequence.cases.len() {
                let to = (from + run).min(sequence.cases.len() - 1);
                let kept: Vec<_> = sequence.cases[..from].iter().chain(&sequence.cases[to..]).collect();
                match self.shows(&kept, end) {
                    Some(witness) => {
                        let cases = kept.into_iter().cloned().collect();
                        *sequence = Sequence { cases, witness };
                    }
                    None => from = to,
                }
            }
            run /= 2;
        }
    }

    /// Shrinks each call while the last call differs.
    fn shrink(&self, sequence: &mut Sequence, end: Instant) {
        let domain = &self.subject.kernel.contract.domain;
        for at in (0..sequence.cases.len()).rev() {
            let smaller = |sequence: &Sequence| {
                domain.shrink_candidates(&sequence.cases[at]).into_iter().find_map(|case| {
                    let mut cases = sequence.cases.clone();
                    cases[at] = case;
                    let witness = self.shows(&cases.iter().collect::<Vec<_>>(), end)?;
                    Some(Sequence { cases, witness })
                })
            };
            while let Some(next) = smaller(sequence) {
                *sequence = next;
            }
        }
    }

    /// Returns the witness of the last case after the other cases, within the limits.
    fn shows(&self, cases: &[&Case<Params>], end: Instant) -> Option<Witness<Params>> {
        self.replays.set(self.replays.get() + 1);
        if self.replays.get() > REPLAYS || Instant::now() >= end { None } else { self.replay(cases).flatten() }
    }

    /// Runs cases in a fresh worker, and returns the witness of the last case. The outer `None` means that the cases could not run.
    fn replay(&self, cases: &[&Case<Params>]) -> Option<Option<Witness<Params>>> {
        let kernel = &self.subject.kernel;
        let domain = &kernel.contract.domain;
        let mut lease = self.lane.fresh()?;
        let mut given = Vec::new();
        for case in cases {
            let results = domain.sizes(&case.params).ok().filter(|_| domain.covers(&case.params))?.outputs;
            if lacks(self.lane, &case.params) {
                return None;
            }
            given = outs(&mut lease, kernel.name, case, results).ok()?;
        }
        let case = *cases.last()?;
        let expected = self.expected(case)?;
        if !differs(&expected, &given) {
            return Some(None);
        }
        self.witness(case, given, expected).map(Some)
    }

    /// Returns the command that runs cases in order; `None` if the cases are too many or too large.
    fn printed(&self, cases: &[&Case<Params>]) -> Option<String> {
        let domain = &self.subject.kernel.contract.domain;
        let written = |case: &&Case<Params>| {
            let short = text::arguments(domain, case);
            Some(words::case(&short.or_else(|| text::complete(domain, case, &self.made(case)))?))
        };
        let are_equal = cases.windows(2).all(|pair| pair[0] == pair[1]);
        let times = if are_equal { cases.len() } else { 1 };
        let several = if are_equal { &cases[..1] } else { cases };
        let written: Vec<String> = several.iter().take(PRINTED + 1).map(written).collect::<Option<_>>()?;
        let fits = written.len() <= PRINTED && written.iter().map(String::len).sum::<usize>() <= BYTES;
        let mut given: String = written.iter().map(|case| format!(" --case {}", quoted(case))).collect();
        if times > 1 {
            given += &format!(" --repeat {times}");
        }
        fits.then(|| kernel_again(self.request, self.subject.kernel, self.lane) + &given)
    }

    /// Returns the texts of the tensors of a planned case.
    fn made(&self, case: &Case<Params>) -> [Option<String>; 3] {
        let domain = &self.subject.kernel.contract.domain;
        let of = |spec: &Arc<Spec<Params>>| {
            let same = (&spec.params, spec.misalign) == (&case.params, case.misalign);
            let is = same && spec.case(domain, self.request.seed).is_some_and(|made| made == *case);
            is.then(|| spec.made(self.request.seed))
        };
        self.specs.iter().find_map(of).unwrap_or_default()
    }

    /// Returns the command that runs a case `times` times if a fresh worker reproduces the difference; otherwise the command of the whole plan.
    pub(crate) fn repeated(&self, case: &Case<Params>, times: usize) -> String {
        let cases = vec![case; times];
        let shown = self.printed(&cases).filter(|_| matches!(self.replay(&cases), Some(Some(_))));
        shown.unwrap_or_else(|| self.whole())
    }

    /// Returns the command that repeats the kernel's whole plan.
    pub(crate) fn whole(&self) -> String {
        let Request { effort, seed, .. } = self.request;
        let kernel = kernel_again(self.request, self.subject.kernel, self.lane);
        format!("{kernel} --effort {} --seed {seed}", effort.name())
    }
}
