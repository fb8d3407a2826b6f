//! Number and places of the accumulators at which two schemes of fixed point multiply differ, without visiting all accumulators.
//!
//! Each scheme is folded into [pieces](crate::fpm::pieces). The two lists are refined to common intervals, and floor sums count the
//! differences on each interval. If a scheme does not fold there is no closed form, and [`Census::sweep`] counts one
//! accumulator after another. Schemes in floats are monotone, and [`Comparison`] finds where their results change.
//!
//! Widths: accumulators and results are of words of at most 32 bits, and denominators are at most 2^62. Numerators are below 2^93,
//! and below 2^94 when two are subtracted; i128 can add 2^32 such numbers. The same bound holds for numerators over the larger of two
//! denominators, because their quotient is a result, and for slopes, because a multiplier with its left shift is a factor of at most 2^31.

mod consecutive;
mod counts;
mod differing;
mod floor_sum;
mod floors;
mod folded;
mod neighbours;
mod pair;
mod residues;
mod staircase;

use crate::fpm::pieces::{Output, Piece};
use crate::fpm::steps::Step;
use crate::fpm::{Parameters, Scheme};
use folded::{CountCache, PieceCache, Subject};
use pair::Pair;
use std::ops::RangeInclusive;

pub use counts::{Counts, MAX_COUNTED_DELTA};
pub use differing::Differing;
pub use floor_sum::floor_sum;
pub use neighbours::Neighbours;
pub use residues::Residues;
pub use staircase::{Common, Comparison, Requantizer, Run, Runs};

/// Largest number of pieces in memory at a time.
const MOST_PIECES: usize = 1 << 16;
/// Fewest accumulators per piece for a closed form. A piece costs about as much as ten accumulators of a sweep.
const LEAST_ACCUMULATORS: i64 = 256;
/// Widest word of a closed form, in bits.
const WIDEST: u32 = 32;

/// Two schemes at fixed parameters over a range of accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Census {
    /// Scheme whose results are subtracted.
    pub left: Scheme,
    /// Scheme from whose results the left results are subtracted.
    pub right: Scheme,
    /// Multiplier, shift and format.
    pub parameters: Parameters,
    /// Parameters of the right scheme if they differ, with the same word and `q`.
    pub right_parameters: Option<Parameters>,
    /// First accumulator.
    pub lo: i64,
    /// Last accumulator.
    pub hi: i64,
    /// Output steps; if present, outputs are compared.
    pub output: Option<Output>,
}

impl Census {
    /// Creates a census of all accumulators of the word.
    pub fn of(left: Scheme, right: Scheme, parameters: Parameters) -> Self {
        let (lo, hi) = (parameters.word.min() as i64, parameters.word.max() as i64);
        Self { left, right, parameters, right_parameters: None, lo, hi, output: None }
    }

    /// Computes the counts in closed form, or returns `None` if a scheme does not fold. For many censuses use [`Counter`].
    pub fn counts(&self) -> Option<Counts> {
        Counter::default().counts(self)
    }

    /// Returns the differing accumulators, the nearest to zero first; of two at the same distance, the positive accumulator comes first.
    /// `None` if a scheme does not fold.
    pub fn differing(&self) -> Option<Differing> {
        Differing::new(*self)
    }

    /// Returns both values at `x`, left first; `None` if `x` is outside the domain of either scheme.
    #[inline]
    pub fn values(&self, x: i64) -> Option<(i64, i64)> {
        Some((self.value(&self.left, &self.parameters, x)?, self.value(&self.right, self.of_right(), x)?))
    }

    fn of_right(&self) -> &Parameters {
        self.right_parameters.as_ref().unwrap_or(&self.parameters)
    }

    /// Computes a result without the code of the staircase, because [`Census::sweep`] checks the closed form.
    #[inline]
    fn value(&self, scheme: &Scheme, p: &Parameters, x: i64) -> Option<i64> {
        let v = scheme.fast(x, p)?;
        let Some(output) = self.output else { return Some(v) };
        let placed = scheme.overflow.fit(p.word, i128::from(v) + i128::from(output.zero_point))?;
        Some(placed.clamp(output.min.into(), output.max.into()) as i64)
    }

    /// True if both schemes have a value at `x` and the values differ.
    #[inline]
    pub fn differs(&self, x: i64) -> bool {
        self.values(x).is_some_and(|(left, right)| left != right)
    }

    /// Counts the accumulators of `xs` one after another, by the fast forms, independently of the closed form.
    pub fn sweep(&self, xs: RangeInclusive<i64>) -> Counts {
        Counts::of(xs.filter_map(|x| self.values(x)).map(|(left, right)| right - left))
    }

    /// Returns the number of accumulators after which both schemes repeat, because both begin with a left shift that wraps.
    fn period(&self) -> Option<i64> {
        let own = |scheme: &Scheme, p: &Parameters| match scheme.definition.steps {
            [(_, Step::Scale(e)), (_, Step::Wrap), ..] => {
                let left = u32::try_from(e.at(p)).ok()?.min(p.word.bits);
                Some(1i64 << (p.word.bits - left))
            }
            _ => None,
        };
        Some(own(&self.left, &self.parameters)?.max(own(&self.right, self.of_right())?))
    }
}

