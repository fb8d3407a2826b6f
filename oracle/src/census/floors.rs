//! Two floors over one arithmetic progression, and the number of terms with each difference.
//!
//! Let `h` be the difference before both are floored. The floors then differ by `floor(h)` or by `floor(h) + 1`. If `h` is constant,
//! one residue decides between the two. Otherwise `h` is affine. On the interval where `floor(h)` is `d`, the sum of the differences is
//! `d` for each accumulator plus one for each accumulator with `d + 1`. Two floor sums give that sum, and so the number of each.

use super::counts::{Counts, MAX_COUNTED_DELTA};
use super::floor_sum::{floor_sum, floor_sum_step};
use crate::fpm::div_floor;

/// Values `floor((left + left_slope*j) / 2^k)`, and likewise on the right, for j in `0..n`. Numerators are below 2^93 in magnitude
/// at all j, because results are of a 32-bit word and `k` is at most 62.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floors {
    pub(super) n: u64,
    pub(super) k: u32,
    pub(super) left: i128,
    pub(super) left_slope: i128,
    pub(super) right: i128,
    pub(super) right_slope: i128,
}

impl Floors {
    /// Adds `sign` for each j to the count of its difference.
    #[inline]
    pub(super) fn tally(&self, sign: u64, counts: &mut Counts) {
        if self.left_slope != self.right_slope {
            return self.tally_apart(sign, counts);
        }
        let (difference, more) = self.difference();
        if !(-i128::from(MAX_COUNTED_DELTA) - 1..=i128::from(MAX_COUNTED_DELTA)).contains(&difference) {
            return;
        }
        let upper = match more {
            0 => 0,
            _ => floor_sum_step(self.n, self.left_slope, self.residue(self.left), more, self.k),
        };
        counts.note(difference, sign.wrapping_mul(self.n - upper));
        counts.note(difference + 1, sign.wrapping_mul(upper));
    }

    /// Equal slopes: returns the smaller difference, and the number of last residues of the left numerator that give one more.
    pub(super) fn difference(&self) -> (i128, u64) {
        let difference = self.right - self.left;
        (difference >> self.k, self.residue(difference))
    }

    fn residue(&self, v: i128) -> u64 {
        v as u64 & ((1 << self.k) - 1)
    }

    /// Different slopes: counts one interval for each whole part of the difference.
    fn tally_apart(&self, sign: u64, counts: &mut Counts) {
        let (start, slope) = (self.right - self.left, self.right_slope - self.left_slope);
        let end = start + slope * (i128::from(self.n) - 1);
        let apart = i128::from(MAX_COUNTED_DELTA);
        let (lowest, highest) = (start.min(end) >> self.k, start.max(end) >> self.k);
        for whole in lowest.max(-apart - 1)..=highest.min(apart) {
            // First to last j with start + slope*j in [whole*2^k, (whole + 1)*2^k).
            let (low, high) = ((whole << self.k) - start, ((whole + 1) << self.k) - start - 1);
            let (first, last) = if slope > 0 {
                (-div_floor(-low, slope), div_floor(high, slope))
            } else {
                (-div_floor(high, -slope), div_floor(-low, -slope))
            };
            let (first, last) = (first.max(0), last.min(i128::from(self.n) - 1));
            if first <= last {
                let n = (last - first + 1) as u64;
                let sum = |from: i128, slope: i128| floor_sum(n, slope, from + slope * first, 1 << self.k);
                let more = sum(self.right, self.right_slope) - sum(self.left, self.left_slope);
                let upper = (more - whole * i128::from(n)) as u64;
                counts.note(whole, sign.wrapping_mul(n - upper));
                counts.note(whole + 1, sign.wrapping_mul(upper));
            }
        }
    }
}
