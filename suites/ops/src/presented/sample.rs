//! Sample batch of an operation.

use super::fitting::Fitting;
use tiebreak_impls::fpm::Channel;
use tiebreak_worker::protocol::{Batch, Job, Source};

/// Parameters, number of results and inputs of a sample. The inputs are in the order of the payload.
#[derive(Clone, Debug)]
pub struct Drawn<P> {
    /// Parameters of the batch.
    pub params: P,
    /// Number of results.
    pub len: usize,
    /// Inputs in the order of the payload.
    pub input: Vec<i32>,
}

/// Sample batch with its inputs in the order of the payload.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Operation, kernel and parameters.
    pub job: Job,
    /// Number of results.
    pub len: usize,
    /// Inputs in the order of the payload.
    pub input: Vec<i32>,
}

impl Sample {
    /// Reduces the sample to its first results; only for an operation without a shape.
    pub fn first(mut self, len: usize) -> Self {
        self.input.truncate(len);
        self.len = self.input.len();
        if let Job::Requantize { params, .. } = &mut self.job {
            params.len = self.len;
        }
        self
    }

    /// Returns the request.
    pub fn batch(&self) -> Batch {
        let source = Source::Payload { bytes: size_of_val(&self.input[..]) };
        Batch { job: self.job.clone(), len: self.len, source, misalign: 0 }
    }

    /// Returns the exact results if every scheme of the operation gives them: for fpm, and for requantize without offsets.
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

/// Accumulators whose quarter and eighth fit uint8. The last two change if their bytes are reversed.
pub(crate) const ACCUMULATORS: [i32; 5] = [0, 8, 16, 504, 264];

/// Returns channels; channel `c` divides by 2^(2 + c).
pub(crate) fn channels(fitting: Fitting) -> Vec<Channel> {
    (1..=fitting.channels as i32).map(|c| Channel { multiplier: 1 << 30, shift: -c }).collect()
}
