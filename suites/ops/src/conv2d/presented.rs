//! Presentation of a convolution.

use super::Conv2d;
use crate::explain::steps::{self, Steps};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::conv2d::Params;

impl Presented for Conv2d {
    const ABOUT: &'static str = "Convolution: one result of a case";
    const SHOWN: &'static str = "tflite-reference";
    const STEPS: Steps<Self> = steps::conv2d;

    fn sample(fitting: Fitting) -> Drawn<Params> {
        Drawn { params: image(fitting), len: 4, input: (1..=8).collect() }
    }
}

/// Builds an image of two by two elements, a filter of two rows and one column, and two output channels.
pub(crate) fn image(fitting: Fitting) -> Params {
    let (input_zero_point, weight_zero_point) = (fitting.offset(1), fitting.offset(2));
    let sizes = Params { height: 2, width: 2, kernel_h: 2, out_channels: 2, ..Params::default() };
    Params { input_zero_point, weight_zero_point, ..sizes }
}
