//! Two pieces on one interval: the number and places of their differences.

use super::counts::Counts;
use super::floors::Floors;
use super::residues::Residues;
use crate::fpm::pieces::{Piece, Ties};

/// Pieces of two schemes on an interval inside both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) lo: i64,
    pub(super) hi: i64,
    pub(super) left: Piece,
    pub(super) right: Piece,
}

/// Accumulators `first + step*j`, for j in `0..n`, n at least 1.
#[derive(Clone, Copy, Debug)]
struct Progression {
    first: i64,
    /// Power of two, at most 2^63.
    step: u64,
    n: u64,
}

impl Progression {
    /// True if `other`, with an equal or larger step, is contained in this progression; otherwise the two are disjoint.
    fn contains(&self, other: &Self) -> bool {
        other.first.abs_diff(self.first).is_multiple_of(self.step)
    }
}

/// Sides whose result is one less than the floor.
#[derive(Clone, Copy, Debug, Default)]
struct Down {
    left: bool,
    right: bool,
}

impl Down {
    fn and(self, other: Self) -> Self {
        Self { left: self.left || other.left, right: self.right || other.right }
    }
}

impl Pair {
    /// Adds the interval to `counts`.
    #[inline]
    pub(super) fn tally(&self, counts: &mut Counts) {
        let n = self.hi.abs_diff(self.lo) + 1;
        counts.inputs += n;
        self.floors(Progression { first: self.lo, step: 1, n }, Down::default()).tally(1, counts);
        if self.left.ties != Ties::Floored || self.right.ties != Ties::Floored {
            self.tally_ties(counts);
        }
    }

    /// Recounts the ties at which a result is one less than its floor. The steps of the two progressions are powers of two, so the
    /// denser progression contains the other or is disjoint from it.
    fn tally_ties(&self, counts: &mut Counts) {
        let left = (ties(&self.left, self.lo, self.hi), Down { left: true, right: false });
        let right = (ties(&self.right, self.lo, self.hi), Down { left: false, right: true });
        let mut correct = |at: Progression, before: Down, after: Down| {
            self.floors(at, before).tally(1u64.wrapping_neg(), counts);
            self.floors(at, after).tally(1, counts);
        };
        match (left, right) {
            ((Some(at), left), (Some(other), right)) => {
                let ((dense, first), (sparse, second)) =
                    if at.step <= other.step { ((at, left), (other, right)) } else { ((other, right), (at, left)) };
                correct(dense, Down::default(), first);
                let before = if dense.contains(&sparse) { first } else { Down::default() };
                correct(sparse, before, before.and(second));
            }
            ((Some(at), down), (None, _)) | ((None, _), (Some(at), down)) => correct(at, Down::default(), down),
            ((None, _), (None, _)) => {}
        }
    }

    /// Returns both pieces as floors over the larger denominator.
    #[inline]
    fn floors(&self, at: Progression, down: Down) -> Floors {
        let k = self.left.k.max(self.right.k);
        let lifted = |piece: &Piece, down: bool| {
            let numerator = piece.numerator(at.first) - (i128::from(down) << piece.k);
            (numerator << (k - piece.k), (piece.m * i128::from(at.step)) << (k - piece.k))
        };
        let ((left, left_slope), (right, right_slope)) =
            (lifted(&self.left, down.left), lifted(&self.right, down.right));
        Floors { n: at.n, k, left, left_slope, right, right_slope }
    }

    /// Returns the number of differing x in `lo..=hi`.
    fn differ(&self, lo: i64, hi: i64) -> u64 {
        let mut counts = Counts::default();
        Self { lo, hi, ..*self }.tally(&mut counts);
        counts.differ()
    }

    /// Returns the first differing x of `from..=hi`; `from` is in the interval.
    pub(super) fn next(&self, from: i64) -> Option<i64> {
        match self.which() {
            DifferenceSet::All => Some(from),
            DifferenceSet::Residues(residues) => {
                residues.first(from).filter(|x| *x <= i128::from(self.hi)).map(|x| x as i64)
            }
            DifferenceSet::Counted if self.differ(from, self.hi) == 0 => None,
            DifferenceSet::Counted => {
                let (mut lo, mut hi) = (from, self.hi);
                while lo < hi {
                    let middle = lo + (hi - lo) / 2;
                    if self.differ(from, middle) > 0 { hi = middle } else { lo = middle + 1 }
                }
                Some(lo)
            }
        }
    }

