//! Presentation of a pooling.

use super::Pool;
use crate::explain::steps::{self, Steps};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::pool::Params;
use tiebreak_impls::quantized::Scale;

impl Presented for Pool {
    const ABOUT: &'static str = "Average or max pooling: one result of a case";
    const SHOWN: &'static str = "tflite-average-pool-i8";
    const STEPS: Steps<Self> = steps::pool;

    /// Draws two windows of two rows and two columns, whose sums are even.
    fn sample(fitting: Fitting) -> Drawn<Params> {
        let operand = Operand { scale: Scale(0.5), zero_point: fitting.offset(1) };
        let sizes =
            Params { height: 2, width: 4, kernel_h: 2, kernel_w: 2, stride_w: 2, ..Params::of(fitting.element) };
        let params = Params { input: operand, out: operand, ..sizes };
        Drawn { params, len: 2, input: vec![2, 4, 8, 6, 10, 12, 14, 16] }
    }
}