/// Counts one census after another in the same memory. For many schemes at the same parameters, each scheme is folded
/// once, and each pair of lists of pieces is counted once, even if several schemes have the same list.
#[derive(Clone, Debug)]
pub struct Counter {
    left: PieceCache,
    right: PieceCache,
    counted: CountCache,
    most: usize,
}

impl Default for Counter {
    fn default() -> Self {
        Self::new(MOST_PIECES)
    }
}

impl Counter {
    /// Creates a counter that holds at most `most` pieces of a scheme.
    pub fn new(most: usize) -> Self {
        Self { left: PieceCache::new(most), right: PieceCache::new(most), counted: CountCache::default(), most }
    }

    /// Computes [`Census::counts`].
    #[inline]
    pub fn counts(&mut self, census: &Census) -> Option<Counts> {
        let Census { lo, hi, .. } = *census;
        self.at_once(census).or_else(|| self.halved(census, lo, hi))
    }

    /// Computes the same counts in milliseconds at most. Returns `None` if a scheme has more pieces than are held at a time, unless both
    /// schemes repeat.
    pub fn at_once(&mut self, census: &Census) -> Option<Counts> {
        let Census { lo, hi, .. } = *census;
        self.over(census, lo..=hi).or_else(|| self.repeated(census))
    }

    /// Counts one period, multiplied by the number of whole periods, and the rest.
    fn repeated(&mut self, census: &Census) -> Option<Counts> {
        let Census { lo, hi, .. } = *census;
        let period = census.period()?;
        let (times, rest) = ((hi - lo + 1) / period, (hi - lo + 1) % period);
        let mut counts = self.over(census, hi - rest + 1..=hi)?;
        if times > 0 {
            counts.add(&self.over(census, lo..=lo + period - 1)?, times as u64);
        }
        Some(counts)
    }

    /// Halves the range until the pieces of each part fit. Returns `None` if a piece has only a few accumulators.
    fn halved(&mut self, census: &Census, lo: i64, hi: i64) -> Option<Counts> {
        if hi - lo < self.block() {
            return self.over(census, lo..=hi);
        }
        let middle = lo + (hi - lo) / 2;
        let mut counts = self.halved(census, lo, middle)?;
        counts.add(&self.halved(census, middle + 1, hi)?, 1);
        Some(counts)
    }

    /// Returns the number of accumulators folded at a time if the whole range has too many pieces.
    fn block(&self) -> i64 {
        self.most as i64 * LEAST_ACCUMULATORS
    }

    fn over(&mut self, census: &Census, xs: RangeInclusive<i64>) -> Option<Counts> {
        self.fold(census, xs)?;
        let count = || {
            let mut counts = Counts::default();
            pairs([self.left.pieces(), self.right.pieces()], |pair| pair.tally(&mut counts));
            counts
        };
        Some(self.counted.once(self.left.list(), self.right.list(), count))
    }

    /// Returns the pieces of both schemes, as folded last.
    fn pieces(&self) -> [&[Piece]; 2] {
        [self.left.pieces(), self.right.pieces()]
    }

    /// Folds both schemes over `xs`. The second is folded only where the first has values, because few pieces may remain there.
    fn fold(&mut self, census: &Census, xs: RangeInclusive<i64>) -> Option<()> {
        if census.parameters.word.bits > WIDEST {
            return None;
        }
        let of = |scheme: Scheme, parameters: &Parameters, xs| {
            let (steps, overflow) = (scheme.definition.steps, scheme.overflow);
            Subject { steps, overflow, parameters: *parameters, output: census.output, xs }
        };
        let left = |xs| of(census.left, &census.parameters, xs);
        let right = |xs| of(census.right, census.of_right(), xs);
        if let Some(pieces) = self.left.fold(left(xs.clone())) {
            self.right.fold(right(hull(pieces))).map(drop)
        } else {
            let pieces = self.right.fold(right(xs))?;
            self.left.fold(left(hull(pieces))).map(drop)
        }
    }
}

/// Visits the intervals on which both schemes have one piece, in increasing order of x.
fn pairs([left, right]: [&[Piece]; 2], mut each: impl FnMut(Pair)) {
    let (mut left, mut right) = (left.iter(), right.iter());
    let (mut l, mut r) = (left.next(), right.next());
    while let (Some(a), Some(b)) = (l, r) {
        let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
        if lo <= hi {
            each(Pair { lo, hi, left: *a, right: *b });
        }
        if a.hi <= b.hi {
            l = left.next();
        }
        if b.hi <= a.hi {
            r = right.next();
        }
    }
}

/// Returns the range from the first accumulator of the pieces to the last.
fn hull(pieces: &[Piece]) -> RangeInclusive<i64> {
    match pieces {
        [first, .., last] => first.lo..=last.hi,
        [one] => one.lo..=one.hi,
        [] => RangeInclusive::new(1, 0),
    }
}
