//! Presentation of a quantized convolution.

use super::Qconv2d;
use crate::conv2d::presented::image;
use crate::explain::steps::{self, Steps};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::conv2d;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qconv2d::Params;

impl Presented for Qconv2d {
    const ABOUT: &'static str =
        "Quantized convolution, with bias, multiplication, zero point and clamp: one result of a case";
    const SHOWN: &'static str = "tflite-conv-i8";
    const STEPS: Steps<Self> = steps::qconv2d;

    /// Builds the image of `conv2d` with one multiplier and shift. All sums are multiples of 4, so the results are exact.
    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (min, max) = fitting.element.range().into_inner();
        let (bias, zero_point) = if fitting.offsets { (vec![16, -16], 3) } else { (vec![0], 0) };
        let shape = conv2d::Params { weight_zero_point: 0, ..image(fitting) };
        let channels = vec![Channel { multiplier: 1 << 30, shift: -1 }];
        let params = Params { shape, channels, bias, bias64: Vec::new(), zero_point, min, max };
        Drawn { params, len: 4, input: vec![9, 17, 25, 33, 0, 4, 8, 12] }
    }
}
