//! Reference implementation of a sweep: every accumulator judged separately by the fast form, without steps or skips. Tests compare sweeps with it.

use crate::fpm::promised::Promised;
use crate::fpm::{FixedPointMultiply, Q31, case};
use std::ops::Range;
use tiebreak_engine::count::{Count, FAR};
use tiebreak_engine::erased::{AnyCase, op};
use tiebreak_engine::lane::{Failure, Lane};
use tiebreak_engine::operation::{Expected, Operation};
use tiebreak_engine::run::answers::outs;
use tiebreak_engine::run::subject::mask_undefined;
use tiebreak_impls::fpm::{Channel, Kernel};

/// Results of some accumulators, judged against one scheme.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Counts. Absolute deltas up to [`SMALL`](super::SMALL) are counted separately, and all larger deltas together.
    pub count: Count,
    /// Differing accumulator nearest to zero, positive before negative, with its result and its expected value.
    pub smallest: Option<(i32, i32, i32)>,
}

impl Judged {
    /// Judges the results of `xs`.
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

    /// Runs a kernel on consecutive accumulators in one batch of one channel, and judges the results against its contract and a reference.
    pub fn batch(
        kernel: &Kernel,
        lane: &Lane,
        (contract, reference): (&Promised, &Promised),
        channel: Channel,
        xs: Range<i64>,
    ) -> Result<[Self; 2], Failure> {
        let case = case(Q31, vec![channel], xs.map(|x| x as i32).collect());
        let outs =
            outs(&mut lane.lease(), kernel.name, &AnyCase::of::<FixedPointMultiply>(case.clone()), case.params.len)?;
        let expected = |scheme: &Promised| FixedPointMultiply::expected(scheme, &case).expect("every case has values");
        let contract = expected(contract);
        let reference = mask_undefined(op::<FixedPointMultiply>(), &contract, expected(reference));
        Ok([&contract, &reference].map(|expected| Self::of(&case.tensors[0], &outs, expected)))
    }

    fn offer(&mut self, seen: (i32, i32, i32)) {
        let size = |(x, ..): (i32, i32, i32)| (x.unsigned_abs(), x < 0);
        if self.smallest.is_none_or(|smallest| size(seen) < size(smallest)) {
            self.smallest = Some(seen);
        }
    }

    /// Adds the results of other accumulators.
    pub fn merge(&mut self, other: Self) {
        self.count.merge(other.count);
        other.smallest.into_iter().for_each(|seen| self.offer(seen));
    }
}
