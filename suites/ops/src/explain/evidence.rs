//! Outputs of a kernel around one input, and the cause of differences from a scheme, in whole vectors and alone.

use crate::fpm::changes::{changes_in, possible, probe_channels};
use crate::fpm::hypotheses::Hypothesis;
use crate::fpm::promised::{Promised, ShiftDirection};
use crate::fpm::{FixedPointMultiply, case};
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::{Budget, Class, Effort};
use tiebreak_engine::erased::{AnyCase, Params, op};
use tiebreak_engine::explain::cause as explain;
use tiebreak_engine::lane::FORM;
use tiebreak_engine::operation::{Case, Change, Expected, Observed, Operation};
use tiebreak_engine::run::subject::mask_undefined;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Batch, Channel, Kernel};

/// Batch length without a tail for vector lengths of 1, 2, 4, 8 and 16.
const WHOLE: usize = 16;

/// Batch with its outputs.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Input batch.
    pub case: Case<Batch>,
    /// Outputs of the kernel.
    pub outs: Vec<i32>,
    /// Number of outputs that count; the outputs after them fill the last vector.
    pub counted: usize,
}

impl Ran {
    /// Returns the expected values of the outputs that count.
    fn expected(&self, against: &Against<'_>) -> Option<Expected> {
        let of = |scheme| FixedPointMultiply::expected(scheme, &self.case).ok();
        let mut expected = mask_undefined(op::<FixedPointMultiply>(), &of(against.contract)?, of(against.scheme)?);
        expected[self.counted..].fill(None);
        Some(expected)
    }
}

/// Outputs at the input's own multiplier and shift, and at pairs where schemes differ.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Outputs at the input's own multiplier and shift.
    pub near: Vec<Ran>,
    /// Outputs at the other pairs with the direction of the input's shift.
    pub far: Vec<Ran>,
}

/// Contract and scheme against which outputs are judged.
#[derive(Clone, Copy)]
pub struct Against<'a> {
    /// The kernel's contract.
    pub contract: &'a Promised,
    /// Scheme that gives the expected outputs: the contract's, or another.
    pub scheme: &'a Promised,
    /// The kernel's domain.
    pub domain: &'a Domain,
    /// Group of the outputs: their place, and the direction of the shift.
    pub group: usize,
    /// True if the kernel keeps its contract, and `scheme` is another scheme.
    pub kept: bool,
}

/// Cause of a difference.
#[derive(Clone, Debug)]
pub struct Found {
    /// The class.
    pub class: Class,
    /// Description of the cause.
    pub because: String,
    /// Hypothesis that reproduces every output; `None` if body and tail need different hypotheses, or if no hypothesis does.
    pub hypothesis: Option<Hypothesis>,
}

impl Evidence {
    /// Returns the number of outputs examined.
    pub(super) fn results(&self) -> usize {
        self.near.iter().chain(&self.far).map(|ran| ran.counted).sum()
    }

    /// Joins two sets of evidence.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self { near: [&self.near[..], &other.near].concat(), far: [&self.far[..], &other.far].concat() }
    }

    /// Returns the cause of the differences in all outputs; if that is unexplained, the cause at the input's own multiplier and shift.
    pub fn cause(&self, against: &Against<'_>) -> Option<Found> {
        let everywhere = against.cause(self.near.iter().chain(&self.far));
        match everywhere {
            Some(found) if found.class == Class::Unexplained => against.cause(self.near.iter()).or(Some(found)),
            found => found,
        }
    }

    /// Returns the differing accumulator nearest to zero at the input's own multiplier and shift.
    pub fn nearest_difference(&self, against: &Against<'_>) -> Option<i32> {
        let of = |ran: &Ran| {
            let expected = ran.expected(against)?;
            let differ = expected.iter().zip(&ran.outs).zip(&ran.case.tensors[0]);
            let differ = differ.filter(|((expected, out), _)| expected.is_some_and(|expected| expected != **out));
            differ.map(|(_, x)| *x).min_by_key(|x| (x.unsigned_abs(), *x < 0))
        };
        self.near.iter().filter_map(of).min_by_key(|x| (x.unsigned_abs(), *x < 0))
    }
}

impl Against<'_> {
    fn cause<'e>(&self, ran: impl Iterator<Item = &'e Ran>) -> Option<Found> {
        let observed = |ran: &Ran| {
            let expected = ran.expected(self)?;
            let Ran { case, outs, .. } = ran;
            let pairs = expected.iter().zip(outs);
            let differ = pairs.filter(|(expected, out)| expected.is_some_and(|expected| expected != **out)).count();
            Some(Observed {
                case: AnyCase::of::<FixedPointMultiply>(case.clone()),
                outs: outs.clone(),
                expected,
                differ,
                faulty: Vec::new(),
                due: Vec::new(),
            })
        };
        let observed: Vec<Observed<Params>> = ran.filter_map(observed).collect();
        if observed.iter().all(|seen| seen.differ == 0) {
            return None;
        }
        let Self { contract, scheme, domain, group, kept } = *self;
        let causes = changes_in(group, contract, scheme, domain, kept);
        let causes: Vec<_> = causes.into_iter().map(Change::erased).collect();
        let found = explain::explain(&causes, &observed.iter().collect::<Vec<_>>());
        let hypothesis = found.cause.and_then(|at| possible(group, contract, scheme, kept).into_iter().nth(at));
        Some(Found { class: found.class, because: found.because, hypothesis })
    }
}

/// Runs the kernel with all inputs in whole vectors, or with each input alone in its batch. The given input comes first.
pub(super) fn observed(kernel: &Kernel, x: i32, channel: Channel, q: u32, whole: bool) -> Evidence {
    let few = Budget { random_accumulators: 32, near_ties: 16, ..Effort::Quick.budget() };
    let run =
        |channel, xs: Vec<i32>| if whole { together(kernel, channel, q, xs) } else { alone(kernel, channel, q, xs) };
    let mut xs = vec![x];
    xs.extend(accumulators(channel, q, &Effort::Quick.budget(), 0));
    let near = run(channel, xs);
    let probes = probe_channels(&kernel.contract.domain, q, ShiftDirection::of(channel.shift));
    let far = probes.filter(|c| *c != channel).flat_map(|c| run(c, accumulators(c, q, &few, 0))).collect();
    Evidence { near, far }
}

fn together(kernel: &Kernel, channel: Channel, q: u32, mut xs: Vec<i32>) -> Vec<Ran> {
    let counted = xs.len();
    xs.resize(counted.next_multiple_of(WHOLE), 0);
    vec![ran(kernel, case(q, vec![channel], xs), counted)]
}

fn alone(kernel: &Kernel, channel: Channel, q: u32, xs: Vec<i32>) -> Vec<Ran> {
    xs.into_iter().map(|x| ran(kernel, case(q, vec![channel], vec![x]), 1)).collect()
}

fn ran(kernel: &Kernel, case: Case<Batch>, counted: usize) -> Ran {
    let mut outs = vec![0; case.params.len];
    kernel.run(FORM)(&case.params.params, &case.tensors[0], &mut outs);
    Ran { case, outs, counted }
}
