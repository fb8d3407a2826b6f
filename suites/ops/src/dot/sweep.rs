//! Sweep of all 2^32 quadruples `a0, a1, b0, b1` of one 16-bit pair sum, judged against the contract's pair sum and the true pair sum.

use super::Dot;
use rug::Integer;
use std::collections::BTreeMap;
use std::time::Instant;
use tiebreak_common::Class;
use tiebreak_engine::case::text;
use tiebreak_engine::count::Count;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::{Case, Operation, SweepOutcome, SweptSide, SweptWitness, Wanted, promise};
use tiebreak_engine::run::sweep::{self, Blocks, Space};
use tiebreak_impls::dot::{Kernel, Params};
use tiebreak_impls::element::Element;
use tiebreak_impls::protocol::Job;
use tiebreak_oracle::pair_sum::PairSum;
use tiebreak_reports::ledger::{self, Against};

/// Range of all quadruples.
const SPACE: Space =
    Space { first: 0, last: u32::MAX as i64, chunk: 1 << 24, in_process: 1 << 16, in_worker: 1 << 16, outwards: false };

/// Differences on one side of the comparison.
#[derive(Clone, Default)]
struct Counted {
    count: Count,
    /// First differing quadruple, its observed result, and its expected result.
    first: Option<(u32, i32, i32)>,
}

#[derive(Clone, Default)]
struct Sides {
    contract: Counted,
    truth: Counted,
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
    let begun = Instant::now();
    let swept = sweep::sweep(runner, &pairs, &SPACE, || ());
    let Sides { contract, truth } = swept.seen;
    let exhaustive = contract.count.seen() == SPACE.inputs();
    let class = Class::pair_sum(pairs.pair);
    let reference = Dot::reference(kernel, &Wanted::default()).unwrap_or_default();
    let sides = vec![
        contract.side(kernel, Against::Contract, scheme.label(), Class::Unexplained),
        truth.side(kernel, Against::Reference, reference, class),
    ];
    let failures = swept.failures.into_iter().map(|failed| failed.map(|at| spelled(kernel, at as u32))).collect();
    let seconds = begun.elapsed().as_secs_f64();
    Some(SweepOutcome {
        what: "pair sums",
        exhaustive,
        sides,
        faults: BTreeMap::new(),
        failures,
        outside: swept.outside,
        parameters: 0,
        seconds,
    })
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
                seen.contract.note(quadruple, *out, promised);
            }
            if *out != truth {
                seen.truth.note(quadruple, *out, truth);
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
    let case = Case { params: Params { len: domain.results }, tensors, misalign: 0 };
    text::arguments::<Dot>(domain, &case).unwrap_or_default()
}

impl Counted {
    #[cold]
    fn note(&mut self, quadruple: u32, got: i32, expected: i32) {
        self.count.differs(i64::from(got) - i64::from(expected), None, 1);
        self.first.get_or_insert((quadruple, got, expected));
    }

    fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        self.first = self.first.or(other.first);
    }

    fn side(self, kernel: &Kernel, against: Against, scheme: String, class: Class) -> SweptSide {
        let witness = self.first.map(|(quadruple, got, expected)| SweptWitness {
            case: spelled(kernel, quadruple),
            got: got.into(),
            expected: expected.into(),
        });
        let mut count = self.count;
        let class = (count.differ > 0).then_some(class);
        class.into_iter().for_each(|class| count.leave_unexplained(class));
        SweptSide {
            against,
            scheme,
            count,
            class,
            because: "the pair sum leaves 16 bits".to_owned(),
            path: Vec::new(),
            witness,
        }
    }
}
