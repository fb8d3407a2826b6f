//! Fixed point multiply: what is run, how it is judged, and why it differs.
//!
//! `judge` compares one batch; `classify` names the cause; `sampled` and `sweep` feed it cases; `shrink` finds the smallest witness.

pub mod catalogue;
pub mod classify;
pub mod hypotheses;
pub mod judge;
pub mod rows;
pub mod run;
pub mod sampled;
pub mod self_check;
pub mod shrink;
pub mod sweep;
pub mod tally;
pub mod yardstick;

use tiebreak_impls::fpm::{Channel, Params};
use tiebreak_oracle::fpm::Parameters;

/// The oracle's form of one channel.
pub fn parameters(channel: Channel, q: u32) -> Parameters {
    Parameters { q, ..Parameters::q31(channel.multiplier, channel.shift) }
}

/// One input of one element, with its place in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Accumulator.
    pub x: i32,
    /// Multiplier and shift.
    pub channel: Channel,
    /// Fractional bits of the multiplier.
    pub q: u32,
    /// Element of the batch.
    pub index: usize,
    /// Elements in the batch.
    pub len: usize,
}

impl Case {
    /// Smaller is simpler: the order in which witnesses are preferred.
    pub fn size(&self) -> impl Ord + use<> {
        let Channel { multiplier: m, shift: s } = self.channel;
        (self.x.unsigned_abs(), s.unsigned_abs(), m.unsigned_abs(), m < 0, self.x < 0, s > 0, self.len, self.index)
    }

    /// The oracle's form of its parameters.
    pub fn parameters(&self) -> Parameters {
        parameters(self.channel, self.q)
    }

    /// Whether it lies behind the last whole vector of `lanes` elements.
    pub fn is_in_tail(&self, lanes: usize) -> bool {
        self.index >= self.len - self.len % lanes
    }
}

/// The case of element `index` of a batch.
pub fn case(params: &Params, xs: &[i32], index: usize) -> Case {
    Case { x: xs[index], channel: params.channels[index % params.channels.len()], q: params.q, index, len: xs.len() }
}
