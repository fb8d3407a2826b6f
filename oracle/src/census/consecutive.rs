//! Results of a requantization at consecutive accumulators, cheaper than its runs if these are short.

use super::Counts;
use super::staircase::{Requantizer, WHOLE, folded};
use crate::fpm::pieces::{Output, Piece, Ties};
use std::ops::RangeInclusive;

/// Marks an accumulator outside the domain. No result is near this value.
pub(super) const NONE: i64 = i64::MIN;

/// A requantization over a range of accumulators.
pub(super) struct Consecutive<'a> {
    of: &'a Requantizer,
    output: Option<&'a Output>,
    /// Pieces of fixed point multiply; `None` if the scheme has no pieces.
    pieces: Option<Vec<Piece>>,
}

impl<'a> Consecutive<'a> {
    pub(super) fn new(of: &'a Requantizer, output: Option<&'a Output>, xs: RangeInclusive<i64>) -> Self {
        let pieces = match of {
            Requantizer::Fixed(scheme, p) => folded(scheme, p, output, xs),
            Requantizer::Float(_) | Requantizer::Real(_) => None,
        };
        Self { of, output, pieces }
    }

    /// Writes the results from accumulator `first` on, all in the range.
    pub(super) fn fill(&self, first: i64, out: &mut [i64]) {
        match (self.of, &self.pieces) {
            (Requantizer::Float(scheme), _) => scheme.fill(first as i32, self.output.unwrap_or(&WHOLE), out),
            (Requantizer::Fixed(..), Some(pieces)) => by_pieces(pieces, first, out),
            (Requantizer::Fixed(..) | Requantizer::Real(_), _) => {
                let value = |x: i64| self.of.value(self.output, x).unwrap_or(NONE);
                (first..).zip(out).for_each(|(x, out)| *out = value(x));
            }
        }
    }
}

fn by_pieces(pieces: &[Piece], first: i64, out: &mut [i64]) {
    out.fill(NONE);
    let end = first + out.len() as i64;
    let from = pieces.partition_point(|piece| piece.hi < first);
    for piece in pieces[from..].iter().take_while(|piece| piece.lo < end) {
        let (lo, hi) = (piece.lo.max(first), piece.hi.min(end - 1));
        let out = &mut out[(lo - first) as usize..=(hi - first) as usize];
        let ends = [lo, hi].map(|x| i64::try_from(piece.numerator(x)).ok());
        match (ends, i64::try_from(piece.m), piece.ties) {
            // From one accumulator to the next, the numerator grows by the slope.
            ([Some(numerator), Some(_)], Ok(slope), Ties::Floored) if piece.k < 63 => {
                let mut numerator = numerator;
                out.iter_mut().for_each(|out| {
                    *out = numerator >> piece.k;
                    numerator = numerator.wrapping_add(slope);
                });
            }
            _ => (lo..).zip(out).for_each(|(x, out)| *out = piece.at(x) as i64),
        }
    }
}

/// Counts accumulators by the difference of two lists of results.
pub(super) fn tally(left: &[i64], right: &[i64], counts: &mut Counts) {
    for (left, right) in left.iter().zip(right) {
        if *left != NONE && *right != NONE {
            counts.put_one(right - left);
        }
    }
}
