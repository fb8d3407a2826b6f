//! Residues in a range: the accumulators x with `(a*x + c) mod m` in `lo..=hi`, in steps of the Euclidean algorithm.

use super::floor_sum::floor_sum;
use std::ops::RangeInclusive;

/// Requested residues: `(a*x + c) mod m` in `lo..=hi`, with `m` in 1..=2^63, `0 <= lo <= hi < m`, and `|a|` and `|c|` at most 2^93.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residues {
    /// Slope.
    pub a: i128,
    /// Offset.
    pub c: i128,
    /// Modulus.
    pub m: u64,
    /// Smallest residue.
    pub lo: u64,
    /// Largest residue.
    pub hi: u64,
}

impl Residues {
    /// Returns the smallest x at `from` or above, up to `from + m`. `|from|` is at most 2^32.
    pub fn first(&self, from: i64) -> Option<i128> {
        Some(i128::from(from) + i128::from(self.steps(self.a, from)?))
    }

    /// Returns the largest x at `from` or below, down to `from - m`. `|from|` is at most 2^32.
    pub fn last(&self, from: i64) -> Option<i128> {
        Some(i128::from(from) - i128::from(self.steps(-self.a, from)?))
    }

    /// Returns the number of x in `xs`, which has at most 2^33 accumulators.
    pub fn count(&self, xs: RangeInclusive<i64>) -> u64 {
        if xs.is_empty() {
            return 0;
        }
        let m = i128::from(self.m);
        let n = xs.end().abs_diff(*xs.start()) + 1;
        let start = (self.a * i128::from(*xs.start()) + self.c).rem_euclid(m);
        // Counts residues of at least t, modulo m: the floor grows when m - t is added.
        let below = |t: u64| floor_sum(n, self.a.rem_euclid(m), start + m - i128::from(t), m);
        (below(self.lo) - below(self.hi + 1)) as u64
    }

    /// Returns the `i`th x of `xs`, from 0, by halving.
    pub fn nth(&self, i: u64, xs: RangeInclusive<i64>) -> Option<i64> {
        if i >= self.count(xs.clone()) {
            return None;
        }
        let (mut lo, mut hi) = (*xs.start(), *xs.end());
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            if self.count(*xs.start()..=middle) > i { hi = middle } else { lo = middle + 1 }
        }
        Some(lo)
    }

    /// Returns the smallest t for which the residue at `from`, plus `a*t`, is in the range.
    fn steps(&self, a: i128, from: i64) -> Option<u64> {
        let m = i128::from(self.m);
        let here = (self.a * i128::from(from) + self.c).rem_euclid(m);
        let moved = |end: u64| (i128::from(end) - here).rem_euclid(m) as u64;
        first_step(a.rem_euclid(m) as u64, self.m, moved(self.lo), moved(self.hi))
    }
}

/// Returns the smallest t >= 0 with `a*t mod m` in `lo..=hi`. If the range passes zero (`lo > hi`), t is 0.
fn first_step(a: u64, m: u64, lo: u64, hi: u64) -> Option<u64> {
    if lo == 0 || lo > hi {
        return Some(0);
    }
    if a == 0 {
        return None;
    }
    let t = lo.div_ceil(a);
    if u128::from(t) * u128::from(a) <= u128::from(hi) {
        return Some(t);
    }
    // No multiple of `a` is in the range: a*t = m*u + r with r in the range needs m*u mod a in -hi..=-lo mod a.
    let turns = first_step(m % a, a, (a - hi % a) % a, (a - lo % a) % a)?;
    // At most m*a, below 2^126.
    let reached = u128::from(turns) * u128::from(m) + u128::from(lo);
    Some(reached.div_ceil(u128::from(a)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Residues {
        fn holds(&self, x: i64) -> bool {
            let residue = (self.a * i128::from(x) + self.c).rem_euclid(self.m.into());
            (i128::from(self.lo)..=i128::from(self.hi)).contains(&residue)
        }
    }

    #[test]
    fn every_small_range() {
        for m in 1..=12u64 {
            for (lo, hi) in (0..m).flat_map(|lo| (lo..m).map(move |hi| (lo, hi))) {
                for (a, c) in (-13..=13).flat_map(|a| [0, 1, 5, -7].map(|c| (a, c))) {
                    let residues = Residues { a, c, m, lo, hi };
                    for from in [-3, 0, 4] {
                        let up = (from..from + 12).find(|x| residues.holds(*x));
                        assert_eq!(residues.first(from), up.map(i128::from), "{residues:?} from {from}");
                        let down = (from - 12..=from).rev().find(|x| residues.holds(*x));
                        assert_eq!(residues.last(from), down.map(i128::from), "{residues:?} down from {from}");
                        let all: Vec<i64> = (from..=from + 9).filter(|x| residues.holds(*x)).collect();
                        assert_eq!(residues.count(from..=from + 9), all.len() as u64, "{residues:?} from {from}");
                        for i in 0..=all.len() {
                            assert_eq!(residues.nth(i as u64, from..=from + 9), all.get(i).copied());
                        }
                    }
                }
            }
        }
    }

    proptest! {
        /// Every x found has a residue in the range, and counting finds no earlier x.
        #[test]
        fn first_and_last_of_any_size(
            a in any::<i64>(), c in any::<i64>(), m in 1u64..=1 << 63, ends in any::<(u64, u64)>(), from in -(1i64 << 32)..1 << 32
        ) {
            // Narrow ranges have their first x far away.
            let lo = ends.0 % m;
            let hi = lo + (ends.1 >> (ends.0 % 64)) % (m - lo);
            let residues = Residues { a: a.into(), c: c.into(), m, lo, hi };
            let reach = 1i64 << 32;
            match residues.first(from) {
                Some(x) if x <= i128::from(from + reach) => {
                    prop_assert!(residues.holds(x as i64));
                    prop_assert_eq!(residues.count(from..=x as i64), 1);
                }
                _ => prop_assert_eq!(residues.count(from..=from + reach), 0),
            }
            match residues.last(from) {
                Some(x) if x >= i128::from(from - reach) => {
                    prop_assert!(residues.holds(x as i64));
                    prop_assert_eq!(residues.count(x as i64..=from), 1);
                }
                _ => prop_assert_eq!(residues.count(from - reach..=from), 0),
            }
        }
    }
}
