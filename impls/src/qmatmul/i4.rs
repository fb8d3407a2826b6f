//! Fully connected layers of int8 by int4. Two weights share a byte, the first in the low half, without gaps: after an odd number of weights the next
//! row begins within a byte.
//!
//! TFLite unpacks the weights to int8 and runs its reference layer. CMSIS-NN's `arm_nn_vec_mat_mult_t_s4` reads filters in pairs. If the number of
//! weights is odd, the last weight of the first filter shares a byte with the first weight of the second filter, and that product is kept for the
//! second filter. The last filter of an odd number of filters ends with a byte of its own. Sums wrap where C leaves them undefined.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/fully_connected.cc`, `tensorflow/lite/kernels/internal/portable_tensor_utils.cc`, `UnpackDenseInt4IntoInt8`;
//! ARM-software/CMSIS-NN `Source/FullyConnectedFunctions/arm_fully_connected_s4.c`, `Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s4.c`.

use super::{Domain, Kernel, Layer, Params, tflite};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element::{I4, I8};
use crate::fpm::Channel;
use crate::fpm::cmsis_nn;
use crate::fpm::gemmlowp::double_rounding;
use crate::kernel::scalar;
use crate::matmul;

/// Domain of int8 by int4 to int8, with weights without a zero point.
pub(crate) const fn symmetric(channels: contract::Domain) -> Domain {
    let operands = matmul::Domain { rhs_offsets: 0..=0, ..matmul::Domain::all(I8, I4) };
    Domain { operands, ..Domain::layer([I8, I4, I8], channels) }
}

/// TFLite's layer of int4 weights.
pub(super) const TFLITE: Kernel = Kernel::scalar(
    "tflite-fully-connected-i4",
    "TFLite FullyConnectedPerChannel of int4 weights: unpacked to int8, double rounding per channel",
    Promise { scheme: "gemmlowp-double", overflow: Overflow::Wrap },
    symmetric(contract::Domain::PER_CHANNEL),
    "tensorflow/tensorflow tensorflow/lite/kernels/fully_connected.cc; internal/portable_tensor_utils.cc",
    |params, lhs, rhs, out| {
        let unpacked = unpacked(rhs, params.shape.k * params.shape.n);
        tflite::layer(params, (I8, lhs), (I8, &unpacked), out, double_rounding);
    },
);

/// CMSIS-NN's layer of int4 weights.
pub(super) const CMSIS_NN: Kernel = scalar!(
    "cmsis-nn-fully-connected-s4", "CMSIS-NN arm_fully_connected_s4: two filters at a time, which share a byte if their length is odd",
    "cmsis-nn-double" Wrap on symmetric(cmsis_nn::DOMAIN),
    from "ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s4.c", pairs_of_filters
);

/// Unpacks weights to bytes of int8: the low half of each byte shifted left and right again, then the high half.
pub(crate) fn unpacked(packed: &[u8], len: usize) -> Vec<u8> {
    packed.iter().flat_map(|byte| [low(*byte) as u8, high(*byte) as u8]).take(len).collect()
}

#[inline(always)]
fn low(byte: u8) -> i8 {
    (byte << 4) as i8 >> 4
}

#[inline(always)]
fn high(byte: u8) -> i8 {
    byte as i8 >> 4
}

/// Transposes packed weights `[K, N]` to CMSIS-NN's packed layout `[N, K]`.
fn filters(packed: &[u8], [k, n]: [usize; 2]) -> Vec<u8> {
    let weights = unpacked(packed, k * n);
    let turned: Vec<u8> = (0..n).flat_map(|j| weights.iter().skip(j).step_by(n)).map(|weight| weight & 15).collect();
    turned.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)).collect()
}

fn pairs_of_filters(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    let Some(layer) = params.layer() else { return };
    let shape = &params.shape;
    let filters = filters(rhs, [shape.k, shape.n]);
    for (row, out) in lhs.chunks_exact(shape.k).zip(out.chunks_exact_mut(shape.n)) {
        let row: Vec<i32> = row.iter().map(|l| i32::from(*l as i8).wrapping_add(shape.lhs_offset)).collect();
        // A pair of filters has as many bytes as one filter has weights.
        for (at, (filters, out)) in filters.chunks(shape.k).zip(out.chunks_mut(2)).enumerate() {
            pair(&layer, &row, filters, 2 * at, out);
        }
    }
}

/// Computes the results of two filters, or of a single last filter.
#[inline(always)]
fn pair(layer: &Layer<'_>, row: &[i32], filters: &[u8], first: usize, out: &mut [i32]) {
    let half = row.len() / 2;
    let end = |sum: i32, j: usize| {
        let Channel { multiplier, shift } = layer.channel(j);
        layer.finish(cmsis_nn::double_rounding(sum, multiplier, shift))
    };
    let mut sum = whole_bytes(layer.bias(first), row, &filters[..half]);
    let (mut kept, mut rest, mut from) = (0i32, &filters[half..], 0);
    if let ([.., last], true) = (row, row.len() % 2 == 1) {
        sum = sum.wrapping_add(last.wrapping_mul(low(filters[half]).into()));
        kept = row[0].wrapping_mul(high(filters[half]).into());
        (rest, from) = (&filters[half + 1..], 1);
    }
    out[0] = end(sum, first);
    if let Some(out) = out.get_mut(1) {
        let begun = kept.wrapping_add(layer.bias(first + 1));
        *out = end(whole_bytes(begun, &row[from..], rest), first + 1);
    }
}

/// Adds the products of both halves of each byte to a sum.
#[inline(always)]
fn whole_bytes(sum: i32, row: &[i32], filter: &[u8]) -> i32 {
    row.as_chunks::<2>().0.iter().zip(filter).fold(sum, |sum, ([first, second], byte)| {
        let pair = first.wrapping_mul(low(*byte).into()).wrapping_add(second.wrapping_mul(high(*byte).into()));
        sum.wrapping_add(pair)
    })
}
