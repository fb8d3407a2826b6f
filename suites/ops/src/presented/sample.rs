//! One small batch of an operation.

use super::fitting::Fitting;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::protocol::{Batch, Job, Source};

/// What an operation draws: parameters, number of results, and the inputs as a payload has them.
#[derive(Clone, Debug)]
pub struct Drawn<P> {
    /// The parameters.
    pub params: P,
    /// Number of results.
    pub len: usize,
    /// The inputs.
    pub input: Vec<i32>,
}

/// A batch, and its inputs as a payload has them.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Operation, kernel and parameters.
    pub job: Job,
    /// Number of results.
    pub len: usize,
    /// The inputs.
    pub input: Vec<i32>,
}

impl Sample {
    /// The first results alone, of an operation without a shape.
    pub fn first(mut self, len: usize) -> Self {
        self.input.truncate(len);
        self.len = self.input.len();
        if let Job::Requantize { params, .. } = &mut self.job {
            params.len = self.len;
        }
        self
    }

    /// The request.
    pub fn batch(&self) -> Batch {
        let source = Source::Payload { bytes: size_of_val(&self.input[..]) };
        Batch { job: self.job.clone(), len: self.len, source, misalign: 0 }
    }

    /// The exact results, where every scheme of the operation gives them: of fpm, and of requantize without offsets.
    pub fn exact(&self) -> Option<Vec<i32>> {
        let channels = match &self.job {
            Job::Fpm { params, .. } => &params.channels,
            Job::Requantize { params, .. } if params.zero_point == 0 && params.bias.iter().all(|bias| *bias == 0) => {
                &params.channels
            }
            _ => return None,
        };
        let one = |(i, x): (usize, &i32)| x >> (1 - channels[i % channels.len()].shift);
        Some(self.input.iter().enumerate().map(one).collect())
    }
}

/// Accumulators: a quarter and an eighth of each are integers of 8 bits without a sign, and the last two have other bytes in the other order.
pub(crate) const ACCUMULATORS: [i32; 5] = [0, 8, 16, 504, 264];

/// Channel `c` divides by 2^(2 + c).
pub(crate) fn channels(fitting: Fitting) -> Vec<Channel> {
    (1..=fitting.channels as i32).map(|c| Channel { multiplier: 1 << 30, shift: -c }).collect()
}
