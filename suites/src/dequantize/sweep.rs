//! Every stored value of a type through one dequantization, judged one by one against the contract and against the exact product
//! rounded once. How far a result is off is counted in units of the last place.

mod counted;
mod extent;

use super::{Dequantize, causes};
use crate::class::Class;
use crate::lane::{Failure, Input, Lane, Order};
use crate::quantized::{self, quantizations};
use crate::tensor::element::{bits, float};
use crate::tensor::fault::{self, Faulty, Made, Seen};
use crate::tensor::{Asked, Case, Element, Expected, Sweep, SweptSide, SweptWitness, promise, text};
use counted::{Counted, Step};
use rayon::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;
use tiebreak_impls::dequantize::Kernel;
use tiebreak_impls::protocol::Job;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Expressed, Granularity, I8, I16, Params, Quantized, Scale, Storage, U8, U16};
use tiebreak_oracle::dequantize::{Fixed, Scheme};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_reports::ledger::{Against, Link};

/// Stored values of one task.
const CHUNK: i64 = 1 << 22;
/// Stored values of one batch in this process: input, output and exact results stay in a core's cache.
const BLOCK_IN_PROCESS: i64 = 1 << 13;
/// Stored values of one batch in a worker.
const BLOCK_IN_WORKER: i64 = 1 << 16;
/// Storage of so many bits is swept in every run.
const FEW_BITS: u32 = 16;

/// What a task saw.
#[derive(Clone, Default)]
struct Swept {
    contract: Counted,
    reference: Counted,
    /// Where each scheme on the path differs from the one before it.
    steps: Vec<Step>,
    faults: Seen,
    failure: Option<Failure>,
}

/// A scheme on the way from the reference to the contract's.
struct Stop {
    class: Class,
    scheme: Scheme,
    fixed: Fixed,
}

/// A kernel in a lane at one type.
struct Plan<'a> {
    kernel: &'static Kernel,
    lane: &'a Lane,
    q: Quantization,
    /// Of a batch of one stored value.
    params: Params,
    /// Whether a known fault changes the lane's code for it.
    faulty: bool,
    /// The reference first, the contract's scheme last; the same one where they are the same.
    path: Vec<Stop>,
}

/// Storage with a zero point, in f32: what every run sweeps.
const FEW: [(Storage, i64); 4] = [(I8, 1), (U8, 129), (I16, -3001), (U16, 3001)];

/// The types of few values that were asked for, or all of 8 and 16 bits to f32 that the kernel takes.
pub(super) fn few(kernel: &'static Kernel, lane: &Lane, asked: &Asked) -> Vec<Sweep> {
    let few = types(asked).into_iter().filter(|ty| ty.storage.bits <= FEW_BITS);
    few.filter_map(|ty| Plan::new(kernel, lane, &ty)).map(|plan| plan.sweep()).collect()
}

/// The parameters of these sweeps and of [`many`].
pub(super) fn params(domain: &Domain, asked: &Asked) -> Vec<Params> {
    types(asked).iter().filter_map(|ty| quantized::swept(domain, ty, 1)).collect()
}

fn types(asked: &Asked) -> Vec<Quantized> {
    if !asked.types.is_empty() {
        return asked.types.clone();
    }
    FEW.into_iter().map(|(storage, zero_point)| of(storage, zero_point)).collect()
}

fn of(storage: Storage, zero_point: i64) -> Quantized {
    Quantized {
        storage,
        min: *storage.range().start(),
        max: *storage.range().end(),
        expressed: Expressed::F32,
        granularity: Granularity::Layer,
        scales: vec![Scale(0.3)],
        zero_points: vec![zero_point],
    }
}

/// Each type of more values that was asked for.
pub(super) fn many(kernel: &'static Kernel, lane: &Lane, asked: &Asked) -> Vec<Sweep> {
    let types = asked.types.iter().filter(|ty| ty.storage.bits > FEW_BITS);
    types.filter_map(|ty| Plan::new(kernel, lane, ty)).map(|plan| plan.sweep()).collect()
}

impl<'a> Plan<'a> {
    /// Nothing where the type is not the kernel's, or has several scales.
    fn new(kernel: &'static Kernel, lane: &'a Lane, quantized: &Quantized) -> Option<Self> {
        let params = quantized::swept(&kernel.contract.domain, quantized, 1)?;
        let faulty = quantized::is_at_fault(kernel.name, &lane.name, &params);
        let q = *quantizations(quantized).ok()?.first()?;
        let stop = |class, scheme: Scheme| Stop { class, scheme, fixed: scheme.fixed(&q) };
        let mut path = vec![stop(Class::OtherScheme, Scheme::parse("ideal").ok()?)];
        let links = causes::links(&promise::<Dequantize>(kernel).ok()?);
        path.extend(links.into_iter().map(|link| stop((link.class)(&params), link.scheme)));
        Some(Self { kernel, lane, q, params, faulty, path })
    }

