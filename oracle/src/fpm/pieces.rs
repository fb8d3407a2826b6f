//! Scheme at fixed parameters as a function of the accumulator: a list of pieces, each a floor of an affine function.
//!
//! Folding rests on one identity: `floor((floor(a/2^j) + c) / 2^k) = floor((a + c*2^j) / 2^(j+k))`. Rules that depend on a sign,
//! saturation and wrap cut the interval where the monotone value crosses a threshold. Schemes outside this form (very
//! many wraps, steps after a rounding to even) do not fold, and the caller uses the fast form.

use super::steps::Step;
use super::{Parameters, Scheme, integer};
use crate::rounding::RoundingRule::{self, *};
use crate::word::Overflow;
use std::ops::RangeInclusive;

pub use super::piece::{Piece, Ties};

/// Largest number of pieces for which stepping along each piece is worthwhile.
const MOST_PIECES: usize = 4096;
/// Longest denominator, in bits: the longest shift of int32 by a Q0.31 multiplier. Censuses use this denominator in 64 bits.
const MOST_BITS: u32 = 62;

/// Folds the scheme over the whole word, in increasing order of x. Accumulators in no piece are out of domain. `None` if the
/// scheme cannot be folded at these parameters.
pub fn fold(scheme: &Scheme, p: &Parameters) -> Option<Vec<Piece>> {
    let steps: Vec<Step> = scheme.definition.steps.iter().map(|(_, s)| *s).collect();
    fold_steps(&steps, scheme.overflow, p)
}

/// Computes [`fold`] for any step list.
pub fn fold_steps(steps: &[Step], overflow: Overflow, p: &Parameters) -> Option<Vec<Piece>> {
    let mut folder = Folder::new(MOST_PIECES);
    let whole = p.word.min() as i64..=p.word.max() as i64;
    folder.fold(steps.iter().copied(), overflow, p, whole)?;
    Some(folder.pieces)
}

/// Steps of requantization after the scheme: a zero point, fitted by the scheme's policy, and a clamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Zero point, added to the result.
    pub zero_point: i32,
    /// Smallest output.
    pub min: i32,
    /// Largest output, not below `min`.
    pub max: i32,
}

impl Scheme {
    /// Applies the zero point and the clamp of an output, if any, to a result of the scheme; `None` if it is then out of domain.
    #[inline]
    pub fn placed(&self, p: &Parameters, output: Option<&Output>, v: i64) -> Option<i64> {
        let Some(output) = output else { return Some(v) };
        let placed = self.overflow.fit(p.word, i128::from(v) + i128::from(output.zero_point))?;
        Some(placed.clamp(output.min.into(), output.max.into()) as i64)
    }
}

/// Folder of one scheme after another in the same memory.
#[derive(Clone, Debug)]
pub struct Folder {
    pieces: Vec<Piece>,
    next: Vec<Piece>,
    /// Exponent of the denominator `2^pending` that a later step rounds away.
    pending: u32,
    most: usize,
}

impl Folder {
    /// Creates a folder that fails with more than `most` pieces.
    pub fn new(most: usize) -> Self {
        Self { pieces: Vec::new(), next: Vec::new(), pending: 0, most }
    }

    /// Computes [`fold_steps`] over `range` only. `None` if the steps cannot be folded.
    pub fn fold(
        &mut self,
        steps: impl Iterator<Item = Step>,
        overflow: Overflow,
        p: &Parameters,
        range: RangeInclusive<i64>,
    ) -> Option<&[Piece]> {
        self.begin(range);
        for step in steps {
            self.step(step, p)?;
        }
        self.end(overflow, p)?;
        Some(&self.pieces)
    }

    /// Starts with the accumulators themselves.
    pub(crate) fn begin(&mut self, range: RangeInclusive<i64>) {
        let whole = Piece { lo: *range.start(), hi: *range.end(), m: 1, c: 0, k: 0, ties: Ties::Floored };
        self.pending = 0;
        self.pieces.clear();
        self.pieces.extend((!range.is_empty()).then_some(whole));
    }

    /// Applies the policy for results that do not fit, as the last step.
    pub(crate) fn end(&mut self, overflow: Overflow, p: &Parameters) -> Option<()> {
        self.fit(overflow, p)?;
        self.settle();
        Some(())
    }

    /// Applies `output` to the last folded pieces.
    pub fn put(&mut self, output: &Output, overflow: Overflow, p: &Parameters) -> Option<&[Piece]> {
        self.each(|v| v.raised(output.zero_point.into()))?;
        self.fit(overflow, p)?;
        self.step(Step::Clamp(output.min.into(), output.max.into()), p)?;
        self.settle();
        Some(&self.pieces)
    }

