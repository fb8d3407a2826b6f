//! A scheme at fixed parameters as a function of the accumulator: a list of pieces, each a floor of an affine function.
//!
//! Folding rests on one identity: `floor((floor(a/2^j) + c) / 2^k) = floor((a + c*2^j) / 2^(j+k))`. Rules that look at a sign,
//! saturation and wrap cut the interval where the monotone value crosses a threshold. What cannot be put in this form (ties
//! to even, very many wraps) folds to nothing, and the caller uses the fast form.

use super::steps::Step;
use super::{Parameters, Scheme, integer};
use crate::rounding::RoundingRule::{self, *};
use crate::word::Overflow;

/// On `lo..=hi` the scheme is `floor((m*x + c) / 2^k)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// First accumulator.
    pub lo: i64,
    /// Last accumulator.
    pub hi: i64,
    /// Slope numerator; 0 for a constant.
    pub m: i128,
    /// Offset numerator.
    pub c: i128,
    /// Denominator exponent.
    pub k: u32,
}

/// More pieces than this are not worth having.
const MOST_PIECES: usize = 4096;

impl Piece {
    /// The value at `x`, which must lie in the piece.
    pub fn at(&self, x: i64) -> i128 {
        (self.m * i128::from(x) + self.c) >> self.k
    }

    fn slice(self, lo: i64, hi: i64) -> Option<Self> {
        (lo <= hi).then_some(Self { lo, hi, ..self })
    }

    fn raised(mut self, by: i128) -> Self {
        self.c += by << self.k;
        self
    }

    fn constant(self, value: i128) -> Self {
        Self { m: 0, c: value, k: 0, ..self }
    }

    /// The parts where the value is below `t`, and where it is at least `t`.
    fn split(self, t: i128) -> (Option<Self>, Option<Self>) {
        // value >= t  <=>  m*x >= t*2^k - c
        let need = (t << self.k) - self.c;
        let (below, at_least) = match self.m.signum() {
            0 => {
                return if need <= 0 { (None, Some(self)) } else { (Some(self), None) };
            }
            1 => {
                let first = clamp(div_ceil(need, self.m), self.lo, self.hi + 1);
                (self.slice(self.lo, first - 1), self.slice(first, self.hi))
            }
            _ => {
                let last = clamp((-need).div_euclid(-self.m), self.lo - 1, self.hi);
                (self.slice(last + 1, self.hi), self.slice(self.lo, last))
            }
        };
        (below, at_least)
    }

    /// Below zero and not below zero, each mapped.
    fn by_sign(self, negative: impl Fn(Self) -> Self, other: impl Fn(Self) -> Self) -> Vec<Self> {
        let (below, rest) = self.split(0);
        below.map(negative).into_iter().chain(rest.map(other)).collect()
    }

    /// Cut at word boundaries so that each part wraps by one multiple of the word.
    fn wrapped(self, bits: u32) -> Option<Vec<Self>> {
        let turn = |v: i128| (v + (1 << (bits - 1))) >> bits;
        let (a, b) = (turn(self.at(self.lo)), turn(self.at(self.hi)));
        if (b - a).unsigned_abs() as usize > MOST_PIECES {
            return None;
        }
        let mut parts = Vec::new();
        let mut rest = Some(self);
        for j in a.min(b)..=a.max(b) {
            let Some(piece) = rest else { break };
            let (here, above) = piece.split((1i128 << (bits - 1)) + (j << bits));
            parts.extend(here.map(|p| p.raised(-(j << bits))));
            rest = above;
        }
        Some(parts)
    }

    fn clamped(self, lo: i128, hi: i128) -> Vec<Self> {
        let (below, rest) = self.split(lo);
        let (middle, above) = rest.map_or((None, None), |r| r.split(hi + 1));
        [below.map(|p| p.constant(lo)), middle, above.map(|p| p.constant(hi))].into_iter().flatten().collect()
    }

    fn within(self, lo: i128, hi: i128) -> Vec<Self> {
        self.split(lo).1.and_then(|p| p.split(hi + 1).0).into_iter().collect()
    }
}

fn clamp(v: i128, lo: i64, hi: i64) -> i64 {
    v.clamp(lo.into(), hi.into()) as i64
}

fn div_ceil(a: i128, positive: i128) -> i128 {
    -(-a).div_euclid(positive)
}

/// Pieces with `2^-pending` still to be rounded away.
struct Folding {
    pieces: Vec<Piece>,
    pending: u32,
}

