//! Differences of two lists of pieces over the same integers, in closed form.

use super::Products;
use crate::fpm::pieces::{Piece, Ties};
use serde::Serialize;

/// Difference of two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delta {
    /// The same amount everywhere.
    By(i64),
    /// Different amounts, which may include 0.
    Varies,
}

/// Set of products on which two schemes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// First product of the interval.
    pub lo: i64,
    /// Last product of the interval.
    pub hi: i64,
    /// Exponent of the modulus `2^bits` of the residues.
    pub bits: u32,
    /// First residue, in `0..2^bits`.
    pub first: u64,
    /// Last residue.
    pub last: u64,
    /// Right result minus the left result.
    pub delta: Delta,
}

impl Difference {
    /// True if a product belongs to the set.
    pub fn holds(&self, product: i64) -> bool {
        let residue = (i128::from(product) & ((1i128 << self.bits) - 1)) as u64;
        (self.lo..=self.hi).contains(&product) && (self.first..=self.last).contains(&residue)
    }

    fn meets_its_interval(&self) -> bool {
        let period = 1i128 << self.bits;
        let (lo, hi) = (i128::from(self.lo), i128::from(self.hi));
        // First product at or above `lo` with the first residue, and the last product of the previous period.
        let from = lo + (i128::from(self.first) - lo).rem_euclid(period);
        let before = from - period + i128::from(self.last - self.first);
        from <= hi || before >= lo
    }
}

/// True if both are the same function on the same domain.
pub(super) fn same(left: &[Piece], right: &[Piece]) -> bool {
    covered(left) == covered(right) && differences(left, right).is_empty()
}

/// Returns the intervals that pieces cover, with adjacent intervals merged.
pub(super) fn covered(pieces: &[Piece]) -> Vec<(i64, i64)> {
    let mut intervals: Vec<(i64, i64)> = Vec::new();
    for piece in pieces {
        match intervals.last_mut() {
            Some((_, hi)) if hi.checked_add(1) == Some(piece.lo) => *hi = piece.hi,
            _ => intervals.push((piece.lo, piece.hi)),
        }
    }
    intervals
}

/// Returns the differences of two lists.
pub(super) fn differences(left: &[Piece], right: &[Piece]) -> Vec<Difference> {
    let mut out = Vec::new();
    for a in left {
        for b in right {
            let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
            if lo <= hi {
                pair(lo, hi, a, b, &mut out);
            }
        }
    }
    out.retain(Difference::meets_its_interval);
    out
}

/// Merges neighbouring intervals with the same residues. A set that ends at the second largest product is extended to an isolated
/// largest product if the set remains correct there, because no product is between the two.
pub(super) fn merged(mut differences: Vec<Difference>, products: &Products) -> Vec<Difference> {
    if let Some(top) = products.top {
        let at_top = differences.iter().find(|d| d.lo == top).copied();
        let mut held = false;
        for d in differences.iter_mut().filter(|d| d.hi == *products.most.end()) {
            let longer = Difference { hi: top, ..*d };
            let same = at_top.is_some_and(|at| at.delta == d.delta);
            if same || !longer.holds(top) {
                held |= longer.holds(top);
                *d = longer;
            }
        }
        differences.retain(|d| d.lo != top || !held);
    }
    differences.sort_by_key(|d| (d.bits, d.first, d.last, d.lo));
    differences.dedup_by(|next, last| {
        let follows = last.hi.checked_add(1) == Some(next.lo);
        let same = follows && *next == Difference { lo: next.lo, hi: next.hi, ..*last };
        if same {
            last.hi = next.hi;
        }
        same
    });
    differences.sort_by_key(|d| (d.lo, d.first));
    differences
}

fn pair(lo: i64, hi: i64, a: &Piece, b: &Piece, out: &mut Vec<Difference>) {
    let whole = |delta| Difference { lo, hi, bits: 0, first: 0, last: 0, delta };
    if lo == hi {
        let delta = b.at(lo) - a.at(lo);
        out.extend((delta != 0).then(|| whole(narrow(delta))));
    } else if a.m == b.m && a.k == b.k {
        residues(lo, hi, a, b, out);
    } else if let (0, floor) | (floor, 0) = (a.m, b.m)
        && floor > 0
    {
        around(lo, hi, a, b, out);
    } else {
        out.push(whole(Delta::Varies));
    }
}

fn narrow(delta: i128) -> Delta {
    i64::try_from(delta).map_or(Delta::Varies, Delta::By)
}

/// Compares pieces of one slope: only the residue of the product decides. Results grow by `m` from one period to the next on both
/// sides, and the doubled period of ties keeps the parity of quotients.
fn residues(lo: i64, hi: i64, a: &Piece, b: &Piece, out: &mut Vec<Difference>) {
    let everywhere = |delta| Difference { lo, hi, bits: 0, first: 0, last: 0, delta };
    if a.m == 0 || a.k == 0 {
        let delta = b.at(lo) - a.at(lo);
        return out.extend((delta != 0).then(|| everywhere(narrow(delta))));
    }
    if a.m != 1 {
        return out.push(everywhere(Delta::Varies));
    }
    let ties = a.ties != Ties::Floored || b.ties != Ties::Floored;
    let bits = a.k + u32::from(ties);
    let period = 1i128 << bits;
    // Residues at which either side may step: exact multiples of 2^k, and the residues after these multiples.
    let mut steps = vec![0];
    for piece in [a, b] {
        let multiple = (-piece.c).rem_euclid(1 << piece.k);
        let all = [0, 1 << piece.k].map(|turn| [multiple + turn, multiple + turn + 1]);
        steps.extend(all.into_iter().flatten().map(|r: i128| r.rem_euclid(period)));
    }
    steps.sort_unstable();
    steps.dedup();
    let mut found: Vec<(i128, i128, i128)> = Vec::new();
    for (at, first) in steps.iter().enumerate() {
        let last = steps.get(at + 1).map_or(period, |next| *next) - 1;
        let delta = value(b, *first) - value(a, *first);
        match found.last_mut() {
            Some((_, end, same)) if *same == delta && *end + 1 == *first => *end = last,
            _ => found.push((*first, last, delta)),
        }
    }
    out.extend(found.into_iter().filter(|(.., delta)| *delta != 0).map(|(first, last, delta)| Difference {
        lo,
        hi,
        bits,
        first: first as u64,
        last: last as u64,
        delta: narrow(delta),
    }));
}

/// Computes the value of a piece of slope `1 / 2^k` at any integer.
fn value(piece: &Piece, product: i128) -> i128 {
    let numerator = product + piece.c;
    let floor = numerator >> piece.k;
    let tie = floor << piece.k == numerator && piece.ties.parity() == Some(floor & 1);
    floor - i128::from(tie)
}

/// Compares a constant and a growing floor: equal while the floor is that constant, different before and after.
fn around(lo: i64, hi: i64, a: &Piece, b: &Piece, out: &mut Vec<Difference>) {
    let (constant, grows) = if a.m == 0 { (a, b) } else { (b, a) };
    let Some(grows) = grows.slice(lo, hi) else { return };
    let target = constant.at(lo);
    let (below, rest) = grows.split(target);
    let above = rest.and_then(|rest| rest.split(target + 1).1);
    let apart =
        |piece: Piece| Difference { lo: piece.lo, hi: piece.hi, bits: 0, first: 0, last: 0, delta: Delta::Varies };
    out.extend([below, above].into_iter().flatten().map(apart));
}
