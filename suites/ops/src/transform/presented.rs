//! Presentation of a layout transform.

use super::Transform;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::conv2d;
use tiebreak_impls::transform::Params;

impl Presented for Transform {
    const ABOUT: &'static str = "Layout transform: one result of a case";
    const SHOWN: &'static str = "tvm-im2col";
    const SIZED_BY_KERNEL: bool = true;

    fn sample(_: Fitting) -> Drawn<Params> {
        let sizes = conv2d::Params { height: 2, width: 2, kernel_h: 2, right: 1, ..conv2d::Params::default() };
        let params = Params::Conv2d(conv2d::Params { input_zero_point: -1, ..sizes });
        Drawn { params, len: 6, input: vec![1, 2, 3, 4] }
    }
}
