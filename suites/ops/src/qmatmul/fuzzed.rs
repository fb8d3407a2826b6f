//! Products with output stages made from a fuzzer's numbers.

use super::Qmatmul;
use crate::fuzzing::{Fuzzed, Numbers, moved};
use crate::matmul::Matmul;
use crate::qconv2d::fuzzed::wide_biases;
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qmatmul::{Along, Domain, Layer, Lists, Params, Stage};

/// Upper bound on stages in a generated list, without its cast.
const MOST: usize = 5;

impl Fuzzed for Qmatmul {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let mut shape = Matmul::params(&domain.operands, numbers);
        let within = |offset: i32, range: &std::ops::RangeInclusive<i32>| match range.contains(&offset) {
            true => offset,
            false => offset.clamp(*range.start(), *range.end()),
        };
        shape.lhs_offset = within(shape.lhs_offset, &domain.operands.lhs_offsets);
        shape.rhs_offset = within(shape.rhs_offset, &domain.operands.rhs_offsets);
        let mut params = Params { shape, stages: Vec::new() };
        params.stages = match domain.lists {
            Lists::Any => any(domain, &params, numbers),
            Lists::Layer => layer(domain, &params, numbers),
            Lists::Layer64 => wide(layer(domain, &params, numbers), numbers),
            Lists::Legacy => vec![down(domain, numbers), Stage::Cast { to: Element::U8 }],
        };
        params
    }
}

fn channel(domain: &Domain, numbers: &mut Numbers<'_>) -> Channel {
    let (m, s) = (numbers.int32(), i32::from(numbers.byte() as i8));
    moved(m, s, domain.requantize.fraction(), &domain.requantize.channels)
}

fn down(domain: &Domain, numbers: &mut Numbers<'_>) -> Stage {
    let Channel { multiplier, shift } = match domain.lists {
        Lists::Legacy => channel(domain, numbers),
        _ => Channel { multiplier: numbers.int32(), shift: -(i32::from(numbers.byte()) % 32) },
    };
    Stage::Down { offset: numbers.int32(), multiplier, shift }
}

fn layer(domain: &Domain, params: &Params, numbers: &mut Numbers<'_>) -> Vec<Stage> {
    let output = domain.requantize.output.range();
    let each = |one: bool| if one { 1 } else { params.shape.n };
    let count = each(!domain.requantize.channels.per_channel || numbers.size(4) == 1);
    let channels: Vec<Channel> = (0..count).map(|_| channel(domain, numbers)).collect();
    let count = each(numbers.size(4) == 1);
    let bias: Vec<i32> = (0..count).map(|_| numbers.int32()).collect();
    let zero_point = if domain.requantize.zero_point { numbers.of(output.clone()) } else { 0 };
    let (min, max) = match [numbers.of(output.clone()), numbers.of(output.clone())] {
        _ if !domain.requantize.clamp => (*output.start(), *output.end()),
        // Equal bounds are rarely of interest, and come from numbers that are all alike.
        [a, b] if a == b => (*output.start(), *output.end()),
        [a, b] => (a.min(b), a.max(b)),
    };
    let output = domain.requantize.output;
    Layer { bias: &bias, channels: &channels, zero_point, min, max, output }.stages()
}

/// Replaces the bias by a 64-bit bias of up to 47 bits.
fn wide(mut stages: Vec<Stage>, numbers: &mut Numbers<'_>) -> Vec<Stage> {
    if let Some(Stage::Bias { along, values }) = stages.first() {
        stages[0] = Stage::Bias64 { along: *along, values: wide_biases(values, numbers) };
    }
    stages
}

fn any(domain: &Domain, params: &Params, numbers: &mut Numbers<'_>) -> Vec<Stage> {
    let count = numbers.size(MOST + 1) - 1;
    let mut out: Vec<Stage> = (0..count).map(|_| stage(domain, params, numbers)).collect();
    if numbers.size(4) > 1 {
        out.push(Stage::Cast { to: *numbers.one_of(&[Element::U8, Element::I8, Element::I16]) });
    }
    out
}

fn stage(domain: &Domain, params: &Params, numbers: &mut Numbers<'_>) -> Stage {
    let along = *numbers.one_of(&[Along::Rows, Along::Columns]);
    let count = if numbers.size(2) == 1 { 1 } else { along.size(params) };
    match numbers.size(5) {
        1 => Stage::Bias { along, values: (0..count).map(|_| numbers.int32()).collect() },
        2 => down(domain, numbers),
        3 => {
            let channels = (0..count).map(|_| channel(domain, numbers)).collect();
            Stage::Scale { along, channels, zero_point: numbers.int32() }
        }
        4 => {
            let (a, b) = (numbers.int32(), numbers.int32());
            Stage::Clamp { min: a.min(b), max: a.max(b) }
        }
        _ => {
            let amplitude = 1 + (numbers.int32() & ((1 << 20) - 1));
            Stage::Tanh { zero_point: numbers.int32() >> 8, amplitude }
        }
    }
}
