//! TOSA: `tfl.concatenation` legalized to a `tosa.rescale` of each input, with single rounding, and `tosa.concat`. The source copies an input with
//! the output's scale, even if the zero points differ. The domain excludes inputs with the output's scale and another zero point;
//! `mutant-concat-scales-only` has the same comparison with those inputs in its domain.
//!
//! Source: tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc` (convertConcatV2Op), `legalize_utils.cc` (buildRescale); TOSA
//! specification, RESCALE and CONCAT.

use super::loops::{by_rows, clamp, copy, each};
use super::tvm::multiplier;
use super::{Domain, INT, Input, Kernel, Params, Run, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::fpm::tosa::apply_scale_32;

/// int8.
pub(super) const I8: Kernel =
    kernel("tosa-concat-i8", Element::I8, |params, inputs, out| rescaled(params, Element::I8, inputs, out));

/// Unsigned bytes.
pub(super) const U8: Kernel =
    kernel("tosa-concat-u8", Element::U8, |params, inputs, out| rescaled(params, Element::U8, inputs, out));

const fn kernel(name: &'static str, element: Element, run: Run) -> Kernel {
    Kernel::scalar(
        name,
        "tfl.concatenation to TOSA: rescale of each input, single rounding, and concat",
        Promise { scheme: "q31-nearest-up", overflow: Overflow::OutOfDomain },
        Domain { element, scales: Scales::Distinct, size: INT },
        "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc, convertConcatV2Op",
        run,
    )
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
