//! Quantized convolutions made from a fuzzer's numbers.

use super::{Qconv2d, of_conv2d, plan};
use crate::conv2d::fuzzed::convolution;
use crate::fuzzing::{Fuzzed, Numbers, moved};
use tiebreak_impls::qconv2d::{Domain, Params};

impl Fuzzed for Qconv2d {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let shape = plan::taken(domain, convolution(&of_conv2d(domain), numbers));
        let requantize = &domain.requantize;
        let output = requantize.output.range();
        let each = |one: bool| if one { 1 } else { shape.out_channels };
        let count = each(!requantize.channels.per_channel || numbers.size(4) == 1);
        let mut channel =
            || moved(numbers.int32(), numbers.byte() as i8 as i32, requantize.fraction(), &requantize.channels);
        let channels = (0..count).map(|_| channel()).collect();
        let count = each(numbers.size(4) == 1);
        let bias: Vec<i32> = (0..count).map(|_| numbers.int32()).collect();
        let bias64 = if domain.wide { wide_biases(&bias, numbers) } else { Vec::new() };
        let bias = if domain.wide { vec![0] } else { bias };
        let zero_point = if requantize.zero_point { numbers.of(output.clone()) } else { 0 };
        let (min, max) = match [numbers.of(output.clone()), numbers.of(output.clone())] {
            // Equal bounds are rarely of interest, and come from numbers that are all alike.
            [a, b] if a == b => (*output.start(), *output.end()),
            [a, b] => (a.min(b), a.max(b)),
        };
        Params { shape, channels, bias, bias64, zero_point, min, max }
    }
}

/// Shifts the biases left, to up to 47 bits.
pub(crate) fn wide_biases(bias: &[i32], numbers: &mut Numbers<'_>) -> Vec<i64> {
    let places = numbers.size(16) - 1;
    bias.iter().map(|v| (i64::from(*v) << places) + i64::from(numbers.byte())).collect()
}
