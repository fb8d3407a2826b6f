//! Requantizations as staircases: the accumulators in order, cut where the result changes.
//!
//! Schemes that multiply in floats are counted this way. Each of their steps (conversion to the format, product with a constant, sum
//! with a constant, rounding, clamp) is monotone in the accumulator, so the result is monotone, and doubling and bisection find the end of
//! a run of one result. A scheme of fixed point multiply is folded into pieces, and the end of a run is one division. Two staircases
//! differ on intervals, whose lengths are the counts.
//!
//! A scheme in floats has no pieces, so audit and census search only for the accumulators at which the
//! result changes. A test compares the runs with each accumulator, by machine integers and by rationals.

use super::consecutive::{Consecutive, tally};
use super::{Counts, MOST_PIECES};
use crate::derivation::floats;
use crate::derivation::real::Real;
use crate::fpm::pieces::{Folder, Output, Piece};
use crate::fpm::{Parameters, Scheme};
use std::ops::RangeInclusive;

/// Default output: results saturate to int32.
pub(super) const WHOLE: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

/// Requantization of one channel.
#[derive(Clone, Debug)]
pub enum Requantizer {
    /// Scheme of fixed point multiply at a multiplier and shift.
    Fixed(Scheme, Parameters),
    /// Scheme in floats with its factors.
    Float(floats::Scheme),
    /// Exact product with a real scale, rounded once.
    Real(Real),
}

/// Accumulators with one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First accumulator.
    pub lo: i64,
    /// Last accumulator.
    pub hi: i64,
    /// The result.
    pub value: i64,
}

/// Accumulators on which each of two requantizations has one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// First accumulator.
    pub lo: i64,
    /// Last accumulator.
    pub hi: i64,
    /// Left result.
    pub left: i64,
    /// Right result.
    pub right: i64,
}

impl Common {
    /// True if the results differ.
    pub fn differs(&self) -> bool {
        self.left != self.right
    }

    /// Returns the number of accumulators.
    pub fn len(&self) -> u64 {
        self.hi.abs_diff(self.lo) + 1
    }

    /// Always false: an interval has at least one accumulator.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl Requantizer {
    /// Returns the result at `x`, an int32, by machine integers; `None` if `x` is outside the domain.
    #[inline]
    pub fn value(&self, output: Option<&Output>, x: i64) -> Option<i64> {
        match self {
            Self::Fixed(scheme, p) => scheme.placed(p, output, scheme.fast(x, p)?),
            Self::Float(scheme) => Some(scheme.fast(int32(x), output.unwrap_or(&WHOLE)).into()),
            Self::Real(real) => Some(real.fast(int32(x), output.unwrap_or(&WHOLE)).into()),
        }
    }

    /// Returns the result at `x`, an int32, by rationals; `None` if `x` is outside the domain.
    pub fn exact(&self, output: Option<&Output>, x: i64) -> Option<i64> {
        match self {
            Self::Fixed(scheme, p) => scheme.placed(p, output, scheme.exact(x, p)?),
            Self::Float(scheme) => Some(scheme.exact(int32(x), output.unwrap_or(&WHOLE)).into()),
            Self::Real(real) => Some(real.exact(int32(x), output.unwrap_or(&WHOLE)).into()),
        }
    }

    /// Returns the runs of `xs`, int32 numbers, in increasing order. Accumulators outside the domain are in no run.
    pub fn runs<'a>(&'a self, output: Option<&'a Output>, xs: RangeInclusive<i64>) -> Runs<'a> {
        let (next, hi) = (*xs.start(), *xs.end());
        let source = match self {
            Self::Fixed(scheme, p) => match folded(scheme, p, output, xs) {
                Some(pieces) => Source::Pieces(pieces, 0),
                None => Source::Each,
            },
            Self::Float(_) | Self::Real(_) => Source::Monotone { last: 1 },
        };
        Runs { of: self, output, source, next, hi }
    }
}

#[inline]
fn int32(x: i64) -> i32 {
    i32::try_from(x).expect("an accumulator is an int32")
}

pub(super) fn folded(
    scheme: &Scheme,
    p: &Parameters,
    output: Option<&Output>,
    xs: RangeInclusive<i64>,
) -> Option<Vec<Piece>> {
    let mut folder = Folder::new(MOST_PIECES);
    folder.fold(scheme.definition.steps.iter().map(|(_, step)| *step), scheme.overflow, p, xs)?;
    if let Some(output) = output {
        folder.put(output, scheme.overflow, p)?;
    }
    Some(folder.pieces().to_vec())
}

