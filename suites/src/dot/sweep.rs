//! All 2^32 quadruples `a0, a1, b0, b1` of one 16-bit pair sum, against the contract's pair sum and against the true one.

use crate::class::Class;
use crate::lane::{Failure, Input, Lane, Order};
use crate::tensor::{Case, Sweep, SweptSide, SweptWitness, Wanted, text};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;
use tiebreak_impls::dot::{Kernel, Params};
use tiebreak_impls::element::Element;
use tiebreak_impls::protocol::Job;
use tiebreak_oracle::pair_sum::PairSum;
use tiebreak_reports::ledger::{self, Against};

/// Quadruples of one batch.
const BATCH: usize = 1 << 16;
/// Batches of one task.
const BATCHES: usize = 1 << 8;

/// What differs on one side.
#[derive(Clone, Default)]
struct Counted {
    differ: u64,
    by_delta: BTreeMap<i64, u64>,
    /// The first quadruple, what was given, and what is expected.
    first: Option<(u32, i32, i32)>,
}

#[derive(Clone, Default)]
struct Part {
    inputs: u64,
    contract: Counted,
    truth: Counted,
    failure: Option<Failure>,
}

/// The sweep, where the kernel's step has a pair sum of 16 bits.
pub(super) fn sweep(kernel: &Kernel, lane: &Lane) -> Option<Sweep> {
    let domain = &kernel.contract.domain;
    if domain.pairs.is_empty() || domain.lhs.bytes() != 1 {
        return None;
    }
    let scheme = crate::tensor::promise::<super::Dot>(kernel).ok()?;
    let pair = scheme.pair()?;
    let begun = Instant::now();
    let tasks = (1u64 << 32) / (BATCH * BATCHES) as u64;
    let parts: Vec<Part> = (0..tasks).into_par_iter().map(|task| one_task(kernel, pair, lane, task as usize)).collect();
    let mut all = Part::default();
    for part in parts {
        all.inputs += part.inputs;
        all.contract.merge(part.contract);
        all.truth.merge(part.truth);
        all.failure = all.failure.or(part.failure);
    }
    let class = if scheme.definition.name.ends_with("-wrap") { Class::Wrap16 } else { Class::Saturation16 };
    let reference = <super::Dot as crate::tensor::Operation>::reference(kernel, &Wanted::default()).unwrap_or_default();
    let sides = vec![
        all.contract.side(kernel, all.inputs, Against::Contract, scheme.label(), Class::Unexplained),
        all.truth.side(kernel, all.inputs, Against::Reference, reference, class),
    ];
    let exhaustive = all.inputs == 1 << 32;
    let seconds = begun.elapsed().as_secs_f64();
    Some(Sweep { what: "pair sums", exhaustive, sides, faults: BTreeMap::new(), failure: all.failure, seconds })
}

fn one_task(kernel: &Kernel, pair: PairSum, lane: &Lane, task: usize) -> Part {
    let job = Job::Dot { kernel: kernel.name.to_owned(), params: Params { len: BATCH } };
    let mut part = Part::default();
    let mut lease = lane.lease();
    let mut outs = Vec::new();
    for batch in 0..BATCHES {
        let start = ((task * BATCHES + batch) * BATCH) as u32;
        let input = Input::Range { start: start as i32, len: BATCH };
        match lease.run(&Order { job: &job, input, misalign: 0 }, &mut outs) {
            Ok(()) => judge(kernel, pair, start, &outs, &mut part),
            Err(failure) => {
                part.failure = Some(failure);
                return part;
            }
        }
    }
    part
}

/// Elements of a quadruple.
fn operands(kernel: &Kernel, quadruple: u32) -> ([i32; 2], [i32; 2]) {
    let bytes = quadruple.to_le_bytes();
    let value = |element: Element, at: usize| match element {
        Element::U8 => i32::from(bytes[at]),
        _ => i32::from(bytes[at] as i8),
    };
    let domain = &kernel.contract.domain;
    ([value(domain.lhs, 0), value(domain.lhs, 1)], [value(domain.rhs, 2), value(domain.rhs, 3)])
}

/// One step in which a quadruple stands in the first pair, and nothing else, as `--case` takes it.
fn spelled(kernel: &Kernel, quadruple: u32) -> ledger::Case {
    let domain = &kernel.contract.domain;
    let mut tensors = [vec![0; domain.results], vec![0; domain.elements], vec![0; domain.elements]];
    let (a, b) = operands(kernel, quadruple);
    for (i, place) in domain.pairs[0].into_iter().enumerate() {
        (tensors[1][place], tensors[2][place]) = (a[i], b[i]);
    }
    let case = Case { params: Params { len: domain.results }, tensors, misalign: 0 };
    text::arguments::<super::Dot>(domain, &case).unwrap_or_default()
}

fn judge(kernel: &Kernel, pair: PairSum, start: u32, outs: &[i32], part: &mut Part) {
    for (i, out) in outs.iter().enumerate() {
        let quadruple = start.wrapping_add(i as u32);
        let (a, b) = operands(kernel, quadruple);
        let (promised, truth) = (pair.of_narrow(a, b), a[0] * b[0] + a[1] * b[1]);
        if *out != promised {
            part.contract.note(quadruple, *out, promised);
        }
        if *out != truth {
            part.truth.note(quadruple, *out, truth);
        }
    }
    part.inputs += outs.len() as u64;
}

impl Counted {
    #[cold]
    fn note(&mut self, quadruple: u32, got: i32, expected: i32) {
        self.differ += 1;
        *self.by_delta.entry(i64::from(got) - i64::from(expected)).or_default() += 1;
        self.first.get_or_insert((quadruple, got, expected));
    }

    fn merge(&mut self, other: Self) {
        self.differ += other.differ;
        for (delta, n) in other.by_delta {
            *self.by_delta.entry(delta).or_default() += n;
        }
        self.first = self.first.or(other.first);
    }

    fn side(self, kernel: &Kernel, inputs: u64, against: Against, scheme: String, class: Class) -> SweptSide {
        let witness = self.first.map(|(quadruple, got, expected)| SweptWitness {
            case: spelled(kernel, quadruple),
            got: got.into(),
            expected: expected.into(),
        });
        let class = (self.differ > 0).then_some(class);
        SweptSide {
            against,
            scheme,
            inputs,
            out_of_domain: 0,
            differ: self.differ,
            by_delta: self.by_delta,
            classes: class.map(|class| (class, self.differ)).into_iter().collect(),
            class,
            because: "the pair sum leaves 16 bits".to_owned(),
            path: Vec::new(),
            witness,
        }
    }
}
