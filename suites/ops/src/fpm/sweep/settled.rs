//! Explanation of sweeps: sides with their causes and witnesses, and the sweeps of several channels merged into one.

use super::{Part, Plan, Seen, Sides};
use crate::fpm::changes::{changes_in, possible};
use crate::fpm::promised::{Promised, ShiftDirection};
use crate::fpm::{FixedPointMultiply, Q31, case, parameters, simpler};
use std::collections::BTreeSet;
use tiebreak_common::Class;
use tiebreak_common::parameters::SWEPT;
use tiebreak_engine::erased::AnyCase;
use tiebreak_engine::explain::cause::{Explanation, explain};
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::fault::{Seen as Faults, Sighting};
use tiebreak_engine::operation::{self, CaseSelection, Change, Observed, SweptSide, SweptWitness, Wanted};
use tiebreak_engine::run::sweep::ChunkOutcome;
use tiebreak_impls::fpm::{Channel, Kernel};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::pieces::{fold, fold_steps};
use tiebreak_oracle::fpm::sweep::Sweep;
use tiebreak_reports::ledger::{self, Against};

/// Sweeps every accumulator of each of the caller's channels, or of the default channels, that is in the domain.
pub(in crate::fpm) fn sweeps(
    kernel: &'static Kernel,
    runner: &Runner<'_>,
    selection: &CaseSelection,
    wanted: &Wanted,
) -> Vec<operation::SweepOutcome> {
    let given = if selection.channels.is_empty() { SWEPT.to_vec() } else { selection.channels.clone() };
    let channels: BTreeSet<Channel> = given.into_iter().collect();
    let inside = channels.into_iter().filter(|c| kernel.contract.domain.contains(c.multiplier, c.shift, Q31));
    let reference = Scheme::parse(&wanted.multiplication).ok();
    let plans = inside.filter_map(|channel| Plan::new(kernel, runner, channel, reference.as_ref()).ok());
    let each = plans.map(|plan| plan.settle(plan.sweep(|| ())));
    let all = each.reduce(together);
    let complete = |all: operation::SweepOutcome| {
        let seen = all.sides.first().map_or(0, |side| side.count.seen());
        operation::SweepOutcome { exhaustive: seen == all.parameters << 32, ..all }
    };
    all.map(complete).into_iter().collect()
}

/// Merges the sweeps of two channels.
fn together(mut all: operation::SweepOutcome, other: operation::SweepOutcome) -> operation::SweepOutcome {
    for (side, mut other) in all.sides.iter_mut().zip(other.sides) {
        side.count.merge(std::mem::take(&mut other.count));
        let nearer = rank(&other).is_some_and(|new| rank(side).is_none_or(|known| new < known));
        if nearer {
            *side = SweptSide { count: std::mem::take(&mut side.count), ..other };
        }
    }
    all.failures.extend(other.failures);
    all.outside.merge(&other.outside);
    all.parameters += other.parameters;
    all.seconds += other.seconds;
    all
}

/// Returns the rank of a side's witness; smaller is simpler.
fn rank(side: &SweptSide) -> Option<[u32; 6]> {
    let case = &side.witness.as_ref()?.case;
    let of = |name: &str| case.get(name).and_then(|value| value.to_string().parse().ok());
    Some(simpler::size(of("x")?, Channel { multiplier: of("m")?, shift: of("s")? }))
}

impl Plan<'_> {
    /// Names the cause of all differences in a sweep.
    pub fn settle(&self, swept: ChunkOutcome<Sides>) -> operation::SweepOutcome {
        let Sides { contract, reference } = swept.seen;
        let holds = contract.count.differ == 0;
        let sides = [
            (Against::Contract, Some(&self.contract), contract),
            (Against::Reference, self.reference.as_ref(), reference),
        ];
        let sides =
            sides.into_iter().filter_map(|(against, sweep, part)| Some(self.side(against, sweep?, part, holds)));
        let spelled = |x: i64| self.spelled(x as i32);
        operation::SweepOutcome {
            what: "accumulators",
            exhaustive: false,
            sides: sides.collect(),
            faults: FixedPointMultiply::declared(&self.promised)
                .into_iter()
                .map(|(class, reason)| (class, Sighting::none(reason)))
                .collect::<Faults>(),
            failures: swept.failures.into_iter().map(|failed| failed.map(spelled)).collect(),
            outside: swept.outside,
            parameters: 1,
            seconds: swept.seconds,
        }
    }

    fn side(&self, against: Against, sweep: &Sweep, part: Part, holds: bool) -> SweptSide {
        let kept = against == Against::Reference && holds;
        let mut count = part.count;
        let explanation = part.smallest.map(|smallest| {
            let differing: Vec<Seen> = std::iter::once(smallest).chain(part.differing).collect();
            let scheme = match against {
                Against::Contract => self.promised.clone(),
                Against::Reference => Promised::plain(*sweep.scheme()),
            };
            self.explanation(&scheme, &[&differing[..], &part.agreeing].concat(), kept)
        });
        let (class, because) = explanation.map_or((None, String::new()), |e| (Some(e.class), e.because));
        count.leave_unexplained(class.unwrap_or(Class::Unexplained));
        let witness = part.smallest.map(|Seen { x, got, expected }| SweptWitness {
            case: self.spelled(x),
            got: got.into(),
            expected: expected.into(),
        });
        SweptSide { against, scheme: sweep.scheme().label(), count, class, because, path: Vec::new(), witness }
    }

    /// Returns the cause of the differences from a scheme. If the kernel keeps its contract, a cause must equal the contract's scheme.
    fn explanation(&self, scheme: &Promised, seen: &[Seen], kept: bool) -> Explanation {
        let group = self.promised.group(self.promised.rest(), ShiftDirection::of(self.channel.shift));
        // Only whole vectors, so no element is in a tail.
        let mut all = seen.to_vec();
        all.resize(seen.len().next_multiple_of(64), seen[0]);
        let observed = Observed {
            case: AnyCase::of::<FixedPointMultiply>(case(
                Q31,
                vec![self.channel],
                all.iter().map(|seen| seen.x).collect(),
            )),
            outs: all.iter().map(|seen| seen.got).collect(),
            expected: all.iter().map(|seen| i32::try_from(seen.expected).ok()).collect(),
            differ: all.iter().filter(|seen| i64::from(seen.got) != seen.expected).count(),
            faulty: Vec::new(),
            due: Vec::new(),
        };
        let causes = changes_in(group, &self.promised, scheme, &self.kernel.contract.domain, kept);
        let causes: Vec<_> = causes.into_iter().map(Change::erased).collect();
        let found = explain(&causes, &[&observed]);
        let hypotheses = possible(group, &self.promised, scheme, kept);
        let p = parameters(self.channel, Q31);
        let own = fold(&self.promised.scheme, &p);
        let of_cause = found.cause.and_then(|at| hypotheses.get(at));
        let is_own = of_cause.is_some_and(|h| own.is_some() && fold_steps(&h.steps, h.overflow, &p) == own);
        match causes.split_last() {
            Some((follows, _)) if kept && !is_own => explain(std::slice::from_ref(follows), &[&observed]),
            _ => found,
        }
    }

    /// Formats a case of one accumulator.
    fn spelled(&self, x: i32) -> ledger::Case {
        FixedPointMultiply::spelled(&case(Q31, vec![self.channel], vec![x]), 0, None).unwrap_or_default()
    }
}
