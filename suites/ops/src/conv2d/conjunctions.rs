//! Combinations of conditions: groups, strides, dilations, filters, padding of each side, zero points, batches, one row or column of results,
//! remainders of the image, whole channel blocks, and alignment. Some case has every three conditions. Specialized code runs only when several
//! conditions hold, so only such a case shows its faults.

use super::plan::spec;
use super::transposed::shaped;
use crate::matmul::plan::by_turns;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::covering::rows;
use tiebreak_common::{Budget, below, stream};
use tiebreak_engine::operation::{Fill, Spec};
use tiebreak_impls::conv2d::{Domain, Params};

/// Column of a covering-array row.
#[derive(Clone, Copy)]
enum Factor {
    Groups,
    Stride,
    Dilation,
    Filter,
    Top,
    Bottom,
    Left,
    Right,
    InputZeroPoint,
    WeightZeroPoint,
    Batches,
    Results,
    Rest,
    Channels,
    OutChannels,
    Alignment,
}

/// Number of levels of each factor, in the order of [`Factor`].
const LEVELS: [usize; 16] = [4, 5, 4, 4, 2, 2, 2, 2, 3, 3, 2, 4, 2, 3, 3, 2];

/// Factors with all levels in a short run too: depthwise convolutions, several results a channel, one row and one column each have their own code.
const WHOLE: [usize; 2] = [Factor::Groups as usize, Factor::Results as usize];

/// Returns specs in which every three conditions occur together.
pub(crate) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "conv2d/conjunctions");
    let mut levels = LEVELS;
    if !domain.grouped {
        levels[Factor::Groups as usize] = 1;
    }
    rows(&levels, &WHOLE, budget.every_tail, &mut rng).iter().map(|row| of(domain, row, &mut rng)).collect()
}

fn between(range: RangeInclusive<usize>, rng: &mut ChaCha8Rng) -> usize {
    range.start() + below(rng, (range.end() - range.start() + 1) as u32) as usize
}

/// Draws two sides: equal or unequal, depending on the level.
fn sides(level: usize, sizes: RangeInclusive<usize>, rng: &mut ChaCha8Rng) -> [usize; 2] {
    let one = between(sizes, rng);
    match level {
        0 => [1, 1],
        1 => [one, one],
        2 => [1, one],
        _ => [one, 1],
    }
}

fn of(domain: &Domain, row: &[usize], rng: &mut ChaCha8Rng) -> Spec<Params> {
    let level = |factor: Factor| row[factor as usize];
    let mut p = Params::default();
    let mut padding = |factor: Factor| if level(factor) == 0 { 0 } else { between(1..=3, rng) };
    [p.top, p.bottom, p.left, p.right] = [Factor::Top, Factor::Bottom, Factor::Left, Factor::Right].map(&mut padding);
    let (one_row, one_column) = [(false, false), (true, false), (false, true), (true, true)][level(Factor::Results)];
    [p.kernel_h, p.kernel_w] = match level(Factor::Filter) {
        0 => [3, 3],
        1 => [1, 1],
        2 => sides(2 + between(0..=1, rng), 2..=5, rng),
        _ => [between(2..=5, rng), between(2..=5, rng)],
    };
    // Long enough for one row of results with the padding.
    if p.kernel_h > 1 && one_row {
        p.kernel_h = p.kernel_h.max(p.top + p.bottom + 1);
    }
    if p.kernel_w > 1 && one_column {
        p.kernel_w = p.kernel_w.max(p.left + p.right + 1);
    }
    [p.stride_h, p.stride_w] = match level(Factor::Stride) {
        // Patches without gap or overlap.
        4 => [p.kernel_h, p.kernel_w],
        level => sides(level, 2..=3, rng),
    };
    [p.dilation_h, p.dilation_w] = sides(level(Factor::Dilation), 2..=3, rng);
    channels(&mut p, row, rng);
    p.batches = if level(Factor::Batches) == 0 { 1 } else { between(2..=3, rng) };
    if domain.transposed.is_some() {
        // One row or column of the input. The remainder of the last step is output padding.
        [p.height, p.width] = [one_row, one_column].map(|one| if one { 1 } else { between(2..=3, rng) });
        let mut more = || if level(Factor::Rest) == 0 { 0 } else { between(1..=2, rng) };
        [p.output_padding_h, p.output_padding_w] = [more(), more()];
        p = shaped(domain.transposed, p);
        return pointed(domain, row, p, rng);
    }
    // Image size for the requested number of results, with or without a remainder after the last step.
    let mut size = |one: bool, [kernel, stride, dilation, padding]: [usize; 4]| {
        let steps = if one { 0 } else { between(2..=4, rng) };
        let rest = if level(Factor::Rest) == 0 || stride == 1 { 0 } else { between(1..=stride - 1, rng) };
        ((kernel - 1) * dilation + 1 + steps * stride + rest).saturating_sub(padding).max(1)
    };
    p.height = size(one_row, [p.kernel_h, p.stride_h, p.dilation_h, p.top + p.bottom]);
    p.width = size(one_column, [p.kernel_w, p.stride_w, p.dilation_w, p.left + p.right]);
    pointed(domain, row, p, rng)
}

/// Adds zero points and an alignment to the shape.
fn pointed(domain: &Domain, row: &[usize], mut p: Params, rng: &mut ChaCha8Rng) -> Spec<Params> {
    let level = |factor: Factor| row[factor as usize];
    let turn = below(rng, 1 << 16) as usize;
    let zero_point = |level: usize, range: RangeInclusive<i32>| match (level, by_turns(&range, turn)) {
        (0, _) => 0,
        (1, any) if any != 0 => any,
        _ => {
            if turn.is_multiple_of(2) && *range.start() != 0 {
                *range.start()
            } else {
                *range.end()
            }
        }
    };
    p.input_zero_point = zero_point(level(Factor::InputZeroPoint), domain.operands.lhs_values.clone());
    p.weight_zero_point = zero_point(level(Factor::WeightZeroPoint), domain.operands.rhs.range());
    let misalign = if level(Factor::Alignment) == 0 { 0 } else { between(1..=15, rng) };
    Spec { misalign, ..spec(p, Fill::Varied, Fill::Varied) }
}

/// Sets the numbers of input channels, output channels and groups.
fn channels(p: &mut Params, row: &[usize], rng: &mut ChaCha8Rng) {
    let mut count = |level: usize| match level {
        0 => 8 * between(1..=3, rng) + between(1..=7, rng),
        1 => 16 * between(1..=2, rng),
        _ => between(1..=4, rng),
    };
    let (inside, outside) = (count(row[Factor::Channels as usize]), count(row[Factor::OutChannels as usize]));
    let some = between(2..=3, rng);
    (p.groups, p.channels, p.out_channels) = match row[Factor::Groups as usize] {
        0 => (1, inside, outside),
        1 => (inside, inside, inside),
        // Several channels in each group, and several results of each channel.
        2 => (some, some * inside.div_ceil(some), some * outside.div_ceil(some)),
        _ => (inside, inside, some * inside),
    };
}
