//! ONNX Runtime: QuantizeLinear, `saturate(round_half_even(x / scale) + zero_point)`.
//!
//! The vector code divides, clamps to the bounds less the zero point, converts by `cvtps2dq` or `fcvtns`, and adds the zero point in integers.
//! `maxps` and `fmaxnm` return the bound if the quotient is NaN, so NaN becomes the smallest value. Tails take the same steps.
//!
//! Blocks along the last axis take the same code, one call per block. Blocks along another axis take a loop that applies `nearbyint` to the quotient,
//! casts to int32, and adds the zero point before the clamp. In C++ the cast is undefined beyond int32, for infinities and for NaN. The sum is
//! undefined beyond int32: from 2^31 on, below -2^31, and within a zero point of both ends. The largest f32 below 2^31 is 2^31 - 128, so a zero point
//! of 128 or more makes its sum undefined. For undefined results the scheme has no value, and the kernel has a saturating cast and a wrapping sum.
//!
//! Source: ONNX operators, QuantizeLinear; microsoft/onnxruntime `onnxruntime/core/mlas/lib/quantize.cpp`, `MlasQuantizeLinearVector`;
//! `onnxruntime/core/util/qmath.h`, `BlockedQuantizeLinear`; `onnxruntime/core/providers/cpu/quantization/quantize_linear.cc`, `QuantizeLinear::Compute`, which
//! takes the loop if more than one element follows the axis.

use super::{Domain, Kernel, each};
use crate::contract::{Overflow, Promise};
use crate::kernel::scalar;
use crate::quantized::{Finest, Granularity, I8, I16, Params, U8, U16};

/// Domain of whole 8- and 16-bit types, per tensor, per axis, and in blocks along the last axis.
pub(crate) const DOMAIN: Domain = Domain { storage: &[I8, U8, I16, U16], finest: Finest::LastAxis, ..Domain::BYTES };

/// MLAS: all values but those in blocks along another axis than the last.
pub(super) const LINEAR: Kernel = scalar!(
    "onnx-quantizelinear", "ONNX Runtime: x / scale clamped less the zero point, nearest even, then the zero point",
    "onnx" OutOfDomain on DOMAIN, from "ONNX operators, QuantizeLinear; microsoft/onnxruntime onnxruntime/core/mlas/lib/quantize.cpp",
    |params, x, out| linear(params, x, out, f32::round_ties_even)
);

/// Runs the kernel, with `round` as rounding.
#[inline(always)]
pub(crate) fn linear(params: &Params, x: &[i32], out: &mut [i32], round: impl Fn(f32) -> f32) {
    let [min, max] = [params.quantized.min, params.quantized.max];
    let channel =
        |scale, zero_point| (scale, [min - zero_point, max - zero_point].map(|v| v as f32), zero_point as i32);
    each(params, x, out, channel, |x, (scale, [min, max], zero_point)| {
        // `max` and `min` of Rust return the number if the other operand is NaN.
        round((x / scale).max(*min).min(*max)) as i32 + zero_point
    });
}

/// Domain of whole 8- and 16-bit types in blocks along another axis than the last.
pub(crate) const OTHER_AXIS_DOMAIN: Domain = Domain { finest: Finest::OtherAxis, ..DOMAIN };

/// `opNotLastAxis`: blocks along another axis than the last.
pub(super) const OTHER_AXIS: Kernel = Kernel::scalar(
    "onnx-quantizelinear-other-axis",
    "ONNX Runtime, blocks along another axis than the last: x / scale, nearest even, int32, zero point, clamp",
    Promise { scheme: "onnx-other-axis", overflow: Overflow::OutOfDomain },
    OTHER_AXIS_DOMAIN,
    "microsoft/onnxruntime onnxruntime/core/util/qmath.h, BlockedQuantizeLinear::opNotLastAxis",
    |params, x, out| blocked(params, x, out, |index, layout| index / layout.size),
);

/// Tensor around the axis that is divided into blocks.
pub(crate) struct Layout {
    /// Indices along the axis.
    along: usize,
    /// Elements of the axes after it.
    behind: usize,
    /// Indices in a block.
    size: usize,
    /// Blocks along the axis.
    pub(crate) blocks: usize,
}

impl Layout {
    /// Finds the axis with fewer blocks than indices, or the first axis if each index has its own block. A tensor without blocks is one block.
    fn of(params: &Params) -> Self {
        let shape = &params.shape;
        let Granularity::Blocks { counts, .. } = &params.quantized.granularity else {
            let along = shape.iter().product::<usize>().max(1);
            return Self { along, behind: 1, size: along, blocks: 1 };
        };
        let axis = (0..shape.len()).find(|axis| counts[*axis] != shape[*axis]).unwrap_or(0);
        let (along, blocks) = (shape[axis], counts[axis]);
        Self { along, behind: shape[axis + 1..].iter().product(), size: along / blocks, blocks }
    }
}

/// Runs the loop, with `block` as the block of an index along the axis.
pub(crate) fn blocked(params: &Params, x: &[i32], out: &mut [i32], block: impl Fn(usize, &Layout) -> usize) {
    let quantized = &params.quantized;
    let [min, max] = [quantized.min, quantized.max].map(|bound| bound as i32);
    let layout = Layout::of(params);
    let rows = x.chunks(layout.behind).zip(out.chunks_mut(layout.behind));
    for (row, (x, out)) in rows.enumerate() {
        let (before, index) = (row / layout.along, row % layout.along);
        let first = (before * layout.blocks + block(index, &layout)) * layout.behind;
        let own = quantized.scales[first..].iter().zip(&quantized.zero_points[first..]);
        for ((x, out), (scale, zero_point)) in x.iter().zip(out).zip(own) {
            let quotient = f32::from_bits(*x as u32) / scale.0 as f32;
            *out = (quotient.round_ties_even() as i32).wrapping_add(*zero_point as i32).clamp(min, max);
        }
    }
}
