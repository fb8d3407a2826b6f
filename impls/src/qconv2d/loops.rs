//! Steps that several systems share: raw products of im2col with the terms of the zero points, and the loop over sums.

use super::Params;
use crate::conv2d::im2col::{depth, im2col};
use crate::element::Element;

/// Returns the sums of all products in the order of `[B,OH,OW,O]`, by the expansion into four terms: `sum(a*b) - zb*sum(a) - za*sum(b) + k*za*zb`,
/// where `a` is the input padded by `padding` and `b` the weights. Everything wraps.
pub(crate) fn expanded(
    params: &Params,
    (input, image): (Element, &[u8]),
    (weight, weights): (Element, &[u8]),
    padding: i32,
) -> Vec<i32> {
    let shape = &params.shape;
    let (depth, share) = (depth(shape), shape.out_channels / shape.groups);
    let pixels = shape.sizes().map_or(0, |sizes| sizes.outputs / shape.out_channels);
    let values: Vec<i32> = image.iter().map(|byte| input.read(&[*byte])).collect();
    let mut columns = vec![0; pixels * depth];
    let mut out = vec![0i32; pixels * shape.out_channels];
    for group in 0..shape.groups {
        im2col(shape, group, &values, padding, &mut columns);
        for (row, patch) in out.chunks_exact_mut(shape.out_channels).zip(columns.chunks_exact(depth)) {
            let of_input = patch.iter().fold(0i32, |sum, a| sum.wrapping_add(*a));
            for (o, out) in row.iter_mut().enumerate().skip(group * share).take(share) {
                let (mut product, mut of_weights) = (0i32, 0i32);
                for (a, filter) in patch.iter().zip(weights.chunks_exact(shape.out_channels)) {
                    let b = weight.read(&filter[o..]);
                    product = product.wrapping_add(a * b);
                    of_weights = of_weights.wrapping_add(b);
                }
                let (za, zb) = (shape.input_zero_point, shape.weight_zero_point);
                *out = product
                    .wrapping_sub(zb.wrapping_mul(of_input))
                    .wrapping_sub(za.wrapping_mul(of_weights))
                    .wrapping_add((depth as i32).wrapping_mul(za).wrapping_mul(zb));
            }
        }
    }
    out
}

/// Computes each result from its sum and its output channel.
#[inline(always)]
pub(crate) fn each<S: Copy>(params: &Params, sums: &[S], out: &mut [i32], result: impl Fn(S, usize) -> i32) {
    let outputs = params.shape.out_channels;
    for (sums, out) in sums.chunks_exact(outputs).zip(out.chunks_exact_mut(outputs)) {
        for (o, (sum, out)) in sums.iter().zip(out).enumerate() {
            *out = result(*sum, o);
        }
    }
}