    /// Returns the last folded pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    fn fit(&mut self, overflow: Overflow, p: &Parameters) -> Option<()> {
        self.step(Step::fitting(overflow, p.word), p)
    }

    /// Applies one more step. `None` if pieces cannot express it.
    pub(crate) fn step(&mut self, step: Step, p: &Parameters) -> Option<()> {
        match step {
            Step::Scale(e) => self.scale(e.at(p)),
            Step::Round(rule) => {
                let pending = std::mem::take(&mut self.pending);
                if pending == 0 { Some(()) } else { self.cut(|piece, out| rounded(piece, rule, pending, out)) }
            }
            Step::RequireNonNegativeMultiplier if p.m >= 0 => Some(()),
            Step::RequireNonNegativeMultiplier => {
                self.pieces.clear();
                Some(())
            }
            Step::FixupNegative if p.s < 0 => self.integers()?.cut(|v, out| by_sign(v, |n| n.raised(-1), |n| n, out)),
            Step::NudgeAwayFromZero if p.s < 0 => {
                let nudge = p.half();
                self.integers()?.cut(|v, out| by_sign(v, |n| n.raised(-nudge), |n| n.raised(nudge), out))
            }
            Step::FixupNegative | Step::NudgeAwayFromZero => Some(()),
            Step::FixupMasked => (p.s >= 0).then_some(()),
            Step::NudgeBySign | Step::PowerOfTwoShift | Step::F32 => None,
            Step::Multiply(kind) => {
                let m = integer::effective_multiplier(kind, p);
                self.times(m)
            }
            Step::Add(n) | Step::Offset(n) => self.integers()?.each(|v| v.raised(n.into())),
            Step::Wrap => {
                let most = self.most;
                self.integers()?.cut(|v, out| v.wrapped(p.word.bits, most, out))
            }
            Step::Saturate => self.integers()?.cut(|v, out| {
                v.clamped(p.word.min(), p.word.max(), out);
                Some(())
            }),
            Step::Clamp(min, max) => self.integers()?.cut(|v, out| {
                v.clamped(min.into(), max.into(), out);
                Some(())
            }),
            Step::RequireBits(e) if e.at(p) < 1 => {
                self.pieces.clear();
                Some(())
            }
            Step::RequireBits(e) => {
                let half = 1i128 << (e.at(p) - 1);
                self.integers()?.cut(|v, out| {
                    out.extend(v.within(-half, half - 1));
                    Some(())
                })
            }
        }
    }

    fn integers(&mut self) -> Option<&mut Self> {
        (self.pending == 0).then_some(self)
    }

    fn scale(&mut self, e: i32) -> Option<()> {
        let cancelled = e.max(0).min(self.pending as i32);
        self.pending -= cancelled as u32;
        match e - cancelled {
            0 => Some(()),
            e if e < 0 => {
                self.pending += e.unsigned_abs();
                Some(())
            }
            e => self.times(1 << e),
        }
    }

    /// Multiplies. `None` after a floor, because a multiplication does not commute with a floor.
    fn times(&mut self, factor: i128) -> Option<()> {
        for piece in &mut self.pieces {
            if piece.k != 0 && factor != 1 {
                return None;
            }
            piece.m *= factor;
            piece.c *= factor;
        }
        Some(())
    }

    fn each(&mut self, f: impl Fn(Piece) -> Piece) -> Option<()> {
        self.pieces.iter_mut().for_each(|piece| *piece = f(*piece));
        Some(())
    }

    /// Replaces each piece by the pieces that `f` outputs.
    fn cut(&mut self, f: impl Fn(Piece, &mut Vec<Piece>) -> Option<()>) -> Option<()> {
        self.next.clear();
        for piece in &self.pieces {
            f(*piece, &mut self.next)?;
        }
        std::mem::swap(&mut self.pieces, &mut self.next);
        (self.pieces.len() <= self.most).then_some(())
    }

    /// Sorts the pieces by x, and merges neighbours with the same function.
    pub(crate) fn settle(&mut self) {
        if self.pieces.len() > 1 {
            self.pieces.sort_unstable_by_key(|piece| piece.lo);
            self.pieces.dedup_by(|piece, last| {
                let same = last.hi + 1 == piece.lo && *piece == Piece { lo: piece.lo, hi: piece.hi, ..*last };
                if same {
                    last.hi = piece.hi;
                }
                same
            });
        }
    }
}

/// Maps the part below zero and the rest separately.
fn by_sign(
    piece: Piece,
    negative: impl Fn(Piece) -> Piece,
    other: impl Fn(Piece) -> Piece,
    out: &mut Vec<Piece>,
) -> Option<()> {
    let (below, rest) = piece.split(0);
    out.extend(below.map(negative));
    out.extend(rest.map(other));
    Some(())
}

/// Rounds `piece / 2^bits`, `bits > 0`, as a floor after a bias, which for some rules depends on the sign.
fn rounded(piece: Piece, rule: RoundingRule, bits: u32, out: &mut Vec<Piece>) -> Option<()> {
    if piece.ties != Ties::Floored || piece.k + bits > MOST_BITS {
        return None;
    }
    let half = 1i128 << (bits - 1);
    let floor_after = |bias: i128| {
        move |p: Piece| {
            let p = p.raised(bias);
            Piece { k: p.k + bits, ..p }
        }
    };
    match rule {
        TiesUp => out.push(floor_after(half)(piece)),
        TiesDown => out.push(floor_after(half - 1)(piece)),
        TowardNegative => out.push(floor_after(0)(piece)),
        TowardPositive => out.push(floor_after(2 * half - 1)(piece)),
        TiesAway => by_sign(piece, floor_after(half - 1), floor_after(half), out)?,
        TiesToZero => by_sign(piece, floor_after(half), floor_after(half - 1), out)?,
        TowardZero => by_sign(piece, floor_after(2 * half - 1), floor_after(0), out)?,
        // After an earlier floor, more than one numerator gives a multiple of the new denominator.
        TiesEven if piece.k != 0 => return None,
        TiesEven => {
            let even = Piece { ties: Ties::OddDown, ..floor_after(half)(piece) };
            out.push(if piece.m == 0 { even.constant(even.at(even.lo)) } else { even });
        }
    }
    Some(())
}
