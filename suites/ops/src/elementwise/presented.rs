//! Presentation of an elementwise operation.

use super::operation::{Arithmetic, Elementwise};
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;

impl<A: Arithmetic> Presented for Elementwise<A> {
    const ABOUT: &'static str = A::ABOUT;
    const SHOWN: &'static str = A::SHOWN;

    fn sample(fitting: Fitting) -> Drawn<Params> {
        let (min, max) = fitting.element.range().into_inner();
        let operand = |scale, zero_point| Operand { scale: Scale(scale), zero_point: fitting.offset(zero_point) };
        let (lhs, rhs, out) = (operand(0.5, 2), operand(0.5, 0), operand(0.5, -1));
        let params = Params { element: fitting.element, len: 3, lhs, rhs, out, min, max };
        Drawn { params, len: 3, input: vec![2, 4, 6, 8, 4, 2] }
    }
}
