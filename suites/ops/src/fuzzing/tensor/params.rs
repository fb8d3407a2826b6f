//! Small parameters in a kernel's domain, from a fuzzer's numbers.

use crate::add::Add;
use crate::conv2d::Conv2d;
use crate::dot::Dot;
use crate::fuzzing::moved;
use crate::fuzzing::numbers::Numbers;
use crate::matmul::Matmul;
use crate::requantize::Requantize;
use crate::transform::Transform;
use tiebreak_engine::tensor::Operation;
use tiebreak_impls::quantized::Scale;
use tiebreak_impls::transform::Kind;
use tiebreak_impls::{add, conv2d, dot, matmul, requantize, transform};

/// An operation whose parameters a fuzzer can make up.
pub trait Fuzzed: Operation {
    /// Parameters of a small case; those that the domain does not cover are not run.
    fn params(domain: &Self::Domain, numbers: &mut Numbers<'_>) -> Self::Params;
}

impl Fuzzed for Dot {
    fn params(domain: &dot::Domain, numbers: &mut Numbers<'_>) -> dot::Params {
        dot::Params { len: domain.results * numbers.size(9) }
    }
}

impl Fuzzed for Matmul {
    fn params(domain: &matmul::Domain, numbers: &mut Numbers<'_>) -> matmul::Params {
        matmul::Params {
            m: numbers.size(9),
            n: numbers.size(9),
            k: numbers.size(70).min(*domain.depth.end()),
            lhs_offset: numbers.int32(),
            rhs_offset: numbers.int32(),
        }
    }
}

impl Fuzzed for Conv2d {
    fn params(domain: &conv2d::Domain, numbers: &mut Numbers<'_>) -> conv2d::Params {
        convolution(domain, numbers)
    }
}

fn convolution(domain: &conv2d::Domain, numbers: &mut Numbers<'_>) -> conv2d::Params {
    let groups = if domain.grouped { numbers.size(3) } else { 1 };
    let channels = *numbers.one_of(&[1, 2, 3, 4, 9, 16, 17]);
    let mut p = conv2d::Params {
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
        ..conv2d::Params::default()
    };
    // At least as much of the image as the filter reaches beyond the padding.
    let image = |numbers: &mut Numbers<'_>, kernel: usize, dilation: usize, padding: usize| {
        ((kernel - 1) * dilation + 1).saturating_sub(padding).max(1) + numbers.size(4) - 1
    };
    p.height = image(numbers, p.kernel_h, p.dilation_h, p.top + p.bottom);
    p.width = image(numbers, p.kernel_w, p.dilation_w, p.left + p.right);
    p
}

impl Fuzzed for Requantize {
    fn params(domain: &requantize::Domain, numbers: &mut Numbers<'_>) -> requantize::Params {
        let output = domain.output.range();
        let count = if domain.per_channel { numbers.size(5) } else { 1 };
        let mut channel = || moved(numbers.int32(), numbers.byte() as i8 as i32, &domain.channels);
        let channels: Vec<_> = (0..count).map(|_| channel()).collect();
        let bias = channels.iter().map(|_| if domain.bias { numbers.int32() } else { 0 }).collect();
        let zero_point = if domain.zero_point { numbers.of(output.clone()) } else { 0 };
        let ends = if domain.clamp { [numbers.of(output.clone()), numbers.of(output.clone())] } else { [0; 2] };
        let (min, max) = match ends {
            // Equal ends are rarely of interest, and come of numbers that are all alike.
            [a, b] if a == b => (*output.start(), *output.end()),
            [a, b] => (a.min(b), a.max(b)),
        };
        requantize::Params { len: numbers.size(40), channels, bias, zero_point, min, max }
    }
}

impl Fuzzed for Add {
    fn params(domain: &add::Domain, numbers: &mut Numbers<'_>) -> add::Params {
        let range = domain.element.range();
        // Operands' scales within 2^-4 and 2^5 of the result's: every domain has them.
        let mut operand = |exponents: std::ops::RangeInclusive<i32>| {
            let significand =
                *numbers.one_of(&[0, 0, 1 << 22]) | (i32::from(*numbers.one_of(&[0u8, 1])) * numbers.int32());
            let bits = (127 + numbers.of(exponents)) << 23 | significand & 0x7f_ffff;
            add::Operand { scale: Scale(f32::from_bits(bits as u32).into()), zero_point: numbers.of(range.clone()) }
        };
        let (lhs, rhs, out) = (operand(-4..=4), operand(-4..=4), operand(-1..=0));
        let ends = if domain.clamp { [numbers.of(range.clone()), numbers.of(range.clone())] } else { [0; 2] };
        let (min, max) = match ends {
            [a, b] if a == b => (*range.start(), *range.end()),
            [a, b] => (a.min(b), a.max(b)),
        };
        add::Params { element: domain.element, len: numbers.size(40), lhs, rhs, out, min, max }
    }
}

impl Fuzzed for Transform {
    fn params(domain: &transform::Domain, numbers: &mut Numbers<'_>) -> transform::Params {
        match (domain.kind, conv2d::kernels()) {
            (Kind::Im2col | Kind::Unflatten, [any, ..]) => {
                let p = convolution(&any.contract.domain, numbers);
                transform::Params::Conv2d(conv2d::Params { groups: 1, ..p })
            }
            _ => transform::Params::Matrix { rows: numbers.size(35), columns: numbers.size(35) },
        }
    }
}
