//! Corners of fixed point multiply in a requantization: saturated or wrapped products must show through bias, zero point and clamp.

use super::plan::{Draft, given};
use crate::fpm::corners::corners;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;

/// Fractional bits of the multipliers of fixed point multiply.
const FRACTION: u32 = 31;
/// Elements in a batch of one accumulator, which is then in a body and in a tail.
const SINGLE: usize = 9;
/// Rows in a batch of all corners, each corner a channel.
const ROWS: usize = 3;
/// Magnitude of biases with which no sum reaches an end of int32.
const BIAS: i32 = 12_345;

/// Steps before and after the product.
#[derive(Clone, Copy)]
enum Frame {
    /// Bias 0 and a zero point nearest to 0: a product beyond int32 gives one end of the clamp, and a wrapped product the other.
    Plain,
    /// A bias and a zero point near the middle, so that results of either sign are inside the clamp.
    Placed,
}

impl Draft<'_> {
    /// Returns each corner alone and, if channels may share a batch, all corners together.
    pub(super) fn corners_of_multiply(&self) -> Vec<Spec<Params>> {
        let taken = |(channel, _): &&(Channel, i32)| self.domain.fraction() == FRACTION && self.domain.takes(*channel);
        let taken: Vec<(Channel, i32)> = corners().iter().filter(taken).copied().collect();
        let frames = [Frame::Plain, Frame::Placed];
        let alone = taken.iter().flat_map(|corner| frames.map(|frame| (vec![*corner], SINGLE, frame)));
        let together = frames.map(|frame| (taken.clone(), ROWS * taken.len(), frame)).into_iter();
        let together = together.filter(|_| self.domain.channels.per_channel && !taken.is_empty());
        let all = alone.chain(together).enumerate();
        all.map(|(i, (corners, len, frame))| self.framed(&corners, len, frame, i)).collect()
    }

    /// Builds `len` results of these corners in turn, each corner a channel.
    fn framed(&self, corners: &[(Channel, i32)], len: usize, frame: Frame, i: usize) -> Spec<Params> {
        let range = self.domain.output.range();
        let (min, max) = (*range.start(), *range.end());
        let placed = matches!(frame, Frame::Placed);
        let bias = |x: i32| match placed && self.domain.bias {
            true => BIAS * x.signum(),
            false => 0,
        };
        let zero_point = if placed && self.domain.zero_point { min.midpoint(max) + 4 } else { 0.clamp(min, max) };
        let params = Params {
            len,
            channels: corners.iter().map(|(channel, _)| *channel).collect(),
            bias: corners.iter().map(|(_, x)| bias(*x)).collect(),
            zero_point,
            min,
            max,
        };
        let accumulators = corners.iter().map(|(_, x)| x - bias(*x)).cycle().take(len);
        given(params, accumulators.collect(), i)
    }
}
