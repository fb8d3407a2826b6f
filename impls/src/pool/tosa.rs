//! TOSA's AVG_POOL2D: the int32 sum of differences from the input's zero point, `apply_scale_32` by `reciprocal_scale` of the number of elements in
//! the image, plus the output's zero point, saturated. The scales of both tensors are equal.
//!
//! Source: TOSA specification 1.0, AVG_POOL2D, `reciprocal_scale`, `apply_scale_32`.

use super::tflite::DOMAIN;
use super::windows::{clamp, each};
use super::{Domain, Kernel, Params};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::kernel::of_elements;

of_elements! {
    "TOSA AVG_POOL2D: apply_scale_32 of the sum by reciprocal_scale of the count",
    Promise { scheme: "tosa", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, clamp: false, ..DOMAIN },
    "TOSA specification 1.0, AVG_POOL2D", |params, input, out| run(params, ELEMENT, input, out);
    AVERAGE_I8 = "tosa-avg-pool2d-i8", I8;
    AVERAGE_I16 = "tosa-avg-pool2d-i16", I16;
}

#[inline(always)]
fn run(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    each(params, element, input, out, |window| {
        let sum = window.fold(0i32, |sum, value| sum.wrapping_add(value - params.input.zero_point));
        let (multiplier, shift) = reciprocal(window.inside() as u32);
        let scaled = (i64::from(sum) * i64::from(multiplier) + (1i64 << (shift - 1))) >> shift;
        clamp(scaled as i32 + params.out.zero_point, params)
    });
}

/// Returns multiplier and shift of `reciprocal_scale`.
fn reciprocal(count: u32) -> (i32, u32) {
    let k = 32 - (count - 1).leading_zeros();
    let numerator = ((1i64 << 30) + 1) << k;
    ((numerator / i64::from(count)) as i32, 30 + k)
}