    /// Returns the last differing x of `lo..=from`; `from` is in the interval.
    pub(super) fn previous(&self, from: i64) -> Option<i64> {
        match self.which() {
            DifferenceSet::All => Some(from),
            DifferenceSet::Residues(residues) => {
                residues.last(from).filter(|x| *x >= i128::from(self.lo)).map(|x| x as i64)
            }
            DifferenceSet::Counted if self.differ(self.lo, from) == 0 => None,
            DifferenceSet::Counted => {
                let (mut lo, mut hi) = (self.lo, from);
                while lo < hi {
                    let middle = hi - (hi - lo) / 2;
                    if self.differ(middle, from) > 0 { lo = middle } else { hi = middle - 1 }
                }
                Some(lo)
            }
        }
    }

    /// Describes the x that differ, if one residue decides.
    fn which(&self) -> DifferenceSet {
        let floors = self.floors(Progression { first: self.lo, step: 1, n: 1 }, Down::default());
        let corrected = self.left.ties != Ties::Floored || self.right.ties != Ties::Floored;
        if corrected || floors.left_slope != floors.right_slope {
            return DifferenceSet::Counted;
        }
        let m = 1u64 << floors.k;
        let (lo, hi) = match floors.difference() {
            (0, 0) => return DifferenceSet::Counted,
            (0, more) => (m - more, m - 1),
            (-1, more) => (0, m - more - 1),
            _ => return DifferenceSet::All,
        };
        let (a, c) = (floors.left_slope, floors.left - floors.left_slope * i128::from(self.lo));
        DifferenceSet::Residues(Residues { a, c, m, lo, hi })
    }
}

/// Set of x at which a pair differs.
enum DifferenceSet {
    All,
    /// All x with these residues.
    Residues(Residues),
    /// Set of x found by counting.
    Counted,
}

/// Returns the accumulators of `lo..=hi` at which a tie makes the result one less than the floor: the solutions of
/// `m*x + c = parity * 2^k` modulo `2^(k+1)`.
fn ties(piece: &Piece, lo: i64, hi: i64) -> Option<Progression> {
    let parity = piece.ties.parity()?;
    let bits = piece.k + 1;
    let residue = |bits: u32, v: i128| v as u64 & ((1 << bits) - 1);
    let wanted = residue(bits, (parity << piece.k) - piece.numerator(lo));
    // `m*x` reaches only multiples of the power of two in `m`; the odd factor has an inverse.
    let twos = piece.m.trailing_zeros().min(bits);
    if residue(twos, i128::from(wanted)) != 0 {
        return None;
    }
    let period = bits - twos;
    let steps = residue(period, (wanted >> twos).wrapping_mul(inverse((piece.m >> twos) as u64)).into());
    let span = hi.abs_diff(lo);
    (steps <= span).then(|| Progression {
        first: lo + steps as i64,
        step: 1 << period,
        n: ((span - steps) >> period) + 1,
    })
}

/// Returns the inverse of an odd number modulo 2^64, by Newton's iteration. Each step doubles the number of correct bits, and an
/// odd number is its own inverse modulo 8. For an even number, whose period is one, the value is arbitrary and unused.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |y, _| y.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(y))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = Piece> {
        let ties = prop_oneof![Just(Ties::Floored), Just(Ties::OddDown), Just(Ties::EvenDown)];
        (-24i128..24, -99i128..99, 0u32..6, ties).prop_map(|(m, c, k, ties)| Piece { lo: -99, hi: 99, m, c, k, ties })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Ties of both sides with different steps, contained in each other or disjoint, are counted once each.
        #[test]
        fn a_pair_is_counted_and_searched_as_one_by_one((left, right) in (piece(), piece()), lo in -99i64..99, n in 1i64..60) {
            let hi = (lo + n - 1).min(99);
            let pair = Pair { lo, hi, left, right };
            let delta = |x: i64| (right.at(x) - left.at(x)) as i64;
            let mut counts = Counts::default();
            pair.tally(&mut counts);
            prop_assert_eq!(counts, Counts::of((lo..=hi).map(delta)));
            for x in lo..=hi {
                prop_assert_eq!(pair.next(x), (x..=hi).find(|x| delta(*x) != 0));
                prop_assert_eq!(pair.previous(x), (lo..=x).rev().find(|x| delta(*x) != 0));
            }
        }
    }
}
