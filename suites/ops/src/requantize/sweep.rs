//! Sweep of every accumulator of one channel through one requantization. Each scheme is a list of pieces on which it is the floor of an affine
//! function. Most pieces are constant because of the clamp, so runs of equal results are compared with one number.

use super::path::{Intermediates, changes};
use super::{Promised, Requantize, parameters};
use tiebreak_common::Class;
use tiebreak_common::parameters::SWEPT;
use tiebreak_engine::case::text;
use tiebreak_engine::count::Counted;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::{
    Case, CaseSelection, Operation, SweepOutcome, SweptSide, SweptWitness, Wanted, fault, job,
};
use tiebreak_engine::run::sweep::{self, Blocks, Space};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Domain, Kernel, Params};
use tiebreak_oracle::fpm::pieces::{Output, Piece, fold_steps};
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Parameters as Multiply, integer};
use tiebreak_oracle::requantize::Scheme;
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::ledger::{self, Against};
use tiebreak_worker::protocol::Job;

/// Range of every accumulator.
const SPACE: Space = Space {
    first: i32::MIN as i64,
    last: i32::MAX as i64,
    chunk: 1 << 24,
    in_process: 1 << 14,
    in_worker: 1 << 16,
    outwards: true,
};

/// Default channel of sweeps of the legacy pipeline: its product wraps.
pub const LEGACY_SWEPT: Channel = Channel { multiplier: 4321, shift: -16 };

/// Scheme for one channel.
pub struct Exact {
    scheme: Scheme,
    /// Pieces; `None` if the scheme does not fold.
    pub pieces: Option<Vec<Piece>>,
}

/// Sweep of a kernel in a lane with one channel.
struct Plan<'a> {
    kernel: &'static Kernel,
    runner: &'a Runner<'a>,
    /// Parameters of a batch of one accumulator.
    params: Params,
    /// Length of the smallest batch whose elements are all outside the contract's deviation.
    alone: usize,
    contract: Exact,
    /// Reference, with the steps from it to the contract.
    reference: Option<Reference>,
}

/// Scheme against which differences are counted besides the contract.
struct Reference {
    exact: Exact,
    path: Vec<SweptChange>,
}

/// Change on the way from the reference to the contract, for one channel.
struct SweptChange {
    class: Class,
    steps: Vec<Step>,
    multiply: Multiply,
    /// Pieces; `None` if the steps do not fold.
    pieces: Option<Vec<Piece>>,
}

/// Returns the piece that contains an accumulator; `None` if the accumulator is out of domain.
fn holding(pieces: &[Piece], x: i64) -> Option<&Piece> {
    let at = pieces.partition_point(|piece| piece.hi < x);
    pieces.get(at).filter(|piece| piece.lo <= x)
}

impl SweptChange {
    fn new(change: &Intermediates, params: &Params) -> Self {
        let Channel { multiplier, shift } = params.channels[0];
        let (steps, multiply) = (change.steps(params, 0), Multiply::q31(multiplier, shift));
        let pieces = fold_steps(&steps, Overflow::OutOfDomain, &multiply);
        Self { class: change.class, steps, multiply, pieces }
    }

    fn at(&self, x: i64) -> Option<i32> {
        let given = match &self.pieces {
            Some(pieces) => holding(pieces, x)?.at(x),
            None => integer::run(&self.steps, x, &self.multiply)?,
        };
        i32::try_from(given).ok()
    }
}

/// Results judged against one scheme, with the differing accumulator nearest to zero and its result.
type Side = Counted<i64, (i64, i32)>;

/// Results judged against contract and reference.
#[derive(Clone, Default)]
struct Sides {
    contract: Side,
    reference: Side,
}

/// Sweeps each of the caller's channels, or a default channel, that the kernel accepts.
pub(super) fn sweeps(
    kernel: &'static Kernel,
    runner: &Runner<'_>,
    selection: &CaseSelection,
    wanted: &Wanted,
) -> Vec<SweepOutcome> {
    let domain = &kernel.contract.domain;
    let usual = if domain.fraction() == 0 { LEGACY_SWEPT } else { SWEPT[0] };
    let channels = if selection.channels.is_empty() { vec![usual] } else { selection.channels.clone() };
    let taken = channels.into_iter().filter(|channel| domain.takes(*channel));
    taken.filter_map(|channel| Plan::new(kernel, runner, channel, wanted)).map(|plan| plan.sweep()).collect()
}

