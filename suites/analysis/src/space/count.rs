//! Count of one chunk.

use super::ACCUMULATORS;
use std::collections::BTreeMap;
use tiebreak_oracle::census::{Census, Counts, Neighbours};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::space::{Accumulators, First, Most, Place, Sums};

/// Error: a scheme has no closed form at a multiplier and shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no closed form at multiplier {multiplier}, shift {shift}")]
pub struct NoClosedForm {
    /// Multiplier.
    pub multiplier: i32,
    /// Shift.
    pub shift: i32,
}

/// Counts a chunk of at most 2^30 multipliers over all accumulators.
pub fn count(left: Scheme, right: Scheme, place: Place) -> Result<Sums, NoClosedForm> {
    let shift = place.shift;
    let census = |multiplier| Census::of(left, right, Parameters::q31(multiplier, shift));
    let mut counts = Counts::default();
    let (mut pairs_differ, mut most, mut first) = (0, None::<Most>, None);
    let mut each = |m: i64, here: &Counts| {
        counts.add(here, 1);
        let (multiplier, differ) = (m as i32, here.differ());
        pairs_differ += u64::from(differ > 0);
        if differ > most.map_or(0, |most| most.differ) {
            most = Some(Most { multiplier, shift, differ });
            first = first.or(Some(multiplier));
        }
    };
    let counted = Neighbours::default().counts(&census(place.from), place.from.into()..=place.to.into(), &mut each);
    counted.map_err(|m| NoClosedForm { multiplier: m as i32, shift })?;
    Ok(Sums {
        pairs: place.pairs(),
        pairs_differ,
        inputs: of(counts.inputs),
        out_of_domain: of(place.pairs() * ACCUMULATORS - counts.inputs),
        differ: of(counts.differ()),
        by_delta: by_delta(&counts),
        most,
        first: first.and_then(|multiplier| nearest_zero(&census(multiplier), multiplier)),
    })
}

fn of(count: u64) -> Accumulators {
    Accumulators(count.into())
}

/// Returns the difference nearest to zero at one multiplier.
pub(super) fn nearest_zero(census: &Census, multiplier: i32) -> Option<First> {
    let x = census.differing()?.next()?;
    let (left, right) = census.values(x)?;
    Some(First { multiplier, shift: census.parameters.s, x, left, right })
}

fn by_delta(counts: &Counts) -> BTreeMap<String, Accumulators> {
    let apart = counts.by_delta().map(|(delta, count)| (delta.to_string(), of(count)));
    apart.chain((counts.far() > 0).then(|| ("other".to_owned(), of(counts.far())))).collect()
}
