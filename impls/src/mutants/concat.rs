//! Concatenations with another input's parameters, without the rescaling, with another rounding or zero-point placement, or with elements out of
//! place.

use super::tensor::{Mutant, mutants};
use crate::concat::cmsis_nn::DOMAIN as COPIES;
use crate::concat::loops::{by_inputs, by_rows, clamp, copy, each};
use crate::concat::onnx::{self, quantized, table};
use crate::concat::tflite::{SCALED, scaled};
use crate::concat::tosa::rescaled;
use crate::concat::tvm::{self, requantized};
use crate::concat::{Domain, Input, Operand, Params, Run};
use crate::element::Element::{I8, U8};
use crate::fpm::tvm_relay::Step;

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-concat-first-zero-point", "channel", "the zero point of the first input is taken for all inputs",
        claims "q31-nearest-up" OutOfDomain on tvm::DOMAIN, from "of our own: the zero point is read once, before the loop over the inputs",
        |params, inputs, out| {
            let first = params.inputs[0].operand.zero_point;
            let params = with(params, |operand| Operand { zero_point: first, ..operand });
            requantized(&params, I8, inputs, out, Step::upward);
        };
    "mutant-concat-first-scale", "channel", "the scale of the first input is taken for all inputs",
        claims "tflite" OutOfDomain on SCALED, from "of our own: input_scale[0] for input_scale[i]",
        |params, inputs, out| {
            let first = params.inputs[0].operand.scale;
            let params = with(params, |operand| Operand { scale: first, ..operand });
            scaled(&params, inputs, out, |real, zero_point| real.round() as i32 + zero_point);
        };
    "mutant-concat-scales-only", "offset-term", "an input with the output's scale is copied, whatever its zero point is",
        claims "q31-nearest-up" OutOfDomain on tvm::DOMAIN,
        from "tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_common.cc, convertConcatV2Op: scales alone are compared",
        |params, inputs, out| rescaled(params, I8, inputs, out);
    "mutant-concat-copies", "lost-factor", "stored values are copied, whatever their scales are",
        claims "q31-nearest-up" OutOfDomain on tvm::DOMAIN,
        from "tensorflow/tensorflow issue 39658: inputs of CONCATENATION with other scales than the output, for which int8 has no rescaling",
        |params, inputs, out| by_rows(params, inputs, out, |_, from, out| copy(I8, from, out));
    "mutant-concat-zero-point-first", "zero-point-placement", "the output's zero point is added before the rounding",
        claims "tflite" OutOfDomain on SCALED, from "of our own: the zero point in the bias, which saves an addition",
        |params, inputs, out| {
            scaled(params, inputs, out, |real, zero_point| (real + zero_point as f32).round() as i32);
        };
    "mutant-concat-input-stride", "layout", "runs of an input lie as far apart in the output as in the input",
        claims "copy" OutOfDomain on COPIES, from "of our own: output_stride = input_x * input_y for input_x * output_y",
        |params, inputs, out| {
            out.fill(0);
            let (rows, step) = (params.rows(), params.step());
            let (mut begin, mut offset) = (0, 0);
            for input in &params.inputs {
                let len = rows * input.size * step;
                copy(I8, &inputs[begin..begin + len], &mut out[offset..offset + len]);
                (begin, offset) = (begin + len, offset + input.size * step);
            }
        };
    "mutant-concat-one-after-another", "layout", "inputs lie one after another, whatever the axis is",
        claims "copy" OutOfDomain on COPIES, from "of our own: the copy of the first axis for any axis",
        |_, inputs, out| copy(I8, inputs, out);
    "mutant-concat-wraps", "missing-saturation", "a cast that wraps for the clamp",
        claims "onnx" OutOfDomain on Domain { element: U8, ..onnx::DOMAIN }, from "of our own: the low bits for the clamp",
        |params, inputs, out| {
            by_inputs(params, inputs, out, |Input { operand, .. }, from, out| {
                let Operand { zero_point, .. } = params.out;
                let entry = |real: f32| {
                    let rounded = (real / params.out.single()).round_ties_even() as i32;
                    i32::from((rounded + zero_point) as u8)
                };
                let table = table(*operand, U8, entry);
                from.iter().zip(out).for_each(|(byte, out)| *out = table[usize::from(*byte)]);
            });
        };
    "mutant-concat-truncates", "directed-rounding", "the product is shifted right without the rounding constant",
        claims "q31-nearest-up" OutOfDomain on tvm::DOMAIN, from "of our own: an arithmetic shift for the rounding shift",
        |params, inputs, out| {
            by_rows(params, inputs, out, |Input { operand, .. }, from, out| {
                let (multiplier, shift) = tvm::multiplier(*operand, params.out);
                each(I8, from, out, |stored| {
                    let product = i64::from(stored - operand.zero_point) * i64::from(multiplier);
                    let rounded = (product >> (31 - shift)) as i32;
                    clamp(rounded + params.out.zero_point, I8)
                });
            });
        };
    "mutant-concat-lost-tail", "truncated-tail", "elements of a run after the last whole 4 are left 0",
        claims "onnx" OutOfDomain on onnx::DOMAIN, from "of our own: QLinearLookupTableTransform without its second loop",
        |params, inputs, out| {
            by_inputs(params, inputs, out, |Input { operand, .. }, from, out| {
                let table = table(*operand, I8, |real| quantized(real, I8, params.out));
                out.fill(0);
                let whole = from.len() - from.len() % 4;
                from[..whole].iter().zip(out).for_each(|(byte, out)| *out = table[usize::from(*byte)]);
            });
        };
];

/// Returns the parameters with every input's scale and zero point changed.
fn with(params: &Params, change: impl Fn(Operand) -> Operand) -> Params {
    let inputs = params.inputs.iter().map(|input| Input { operand: change(input.operand), ..*input });
    Params { inputs: inputs.collect(), ..params.clone() }
}
