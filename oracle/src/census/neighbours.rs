//! Censuses of neighbouring multipliers at one shift. The pieces are found once; only the floor sums are computed for each multiplier.
//!
//! Let both schemes be folded at the first multiplier `a` and the last `b`, step by step, and let the two lists of pieces be
//! [alike](Slope) after each step: equal intervals, offsets, denominators and ties, and slopes that are equal or the same
//! multiple of the multiplier. Then the lists of all multipliers between are alike too, by induction. A step receives pieces that
//! differ in `f*m` only. The step cuts a piece where `f*m*x` passes a threshold independent of `m`. The cut moves in one direction as `m`
//! grows and is equal at both ends, so the cut is constant. The effect of the step on the parts does not depend on `m`.
//! Only the product reads `m`: multiplication by `m` gives a slope `f*m`. A reduced multiplier does not decrease
//! with `m`, so the slope is the same for all `m` if the reduced multiplier is equal at both ends.

use super::counts::Counts;
use super::floor_sum::floor_sum_step;
use super::pair::Pair;
use super::{Census, Counter, MOST_PIECES, WIDEST, hull, pairs};
use crate::fpm::pieces::{Folder, Piece, Ties};
use crate::fpm::steps::{Multiplier, Step};
use crate::fpm::{Parameters, Scheme, integer};
use std::ops::RangeInclusive;

/// Folder of one scheme at two multipliers.
#[derive(Clone, Debug)]
struct Twin {
    first: Folder,
    last: Folder,
}

/// The slope of a piece as a function of the multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slope {
    Constant(i128),
    /// Multiple of the multiplier.
    Times(i128),
}

/// Pieces of two schemes on one interval, for each multiplier between two.
#[derive(Clone, Copy, Debug)]
struct Template {
    pair: Pair,
    left: Slope,
    right: Slope,
}

/// Template with one slope on both sides and no ties to correct: one residue decides.
#[derive(Clone, Copy, Debug)]
struct Steady {
    lo: i64,
    n: u64,
    k: u32,
    slope: i128,
    offset: i128,
    difference: i128,
    more: u64,
}

impl Twin {
    fn new() -> Self {
        Self { first: Folder::new(MOST_PIECES), last: Folder::new(MOST_PIECES) }
    }

    /// Folds the scheme at `both`, which differ in the multiplier only, a positive number. `None` unless both fold and stay alike.
    fn fold(&mut self, scheme: &Scheme, both: [&Parameters; 2], xs: RangeInclusive<i64>) -> Option<()> {
        let [p, q] = both;
        self.first.begin(xs.clone());
        self.last.begin(xs);
        for (_, step) in scheme.definition.steps {
            if let Step::Multiply(kind) = step
                && *kind != Multiplier::Full
                && integer::effective_multiplier(*kind, p) != integer::effective_multiplier(*kind, q)
            {
                return None;
            }
            self.first.step(*step, p)?;
            self.last.step(*step, q)?;
            self.alike(both)?;
        }
        self.first.end(scheme.overflow, p)?;
        self.last.end(scheme.overflow, q)?;
        self.alike(both)
    }

    fn alike(&self, both: [&Parameters; 2]) -> Option<()> {
        let (a, b) = (self.first.pieces(), self.last.pieces());
        let same = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| slope(a, b, both).is_some());
        same.then_some(())
    }
}

/// Returns the slope as a function of the multiplier; `None` if the pieces differ in anything else.
fn slope(a: &Piece, b: &Piece, [p, q]: [&Parameters; 2]) -> Option<Slope> {
    if *a != (Piece { m: a.m, ..*b }) {
        return None;
    }
    let (first, last) = (i128::from(p.m), i128::from(q.m));
    let factor = a.m / first;
    match () {
        () if factor * first == a.m && factor * last == b.m => Some(Slope::Times(factor)),
        () if a.m == b.m => Some(Slope::Constant(a.m)),
        () => None,
    }
}

impl Slope {
    fn at(self, m: i64) -> i128 {
        match self {
            Self::Constant(slope) => slope,
            Self::Times(factor) => factor * i128::from(m),
        }
    }
}