/// Iterator over the runs of a requantization.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    of: &'a Requantizer,
    output: Option<&'a Output>,
    source: Source,
    next: i64,
    hi: i64,
}

/// Source of the runs.
#[derive(Clone, Debug)]
enum Source {
    /// Pieces in closed form, and the index of the next piece.
    Pieces(Vec<Piece>, usize),
    /// Monotone function; `last` is the length of the last run, minus one.
    Monotone { last: i64 },
    /// One accumulator after another, for schemes that do not fold.
    Each,
}

impl Runs<'_> {
    /// True if every accumulator is visited.
    pub fn visits_each(&self) -> bool {
        matches!(self.source, Source::Each)
    }

    fn value(&self, x: i64) -> Option<i64> {
        self.of.value(self.output, x)
    }

    /// Returns the last accumulator of the run that begins at `lo`, for a monotone function. The previous run had `last + 1` accumulators,
    /// and most runs are as long as the previous run. The search starts there, doubles its steps up or down until it passes the end, and bisects.
    fn bisected(&self, lo: i64, value: i64, last: i64) -> i64 {
        let same = |x: i64| self.value(x) == Some(value);
        let guess = lo.saturating_add(last).min(self.hi);
        let (mut inside, mut outside) =
            if same(guess) { self.above(guess, same) } else { Self::below(lo, guess, same) };
        while inside + 1 < outside {
            let middle = inside + (outside - inside) / 2;
            if same(middle) { inside = middle } else { outside = middle }
        }
        inside
    }

    /// Returns an accumulator of the run at or above `inside`, and a later accumulator outside the run, possibly `hi + 1`.
    fn above(&self, mut inside: i64, same: impl Fn(i64) -> bool) -> (i64, i64) {
        let mut step = 1i64;
        loop {
            let x = inside.saturating_add(step);
            if x > self.hi {
                return (inside, self.hi + 1);
            }
            if !same(x) {
                return (inside, x);
            }
            (inside, step) = (x, step.saturating_mul(2));
        }
    }

    /// Returns an accumulator of the run of `lo`, and a later accumulator outside the run, at most `outside`.
    fn below(lo: i64, mut outside: i64, same: impl Fn(i64) -> bool) -> (i64, i64) {
        let mut step = 1i64;
        loop {
            let x = outside.saturating_sub(step).max(lo);
            if x == lo || same(x) {
                return (x, outside);
            }
            (outside, step) = (x, step.saturating_mul(2));
        }
    }

    fn each(&mut self) -> Option<Run> {
        let lo = (self.next..=self.hi).find(|x| self.value(*x).is_some())?;
        let value = self.value(lo)?;
        let hi = (lo..=self.hi).take_while(|x| self.value(*x) == Some(value)).last()?;
        Some(Run { lo, hi, value })
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.next > self.hi {
            return None;
        }
        let run = match &mut self.source {
            Source::Pieces(pieces, at) => {
                while pieces.get(*at).is_some_and(|piece| piece.hi < self.next) {
                    *at += 1;
                }
                let piece = pieces.get(*at)?;
                let lo = self.next.max(piece.lo);
                Run { lo, hi: piece.last_alike(lo), value: i64::try_from(piece.at(lo)).ok()? }
            }
            Source::Monotone { last } => {
                let (lo, last) = (self.next, *last);
                let value = self.value(lo)?;
                Run { lo, hi: self.bisected(lo, value, last), value }
            }
            Source::Each => self.each()?,
        };
        if let Source::Monotone { last } = &mut self.source {
            *last = run.hi.saturating_sub(run.lo);
        }
        self.next = run.hi + 1;
        Some(run)
    }
}

/// Two requantizations over a range of accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Requantization whose results are subtracted.
    pub left: &'a Requantizer,
    /// Requantization from whose results the left results are subtracted.
    pub right: &'a Requantizer,
    /// Zero point and clamp after both requantizations; `None` for neither.
    pub output: Option<&'a Output>,
}

