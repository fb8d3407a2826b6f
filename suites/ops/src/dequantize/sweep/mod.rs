//! Sweeps of all stored values of a type through one dequantization. Each result is judged against the contract and against the exact product
//! rounded once. Differences are counted in units of the last place.

mod counted;
mod extent;

use super::Dequantize;
use crate::quantized::{self, quantizations, with_one_scale};
use counted::{Side, Step, judge};
use std::collections::BTreeMap;
use tiebreak_common::Class;
use tiebreak_engine::case::text;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::element::{bits, float};
use tiebreak_engine::operation::fault::{self, Faulty, Seen};
use tiebreak_engine::operation::{
    self, Case, CaseSelection, Element, Expected, SweepOutcome, SweptSide, SweptWitness, promise,
};
use tiebreak_engine::run::sweep::{self, Blocks, Space};
use tiebreak_impls::dequantize::Kernel;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Expressed, I8, I16, Params, Quantized, Scale, Storage, U8, U16};
use tiebreak_oracle::dequantize::{Fixed, Scheme};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_reports::ledger::{self, Against, PathStep};
use tiebreak_worker::protocol::Job;

/// Stored values in one task.
const CHUNK: i64 = 1 << 22;
/// Stored values in one in-process batch: input, output and exact results fit a core's cache.
const BLOCK_IN_PROCESS: i64 = 1 << 13;
/// Stored values in one batch of a worker.
const BLOCK_IN_WORKER: i64 = 1 << 16;
/// Largest storage width, in bits, that every run sweeps.
const FEW_BITS: u32 = 16;

/// Results judged against contract and reference.
#[derive(Clone, Default)]
struct Sides {
    contract: Side,
    reference: Side,
    /// Differences of each scheme on the path from the scheme before it.
    steps: Vec<Step>,
    faults: Seen,
    /// Results of each scheme for the current block.
    exact: Vec<Vec<u64>>,
}

/// Scheme on the way from the reference to the contract's scheme.
struct Stop {
    class: Class,
    scheme: Scheme,
    fixed: Fixed,
}

/// Sweep of a kernel in a lane at one type.
struct Plan<'a> {
    kernel: &'static Kernel,
    lane: &'a Lane,
    runner: &'a Runner<'a>,
    q: Quantization,
    /// Parameters of a batch of one stored value.
    params: Params,
    /// True if a known fault changes the lane's code for the type.
    faulty: bool,
    /// Path from the reference (first) to the contract's scheme (last); a single stop if they are the same.
    path: Vec<Stop>,
}

/// Storage types, with a zero point, that every run sweeps to f32.
const FEW: [(Storage, i64); 4] = [(I8, 1), (U8, 129), (I16, -3001), (U16, 3001)];

/// Sweeps the requested small types; by default, all 8-bit and 16-bit types to f32 that the kernel accepts.
pub(super) fn small_sweeps(
    kernel: &'static Kernel,
    runner: &Runner<'_>,
    selection: &CaseSelection,
) -> Vec<SweepOutcome> {
    let few = types(selection).into_iter().filter(|ty| ty.storage.bits <= FEW_BITS);
    few.filter_map(|ty| Plan::new(kernel, runner, &ty)).map(|plan| plan.sweep()).collect()
}

/// Returns the parameters of the sweeps of [`small_sweeps`] and [`many`].
pub(super) fn params(domain: &Domain, selection: &CaseSelection) -> Vec<Params> {
    types(selection).iter().filter_map(|ty| quantized::swept(domain, ty, 1)).collect()
}

fn types(selection: &CaseSelection) -> Vec<Quantized> {
    if !selection.types.is_empty() {
        return selection.types.clone();
    }
    let of = |(storage, zero_point): (Storage, i64)| {
        with_one_scale(storage, storage.range().into_inner(), Expressed::F32, Scale(0.3), zero_point)
    };
    FEW.into_iter().map(of).collect()
}

/// Sweeps each requested type of more than 16 bits.
pub(super) fn many(kernel: &'static Kernel, runner: &Runner<'_>, selection: &CaseSelection) -> Vec<SweepOutcome> {
    let types = selection.types.iter().filter(|ty| ty.storage.bits > FEW_BITS);
    types.filter_map(|ty| Plan::new(kernel, runner, ty)).map(|plan| plan.sweep()).collect()
}