/// Returns a bias, an odd zero point and a clamp within the type, as far as the domain has them.
pub fn swept(domain: &Domain, channel: Channel) -> Params {
    let range = domain.output.range();
    let (lo, hi) = (*range.start(), *range.end());
    let (min, max) = if domain.clamp { (lo + 3, hi - 2) } else { (lo, hi) };
    let zero_point = if domain.zero_point { lo.midpoint(hi) + 7 } else { 0 };
    let bias = vec![if domain.bias { -12_345 } else { 0 }];
    Params { len: 1, channels: vec![channel], bias, zero_point, min, max }
}

impl Exact {
    /// Prepares a scheme for the parameters of one accumulator.
    pub fn new(scheme: Scheme, params: &Params) -> Self {
        let Channel { multiplier, shift } = params.channels[0];
        let steps: Vec<_> = scheme.steps(&parameters(params), 0).into_iter().map(|(_, step)| step).collect();
        let pieces = fold_steps(&steps, scheme.overflow, &Multiply::q31(multiplier, shift));
        Self { scheme, pieces }
    }

    /// Returns the expected result of one accumulator.
    pub fn at(&self, params: &Params, x: i64) -> Option<i32> {
        match self.piece(x) {
            Some(piece) => piece.map(|piece| piece.at(x) as i32),
            None => self.fast(params, x),
        }
    }

    /// Computes the result with machine integers.
    pub fn fast(&self, params: &Params, x: i64) -> Option<i32> {
        let Channel { multiplier, shift } = params.channels[0];
        let biased = self.scheme.overflow.fit_int32(i128::from(x) + i128::from(params.bias[0]))?;
        let output = Output { zero_point: params.zero_point, min: params.min, max: params.max };
        self.scheme.output((multiplier, shift), &output, biased)
    }

    /// Returns the piece that contains an accumulator: `Some(None)` if the accumulator is out of domain, `None` if the scheme has no pieces.
    fn piece(&self, x: i64) -> Option<Option<&Piece>> {
        Some(holding(self.pieces.as_ref()?, x))
    }

    /// Returns the last accumulator, up to `last`, for which the pieces show the same expected result as for `x`, and that result.
    pub fn run(&self, params: &Params, x: i64, last: i64) -> (i64, Option<i32>) {
        let Some(pieces) = &self.pieces else { return (x, self.fast(params, x)) };
        let at = pieces.partition_point(|piece| piece.hi < x);
        match pieces.get(at) {
            Some(piece) if piece.lo <= x => (piece.last_alike(x).min(last), Some(piece.at(x) as i32)),
            Some(piece) => ((piece.lo - 1).min(last), None),
            None => (last, None),
        }
    }
}

impl<'a> Plan<'a> {
    fn new(kernel: &'static Kernel, runner: &'a Runner<'a>, channel: Channel, wanted: &Wanted) -> Option<Self> {
        let params = swept(&kernel.contract.domain, channel);
        let Promised { scheme: contract, tail } = Promised::by(&kernel.contract).ok()?;
        let is_whole = |len: &usize| tail.as_ref().is_none_or(|tail| !tail.contains(len - 1, *len));
        assert!(
            [SPACE.in_process, SPACE.in_worker].iter().all(|len| is_whole(&(*len as usize))),
            "a block has no tail"
        );
        let alone = (1..).find(is_whole)?;
        let reference = Scheme::parse(&Requantize::reference(kernel, wanted)?).ok()?;
        let differs = reference.label() != contract.label();
        let path = || changes(&contract, &reference).iter().map(|change| SweptChange::new(change, &params)).collect();
        let reference = differs.then(|| Reference { exact: Exact::new(reference, &params), path: path() });
        Some(Self { kernel, runner, contract: Exact::new(contract, &params), reference, params, alone })
    }

    fn sweep(&self) -> SweepOutcome {
        let sides = |seen: Sides| {
            let unknown = "the finding on sampled cases names the cause if it is known".to_owned();
            let mut sides = vec![self.side(seen.contract, Against::Contract, &self.contract, (None, unknown))];
            if let Some(reference) = &self.reference {
                let because = format!("the multiplication is {}", self.contract.scheme.label());
                let class = seen.reference.least.and_then(|(_, (x, got))| Self::due(reference, x, got));
                sides.push(self.side(seen.reference, Against::Reference, &reference.exact, (class, because)));
            }
            (sides, fault::Seen::new())
        };
        sweep::whole(self.runner, self, &SPACE, "accumulators", |x| self.spelled(x), sides)
    }

