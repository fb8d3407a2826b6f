//! Corners of fixed point multiply in a requantization: saturated or wrapped products must show through bias, zero point and clamp.

use crate::fpm::corners::corners;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Domain, Params};

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

/// Returns parameters and accumulators of each corner alone and, if channels may share a batch, of all corners together.
pub(crate) fn of_multiply(domain: &Domain) -> Vec<(Params, Vec<i32>)> {
    let taken = |(channel, _): &&(Channel, i32)| domain.fraction() == FRACTION && domain.takes(*channel);
    let taken: Vec<(Channel, i32)> = corners().iter().filter(taken).copied().collect();
    let frames = [Frame::Plain, Frame::Placed];
    let alone = taken.iter().flat_map(|corner| frames.map(|frame| framed(domain, &[*corner], SINGLE, frame)));
    let mut out: Vec<(Params, Vec<i32>)> = alone.collect();
    if domain.channels.per_channel && !taken.is_empty() {
        out.extend(frames.map(|frame| framed(domain, &taken, ROWS * taken.len(), frame)));
    }
    out
}

/// Builds `len` results of these corners in turn, each corner a channel.
fn framed(domain: &Domain, corners: &[(Channel, i32)], len: usize, frame: Frame) -> (Params, Vec<i32>) {
    let range = domain.output.range();
    let (min, max) = (*range.start(), *range.end());
    let placed = matches!(frame, Frame::Placed);
    let bias = |x: i32| match placed && domain.bias {
        true => BIAS * x.signum(),
        false => 0,
    };
    let zero_point = if placed && domain.zero_point { min.midpoint(max) + 4 } else { 0.clamp(min, max) };
    let params = Params {
        len,
        channels: corners.iter().map(|(channel, _)| *channel).collect(),
        bias: corners.iter().map(|(_, x)| bias(*x)).collect(),
        zero_point,
        min,
        max,
    };
    let accumulators = corners.iter().map(|(_, x)| x - bias(*x)).cycle().take(len);
    (params, accumulators.collect())
}
