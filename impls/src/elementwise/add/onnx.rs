//! ONNX Runtime: MLAS's QLinearAdd. The portable form computes in f32. The NEON form uses integer multipliers over one power of two: the larger
//! multiplier has 22 bits, and ties go away from zero, because the sign is added before a shift that rounds ties up. If ratios of scales have no such
//! multipliers, the source falls back to the portable form; these ratios are outside the domain of the NEON kernel.
//!
//! The portable form clamps in f32, before it adds the zero point in f32 and rounds the sum. No conversion overflows.
//!
//! Source: microsoft/onnxruntime `onnxruntime/core/mlas/lib/qladd.cpp`, `MlasQLinearAddKernelRawHelper`, `MlasQLinearAddKernelHelper` (NEON),
//! `MlasCalcQLinearAddParameters`.

use super::xnnpack::{Fixed, fixed};
use super::{Domain, Kernel, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::elementwise::loops::{clamp, each, in_f32};
use crate::kernel::of_elements;

const SOURCE: &str = "microsoft/onnxruntime onnxruntime/core/mlas/lib/qladd.cpp";
const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Any, clamp: false };

of_elements! {
    "ONNX Runtime QLinearAdd: dequantize, add, divide, clamp and place in f32, nearest even",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN }, SOURCE,
    |params, lhs, rhs, out| in_f32(params, ELEMENT, lhs, rhs, out, sum);
    RAW_I8 = "onnx-qlinearadd-i8", I8;
    RAW_U8 = "onnx-qlinearadd-u8", U8;
}

/// Adds two real numbers.
#[inline(always)]
fn sum(lhs: f32, rhs: f32) -> f32 {
    lhs + rhs
}

/// int8, with the integer multipliers of the NEON form.
pub(super) const NEON_I8: Kernel = Kernel::scalar(
    "onnx-qlinearadd-fixed-i8",
    "ONNX Runtime QLinearAdd as MLAS has it on NEON: multipliers of 22 bits, one rounding shift, ties away",
    Promise { scheme: "onnx-neon", overflow: Overflow::Wrap },
    Domain { scales: Scales::Wide, ..DOMAIN },
    SOURCE,
    |params, lhs, rhs, out| {
        let Some(by) = fixed_multipliers(params) else { return };
        each(Element::I8, lhs, rhs, out, |lhs, rhs| {
            let sum = (lhs - params.lhs.zero_point) * by.lhs + (rhs - params.rhs.zero_point) * by.rhs;
            // The instruction rounds without overflow, hence 64 bits. Adding the sign makes ties go away from zero.
            let rounded = (i64::from(sum + (sum >> 31)) + (1 << (by.shift - 1))) >> by.shift;
            clamp(rounded as i32 + params.out.zero_point, params)
        });
    },
);

/// Returns the integer multipliers; `None` if the source falls back to f32.
pub(crate) fn fixed_multipliers(params: &Params) -> Option<Fixed> {
    let ratios = [params.lhs, params.rhs].map(|operand| operand.single() / params.out.single());
    let least = 2f32.powi(-14);
    let larger = ratios[0].max(ratios[1]);
    if !ratios.iter().all(|ratio| (least..256.0).contains(ratio)) || larger < 2f32.powi(-10) {
        return None;
    }
    let by = fixed(params, 21);
    (by.lhs.max(by.rhs) < 1 << 22).then_some(by)
}