/// Counts for each multiplier of a range.
#[derive(Clone, Debug)]
pub struct Neighbours {
    left: Twin,
    right: Twin,
    alone: Counter,
    templates: Vec<Template>,
    steady: Vec<Steady>,
    /// Counts that all multipliers share.
    common: Counts,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self {
            left: Twin::new(),
            right: Twin::new(),
            alone: Counter::default(),
            templates: Vec::new(),
            steady: Vec::new(),
            common: Counts::default(),
        }
    }
}

impl Neighbours {
    /// Calls `each` with the counts of `census` at each multiplier of `ms`, in increasing order; the multiplier of `census` is ignored.
    /// The error is a multiplier at which a scheme does not fold.
    pub fn counts(
        &mut self,
        census: &Census,
        ms: RangeInclusive<i64>,
        each: &mut impl FnMut(i64, &Counts),
    ) -> Result<(), i64> {
        let (first, last) = (*ms.start(), *ms.end());
        if first > last {
            return Ok(());
        }
        let at = |m: i64| Census { parameters: Parameters { m, ..census.parameters }, ..*census };
        if first == last {
            each(first, &self.alone.counts(&at(first)).ok_or(first)?);
            return Ok(());
        }
        if self.prepare(census, [&at(first).parameters, &at(last).parameters]).is_none() {
            let middle = first + (last - first) / 2;
            self.counts(census, first..=middle, each)?;
            return self.counts(census, middle + 1..=last, each);
        }
        for m in ms {
            each(m, &self.at(m));
        }
        Ok(())
    }

    /// Prepares the templates of all multipliers between two. Returns `None` if the two have different templates.
    fn prepare(&mut self, census: &Census, both: [&Parameters; 2]) -> Option<()> {
        if both[0].m <= 0 || census.output.is_some() || both[0].word.bits > WIDEST {
            return None;
        }
        self.left.fold(&census.left, both, census.lo..=census.hi)?;
        self.right.fold(&census.right, both, hull(self.left.first.pieces()))?;
        let firsts = [self.left.first.pieces(), self.right.first.pieces()];
        let lasts = [self.left.last.pieces(), self.right.last.pieces()];
        let mut ends = (Vec::new(), Vec::new());
        pairs(firsts, |pair| ends.0.push(pair));
        pairs(lasts, |pair| ends.1.push(pair));
        self.templates.clear();
        self.steady.clear();
        self.common = Counts::default();
        for (a, b) in ends.0.iter().zip(&ends.1) {
            let (left, right) = (slope(&a.left, &b.left, both)?, slope(&a.right, &b.right, both)?);
            self.add(Template { pair: *a, left, right });
        }
        Some(())
    }

    fn add(&mut self, template: Template) {
        let Some(steady) = template.steady() else { return self.templates.push(template) };
        self.common.inputs += steady.n;
        if steady.more == 0 {
            self.common.note(steady.difference, steady.n);
        } else {
            self.steady.push(steady);
        }
    }

    fn at(&self, m: i64) -> Counts {
        let mut counts = self.common;
        for steady in &self.steady {
            steady.tally(m, &mut counts);
        }
        for Template { pair, left, right } in &self.templates {
            let with = |piece: Piece, slope: &Slope| Piece { m: slope.at(m), ..piece };
            Pair { left: with(pair.left, left), right: with(pair.right, right), ..*pair }.tally(&mut counts);
        }
        counts
    }
}

impl Template {
    fn steady(&self) -> Option<Steady> {
        let Pair { lo, hi, left, right } = self.pair;
        let k = left.k.max(right.k);
        let lifted = |slope: Slope, piece: &Piece| match slope {
            Slope::Times(factor) => Some(factor << (k - piece.k)),
            Slope::Constant(_) => None,
        };
        let slope = lifted(self.left, &left)?;
        let floored = left.ties == Ties::Floored && right.ties == Ties::Floored;
        if !floored || lifted(self.right, &right)? != slope {
            return None;
        }
        let offset = left.c << (k - left.k);
        let difference = (right.c << (k - right.k)) - offset;
        let more = difference as u64 & ((1 << k) - 1);
        Some(Steady { lo, n: hi.abs_diff(lo) + 1, k, slope, offset, difference: difference >> k, more })
    }
}

