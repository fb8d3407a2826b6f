//! Convolutions made from a fuzzer's numbers.

use super::Conv2d;
use super::transposed::shaped;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::conv2d::{Domain, Params};

impl Fuzzed for Conv2d {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        convolution(domain, numbers)
    }
}

/// Builds a small convolution.
pub fn convolution(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
    let groups = if domain.grouped { numbers.size(3) } else { 1 };
    let channels = *numbers.one_of(&[1, 2, 3, 4, 9, 16, 17]);
    let mut p = Params {
        batches: numbers.size(2),
        channels: groups * channels,
        out_channels: groups * numbers.size(5),
        groups,
        kernel_h: numbers.size(3),
        kernel_w: numbers.size(3),
        stride_h: numbers.size(3),
        stride_w: numbers.size(3),
        dilation_h: numbers.size(2),
        dilation_w: numbers.size(2),
        top: numbers.size(3) - 1,
        bottom: numbers.size(3) - 1,
        left: numbers.size(3) - 1,
        right: numbers.size(3) - 1,
        input_zero_point: numbers.of(domain.operands.lhs_values.clone()),
        weight_zero_point: numbers.of(domain.operands.rhs_values.clone()),
        ..Params::default()
    };
    // At least as much of the image as the filter covers beyond the padding.
    let image = |numbers: &mut Numbers<'_>, kernel: usize, dilation: usize, padding: usize| {
        ((kernel - 1) * dilation + 1).saturating_sub(padding).max(1) + numbers.size(4) - 1
    };
    p.height = image(numbers, p.kernel_h, p.dilation_h, p.top + p.bottom);
    p.width = image(numbers, p.kernel_w, p.dilation_w, p.left + p.right);
    if domain.transposed.is_some() {
        (p.output_padding_h, p.output_padding_w) = (numbers.size(3) - 1, numbers.size(3) - 1);
    }
    shaped(domain.transposed, p)
}
