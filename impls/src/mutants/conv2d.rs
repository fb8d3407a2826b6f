//! Convolutions that pad with a value that does not represent 0, or on the wrong side, and transposed convolutions with a wrong filter, padding,
//! output padding or phase.

use super::matmul::through_f32;
use super::tensor::{Mutant, mutants};
use crate::conv2d::by_matmul::{Steps, convolve};
use crate::conv2d::transposed::inserted::{self, STEPS};
use crate::conv2d::transposed::subconvolution::by_phases;
use crate::conv2d::{Domain, Params, Run, onednn};
use crate::element::Element;
use crate::matmul::{self, arm_uadalp};

/// Domain with groups and all values.
const fn all(element: Element) -> Domain {
    Domain { operands: matmul::Domain::all(element, element), grouped: true, transposed: None }
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-pad-zero", "padding", "im2col padded by 0 and not by the input zero point",
        claims "exact" Wrap on all(Element::U8), from "apache/tvm pull request 4807",
        |params, input, weights, out| {
            let product = arm_uadalp::UADALP.portable;
            let steps = Steps { padding: |_| 0, ..Steps::new(Element::U8, Element::U8, product) };
            convolve(&steps, params, input, weights, out);
        };
    "mutant-s8s8-pad-zero", "padding", "s8s8 by a shift of 128, the shifted input padded by 0 and not by 128",
        claims "exact" Wrap on all(Element::I8), from "uxlfoundation/oneDNN issue 5080",
        |params, input, weights, out| onednn::run(params, 0, input, weights, out);
    "mutant-s8s8-through-f32", "f32-step", "sums of int32 are converted to f32 and back when they are stored",
        claims "exact" Wrap on all(Element::I8), from "oneDNN 2.6.3: convolutions of s8 x s8 to s32 on AVX-512 VNNI (finding 49)",
        |params, input, weights, out| {
            onednn::run(params, (params.input_zero_point + 128) as u8, input, weights, out);
            through_f32(out);
        };
    "mutant-swapped-borders", "layout", "top and bottom, left and right change places",
        claims "exact" Wrap on all(Element::U8), from "of our own: padding read in another order",
        |params, input, weights, out| {
            let Params { top, bottom, left, right, .. } = *params;
            let swapped = Params { top: bottom, bottom: top, left: right, right: left, ..*params };
            let product = arm_uadalp::UADALP.portable;
            convolve(&Steps::new(Element::U8, Element::U8, product), &swapped, input, weights, out);
        };
    "mutant-transpose-unflipped", "layout", "elements inserted and padded, and a filter that is not rotated",
        claims "exact" Wrap on inserted::domain(Element::I8),
        from "pytorch/pytorch documentation of ConvTranspose2d: a gradient of Conv2d, taken for a convolution of the dilated input by the same filter",
        |params, input, weights, out| {
            let steps = inserted::Steps { tap: |at, _| at, ..STEPS };
            inserted::convolve(&steps, Element::I8, params, (input, weights), out);
        };
    "mutant-transpose-insert-zero", "padding", "0 put between the elements and around them, not the input zero point",
        claims "exact" Wrap on inserted::domain(Element::U8),
        from "apache/tvm pull request 6899: what qnn.conv2d_transpose avoids by taking the zero point off before it dilates",
        |params, input, weights, out| {
            let steps = inserted::Steps { between: |_| 0, ..STEPS };
            inserted::convolve(&steps, Element::U8, params, (input, weights), out);
        };
    "mutant-transpose-even-filter", "layout", "as many elements before the image as half of the filter twice, one too many if it is even",
        claims "exact" Wrap on inserted::domain(Element::I8), from "ARM-software/ComputeLibrary issue 331: a deconvolution whose output is shifted",
        |params, input, weights, out| {
            let steps = inserted::Steps { before: |side| side.kernel / 2 * 2 - side.padding[0].min(side.kernel / 2 * 2), ..STEPS };
            inserted::convolve(&steps, Element::I8, params, (input, weights), out);
        };
    "mutant-transpose-output-padding", "padding", "results of the output padding are 0, although windows reach them",
        claims "exact" Wrap on inserted::domain(Element::I8), from "pytorch/pytorch issue 104206: an output padding that is not respected",
        |params, input, weights, out| {
            inserted::convolve(&STEPS, Element::I8, params, (input, weights), out);
            let Ok((rows, columns)) = params.output() else { return };
            for (at, pixel) in out.chunks_exact_mut(params.out_channels).enumerate() {
                let (y, x) = (at / columns % rows, at % columns);
                if y + params.output_padding_h >= rows || x + params.output_padding_w >= columns {
                    pixel.fill(0);
                }
            }
        };
    "mutant-transpose-phase", "layout", "phases by the place in the output, the padding before it left out",
        claims "exact" Wrap on inserted::domain(Element::U8), from "of our own: subconvolutions of an output without padding, used with it",
        |params, input, weights, out| {
            let steps = Steps::new(Element::U8, Element::U8, arm_uadalp::UADALP.portable);
            by_phases(&steps, |side, output| output % side.stride, params, (input, weights), out);
        };
];