impl Steady {
    #[inline]
    fn tally(&self, m: i64, counts: &mut Counts) {
        let slope = self.slope * i128::from(m);
        let residue = (slope * i128::from(self.lo) + self.offset) as u64 & ((1 << self.k) - 1);
        let upper = floor_sum_step(self.n, slope, residue, self.more, self.k);
        counts.note(self.difference, self.n - upper);
        counts.note(self.difference + 1, upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::Word;

    fn census(left: &str, right: &str, parameters: Parameters) -> Census {
        let scheme = |name| Scheme::parse(name).expect("a scheme");
        Census::of(scheme(left), scheme(right), parameters)
    }

    fn templates(left: &str, right: &str, s: i32, ends: [i32; 2]) -> Option<Neighbours> {
        let both = ends.map(|m| Parameters::q31(m, s));
        let mut neighbours = Neighbours::default();
        neighbours.prepare(&census(left, right, both[0]), [&both[0], &both[1]])?;
        Some(neighbours)
    }

    fn prepared(left: &str, right: &str, s: i32, ends: [i32; 2]) -> bool {
        templates(left, right, s, ends).is_some()
    }

    #[test]
    fn normalised_multipliers_share_their_pieces() {
        let all = [(1 << 30) + 1, i32::MAX];
        for right in ["sqrdmulh-srshl", "gemmlowp-double", "ties-even", "tosa-apply-scale-32-double"] {
            assert!((-31..=-1).all(|s| prepared("ties-up", right, s, all)), "{right}");
        }
    }

    /// A reduced multiplier is not a multiple of `m`, even if both ends look like multiples.
    #[test]
    fn reduced_multipliers_share_only_what_they_are_reduced_to() {
        let int16 = |ends| prepared("ties-up", "tflite-int16-multiplier", -8, ends);
        assert!(int16([0x4000_8000, 0x4001_7FFF]));
        assert!(!int16([0x4000_7FFF, 0x4000_8000]) && !int16([0x4001_0000, 0x4002_0000]));
    }

    #[test]
    fn what_is_not_positive_is_alone() {
        assert!(!prepared("ties-up", "sqrdmulh-srshl", -8, [-5, 5]) && !prepared("ties-up", "ties-away", -8, [0, 5]));
    }

    /// `x*m / 2^30` and `2*x*m / 2^31` have one slope, so one residue decides unless either saturates.
    #[test]
    fn one_slope_over_two_denominators_is_steady() {
        let ends = [1 << 30, i32::MAX];
        let shared = templates("tosa-apply-scale-32-single", "gemmlowp-double", 1, ends).expect("templates");
        assert_eq!(shared.common.inputs, 1 << 30);
    }

    #[test]
    fn a_slope_follows_the_multiplier_or_is_one() {
        let [p, q] = [6, 9].map(|m| Parameters::q31(m, 0));
        let of = |m| Piece { lo: 0, hi: 9, m, c: 1, k: 3, ties: Ties::Floored };
        let slope = |first, last| slope(&of(first), &of(last), [&p, &q]);
        assert_eq!(
            [slope(12, 18), slope(7, 7), slope(0, 0)],
            [Some(Slope::Times(2)), Some(Slope::Constant(7)), Some(Slope::Times(0))]
        );
        assert_eq!([slope(12, 12), slope(12, 19), slope(13, 18)], [Some(Slope::Constant(12)), None, None]);
        assert_eq!(super::slope(&of(12), &Piece { c: 2, ..of(18) }, [&p, &q]), None);
    }

    /// Words wider than the pieces allow are rejected; narrower words are counted.
    #[test]
    fn wide_words_are_refused() {
        let of = |bits| Parameters { word: Word { bits }, ..Parameters::q31(5, -3) };
        let counted = |bits| {
            let mut seen = Vec::new();
            let whole = census("ties-up", "gemmlowp-double", of(bits));
            Neighbours::default().counts(&whole, 5..=8, &mut |m, _| seen.push(m)).map(|()| seen)
        };
        assert_eq!([counted(24), counted(32)], [Ok(vec![5, 6, 7, 8]), Ok(vec![5, 6, 7, 8])]);
        assert_eq!([counted(33), counted(48)], [Err(5), Err(5)]);
        // Narrow words share their pieces, too.
        let both = [5, 8].map(|m| Parameters { m, ..of(24) });
        let narrow = census("ties-up", "gemmlowp-double", both[0]);
        assert!(Neighbours::default().prepare(&narrow, [&both[0], &both[1]]).is_some());
    }
}
