//! Presentation of a requantization.

use super::Requantize;
use crate::explain::requantize;
use crate::explain::steps::Steps;
use crate::presented::{Drawn, Fitting, Presented, sample::ACCUMULATORS, sample::channels};
use tiebreak_impls::requantize::Params;

impl Presented for Requantize {
    const ABOUT: &'static str = "Requantization: bias, fixed point multiply, zero point, clamp";
    const SHOWN: &'static str = "tflite-requantize-i8";
    const STEPS: Steps<Self> = requantize::steps;

    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (min, max) = fitting.element.range().into_inner();
        let bias = (0..fitting.channels).map(|c| if c % 2 == 0 { fitting.offset(16) } else { -fitting.offset(16) });
        let (bias, zero_point, len) = (bias.collect(), fitting.offset(3), ACCUMULATORS.len());
        let params = Params { len, channels: channels(fitting), bias, zero_point, min, max };
        Drawn { params, len, input: ACCUMULATORS.to_vec() }
    }
}