    fn sweep(&self) -> Sweep {
        let begun = Instant::now();
        let (min, max) = (self.q.min, self.q.max);
        let tasks = (max - min) / CHUNK + 1;
        let first = |task: i64| min + task * CHUNK;
        let parts: Vec<Swept> = (0..tasks).into_par_iter().map(|task| self.task(first(task))).collect();
        let mut all = self.nothing();
        for part in parts {
            all.contract.merge(part.contract);
            all.reference.merge(part.reference);
            fault::merge(&mut all.faults, part.faults);
            all.steps.iter_mut().zip(part.steps).for_each(|(all, part)| all.merge(part));
            all.failure = all.failure.or(part.failure);
        }
        all.steps.iter_mut().for_each(Step::thin);
        let exhaustive = all.contract.inputs + all.contract.out_of_domain == (max - min + 1) as u64;
        if exhaustive && self.faulty {
            self.extents(&mut all.faults);
        }
        let path = self.links(&all.steps);
        let mut sides = vec![self.side(all.contract, Against::Contract, Vec::new())];
        if self.path.len() > 1 {
            sides.push(self.side(all.reference, Against::Reference, path));
        }
        let seconds = begun.elapsed().as_secs_f64();
        Sweep { what: "stored values", exhaustive, sides, faults: all.faults, failure: all.failure, seconds }
    }

    fn nothing(&self) -> Swept {
        Swept { steps: vec![Step::default(); self.path.len() - 1], ..Swept::default() }
    }

    fn params(&self, len: usize) -> Params {
        Params { shape: vec![len], ..self.params.clone() }
    }

    /// One chunk: two blocks in flight, so that the lane computes one while the other is judged.
    fn task(&self, start: i64) -> Swept {
        let mut swept = self.nothing();
        let end = (start + CHUNK - 1).min(self.q.max);
        let block = if self.lane.is_isolated() { BLOCK_IN_WORKER } else { BLOCK_IN_PROCESS };
        let mut lease = self.lane.lease();
        let (mut waiting, mut outs) = (VecDeque::new(), Vec::new());
        let mut exact = vec![vec![0; block as usize]; self.path.len()];
        let mut next = (start..=end).step_by(block as usize);
        loop {
            while waiting.len() < 2 {
                let Some(at) = next.next() else { break };
                let len = block.min(end - at + 1) as usize;
                let job = Job::Dequantize { kernel: self.kernel.name.to_owned(), params: self.params(len) };
                let input = Input::Range { start: at as i32, len };
                waiting.push_back((at, lease.submit(&Order { job: &job, input, misalign: 0 })));
            }
            let Some((at, submitted)) = waiting.pop_front() else { break };
            match submitted.and_then(|()| lease.collect(&mut outs)) {
                Ok(()) => self.judge(at, &outs, &mut exact, &mut swept),
                Err(failure) => {
                    swept.failure = Some(failure);
                    return swept;
                }
            }
        }
        self.anchor(start);
        self.anchor(end);
        swept
    }

    /// Holds the machine integers against big rationals.
    fn anchor(&self, stored: i64) {
        for stop in &self.path {
            let (fast, exact) = (stop.fixed.expected(stored), stop.scheme.exact(&self.q, stored));
            assert_eq!(fast, exact, "the oracle disagrees with itself: {} at {stored}", stop.scheme.label());
        }
    }

    fn judge(&self, at: i64, outs: &[i32], exact: &mut [Vec<u64>], swept: &mut Swept) {
        let words = Element::Float(self.q.format).words();
        let len = outs.len() / words;
        for (stop, exact) in self.path.iter().zip(exact.iter_mut()) {
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
            swept.contract.judge(self.q.format, at + i as i64, judged, exact[last][i], || None);
            if last > 0 {
                let due = || fault.or_else(|| (1..=last).find(|k| exact[*k][i] == got).map(|k| self.path[k].class));
                swept.reference.judge(self.q.format, at + i as i64, got, exact[0][i], due);
            }
        }
    }

