//! Presentation of a softmax.

use super::Softmax;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::element::Element;
use tiebreak_impls::softmax::Params;

impl Presented for Softmax {
    const ABOUT: &'static str = "Softmax of rows: one result of a case";
    const SHOWN: &'static str = "tflite-softmax-i8";

    /// Builds two rows of two elements in steps of 1/16: results of one half, and results near one and zero.
    fn sample(fitting: Fitting) -> Drawn<Params> {
        let output = fitting.element;
        let input = if output == Element::U8 { Element::U8 } else { Element::I8 };
        let (multiplier, left_shift, diff_min) = (1 << 30, 23, -248);
        let params = Params { input, output, rows: 2, depth: 2, multiplier, left_shift, diff_min };
        Drawn { params, len: 4, input: vec![5, 5, 127, 1] }
    }
}