impl<'a> Plan<'a> {
    /// Prepares a sweep; `None` if the kernel does not accept the type, or if the type has several scales.
    fn new(kernel: &'static Kernel, runner: &'a Runner<'a>, quantized: &Quantized) -> Option<Self> {
        let lane = runner.lane;
        let params = quantized::swept(&kernel.contract.domain, quantized, 1)?;
        let faulty = quantized::is_at_fault(kernel.name, &lane.name, &params);
        let q = *quantizations(quantized).ok()?.first()?;
        let stop = |class, scheme: Scheme| Stop { class, scheme, fixed: scheme.fixed(&q) };
        let ideal = Scheme::parse("ideal").ok()?;
        let mut path = vec![stop(Class::OtherScheme, ideal)];
        let steps =
            operation::path::<Dequantize>(&promise::<Dequantize>(kernel).ok()?, &ideal, &kernel.contract.domain);
        path.extend(steps.iter().filter_map(|step| Some(stop(step.class(&params), *step.scheme()?))));
        Some(Self { kernel, lane, runner, q, params, faulty, path })
    }

    fn sweep(&self) -> SweepOutcome {
        let space = Space {
            first: self.q.min,
            last: self.q.max,
            chunk: CHUNK,
            in_process: BLOCK_IN_PROCESS,
            in_worker: BLOCK_IN_WORKER,
            outwards: false,
        };
        let sides = |mut all: Sides| {
            all.steps.iter_mut().for_each(Step::thin);
            if all.contract.count.seen() == space.inputs() && self.faulty {
                self.extents(&mut all.faults);
            }
            let path = self.counted_path(&all.steps);
            let mut sides = vec![self.side(all.contract, Against::Contract, Vec::new())];
            if self.path.len() > 1 {
                sides.push(self.side(all.reference, Against::Reference, path));
            }
            (sides, all.faults)
        };
        sweep::whole(self.runner, self, &space, "stored values", |stored| self.spelled(stored), sides)
    }

    fn params(&self, len: usize) -> Params {
        Params { shape: vec![len], ..self.params.clone() }
    }

    fn compared(&self, at: i64, outs: &[i32], swept: &mut Sides) {
        let exact = &mut swept.exact;
        let words = self.words();
        let len = outs.len() / words;
        for (stop, exact) in self.path.iter().zip(exact.iter_mut()) {
            exact.resize(len.max(exact.len()), 0);
            stop.fixed.fill(at, &mut exact[..len]);
        }
        for (step, pair) in swept.steps.iter_mut().zip(exact.windows(2)) {
            step.compare(at, &pair[0][..len], &pair[1][..len]);
        }
        let last = self.path.len() - 1;
        let faulty = self.faulty(at, &exact[last][..len], outs, &mut swept.faults);
        for (i, words) in outs.chunks_exact(words).enumerate() {
            let (got, fault) = (bits(words), faulty.get(&i).copied());
            let judged = if fault.is_some() { exact[last][i] } else { got };
            judge(&mut swept.contract, self.q.format, at + i as i64, judged, exact[last][i], || None);
            if last > 0 {
                let due = || fault.or_else(|| (1..=last).find(|k| exact[*k][i] == got).map(|k| self.path[k].class));
                judge(&mut swept.reference, self.q.format, at + i as i64, got, exact[0][i], due);
            }
        }
    }

    /// Returns the class of each result explained by a known fault, by index, and counts the results.
    fn faulty(&self, at: i64, exact: &[u64], outs: &[i32], faults: &mut Seen) -> BTreeMap<usize, Class> {
        let words = self.words();
        let differs = |i: &usize| bits(&outs[i * words..(i + 1) * words]) != exact[*i];
        let differing: Vec<usize> = if self.faulty { (0..exact.len()).filter(differs).collect() } else { Vec::new() };
        if differing.is_empty() {
            return BTreeMap::new();
        }
        let (case, expected) = self.posed(differing.iter().map(|i| (at + *i as i64, exact[*i])));
        let given: Vec<i32> = differing.iter().flat_map(|i| &outs[i * words..(i + 1) * words]).copied().collect();
        let known = Dequantize::at_fault(self.kernel.name, &self.lane.name, self.contract(), &case);
        let faulty: Faulty = fault::faulty(&known, &expected, words, &given, faults);
        differing.iter().zip(faulty).filter_map(|(i, class)| Some((*i, class?))).collect()
    }

    fn contract(&self) -> &Scheme {
        &self.path[self.path.len() - 1].scheme
    }

