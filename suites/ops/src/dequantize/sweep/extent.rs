//! Number of stored values that known faults of a lane's code can change, out of all stored values.

use super::super::Dequantize;
use super::{FEW_BITS, Plan};
use tiebreak_engine::operation::fault::{Extent, Seen, Sighting};
use tiebreak_mlir::faults::{self, Effect, twice_rounded};
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::Quantization;

impl Plan<'_> {
    /// Adds the extent of each known fault: by trying all values of small types, and in closed form for large types.
    pub(super) fn extents(&self, faults: &mut Seen) {
        let values: Vec<i64> = match self.q.storage.bits <= FEW_BITS {
            true => (self.q.min..=self.q.max).collect(),
            false if only_stored_values_are_rounded_twice(&self.q) && !self.has_ties() => {
                twice_rounded(self.q.min, self.q.max).collect()
            }
            false => return,
        };
        let fixed = self.path[self.path.len() - 1].fixed;
        let (case, expected) = self.posed(values.iter().map(|stored| (*stored, fixed.expected(*stored))));
        let words = expected.len() / values.len().max(1);
        let all = (self.q.max - self.q.min + 1) as u64;
        for fault in Dequantize::at_fault(self.kernel.name, &self.lane.name, self.contract(), &case) {
            let because = match self.q.storage.bits <= FEW_BITS {
                true => format!(
                    "of so many of all {all} stored values a value that it can give is not that of the contract"
                ),
                false => format!(
                    "of all {all} stored values {} are rounded twice: 2^(k-24) beside each of the 128 numbers exactly between two bf16 from 2^k to 2^(k+1); \
                     of so many of them the result is another",
                    values.len()
                ),
            };
            let extent = Extent { most: fault.extent(&expected, words), each: fault.each, because };
            faults.entry(fault.class).or_insert_with(|| Sighting::none(fault.reason)).extent = Some(extent);
        }
    }

    fn has_ties(&self) -> bool {
        let known = faults::of(self.kernel.name, &self.lane.name).filter(|known| known.covers(&self.params));
        known.into_iter().any(|known| known.effect == Effect::EitherSideOfTies)
    }
}

/// True if f32 represents the zero point, so that the fault changes only results of stored values that it rounds.
fn only_stored_values_are_rounded_twice(q: &Quantization) -> bool {
    let zero_point = rug::Rational::from(q.zero_point);
    Format::F32.decode(Format::F32.nearest(&zero_point)).finite() == Some(&zero_point)
}