impl<'a> Comparison<'a> {
    /// Returns the intervals of `xs`, int32 numbers, on which each side has one result, in increasing order.
    pub fn steps(&self, xs: RangeInclusive<i64>) -> impl Iterator<Item = Common> + use<'a> {
        let mut left = self.left.runs(self.output, xs.clone());
        let mut right = self.right.runs(self.output, xs);
        let (mut a, mut b) = (left.next(), right.next());
        std::iter::from_fn(move || {
            loop {
                let (l, r) = (a?, b?);
                let (lo, hi) = (l.lo.max(r.lo), l.hi.min(r.hi));
                if l.hi <= r.hi {
                    a = left.next();
                }
                if r.hi <= l.hi {
                    b = right.next();
                }
                if lo <= hi {
                    return Some(Common { lo, hi, left: l.value, right: r.value });
                }
            }
        })
    }

    /// Counts the differing accumulators of `xs`, by delta. If intervals are short, a block of accumulators is visited one by one.
    pub fn counts(&self, xs: RangeInclusive<i64>) -> Counts {
        let (mut next, hi) = (*xs.start(), *xs.end());
        let mut counts = Counts::default();
        let mut blocks: Option<Blocks<'_>> = None;
        while next <= hi {
            let mut short = None;
            let begun = next;
            for (i, step) in (1..).zip(self.steps(next..=hi)) {
                counts.put(step.right - step.left, step.len());
                next = step.hi + 1;
                if i % LOOKED_AT == 0 && next - begun < i * SHORT {
                    short = Some(next);
                    break;
                }
            }
            let Some(from) = short else { break };
            let blocks = blocks.get_or_insert_with(|| Blocks::new(self, from..=hi));
            next = blocks.count(from, hi, &mut counts);
        }
        counts
    }

    /// Counts one accumulator after another, independently of the staircases.
    pub fn sweep(&self, xs: RangeInclusive<i64>) -> Counts {
        let deltas = xs.filter_map(|x| self.values(x)).map(|(left, right)| right - left);
        Counts::of(deltas)
    }

    /// Returns both results at `x`, left first; `None` if `x` is outside the domain of either requantization.
    pub fn values(&self, x: i64) -> Option<(i64, i64)> {
        Some((self.left.value(self.output, x)?, self.right.value(self.output, x)?))
    }

    /// Returns the `n` differing accumulators of `xs` nearest to zero; of two at the same distance, the positive accumulator comes first.
    pub fn nearest(&self, n: usize, xs: RangeInclusive<i64>) -> Vec<i64> {
        let (lo, hi) = (*xs.start(), *xs.end());
        let furthest = lo.abs().max(hi.abs());
        let mut found = Vec::new();
        let (mut from, mut to) = (0, 1 << 10);
        while found.len() < n && from <= furthest {
            let mut block: Vec<i64> = Vec::new();
            // On the upper side, the first accumulators are the nearest to zero.
            block.extend(self.places(from.max(lo)..=to.min(hi)).take(n));
            let below: Vec<i64> = self.places((-to).max(lo)..=(-from.max(1)).min(hi)).collect();
            block.extend(below.iter().rev().take(n));
            block.sort_by_key(|x| (x.abs(), *x < 0));
            found.extend(block);
            (from, to) = (to + 1, to.saturating_mul(2));
        }
        found.truncate(n);
        found
    }

    /// Returns the differing accumulators in increasing order.
    fn places(&self, xs: RangeInclusive<i64>) -> impl Iterator<Item = i64> + use<'a> {
        self.steps(xs).filter(Common::differs).flat_map(|step| step.lo..=step.hi)
    }
}

/// Number of intervals between two checks, and average number of accumulators below which intervals count as short.
const LOOKED_AT: i64 = 64;
const SHORT: i64 = 12;
/// Accumulators in a block.
const BLOCK: usize = 1 << 13;
/// Number of blocks before the intervals are checked again.
const IN_A_ROW: usize = 8;

/// Both sides at consecutive accumulators.
struct Blocks<'a> {
    sides: [Consecutive<'a>; 2],
    results: [Vec<i64>; 2],
}

impl<'a> Blocks<'a> {
    fn new(of: &Comparison<'a>, xs: RangeInclusive<i64>) -> Self {
        let sides = [of.left, of.right].map(|side| Consecutive::new(side, of.output, xs.clone()));
        Self { sides, results: [vec![0; BLOCK], vec![0; BLOCK]] }
    }

    /// Counts blocks from `next` on, and returns the accumulator after the last block.
    fn count(&mut self, mut next: i64, hi: i64, counts: &mut Counts) -> i64 {
        for _ in 0..IN_A_ROW {
            let len = (hi - next + 1).min(BLOCK as i64) as usize;
            let [left, right] = &mut self.results;
            self.sides[0].fill(next, &mut left[..len]);
            self.sides[1].fill(next, &mut right[..len]);
            tally(&left[..len], &right[..len], counts);
            next += len as i64;
            if next > hi {
                break;
            }
        }
        next
    }
}
