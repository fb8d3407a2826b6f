//! All floats of a format by their result under a scheme, as intervals of keys with one result each. Bisection over keys finds the intervals exactly,
//! because every step is monotone ([`super::threshold`] has the reason for each kind of step).

use super::differences::span;
use super::{Prepared, Quantization, Scheme, Stored, Threshold};
use crate::word::Overflow;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Largest number of results kept for a whole format.
const MOST_RUNS: u64 = 1 << 17;
/// Approximate number of boundaries of a new [`Runs`] that big rationals check.
const CHECKED_BOUNDARIES: usize = 64;

/// Results of one scheme over a range of keys, in order, with a separate result for NaN.
#[derive(Clone, Debug)]
pub struct Runs {
    scheme: Scheme,
    q: Quantization,
    /// First key of each run with its result; neighbouring results differ.
    runs: Vec<(i64, Stored)>,
    last: i64,
    nan: Stored,
}

/// Reason why a whole format has no [`Runs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoRuns {
    /// Too many results; [`Runs::within`] accepts a part of the format.
    #[error("up to {0} results are too many to keep; take a part of the format at a time")]
    TooMany(u64),
    /// A step wraps, so results are not monotone.
    #[error("a conversion or sum that wraps has no decision boundaries")]
    Wraps,
}

/// Boundary between two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Last float with the result `below`, as a pattern.
    pub last: u64,
    /// First float with the result `above`, as a pattern.
    pub first: u64,
    /// Smaller result.
    pub below: Stored,
    /// Larger result.
    pub above: Stored,
}

impl Runs {
    /// Finds the runs over all floats except NaN.
    ///
    /// # Panics
    /// Panics if big rationals contradict the bisection.
    pub fn new(scheme: &Scheme, q: &Quantization) -> Result<Self, NoRuns> {
        let results = (q.max - q.min + 1) as u64;
        let patterns = u64::try_from(q.format.numbers()).unwrap_or(u64::MAX);
        if results.min(patterns) > MOST_RUNS {
            return Err(NoRuns::TooMany(results.min(patterns)));
        }
        let infinity = q.format.infinity() as i64;
        let runs = Self::within(scheme, q, -infinity - 1..=infinity)?;
        let step = (runs.runs.len() / CHECKED_BOUNDARIES).max(1);
        for boundary in runs.boundaries().step_by(step) {
            assert!(runs.matches_exact(&boundary), "{} at {boundary:x?} {q:?}", scheme.label());
        }
        Ok(runs)
    }

    /// Finds the runs over the floats with these keys, which must be keys of the format. There are at most as many runs as keys.
    pub fn within(scheme: &Scheme, q: &Quantization, keys: RangeInclusive<i64>) -> Result<Self, NoRuns> {
        if scheme.wraps() {
            return Err(NoRuns::Wraps);
        }
        let prepared = Prepared::new(q);
        let nan = scheme.prepared(&prepared, q.format.nan());
        let mut search = Search { scheme, prepared, runs: Vec::new() };
        // Infinities and zeros are searched separately from the numbers between them: 0 times an overflowed reciprocal is NaN.
        let infinity = q.format.infinity() as i64;
        let ends = [-infinity - 1, -infinity, -1, 1, infinity, infinity + 1];
        for piece in ends.windows(2) {
            let (lo, hi) = (piece[0].max(*keys.start()), (piece[1] - 1).min(*keys.end()));
            if lo <= hi {
                search.bisect((lo, search.rank(lo)), (hi, search.rank(hi)));
            }
        }
        Ok(Self { scheme: *scheme, q: *q, runs: search.runs, last: *keys.end(), nan })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Returns the parameters.
    pub fn quantization(&self) -> &Quantization {
        &self.q
    }

    /// Returns the result of NaN.
    pub fn nan(&self) -> Stored {
        self.nan
    }

    /// Returns the range of keys.
    pub fn keys(&self) -> RangeInclusive<i64> {
        self.runs.first().map_or(self.last + 1, |(first, _)| *first)..=self.last
    }

    fn index(&self, key: i64) -> usize {
        self.runs.partition_point(|(first, _)| *first <= key).saturating_sub(1)
    }

    /// Returns the result at a key in range.
    pub fn at(&self, key: i64) -> Stored {
        self.runs[self.index(key)].1
    }

    /// Returns the result of a pattern in range, or of NaN.
    pub fn of(&self, bits: u64) -> Stored {
        self.q.format.key(bits).map_or(self.nan, |key| self.at(key))
    }

    fn run(&self, i: usize) -> (RangeInclusive<i64>, Stored) {
        let (first, result) = self.runs[i];
        let last = self.runs.get(i + 1).map_or(self.last, |(next, _)| next - 1);
        (first..=last, result)
    }

    /// Returns all runs, in order of keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (RangeInclusive<i64>, Stored)> + ExactSizeIterator {
        (0..self.runs.len()).map(|i| self.run(i))
    }

    /// Returns the runs between two keys in range, cut at both keys; `rev` starts with the last run.
    pub fn between(&self, lo: i64, hi: i64) -> impl DoubleEndedIterator<Item = (RangeInclusive<i64>, Stored)> {
        let range = if lo > hi { 0..0 } else { self.index(lo)..self.index(hi) + 1 };
        range.map(move |i| {
            let (keys, result) = self.run(i);
            (*keys.start().max(&lo)..=*keys.end().min(&hi), result)
        })
    }

