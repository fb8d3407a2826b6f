//! TOSA: `tfl.concatenation` legalized to a `tosa.rescale` of each input, with single rounding, and `tosa.concat`. The source copies an input with
//! the output's scale, even if the zero points differ. The domain excludes inputs with the output's scale and another zero point;
//! `mutant-concat-scales-only` has the same comparison with those inputs in its domain.
//!
//! Source: tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc` (convertConcatV2Op), `legalize_utils.cc` (buildRescale); TOSA
//! specification, RESCALE and CONCAT.

use super::loops::{by_rows, clamp, copy, each};
use super::tvm::multiplier;
use super::{Domain, INT, Input, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::fpm::tosa::apply_scale_32;
use crate::kernel::of_elements;

of_elements! {
    "tfl.concatenation to TOSA: rescale of each input, single rounding, and concat",
    Promise { scheme: "q31-nearest-up", overflow: Overflow::OutOfDomain },
    Domain { element: ELEMENT, scales: Scales::Distinct, size: INT },
    "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc, convertConcatV2Op",
    |params, inputs, out| rescaled(params, ELEMENT, inputs, out);
    I8 = "tosa-concat-i8", I8;
    U8 = "tosa-concat-u8", U8;
}

/// Computes the result of `convertConcatV2Op`.
#[inline(always)]
pub(crate) fn rescaled(params: &Params, element: Element, inputs: &[u8], out: &mut [i32]) {
    by_rows(params, inputs, out, |Input { operand, .. }, from, out| {
        if operand.scale == params.out.scale {
            return copy(element, from, out);
        }
        let (m, s) = multiplier(*operand, params.out);
        each(element, from, out, |stored| {
            clamp(apply_scale_32::<false>(stored - operand.zero_point, m, s) + params.out.zero_point, element)
        });
    });
}
