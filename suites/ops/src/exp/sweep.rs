//! Sweep of every input with five integer bits through one exponential, judged against the contract and the real value.

use super::{Exp, REFERENCE, USUAL};
use std::cmp::Reverse;
use tiebreak_common::Class;
use tiebreak_engine::case::text;
use tiebreak_engine::count::Counted;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::{Case, SweepOutcome, SweptSide, SweptWitness, fault, job, promise};
use tiebreak_engine::run::sweep::{self, Blocks, Space};
use tiebreak_impls::exp::{Kernel, Params};
use tiebreak_oracle::exp::Scheme;
use tiebreak_reports::ledger::{self, Against};
use tiebreak_worker::protocol::Job;

/// Range of every input that is not positive.
const SPACE: Space =
    Space { first: i32::MIN as i64, last: 0, chunk: 1 << 24, in_process: 1 << 14, in_worker: 1 << 16, outwards: false };

/// Differences on one side of the comparison, with the first input of the largest difference, its observed result, and its expected result.
type Side = Counted<Reverse<u32>, (i32, i32, i32)>;

/// Judges one result.
fn note(side: &mut Side, x: i32, got: i32, expected: i32) {
    side.count.inputs += 1;
    if got != expected {
        let worst = (Reverse(got.abs_diff(expected)), (x, got, expected));
        side.differs(worst, i64::from(got) - i64::from(expected), None);
    }
}

/// Returns a side of the outcome, with the witness.
fn swept(side: Side, kernel: &Kernel, against: Against, scheme: &Scheme, class: Class) -> SweptSide {
    let Counted { mut count, least } = side;
    let witness = least.map(|(_, (x, got, expected))| SweptWitness {
        case: spelled(kernel, x),
        got: got.into(),
        expected: expected.into(),
    });
    let class = (count.differ > 0).then_some(class);
    class.into_iter().for_each(|class| count.leave_unexplained(class));
    let because = match against {
        Against::Contract => "the finding on sampled cases names the cause if it is known".to_owned(),
        Against::Reference => "the results are those of the contract".to_owned(),
    };
    SweptSide { against, scheme: scheme.label(), count, class, because, path: Vec::new(), witness }
}

/// Kernel with the schemes of its contract and of the reference.
struct Inputs<'a> {
    kernel: &'a Kernel,
    contract: Scheme,
    reference: Scheme,
}

/// Sweeps the kernel; `None` if it does not accept five integer bits.
pub(super) fn sweep(kernel: &Kernel, runner: &Runner<'_>) -> Option<SweepOutcome> {
    if !kernel.contract.domain.integer_bits.contains(&USUAL.integer_bits) {
        return None;
    }
    let inputs = Inputs { kernel, contract: promise::<Exp>(kernel).ok()?, reference: Scheme::parse(REFERENCE).ok()? };
    let sides = |[contract, reference]: [Side; 2]| {
        let contract = swept(contract, kernel, Against::Contract, &inputs.contract, Class::Unexplained);
        let reference = swept(reference, kernel, Against::Reference, &inputs.reference, Class::OtherScheme);
        (vec![contract, reference], fault::Seen::new())
    };
    Some(sweep::whole(runner, &inputs, &SPACE, "inputs", |x| spelled(kernel, x as i32), sides))
}

impl Blocks for Inputs<'_> {
    type Seen = [Side; 2];

    fn merge(&self, all: &mut Self::Seen, part: Self::Seen) {
        all.iter_mut().zip(part).for_each(|(all, part)| all.merge(part));
    }

    fn job(&self, len: usize) -> Job {
        job::<Exp>(self.kernel.name, &Params { len, ..USUAL })
    }

    fn judge(&self, first: i64, outs: &[i32], [contract, reference]: &mut Self::Seen) {
        for (x, got) in (first..).zip(outs) {
            let x = x as i32;
            note(contract, x, *got, self.contract.at(USUAL.integer_bits, x));
            note(reference, x, *got, self.reference.at(USUAL.integer_bits, x));
        }
    }

    fn anchor(&self, x: i64) {
        for scheme in [&self.contract, &self.reference] {
            let (fast, exact) =
                (scheme.at(USUAL.integer_bits, x as i32), scheme.exact(USUAL.integer_bits, &[x as i32]));
            let exact = exact.expect("an input").remove(0);
            assert_eq!(exact, fast, "the oracle disagrees with itself: {} at x={x}", scheme.label());
        }
    }

    fn during(&self, first: i64, last: i64) -> String {
        format!("inputs {first}..={last}")
    }
}

/// Formats a case of one input for `--case`.
fn spelled(kernel: &Kernel, x: i32) -> ledger::Case {
    let case = Case { params: USUAL, tensors: [vec![x], Vec::new(), Vec::new()].into(), misalign: 0 };
    text::arguments_of::<Exp>(&kernel.contract.domain, case).unwrap_or_default()
}
