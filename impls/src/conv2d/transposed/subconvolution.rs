//! XNNPACK: a transposed convolution as one convolution for each phase of the strides. A phase is the remainder of an output position, plus the
//! padding before the output, by the stride. Outputs of one phase use the same part of the filter, every `stride`th element, and need no elements
//! between those of the input. An indirection buffer points to pixels, or to a buffer of zero points outside the image, and a matrix kernel
//! multiplies them.
//!
//! A dilated filter, a stride of 1, or a stride above the filter's size is a single convolution by the whole filter (`igemm`), with zero points at
//! filter elements without an input element.
//!
//! Source: google/XNNPACK src/operators/deconvolution-nhwc.c, create_deconvolution2d_nhwc (`xnn_microkernel_type_subconv2d`); src/indirection.c,
//! xnn_indirection_init_subconv2d and xnn_indirection_init_deconv2d.

use super::{Dilation, Outputs, Side, Transposed};
use crate::conv2d::by_matmul::{self, Steps};
use crate::conv2d::{Kernel, Params};
use crate::matmul::{self, arm_dotprod, arm_int16};

const TAKEN: Transposed = Transposed { dilation: Dilation::Any, outputs: Outputs::BelowStride };
const SOURCE: &str = "google/XNNPACK src/operators/deconvolution-nhwc.c; src/indirection.c";

/// int8, by the dot-product instruction.
pub(in crate::conv2d) const QS8: Kernel = by_matmul::kernel!(
    arm_dotprod::SDOT,
    convolve,
    Some(TAKEN),
    [
        "xnnpack-deconvolution-qs8",
        "XNNPACK deconvolution, int8: a subconvolution for each phase of the strides, sdot",
        SOURCE
    ]
);

/// uint8 widened to int16.
pub(in crate::conv2d) const QU8: Kernel = by_matmul::kernel!(
    arm_int16::UMLAL,
    convolve,
    Some(TAKEN),
    [
        "xnnpack-deconvolution-qu8",
        "XNNPACK deconvolution, uint8: a subconvolution for each phase of the strides, umlal",
        SOURCE
    ]
);

/// One phase along one side: the outputs, and the filter elements that they use.
struct Phase {
    outputs: Vec<usize>,
    taps: Vec<usize>,
}

/// Function from an output position to the remainder by the stride, its phase.
pub(crate) type PhaseOf = fn(&Side, usize) -> usize;

/// Phase of an output: the remainder of its position plus the padding before the output.
pub(crate) const OUTPUT_PHASE: PhaseOf = |side, output| (output + side.padding[0]) % side.stride;

fn phases(side: &Side, outputs: usize, single: bool, rest: PhaseOf) -> Vec<Phase> {
    if single {
        return vec![Phase { outputs: (0..outputs).collect(), taps: (0..side.kernel).collect() }];
    }
    let phase = |of: usize| Phase {
        outputs: (0..outputs).filter(|output| rest(side, *output) == of).collect(),
        taps: (of..side.kernel).step_by(side.stride).collect(),
    };
    (0..side.stride).map(phase).collect()
}

/// Returns the input element that an output combines with a filter element; `None` if there is none.
fn met(side: &Side, output: usize, tap: usize, single: bool) -> Option<usize> {
    let place = output + side.padding[0];
    let at = if single {
        let steps = place.checked_sub(tap * side.dilation)?;
        steps.is_multiple_of(side.stride).then_some(steps / side.stride)?
    } else {
        (place / side.stride).checked_sub(tap / side.stride)?
    };
    (at < side.size).then_some(at)
}

/// Computes every phase.
pub(crate) fn convolve(steps: &Steps, p: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    by_phases(steps, OUTPUT_PHASE, p, (input, weights), out);
}

/// Computes every phase, with outputs assigned to phases by `rest`.
pub(crate) fn by_phases(steps: &Steps, rest: PhaseOf, p: &Params, operands: (&[u8], &[u8]), out: &mut [i32]) {
    let Ok((rows, columns)) = p.output() else { return };
    let [of_rows, of_columns] = [Side::rows(p), Side::columns(p)];
    let sides = [&of_rows, &of_columns];
    let single = sides.iter().all(|side| side.stride == 1)
        || sides.iter().any(|side| side.dilation > 1 || side.stride > side.kernel);
    let across = phases(&of_columns, columns, single, rest);
    for down in phases(&of_rows, rows, single, rest) {
        for across in &across {
            for group in 0..p.groups {
                subconvolution(steps, p, [&down, across], (group, single), operands, out);
            }
        }
    }
}

/// Computes one phase of one group: indirection, product, and copy of the results to their positions.
fn subconvolution(
    steps: &Steps,
    p: &Params,
    [down, across]: [&Phase; 2],
    (group, single): (usize, bool),
    (input, weights): (&[u8], &[u8]),
    out: &mut [i32],
) {
    let Ok((rows, columns)) = p.output() else { return };
    let [of_rows, of_columns] = [Side::rows(p), Side::columns(p)];
    let (depth, share) = (p.channels / p.groups, p.out_channels / p.groups);
    let taps: Vec<_> = down.taps.iter().flat_map(|i| across.taps.iter().map(move |j| (*i, *j))).collect();
    let places: Vec<_> = (0..p.batches)
        .flat_map(|b| down.outputs.iter().flat_map(move |y| across.outputs.iter().map(move |x| (b, *y, *x))))
        .collect();
    let outside = vec![(steps.padding)(p) as u8; depth];
    let mut pixels = Vec::with_capacity(places.len() * taps.len() * depth);
    for (b, y, x) in &places {
        for (i, j) in &taps {
            let at = met(&of_rows, *y, *i, single).zip(met(&of_columns, *x, *j, single));
            pixels.extend_from_slice(match at {
                None => &outside,
                Some((row, column)) => {
                    &input[((b * p.height + row) * p.width + column) * p.channels + group * depth..][..depth]
                }
            });
        }
    }
    let row = |(i, j): &(usize, usize), c: usize| {
        &weights[((i * p.kernel_w + j) * depth + c) * p.out_channels + group * share..][..share]
    };
    let filters: Vec<u8> = taps.iter().flat_map(|tap| (0..depth).flat_map(move |c| row(tap, c))).copied().collect();
    let shape = matmul::Params {
        m: places.len(),
        n: share,
        k: taps.len() * depth,
        lhs_offset: p.input_zero_point.wrapping_neg(),
        rhs_offset: p.weight_zero_point.wrapping_neg(),
    };
    let mut sums = vec![0; shape.m * shape.n];
    if shape.m > 0 {
        (steps.product)(&shape, &pixels, &filters, &mut sums);
    }
    for ((b, y, x), sums) in places.iter().zip(sums.chunks_exact(share)) {
        out[((b * rows + y) * columns + x) * p.out_channels + group * share..][..share].copy_from_slice(sums);
    }
}
