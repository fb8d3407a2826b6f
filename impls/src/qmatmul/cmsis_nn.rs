//! CMSIS-NN: fully connected layers of int8 for Cortex-M.
//!
//! `arm_nn_vec_mat_mult_t_s8` starts each accumulator with the bias and adds the products of offset elements, four filters at a time and the
//! remaining filters singly. Then follow `arm_nn_requantize`, the offset, `MAX` and `MIN`. `arm_fully_connected_per_channel_s8` has a multiplier for
//! each filter. Sums wrap where C leaves them undefined.
//!
//! Source: ARM-software/CMSIS-NN `Source/FullyConnectedFunctions/arm_fully_connected_s8.c`, `arm_fully_connected_per_channel_s8.c`,
//! `Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c`.

use super::{Domain, Kernel, Params};
use crate::contract;
use crate::element::Element::I8;
use crate::fpm::Channel;
use crate::fpm::cmsis_nn::{self, double_rounding, single_rounding};
use crate::kernel::scalar;

const CHANNELS: contract::Domain = contract::Domain { per_channel: true, ..cmsis_nn::DOMAIN };
const SOURCE: &str = "ARM-software/CMSIS-NN Source/FullyConnectedFunctions/arm_fully_connected_s8.c";

/// Filters per step.
const FILTERS: usize = 4;

/// `arm_fully_connected_s8` and its per-channel form.
pub(super) const DOUBLE_I8: Kernel = scalar!(
    "cmsis-nn-fully-connected-i8", "CMSIS-NN arm_fully_connected_s8: four filters at a time from the bias on, arm_nn_requantize",
    "cmsis-nn-double" Wrap on Domain::layer([I8; 3], CHANNELS), from SOURCE,
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, double_rounding)
);

/// Layer built with `CMSIS_NN_USE_SINGLE_ROUNDING`.
pub(super) const SINGLE_I8: Kernel = scalar!(
    "cmsis-nn-fully-connected-single-i8", "CMSIS-NN arm_fully_connected_s8 built with CMSIS_NN_USE_SINGLE_ROUNDING",
    "cmsis-nn-single" Wrap on Domain::layer([I8; 3], CHANNELS), from SOURCE,
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, single_rounding)
);

fn layer(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], requantize: fn(i32, i32, i32) -> i32) {
    let Some(layer) = params.layer() else { return };
    let shape = &params.shape;
    for (row, out) in lhs.chunks_exact(shape.k).zip(out.chunks_exact_mut(shape.n)) {
        for (block, out) in out.chunks_mut(FILTERS).enumerate() {
            let first = block * FILTERS;
            let mut acc = [0i32; FILTERS];
            acc.iter_mut().take(out.len()).enumerate().for_each(|(at, acc)| *acc = layer.bias(first + at));
            for (l, filters) in row.iter().zip(rhs.chunks_exact(shape.n)) {
                let l = i32::from(*l as i8).wrapping_add(shape.lhs_offset);
                for (acc, r) in acc.iter_mut().zip(&filters[first..first + out.len()]) {
                    *acc = acc.wrapping_add(l.wrapping_mul(i32::from(*r as i8).wrapping_add(shape.rhs_offset)));
                }
            }
            for (at, (out, acc)) in out.iter_mut().zip(acc).enumerate() {
                let Channel { multiplier, shift } = layer.channel(first + at);
                *out = layer.finish(requantize(acc, multiplier, shift));
            }
        }
    }
}
