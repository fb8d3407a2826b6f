//! Quantized convolutions of a fuzzer's numbers.

use super::{Qconv2d, of_conv2d, plan};
use crate::conv2d::fuzzed::convolution;
use crate::fuzzing::moved;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
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
        let bias = (0..count).map(|_| numbers.int32()).collect();
        let zero_point = numbers.of(output.clone());
        let (min, max) = match [numbers.of(output.clone()), numbers.of(output.clone())] {
            // Equal ends are rarely of interest, and come of numbers that are all alike.
            [a, b] if a == b => (*output.start(), *output.end()),
            [a, b] => (a.min(b), a.max(b)),
        };
        Params { shape, channels, bias, zero_point, min, max }
    }
}