    /// Which of these results follow a known fault, by their index; each is counted.
    fn faulty(&self, at: i64, exact: &[u64], outs: &[i32], faults: &mut Seen) -> BTreeMap<usize, Class> {
        let words = Element::Float(self.q.format).words();
        let differs = |i: &usize| bits(&outs[i * words..(i + 1) * words]) != exact[*i];
        let differing: Vec<usize> = if self.faulty { (0..exact.len()).filter(differs).collect() } else { Vec::new() };
        if differing.is_empty() {
            return BTreeMap::new();
        }
        let (case, expected) = self.posed(differing.iter().map(|i| (at + *i as i64, exact[*i])));
        let given: Vec<i32> = differing.iter().flat_map(|i| &outs[i * words..(i + 1) * words]).copied().collect();
        let made = Made::<Dequantize> { kernel: self.kernel.name, lane: &self.lane.name, contract: self.contract() };
        let faulty: Faulty = made.faulty(&case, &expected, words, &given, faults);
        differing.iter().zip(faulty).filter_map(|(i, class)| Some((*i, class?))).collect()
    }

    fn contract(&self) -> &Scheme {
        &self.path[self.path.len() - 1].scheme
    }

    /// A case of these stored values, with what is expected of each. Which NaN it is is nobody's promise.
    pub(super) fn posed(&self, values: impl Iterator<Item = (i64, u64)>) -> (Case<Params>, Expected) {
        let element = Element::Float(self.q.format);
        let number = |bits: &u64| bits & (self.q.format.sign() - 1) <= self.q.format.infinity();
        let (mut stored, mut expected) = (Vec::new(), Vec::new());
        for (value, bits) in values {
            stored.push(value as i32);
            expected.extend(element.of(bits).into_iter().map(|word| number(&bits).then_some(word)));
        }
        let params = self.params(stored.len());
        (Case { params, tensors: [stored, Vec::new(), Vec::new()], misalign: 0 }, expected)
    }

    /// The path with the number of stored values on which each scheme differs from the one before, told after big rationals.
    fn links(&self, steps: &[Step]) -> Vec<Link> {
        let one = |(pair, step): (&[Stop], &Step)| {
            let [from, to] = [&pair[0], &pair[1]];
            step.seen().iter().for_each(|stored| {
                self.anchor(*stored);
                let [a, b] = [from, to].map(|stop| stop.scheme.exact(&self.q, *stored));
                assert_ne!(a, b, "the oracle disagrees with itself at {stored}");
            });
            let shown = |stop: &Stop, stored| float(self.q.format, stop.fixed.expected(stored));
            let told = |stored| {
                let [a, b] = [from, to].map(|stop| format!("{} {}", stop.scheme.label(), shown(stop, stored)));
                format!("q={stored}: {a}, {b}")
            };
            Link {
                class: to.class.into(),
                from: from.scheme.label(),
                to: to.scheme.label(),
                differ: step.differ,
                rejudged: step.seen().len() as u64,
                witness: step.smallest.map(told),
            }
        };
        self.path.windows(2).zip(steps).map(one).collect()
    }

    fn side(&self, counted: Counted, against: Against, path: Vec<Link>) -> SweptSide {
        let domain = &self.kernel.contract.domain;
        let element = Element::Float(self.q.format);
        let witness = counted.smallest.and_then(|seen| {
            let case = Case {
                params: self.params(1),
                tensors: [vec![seen.stored as i32], Vec::new(), Vec::new()],
                misalign: 0,
            };
            let case = text::arguments::<Dequantize>(domain, &case)?;
            let [got, expected] = [seen.got, seen.expected].map(|bits| element.told(&element.of(bits)));
            Some(SweptWitness { case, got, expected })
        });
        let stop = if against == Against::Contract { self.path.last() } else { self.path.first() };
        let mut classes = counted.classes;
        let told: u64 = classes.values().sum();
        let because = match self.path.last() {
            Some(last) if told == counted.differ => format!("the values are those of {}", last.scheme.label()),
            _ => "the sampled cases tell the cause".to_owned(),
        };
        if told < counted.differ {
            classes.insert(Class::Unexplained, counted.differ - told);
        }
        SweptSide {
            against,
            scheme: stop.map_or(String::new(), |stop| stop.scheme.label()),
            inputs: counted.inputs,
            out_of_domain: counted.out_of_domain,
            differ: counted.differ,
            by_delta: counted.by_delta.all(),
            classes,
            class: counted.smallest.and_then(|seen| seen.class),
            because,
            path,
            witness,
        }
    }
}
