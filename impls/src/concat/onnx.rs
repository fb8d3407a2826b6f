//! ONNX Runtime: QLinearConcat, input by input. A table of 256 entries has the result for each stored value: dequantized in f32, divided by the
//! output's scale, clamped to the type's range less the zero point, rounded to nearest even, and increased by the zero point. An input with the
//! output's scale and zero point is copied, which gives the same results.
//!
//! Source: microsoft/onnxruntime `onnxruntime/contrib_ops/cpu/quantization/qlinear_concat.cc` (QLinearConcat::Compute), `qlinear_lookup_table.cc`
//! (QlinearBuildLookupTable), `onnxruntime/core/mlas/lib/quantize.cpp` (MlasQuantizeLinear).

use super::loops::{by_inputs, copy};
use super::{Domain, INT, Input, Kernel, Operand, Params, Scales};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::kernel::of_elements;

/// Domain with any scales.
pub(crate) const DOMAIN: Domain = Domain { element: Element::I8, scales: Scales::Quotient, size: INT };

of_elements! {
    "ONNX Runtime QLinearConcat: a table of each input, dequantized and quantized in f32, nearest even",
    Promise { scheme: "onnx", overflow: Overflow::OutOfDomain }, Domain { element: ELEMENT, ..DOMAIN },
    "microsoft/onnxruntime onnxruntime/contrib_ops/cpu/quantization/qlinear_concat.cc, qlinear_lookup_table.cc",
    |params, inputs, out| looked_up(params, ELEMENT, inputs, out);
    I8 = "onnx-qlinearconcat-i8", I8;
    U8 = "onnx-qlinearconcat-u8", U8;
}

/// Quantizes a real number to the output's scale and zero point.
#[inline(always)]
pub(crate) fn quantized(real: f32, element: Element, out: Operand) -> i32 {
    let [least, most] = [*element.range().start(), *element.range().end()].map(|end| (end - out.zero_point) as f32);
    (real / out.single()).max(least).min(most).round_ties_even() as i32 + out.zero_point
}

/// Builds the lookup table of one input: `quantize` computes an entry from the real value of a byte.
#[inline(always)]
pub(crate) fn table(input: Operand, element: Element, quantize: impl Fn(f32) -> i32) -> [i32; 256] {
    std::array::from_fn(|byte| {
        let stored = element.read(&[byte as u8]);
        quantize(input.single() * (stored - input.zero_point) as f32)
    })
}

#[inline(always)]
fn looked_up(params: &Params, element: Element, inputs: &[u8], out: &mut [i32]) {
    by_inputs(params, inputs, out, |Input { operand, .. }, from, out| {
        if *operand == params.out {
            return copy(element, from, out);
        }
        let table = table(*operand, element, |real| quantized(real, element, params.out));
        from.iter().zip(out).for_each(|(byte, out)| *out = table[usize::from(*byte)]);
    });
}
