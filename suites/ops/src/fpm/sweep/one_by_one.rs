//! What a sweep must count: every accumulator judged by itself, by the fast form, without a step or a skip. Tests hold sweeps against it.

use crate::fpm::promised::Promised;
use crate::fpm::{FixedPointMultiply, Q31, case};
use std::ops::Range;
use tiebreak_engine::count::{Count, FAR};
use tiebreak_engine::lane::{Failure, Lane};
use tiebreak_engine::operation::{Expected, Operation};
use tiebreak_engine::run::answers::outs;
use tiebreak_engine::run::subject::held;
use tiebreak_impls::fpm::{Channel, Kernel};

/// What was seen of some accumulators against one scheme.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The counts. Deltas up to [`SMALL`](super::SMALL), either way, are counted each, the others together.
    pub count: Count,
    /// The differing accumulator nearest to zero, the positive one of two, with what came out for it and what was expected.
    pub smallest: Option<(i32, i32, i32)>,
}

impl Judged {
    /// Results and expectations of `xs`, one of each.
    pub fn of(xs: &[i32], outs: &[i32], expected: &Expected) -> Self {
        let mut all = Self::default();
        for ((x, got), expected) in xs.iter().zip(outs).zip(expected) {
            let Some(expected) = *expected else {
                all.count.out_of_domain += 1;
                continue;
            };
            all.count.inputs += 1;
            if *got != expected {
                let delta = i64::from(*got) - i64::from(expected);
                all.count.differs(if delta.abs() <= super::SMALL { delta } else { FAR }, None, 1);
                all.offer((*x, *got, expected));
            }
        }
        all
    }

    /// What a kernel gives for consecutive accumulators, in one batch of one channel, against its contract and a reference.
    pub fn batch(
        kernel: &Kernel,
        lane: &Lane,
        (contract, reference): (&Promised, &Promised),
        channel: Channel,
        xs: Range<i64>,
    ) -> Result<[Self; 2], Failure> {
        let case = case(Q31, vec![channel], xs.map(|x| x as i32).collect());
        let outs = outs::<FixedPointMultiply>(&mut lane.lease(), kernel.name, &case, case.params.len)?;
        let expected = |scheme: &Promised| FixedPointMultiply::expected(scheme, &case).expect("every case has values");
        let contract = expected(contract);
        let reference = held::<FixedPointMultiply>(&contract, expected(reference));
        Ok([&contract, &reference].map(|expected| Self::of(&case.tensors[0], &outs, expected)))
    }

    fn offer(&mut self, seen: (i32, i32, i32)) {
        let size = |(x, ..): (i32, i32, i32)| (x.unsigned_abs(), x < 0);
        if self.smallest.is_none_or(|smallest| size(seen) < size(smallest)) {
            self.smallest = Some(seen);
        }
    }

    /// Adds what was seen of other accumulators.
    pub fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        other.smallest.into_iter().for_each(|seen| self.offer(seen));
    }
}