    /// Returns the class of the first step toward the contract that gives the result; `None` if no step does.
    fn due(reference: &Reference, x: i64, got: i32) -> Option<Class> {
        reference.path.iter().find(|change| change.at(x) == Some(got)).map(|change| change.class)
    }

    fn side(
        &self,
        seen: Side,
        against: Against,
        exact: &Exact,
        (class, because): (Option<Class>, String),
    ) -> SweptSide {
        let witness = seen.least.and_then(|(_, (x, got))| {
            let expected = exact.at(&self.params, x)?;
            Some(SweptWitness { case: self.spelled(x), got: got.into(), expected: expected.into() })
        });
        let mut count = seen.count;
        let all = count.unclassified() == 0;
        count.leave_unexplained(Class::Unexplained);
        let class = class.filter(|_| all && witness.is_some());
        let because =
            if all { because } else { "the kernel follows neither the reference nor its contract".to_owned() };
        SweptSide { against, scheme: exact.scheme.label(), count, class, because, path: Vec::new(), witness }
    }

    fn compare(
        &self,
        exact: &Exact,
        at: i64,
        outs: &[i32],
        side: &mut Side,
        class: impl Fn(i64, i32) -> Option<Class>,
    ) {
        let last = at + outs.len() as i64 - 1;
        let mut x = at;
        while x <= last {
            let (end, expected) = exact.run(&self.params, x, last);
            let run = &outs[(x - at) as usize..=(end - at) as usize];
            match expected {
                None => side.count.out_of_domain += run.len() as u64,
                Some(expected) => {
                    side.count.inputs += run.len() as u64;
                    if run.iter().fold(0, |differ, out| differ | (out ^ expected)) != 0 {
                        let differing = (x..).zip(run).filter(|(_, got)| **got != expected);
                        differing.for_each(|(x, got)| {
                            let delta = i64::from(*got) - i64::from(expected);
                            side.differs((x.abs(), (x, *got)), delta, class(x, *got));
                        });
                    }
                }
            }
            x = end + 1;
        }
    }

    /// Formats a case of one accumulator for `--case`, repeated until an element is outside the contract's deviation.
    fn spelled(&self, x: i64) -> ledger::Case {
        let params = Params { len: self.alone, ..self.params.clone() };
        let case = Case { params, tensors: [vec![x as i32; self.alone], Vec::new(), Vec::new()].into(), misalign: 0 };
        text::arguments_of::<Requantize>(&self.kernel.contract.domain, case).unwrap_or_default()
    }
}

impl Blocks for Plan<'_> {
    type Seen = Sides;

    fn merge(&self, all: &mut Sides, part: Sides) {
        all.contract.merge(part.contract);
        all.reference.merge(part.reference);
    }

    fn job(&self, len: usize) -> Job {
        job::<Requantize>(self.kernel.name, &Params { len, ..self.params.clone() })
    }

    fn judge(&self, first: i64, outs: &[i32], seen: &mut Sides) {
        self.compare(&self.contract, first, outs, &mut seen.contract, |_, _| None);
        if let Some(reference) = &self.reference {
            let due = |x, got| Self::due(reference, x, got);
            self.compare(&reference.exact, first, outs, &mut seen.reference, due);
        }
    }

    fn anchor(&self, x: i64) {
        for exact in std::iter::once(&self.contract).chain(self.reference.iter().map(|reference| &reference.exact)) {
            let all = exact.scheme.exact(&parameters(&self.params), &[x as i32]);
            let big = all.expect("a channel of the domain").remove(0).and_then(|v| v.to_i32());
            assert_eq!(
                exact.at(&self.params, x),
                big,
                "the oracle disagrees with itself: {} at x={x}",
                exact.scheme.label()
            );
        }
    }

    fn during(&self, first: i64, last: i64) -> String {
        let Channel { multiplier, shift } = self.params.channels[0];
        format!("accumulators {first}..={last}, m={multiplier} s={shift}")
    }
}
