//! XNNPACK: a convert operator for each input, then a concatenation of their outputs. The multiplier is the quotient of the scales in f32, times 256,
//! rounded to an integer. The product of this multiplier and the difference from the zero point is rounded and shifted right by 8 bits; one bias
//! holds the rounding term and both zero points. Later releases have other vector code, with a multiplier of 16 fractional bits.
//!
//! Source: google/XNNPACK `src/qs8-vcvt/scalar.c.in`, `src/qu8-vcvt`, `src/microparams-init.c` (xnn_init_qs8_cvt_scalar_params,
//! xnn_init_qu8_cvt_scalar_params), `src/subgraph/concatenate.c`.

use super::loops::{by_inputs, clamp, each};
use super::{Domain, INT, Input, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::kernel::of_elements;

of_elements! {
    "XNNPACK vcvt of each input, then concatenate: multiplier of 8 fractional bits, one rounding shift",
    Promise { scheme: "xnnpack", overflow: Overflow::OutOfDomain },
    Domain { element: ELEMENT, scales: Scales::Narrow, size: INT },
    "google/XNNPACK src/qs8-vcvt/scalar.c.in, src/microparams-init.c",
    |params, inputs, out| converted(params, ELEMENT, inputs, out);
    QS8 = "xnnpack-qs8-vcvt-concat", I8;
    QU8 = "xnnpack-qu8-vcvt-concat", U8;
}

#[inline(always)]
fn converted(params: &Params, element: Element, inputs: &[u8], out: &mut [i32]) {
    by_inputs(params, inputs, out, |Input { operand, .. }, from, out| {
        let quotient = operand.single() / params.out.single();
        let multiplier = (256.0 * quotient).round_ties_even() as i32;
        let bias = (params.out.zero_point << 8) - multiplier * operand.zero_point + 0x80;
        each(element, from, out, |stored| clamp((bias + stored * multiplier) >> 8, element));
    });
}