    /// Returns the results of `len` consecutive patterns from `first` on, as `(first, len, result)` in order of patterns, NaN included.
    /// The key of each pattern must be in range, and no pattern may exceed the format's last.
    pub fn patterns(&self, first: u64, len: u64) -> impl Iterator<Item = (u64, u64, Stored)> {
        let format = self.q.format;
        let (sign, infinity) = (format.sign(), format.infinity());
        let last = first.wrapping_add(len.wrapping_sub(1));
        let cut = move |from: u64, to: u64| {
            (len > 0 && from.max(first) <= to.min(last)).then(|| (from.max(first), to.min(last)))
        };
        let numbers = |base: u64| cut(base, base + infinity);
        let nans = move |base: u64| {
            cut(base + infinity + 1, base + (sign - 1)).map(|(a, b)| (a, b - a + 1, self.nan)).into_iter()
        };
        let positive = numbers(0).into_iter().flat_map(|(a, b)| {
            self.between(a as i64, b as i64).map(|(keys, result)| (*keys.start() as u64, span(&keys), result))
        });
        let negative = numbers(sign).into_iter().flat_map(move |(a, b)| {
            let key = |bits: u64| -((bits - sign) as i64) - 1;
            self.between(key(b), key(a))
                .rev()
                .map(move |(keys, result)| (format.from_key(*keys.end()), span(&keys), result))
        });
        positive.chain(nans(0)).chain(negative).chain(nans(sign))
    }

    /// Returns all boundaries in range, in order.
    pub fn boundaries(&self) -> impl ExactSizeIterator<Item = Boundary> {
        self.runs.windows(2).map(|pair| {
            let [(_, below), (first, above)] = [pair[0], pair[1]];
            let [last, first] = [first - 1, first].map(|key| self.q.format.from_key(key));
            Boundary { last, first, below, above }
        })
    }

    /// Returns the exact real at a boundary, if the scheme has one: see [`Scheme::threshold`].
    pub fn threshold(&self, boundary: &Boundary) -> Option<Threshold> {
        self.scheme.threshold(&self.q, boundary.below, boundary.above)
    }

    /// True if big rationals give the results on both sides.
    pub fn matches_exact(&self, boundary: &Boundary) -> bool {
        let exact = |bits| self.scheme.exact(&self.q, bits);
        exact(boundary.last) == boundary.below && exact(boundary.first) == boundary.above
    }
}

/// Result with its rank. Poison below and poison above the values have different ranks.
type Rank = (i64, Stored);

struct Search<'a> {
    scheme: &'a Scheme,
    prepared: Prepared,
    runs: Vec<(i64, Stored)>,
}

impl Search<'_> {
    fn rank(&self, key: i64) -> Rank {
        let bits = self.prepared.q.format.from_key(key);
        let result = self.scheme.prepared(&self.prepared, bits);
        let rank = match result {
            Stored::Value(v) => v,
            Stored::Poison if self.is_above(bits) => i64::MAX,
            _ => i64::MIN,
        };
        (rank, result)
    }

    /// True if a poison input is above the storage type, where a saturating conversion gives the largest value. An input that is poison under every
    /// policy is beyond a word that the scheme requires, on the side of its sign: a zero point of the storage type is small compared with the word.
    fn is_above(&self, bits: u64) -> bool {
        let storage = self.prepared.q.storage;
        let q = Quantization { min: storage.min(), max: storage.max(), ..self.prepared.q };
        let saturating = Scheme { overflow: Overflow::Saturate, ..*self.scheme };
        match saturating.prepared(&Prepared { q, ..self.prepared }, bits) {
            Stored::Value(v) => v == storage.max(),
            Stored::Poison | Stored::Unspecified => bits & q.format.sign() == 0,
        }
    }

    fn push(&mut self, key: i64, result: Stored) {
        if self.runs.last().is_none_or(|(_, last)| *last != result) {
            self.runs.push((key, result));
        }
    }

    /// Finds the runs from `lo` to `hi`, over which results grow.
    fn bisect(&mut self, lo: (i64, Rank), hi: (i64, Rank)) {
        assert!(lo.1.0 <= hi.1.0, "{} falls from {lo:?} to {hi:?}", self.scheme.label());
        if lo.1 == hi.1 {
            return self.push(lo.0, lo.1.1);
        }
        if lo.0 + 1 == hi.0 {
            self.push(lo.0, lo.1.1);
            return self.push(hi.0, hi.1.1);
        }
        let middle = lo.0 + (hi.0 - lo.0) / 2;
        let middle = (middle, self.rank(middle));
        self.bisect(lo, middle);
        self.bisect(middle, hi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::Format;
    use crate::quantize::Storage;

    /// Bisection would skip results that fall: 100 is stored unchanged, 200 wraps to -56.
    #[test]
    #[should_panic(expected = "falls from")]
    fn results_that_fall_are_not_bisected() {
        let scheme = Scheme::parse("mlir-qcast:wrap").expect("registered");
        let float = |decimal| Format::F16.from_decimal(decimal).expect("a float");
        let q = Quantization::whole(Format::F16, float("1.0"), 0, Storage { bits: 8, signed: true });
        let mut search = Search { scheme: &scheme, prepared: Prepared::new(&q), runs: Vec::new() };
        let [lo, hi] = ["100.0", "200.0"].map(|decimal| Format::F16.key(float(decimal)).expect("no NaN"));
        let [lo, hi] = [lo, hi].map(|key| (key, search.rank(key)));
        assert_eq!([lo.1.1, hi.1.1], [100, -56].map(Stored::Value));
        search.bisect(lo, hi);
    }
}
