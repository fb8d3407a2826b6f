//! Sweep of all 2^32 quadruples `a0, a1, b0, b1` of one 16-bit pair sum, judged against the contract's pair sum and the true pair sum.

use super::Dot;
use rug::Integer;
use tiebreak_common::Class;
use tiebreak_engine::case::text;
use tiebreak_engine::count::Counted;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::{Case, Operation, SweepOutcome, SweptSide, SweptWitness, Wanted, fault, promise};
use tiebreak_engine::run::sweep::{self, Blocks, Space};
use tiebreak_impls::dot::{Kernel, Params};
use tiebreak_impls::element::Element;
use tiebreak_oracle::pair_sum::PairSum;
use tiebreak_reports::ledger::{self, Against};
use tiebreak_worker::protocol::Job;

/// Range of all quadruples.
const SPACE: Space =
    Space { first: 0, last: u32::MAX as i64, chunk: 1 << 24, in_process: 1 << 16, in_worker: 1 << 16, outwards: false };

/// Differences on one side of the comparison, with the first differing quadruple, its observed result, and its expected result.
type Side = Counted<(), (u32, i32, i32)>;

#[derive(Clone, Default)]
struct Sides {
    contract: Side,
    truth: Side,
}

/// Kernel whose step has a 16-bit pair sum.
struct Pairs<'a> {
    kernel: &'a Kernel,
    pair: PairSum,
}

/// Sweeps the pair sum; `None` if the kernel has no 16-bit pair sum.
pub(super) fn sweep(kernel: &Kernel, runner: &Runner<'_>) -> Option<SweepOutcome> {
    let domain = &kernel.contract.domain;
    if domain.pairs.is_empty() || domain.lhs.bytes() != 1 {
        return None;
    }
    let scheme = promise::<Dot>(kernel).ok()?;
    let pairs = Pairs { kernel, pair: scheme.pair()? };
    let sides = |Sides { contract, truth }: Sides| {
        let reference = Dot::reference(kernel, &Wanted::default()).unwrap_or_default();
        let contract = swept(contract, kernel, Against::Contract, scheme.label(), Class::Unexplained);
        let truth = swept(truth, kernel, Against::Reference, reference, Class::pair_sum(pairs.pair));
        (vec![contract, truth], fault::Seen::new())
    };
    Some(sweep::whole(runner, &pairs, &SPACE, "pair sums", |at| spelled(kernel, at as u32), sides))
}

impl Blocks for Pairs<'_> {
    type Seen = Sides;

    fn merge(&self, all: &mut Sides, part: Sides) {
        all.contract.merge(part.contract);
        all.truth.merge(part.truth);
    }

    fn job(&self, len: usize) -> Job {
        Job::Dot { kernel: self.kernel.name.to_owned(), params: Params { len } }
    }

    fn group(&self) -> usize {
        self.kernel.contract.domain.results
    }

    fn judge(&self, first: i64, outs: &[i32], seen: &mut Sides) {
        for (i, out) in outs.iter().enumerate() {
            let quadruple = (first as u32).wrapping_add(i as u32);
            let (a, b) = operands(self.kernel, quadruple);
            let (promised, truth) = (self.pair.of_narrow(a, b), a[0] * b[0] + a[1] * b[1]);
            if *out != promised {
                note(&mut seen.contract, quadruple, *out, promised);
            }
            if *out != truth {
                note(&mut seen.truth, quadruple, *out, truth);
            }
        }
        seen.contract.count.inputs += outs.len() as u64;
        seen.truth.count.inputs += outs.len() as u64;
    }

    /// Checks the 32-bit pair sum against big integers.
    fn anchor(&self, quadruple: i64) {
        let (a, b) = operands(self.kernel, quadruple as u32);
        let exact: Integer = Integer::from(a[0]) * b[0] + Integer::from(a[1]) * b[1];
        let fast = a[0] * b[0] + a[1] * b[1];
        assert_eq!(exact, fast, "the oracle disagrees with itself: {a:?} {b:?}");
    }

    fn during(&self, first: i64, last: i64) -> String {
        format!("quadruples {first:#x}..={last:#x}")
    }
}

/// Returns the operands of a quadruple.
fn operands(kernel: &Kernel, quadruple: u32) -> ([i32; 2], [i32; 2]) {
    let bytes = quadruple.to_le_bytes();
    let value = |element: Element, at: usize| match element {
        Element::U8 => i32::from(bytes[at]),
        _ => i32::from(bytes[at] as i8),
    };
    let domain = &kernel.contract.domain;
    ([value(domain.lhs, 0), value(domain.lhs, 1)], [value(domain.rhs, 2), value(domain.rhs, 3)])
}

/// Formats a step whose first pair is the quadruple and whose other elements are 0, for `--case`.
fn spelled(kernel: &Kernel, quadruple: u32) -> ledger::Case {
    let domain = &kernel.contract.domain;
    let mut tensors = [vec![0; domain.results], vec![0; domain.elements], vec![0; domain.elements]];
    let (a, b) = operands(kernel, quadruple);
    for (i, place) in domain.pairs[0].into_iter().enumerate() {
        (tensors[1][place], tensors[2][place]) = (a[i], b[i]);
    }
    let case = Case { params: Params { len: domain.results }, tensors: tensors.into(), misalign: 0 };
    text::arguments_of::<Dot>(domain, case).unwrap_or_default()
}

/// Counts a differing result.
#[cold]
fn note(side: &mut Side, quadruple: u32, got: i32, expected: i32) {
    side.differs(((), (quadruple, got, expected)), i64::from(got) - i64::from(expected), None);
}

/// Returns a side of the outcome, with the witness.
fn swept(side: Side, kernel: &Kernel, against: Against, scheme: String, class: Class) -> SweptSide {
    let Counted { mut count, least } = side;
    let witness = least.map(|((), (quadruple, got, expected))| SweptWitness {
        case: spelled(kernel, quadruple),
        got: got.into(),
        expected: expected.into(),
    });
    let class = (count.differ > 0).then_some(class);
    class.into_iter().for_each(|class| count.leave_unexplained(class));
    let because = "the pair sum leaves 16 bits".to_owned();
    SweptSide { against, scheme, count, class, because, path: Vec::new(), witness }
}
