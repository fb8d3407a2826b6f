//! Output parameters that fit the sums of a convolution: scales that spread results over the output type, biases that cancel the mean, zero points
//! in turn, and the bounds of activations. Some parameters have any magnitude, as in other layers.

use crate::requantize::channels::any;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::{below, int32_of_any_size};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qconv2d::{Domain, Params};
use tiebreak_impls::{conv2d, requantize};

/// Approximate standard deviation of results before the clamp, as a share of the output type's values.
const SPREAD: f64 = 60.0 / 256.0;

/// Elements of an operand beyond which the output has no clamp and no wild scale.
const LARGE: usize = 1024;

/// Number of kinds of bounds.
const BOUNDS: usize = 5;

/// Multiplier with a single bit, whose products tie often.
const FEW_BITS: i32 = 1 << 30;

/// Returns mean and second moment of a uniform value of a range minus a zero point.
fn moments(range: &RangeInclusive<i32>, zero_point: i32) -> [f64; 2] {
    let (lo, hi) = (f64::from(*range.start()), f64::from(*range.end()));
    let (mean, width) = ((lo + hi) / 2.0 - f64::from(zero_point), hi - lo + 1.0);
    [mean, mean * mean + width * width / 12.0]
}

/// Returns approximate mean and standard deviation of the sums of random operands.
fn sums(domain: &Domain, shape: &conv2d::Params) -> [f64; 2] {
    let depth = (shape.kernel_h * shape.kernel_w * shape.channels / shape.groups) as f64;
    let [of_input, of_input_squared] = moments(&domain.operands.lhs_values, shape.input_zero_point);
    let [of_weights, of_weights_squared] = moments(&domain.operands.rhs_values, shape.weight_zero_point);
    let mean = of_input * of_weights;
    let variance = of_input_squared * of_weights_squared - mean * mean;
    [depth * mean, (depth * variance).sqrt().max(1.0)]
}

/// Converts a scale to a shift and a multiplier that is a multiple of `multiple_of`.
fn channel(scale: f64, few_bits: bool, multiple_of: i32) -> Channel {
    let shift = scale.log2().floor() as i32 + 1;
    let significand = (scale / f64::exp2(shift.into()) * f64::from(1u32 << 31)) as i64;
    let multiplier = significand.clamp(1 << 30, i32::MAX.into()) as i32;
    let multiplier = multiplier - multiplier % multiple_of;
    Channel { multiplier: if few_bits { FEW_BITS } else { multiplier }, shift }
}

/// Returns the `i`th output parameters for a convolution.
pub(crate) fn fitted(domain: &Domain, shape: conv2d::Params, i: usize, rng: &mut ChaCha8Rng) -> Params {
    let [mean, deviation] = sums(domain, &shape);
    let requantize = &domain.requantize;
    // A plan has few large operands, and each must show a misread element.
    let is_large = operands(&shape) > LARGE;
    let mut one = |few_bits: bool| {
        let range = requantize.output.range();
        let spread = SPREAD * f64::from(range.end() - range.start() + 1);
        let scale = spread / deviation * f64::exp2(f64::from(below(rng, 4096)) / 1024.0 - 2.0);
        let fitted = channel(scale, few_bits, requantize.channels.multiple_of);
        let wild = below(rng, 16) == 0 && !is_large || !requantize.takes(fitted);
        if wild { any(requantize, rng) } else { fitted }
    };
    let of_all = |one: bool| if one { 1 } else { shape.out_channels };
    let count = of_all(!requantize.channels.per_channel || i % 6 == 5);
    let mut channels: Vec<Channel> = (0..count).map(|o| one((i + o).is_multiple_of(3))).collect();
    // By the first two channels, or the first and the last, code may recognise one scale for all.
    match i % 11 {
        4 => channels[1.min(count - 1)] = channels[0],
        8 => channels[count - 1] = channels[0],
        _ => {}
    }
    let count = of_all(i % 7 == 6);
    let one = |rng: &mut ChaCha8Rng| match is_large {
        true => near_mean([mean, deviation], rng),
        false => bias(i, [mean, deviation], rng),
    };
    let bias = (0..count).map(|_| one(rng)).collect();
    let [zero_point, min, max] = bounds(requantize, if is_large { i - i % BOUNDS } else { i }, rng);
    let fitted = Params { shape, channels, bias, bias64: Vec::new(), zero_point, min, max };
    if domain.wide { widened(fitted, rng) } else { fitted }
}

/// Replaces the biases by 64-bit biases that fit the output; in one of four cases they are shifted left.
fn widened(p: Params, rng: &mut ChaCha8Rng) -> Params {
    let places = if below(rng, 4) == 0 { below(rng, 15) } else { 0 };
    wide(p, places)
}

/// Replaces the biases by 64-bit biases, shifted left by `places`.
pub(crate) fn wide(p: Params, places: u32) -> Params {
    let bias64 = p.bias.iter().map(|v| i64::from(*v) << places).collect();
    Params { bias64, bias: vec![0], ..p }
}

/// Draws a bias that cancels the mean, a bias of 0, or any bias; few are at the ends of int32.
fn bias(i: usize, [mean, deviation]: [f64; 2], rng: &mut ChaCha8Rng) -> i32 {
    let near = near_mean([mean, deviation], rng);
    match (i % 8, below(rng, 24)) {
        (0, _) => 0,
        (_, 0) => [i32::MAX, i32::MIN][below(rng, 2) as usize],
        (_, 1) => int32_of_any_size(rng),
        _ => near,
    }
}

/// Draws a bias that cancels the mean, up to a deviation.
fn near_mean([mean, deviation]: [f64; 2], rng: &mut ChaCha8Rng) -> i32 {
    let away = (f64::from(below(rng, 2001)) / 1000.0 - 1.0) * deviation;
    (away - mean) as i32
}

/// Returns the elements of the larger operand.
fn operands(shape: &conv2d::Params) -> usize {
    let image = shape.batches * shape.height * shape.width * shape.channels;
    let filter = shape.kernel_h * shape.kernel_w * shape.channels / shape.groups.max(1) * shape.out_channels;
    image.max(filter)
}

/// Draws zero point and bounds: every zero point in turn, with no activation, ReLU, ReLU6, or any bounds.
pub(crate) fn bounds(domain: &requantize::Domain, i: usize, rng: &mut ChaCha8Rng) -> [i32; 3] {
    let (lo, hi) = domain.output.range().into_inner();
    let mut between = |a: i32, b: i32| a + below(rng, (b - a + 1) as u32) as i32;
    let zero_point = match i % 9 {
        _ if !domain.zero_point => 0,
        0 => lo,
        1 => hi,
        2 => 0.clamp(lo, hi),
        // An odd stride, which reaches all values of a byte.
        _ => lo + (i as i32 * 85).rem_euclid(hi - lo + 1),
    };
    let (min, max) = match i % BOUNDS {
        0 | 1 => (lo, hi),
        2 => (zero_point, hi),
        3 => (zero_point, between(zero_point, hi)),
        _ => {
            let (a, b) = (between(lo, hi), between(lo, hi));
            (a.min(b), a.max(b))
        }
    };
    [zero_point, min, max]
}