/// The scheme over the whole word, in increasing order of x; accumulators in no piece are out of domain. Nothing when the
/// scheme cannot be folded at these parameters.
pub fn fold(scheme: &Scheme, p: &Parameters) -> Option<Vec<Piece>> {
    let steps: Vec<Step> = scheme.definition.steps.iter().map(|(_, s)| *s).collect();
    fold_steps(&steps, scheme.overflow, p)
}

/// [`fold`] for any step list.
pub fn fold_steps(steps: &[Step], overflow: Overflow, p: &Parameters) -> Option<Vec<Piece>> {
    let whole = Piece { lo: p.word.min() as i64, hi: p.word.max() as i64, m: 1, c: 0, k: 0 };
    let mut state = Folding { pieces: vec![whole], pending: 0 };
    for step in steps {
        state.step(*step, p)?;
    }
    let last = match overflow {
        Overflow::Wrap => Step::Wrap,
        Overflow::Saturate => Step::Saturate,
        Overflow::OutOfDomain => Step::RequireBits(super::steps::Exponent::Constant(p.word.bits as i32)),
    };
    state.step(last, p)?;
    state.pieces.sort_unstable_by_key(|piece| piece.lo);
    Some(merged(state.pieces))
}

impl Folding {
    fn step(&mut self, step: Step, p: &Parameters) -> Option<()> {
        match step {
            Step::Scale(e) => self.scale(e.at(p)),
            Step::Round(rule) => {
                let pending = std::mem::take(&mut self.pending);
                self.cut(|piece| rounded(piece, rule, pending))
            }
            Step::RequireNonNegativeMultiplier => (p.m >= 0).then_some(()),
            Step::FixupNegative if p.s < 0 => self.integers()?.cut(|v| Some(v.by_sign(|n| n.raised(-1), |n| n))),
            Step::NudgeAwayFromZero if p.s < 0 => {
                let nudge = 1i128 << (p.q - 1);
                self.integers()?.cut(|v| Some(v.by_sign(|n| n.raised(-nudge), |n| n.raised(nudge))))
            }
            Step::FixupNegative | Step::NudgeAwayFromZero => Some(()),
            Step::FixupMasked => (p.s >= 0).then_some(()),
            Step::NudgeBySign | Step::PowerOfTwoShift => None,
            Step::Multiply(kind) => {
                let m = integer::effective_multiplier(kind, p);
                self.times(m)
            }
            Step::Add(n) => self.integers()?.cut(|v| Some(vec![v.raised(n.into())])),
            Step::Wrap => self.integers()?.cut(|v| v.wrapped(p.word.bits)),
            Step::Saturate => self.integers()?.cut(|v| Some(v.clamped(p.word.min(), p.word.max()))),
            Step::RequireBits(e) if e.at(p) < 1 => self.cut(|_| Some(Vec::new())),
            Step::RequireBits(e) => {
                let half = 1i128 << (e.at(p) - 1);
                self.integers()?.cut(|v| Some(v.within(-half, half - 1)))
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

    /// Multiplying commutes with a floor only where there has been none.
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

    fn cut(&mut self, f: impl Fn(Piece) -> Option<Vec<Piece>>) -> Option<()> {
        let mut next = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces.drain(..) {
            next.extend(f(piece)?);
        }
        self.pieces = next;
        (self.pieces.len() <= MOST_PIECES).then_some(())
    }
}

/// `piece / 2^bits` rounded: the bias that makes a floor of it, by sign where the rule looks at one.
fn rounded(piece: Piece, rule: RoundingRule, bits: u32) -> Option<Vec<Piece>> {
    if bits == 0 {
        return Some(vec![piece]);
    }
    let half = 1i128 << (bits - 1);
    let floor_after = |bias: i128| {
        move |p: Piece| {
            let p = p.raised(bias);
            Piece { k: p.k + bits, ..p }
        }
    };
    Some(match rule {
        TiesUp => vec![floor_after(half)(piece)],
        TiesDown => vec![floor_after(half - 1)(piece)],
        TowardNegative => vec![floor_after(0)(piece)],
        TowardPositive => vec![floor_after(2 * half - 1)(piece)],
        TiesAway => piece.by_sign(floor_after(half - 1), floor_after(half)),
        TiesToZero => piece.by_sign(floor_after(half), floor_after(half - 1)),
        TowardZero => piece.by_sign(floor_after(2 * half - 1), floor_after(0)),
        TiesEven => return None,
    })
}

/// Neighbours with the same function become one piece.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match out.last_mut() {
            Some(last) if last.hi + 1 == piece.lo && (last.m, last.c, last.k) == (piece.m, piece.c, piece.k) => {
                last.hi = piece.hi;
            }
            _ => out.push(piece),
        }
    }
    out
}
