//! ONNX QuantizeLinear: `saturate(round_half_even(x / scale) + zero_point)` (ONNX operator QuantizeLinear, version 13).

use super::{Domain, Kernel, scalar};
use crate::contract::{Overflow, Promise};
use crate::quantized::{Container, Expressed, Params, Storage};

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };

/// The operator as its specification words it, in f32.
pub(super) const LINEAR: Kernel = scalar(
    "onnx-quantizelinear",
    "round half to even of x / scale, then the zero point, then saturation",
    Promise { scheme: "onnx", overflow: Overflow::Saturate },
    Domain {
        expressed: &[Expressed::F32],
        storage: &[I8, U8],
        bounds: false,
        per_channel: true,
        containers: &[Container::Ranked],
        compiled: false,
    },
    "ONNX operators, QuantizeLinear-13",
    run,
);

fn run(params: &Params, x: &[i32], out: &mut [i32]) {
    let quantized = &params.quantized;
    for (i, (x, out)) in x.iter().zip(out).enumerate() {
        let channel = params.scale_of(i);
        let scaled = (f32::from_bits(*x as u32) / quantized.scales[channel].0 as f32).round_ties_even();
        let moved = scaled + quantized.zero_points[channel] as f32;
        *out = moved.max(quantized.min as f32).min(quantized.max as f32) as i32;
    }
}
