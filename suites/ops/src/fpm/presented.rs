//! Presentation of a fixed point multiply.

use super::FixedPointMultiply;
use crate::explain::fpm;
use crate::explain::steps::Steps;
use crate::presented::{Drawn, Fitting, Presented, sample::ACCUMULATORS, sample::channels};
use tiebreak_impls::fpm::{Batch, Params};

impl Presented for FixedPointMultiply {
    const ABOUT: &'static str = "Fixed point multiply: x * m * 2^(s-31), by schemes, kernels and mutants";
    const SHOWN: &'static str = "tvm-relay-per-channel";
    const STEPS: Steps<Self> = fpm::steps;

    fn sample(fitting: Fitting) -> Drawn<Batch> {
        let (params, len) = (Params { q: 31, channels: channels(fitting) }, ACCUMULATORS.len());
        Drawn { params: Batch { params, len }, len, input: ACCUMULATORS.to_vec() }
    }
}
