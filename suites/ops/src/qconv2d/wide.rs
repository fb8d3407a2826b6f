//! Int16 convolutions with 64-bit biases: sums around ties and around the ends of int32 and of 48 bits, and 512 products of largest magnitude.

use super::Qconv2d;
use crate::conv2d::transposed;
use crate::fused::Fused;
use crate::fused::part_changes::{Sums, total};
use crate::requantize::channels::any;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Class, below, stream};
use tiebreak_engine::operation::{Case, Change, Fill, Spec};
use tiebreak_impls::conv2d;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qconv2d::{Domain, Params};
use tiebreak_oracle::qconv2d::Scheme;

/// Number of batches of sums, for each effort.
const SUMS: [usize; 2] = [16, 56];
/// Number of sums in a batch around each target.
const WINDOW: usize = 16;
/// Depths around 512, and a depth whose sums exceed int32.
const DEPTHS: [usize; 5] = [511, 512, 513, 516, 1100];
/// Multipliers around the smallest whose rounded high half exceeds int16.
const LARGEST: [i32; 4] = [i32::MAX, 0x7FFF_8000, 0x7FFF_7FFF, 0x7FFF_0000];

/// Returns every spec of 64-bit sums.
pub(crate) fn sums(domain: &Domain, long: usize, seed: u64) -> Vec<Spec<Params>> {
    let around = (0..SUMS[long]).map(|i| targets(domain, i, seed));
    around.chain(DEPTHS.into_iter().enumerate().map(|(i, k)| deep(domain, k, i))).collect()
}

fn spec(
    domain: &Domain,
    shape: conv2d::Params,
    bias: Vec<i64>,
    channels: Vec<Channel>,
    fills: [Fill; 2],
) -> Spec<Params> {
    let (min, max) = domain.requantize.output.range().into_inner();
    let params = Params { shape, channels, bias: vec![0], bias64: bias, zero_point: 0, min, max };
    let [input, weights] = fills;
    Spec::new(params, [input, weights, Fill::None], 0)
}

/// Builds products with weights of 1 and biases that take the sums to a target in each output channel.
fn targets(domain: &Domain, i: usize, seed: u64) -> Spec<Params> {
    let mut rng = stream(seed, &format!("qconv2d/wide/{i}"));
    let outputs = [7, 4, 9, 1, 16, 5][i % 6];
    let count = if domain.requantize.channels.per_channel { outputs } else { 1 };
    let channels: Vec<Channel> = (0..count).map(|o| channel(domain, i + o, &mut rng)).collect();
    let of = |o: usize| channels[if count == 1 { 0 } else { o }];
    let bias = (0..outputs).map(|o| target(of(o), i / 2 + o, &mut rng)).collect();
    let shape = conv2d::Params { width: WINDOW, out_channels: outputs, ..conv2d::Params::default() };
    let shape = transposed::shaped(domain.transposed, shape);
    let input = (0..WINDOW as i32).map(|at| at - WINDOW as i32 / 2).collect();
    let spec = spec(domain, shape, bias, channels, [Fill::Given(input), Fill::Constant(1)]);
    Spec { misalign: i % 16, ..spec }
}

/// Draws a channel of the domain: any, with one of the largest multipliers, or with a shift that takes 32 bits to the output.
fn channel(domain: &Domain, i: usize, rng: &mut ChaCha8Rng) -> Channel {
    let multiple = domain.requantize.channels.multiple_of;
    let drawn = any(&domain.requantize, rng);
    let multiplier = LARGEST[below(rng, 4) as usize];
    let multiplier = multiplier - multiplier % multiple;
    let wanted = match i % 4 {
        0 => Channel { multiplier, ..drawn },
        1 => Channel { shift: -14 - below(rng, 6) as i32, ..drawn },
        _ => drawn,
    };
    if domain.requantize.takes(wanted) { wanted } else { drawn }
}

/// Returns a sum at a tie of a result, for the 16-bit or the whole multiplier, or a sum next to an end of int32, of 48 bits, or of a cast.
fn target(channel: Channel, i: usize, rng: &mut ChaCha8Rng) -> i64 {
    let whole = i128::from(channel.multiplier);
    let high = ((whole + (1 << 15)) >> 16).min(0x7FFF);
    let result = i128::from(below(rng, 1 << 16)) - (1 << 15);
    let of = |halves: i128, multiplier: i128, places: i32| {
        (halves << (places - 1)).checked_div_euclid(multiplier).and_then(|sum| i64::try_from(sum).ok())
    };
    let places = 15 - channel.shift;
    let sign = if below(rng, 2) == 0 { 1 } else { -1 };
    let found = match i % 6 {
        0 | 1 => of(2 * result - 1, high, places),
        2 => of(2 * result - 1, whole, places + 16),
        3 => of(i128::from(sign) << 31, high, places),
        4 => Some(sign << 31),
        _ => Some((sign << 47) - i64::from(below(rng, 64) as i32 - 32)),
    };
    found.filter(|sum| sum.unsigned_abs() <= 1 << 47).unwrap_or_else(|| sign << below(rng, 47))
}

/// Builds `depth` products of the largest magnitude, over channels or, in a depthwise convolution, over the filter.
fn deep(domain: &Domain, depth: usize, i: usize) -> Spec<Params> {
    let operands = &domain.operands;
    let channels = vec![Channel { multiplier: 1 << 30, shift: -16 }];
    let plain = conv2d::Params { width: [1, 1, 2, 1, 3][i], out_channels: 1 + i % 3, ..conv2d::Params::default() };
    let shape = match domain.dense {
        true => conv2d::Params { channels: depth, ..plain },
        false => conv2d::Params { height: depth, kernel_h: depth, ..plain },
    };
    let shape = transposed::shaped(domain.transposed, shape);
    let weights = if i == 4 { *operands.rhs_values.end() } else { *operands.rhs_values.start() };
    let fills = [Fill::Constant(*operands.lhs_values.start()), Fill::Constant(weights)];
    spec(domain, shape, vec![0], channels, fills)
}

/// Predicts that the last pixel of an image with an odd number of pixels is summed in int32.
pub(super) fn odd_pixels(kept: &Sums<Params>, scheme: &Scheme) -> Change<Qconv2d> {
    let (base, kept) = (total(scheme), kept.clone());
    let because = "the last pixel of an image with an odd number of them is summed in int32";
    Change::predicts(Class::Wrap, because, move |case: &Case<Params>| {
        let shape = &case.params.shape;
        let (rows, columns) = shape.output().ok()?;
        let (pixels, outputs) = (rows * columns, shape.out_channels);
        let is_last = |at: usize| pixels % 2 == 1 && at / outputs % pixels == pixels - 1;
        let sums = kept.of::<Qconv2d>(case)?;
        let of = |(at, sum): (usize, &i64)| if is_last(at) { i64::from(*sum as i32) } else { *sum };
        Qconv2d::finished(&base, &case.params, &sums.iter().enumerate().map(of).collect::<Vec<_>>())
    })
}