    /// Builds a case of stored values with their expected results. NaN patterns are not promised, so NaNs have no expected value.
    pub(super) fn posed(&self, values: impl Iterator<Item = (i64, u64)>) -> (Case<Params>, Expected) {
        let element = Element::Float(self.q.format);
        let number = |bits: &u64| bits & (self.q.format.sign() - 1) <= self.q.format.infinity();
        let (mut stored, mut expected) = (Vec::new(), Vec::new());
        for (value, bits) in values {
            stored.push(value as i32);
            expected.extend(element.of(bits).into_iter().map(|word| number(&bits).then_some(word)));
        }
        let params = self.params(stored.len());
        (Case { params, tensors: [stored, Vec::new(), Vec::new()].into(), misalign: 0 }, expected)
    }

    /// Returns the path with the number of differing stored values at each step. Big rationals check the kept values.
    fn counted_path(&self, steps: &[Step]) -> Vec<PathStep> {
        let one = |(pair, step): (&[Stop], &Step)| {
            let [from, to] = [&pair[0], &pair[1]];
            step.seen().iter().for_each(|stored| {
                self.anchor(*stored);
                let [a, b] = [from, to].map(|stop| stop.scheme.exact(&self.q, *stored));
                assert_ne!(a, b, "the oracle disagrees with itself at {stored}");
            });
            let shown = |stop: &Stop, stored| float(self.q.format, stop.fixed.expected(stored));
            let described = |stored| {
                let [a, b] = [from, to].map(|stop| format!("{} {}", stop.scheme.label(), shown(stop, stored)));
                format!("q={stored}: {a}, {b}")
            };
            PathStep {
                class: to.class.into(),
                from: from.scheme.label(),
                to: to.scheme.label(),
                differ: step.differ,
                rejudged: step.seen().len() as u64,
                witness: step.smallest.map(described),
            }
        };
        self.path.windows(2).zip(steps).map(one).collect()
    }

    fn side(&self, counted: Side, against: Against, path: Vec<PathStep>) -> SweptSide {
        let element = Element::Float(self.q.format);
        let witness = counted.least.map(|(_, seen)| {
            let [got, expected] = [seen.got, seen.expected].map(|bits| element.described(&element.of(bits)));
            SweptWitness { case: self.spelled(seen.stored), got, expected }
        });
        let stop = if against == Against::Contract { self.path.last() } else { self.path.first() };
        let mut count = counted.count;
        let because = match self.path.last() {
            Some(last) if count.unclassified() == 0 => format!("the values are those of {}", last.scheme.label()),
            _ => "the finding on sampled cases names the cause if it is known".to_owned(),
        };
        count.leave_unexplained(Class::Unexplained);
        SweptSide {
            against,
            scheme: stop.map_or(String::new(), |stop| stop.scheme.label()),
            count,
            class: counted.least.and_then(|(_, seen)| seen.class),
            because,
            path,
            witness,
        }
    }

    /// Formats a case of one stored value for `--case`.
    fn spelled(&self, stored: i64) -> ledger::Case {
        let tensors = [vec![stored as i32], Vec::new(), Vec::new()];
        let case = Case { params: self.params(1), tensors: tensors.into(), misalign: 0 };
        text::arguments_of::<Dequantize>(&self.kernel.contract.domain, case).unwrap_or_default()
    }
}

impl Blocks for Plan<'_> {
    type Seen = Sides;

    fn nothing(&self) -> Sides {
        let steps = vec![Step::default(); self.path.len() - 1];
        Sides { steps, exact: vec![Vec::new(); self.path.len()], ..Sides::default() }
    }

    fn merge(&self, all: &mut Sides, part: Sides) {
        all.contract.merge(part.contract);
        all.reference.merge(part.reference);
        fault::merge(&mut all.faults, part.faults);
        all.steps.iter_mut().zip(part.steps).for_each(|(all, part)| all.merge(part));
    }

    fn words(&self) -> usize {
        Element::Float(self.q.format).words()
    }

    fn job(&self, len: usize) -> Job {
        Job::Dequantize { kernel: self.kernel.name.to_owned(), params: self.params(len) }
    }

    fn judge(&self, first: i64, outs: &[i32], seen: &mut Sides) {
        self.compared(first, outs, seen);
    }

    fn anchor(&self, stored: i64) {
        for stop in &self.path {
            let (fast, exact) = (stop.fixed.expected(stored), stop.scheme.exact(&self.q, stored));
            assert_eq!(fast, exact, "the oracle disagrees with itself: {} at {stored}", stop.scheme.label());
        }
    }

    fn during(&self, first: i64, last: i64) -> String {
        format!("stored values {first}..={last}, {}", quantized::type_text(&self.params.quantized))
    }
}
