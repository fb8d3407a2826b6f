//! ONNX DequantizeLinear: `(x - zero_point) * scale` (ONNX operator DequantizeLinear, version 13).

use super::{Kernel, scalar};
use crate::contract::{Overflow, Promise};
use crate::quantize::Domain;
use crate::quantized::{Container, Expressed, Params, Storage};

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };

/// The operator as its specification words it: the difference in integers, the product in f32.
pub(super) const LINEAR: Kernel = scalar(
    "onnx-dequantizelinear",
    "the difference in integers, then one product in f32",
    Promise { scheme: "ideal", overflow: Overflow::OutOfDomain },
    Domain {
        expressed: &[Expressed::F32],
        storage: &[I8, U8],
        bounds: false,
        per_channel: true,
        containers: &[Container::Ranked],
        compiled: false,
    },
    "ONNX operators, DequantizeLinear-13",
    run,
);

fn run(params: &Params, stored: &[i32], out: &mut [i32]) {
    let quantized = &params.quantized;
    for (i, (stored, out)) in stored.iter().zip(out).enumerate() {
        let channel = params.scale_of(i);
        let difference = i64::from(*stored) - quantized.zero_points[channel];
        *out = (difference as f32 * quantized.scales[channel].0 as f32).to_bits() as i32;
    }
}
