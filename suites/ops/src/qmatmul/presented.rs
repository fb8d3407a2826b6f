//! Presentation of a product with output stages.

use super::Qmatmul;
use crate::explain::stages;
use crate::explain::steps::Steps;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::matmul;
use tiebreak_impls::qmatmul::{Layer, Params};

impl Presented for Qmatmul {
    const ABOUT: &'static str = "Quantized matrix product, with every output stage: one result of a case";
    const SHOWN: &'static str = "tflite-fully-connected-i8";
    const STEPS: Steps<Self> = stages::qmatmul;

    /// Builds two rows and two columns with sums that are multiples of 4, a bias for each column, and a scale of a quarter.
    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (min, max) = fitting.element.range().into_inner();
        let (lhs_offset, bias, zero_point) = if fitting.offsets { (-4, vec![16, -16], 3) } else { (0, vec![0], 0) };
        let channels = vec![Channel { multiplier: 1 << 30, shift: -1 }];
        let layer: Layer<'_> =
            Layer { bias: &bias, channels: &channels, zero_point, min, max, output: fitting.element };
        let shape = matmul::Params { m: 2, n: 2, k: 2, lhs_offset, rhs_offset: 0 };
        let params = Params { shape, stages: layer.stages() };
        Drawn { params, len: 4, input: vec![8, 12, 16, 20, 1, 2, 3, 4] }
    }
}
