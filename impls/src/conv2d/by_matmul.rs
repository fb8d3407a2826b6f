//! Convolutions by matrix product, group by group: im2col, the product of a matrix kernel with its packing and offsets, and interleaving of the
//! groups' results.
//!
//! A zero point is a negative offset. im2col pads with the input's zero point, so that elements outside the image contribute 0. A depthwise
//! convolution has as many groups as channels; the depth of each group is the filter's size.
//!
//! Source: RFC on int8 convolution for Arm, Convolution implementation strategy.

use super::Params;
use super::im2col::{depth, im2col};
use crate::element::Element;
use crate::matmul;

/// Steps of a convolution. A mutant can replace one step and keep the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// Type of the input.
    pub(crate) input: Element,
    /// Type of the weights.
    pub(crate) weights: Element,
    /// Raw value of elements outside the image.
    pub(crate) padding: fn(&Params) -> i32,
    /// Product of im2col `[B*OH*OW, KH*KW*C/groups]` by weights `[KH*KW*C/groups, O/groups]`.
    pub(crate) product: matmul::Run,
}

impl Steps {
    /// Returns the correct steps around a matrix product.
    pub(crate) const fn new(input: Element, weights: Element, product: matmul::Run) -> Self {
        Self { input, weights, padding: |params| params.input_zero_point, product }
    }
}

/// Runs the steps, as the [`super::Run`] of a kernel that consists of them.
pub(crate) fn convolve(steps: &Steps, params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    match steps.input {
        Element::I16 => groups::<2>(steps, params, input, weights, out),
        _ => groups::<1>(steps, params, input, weights, out),
    }
}

/// Convolves every group, on input elements of `BYTES` bytes.
fn groups<const BYTES: usize>(steps: &Steps, params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let share = params.out_channels / params.groups;
    let shape = matmul::Params {
        m: out.len() / params.out_channels,
        n: share,
        k: depth(params),
        lhs_offset: params.input_zero_point.wrapping_neg(),
        rhs_offset: params.weight_zero_point.wrapping_neg(),
    };
    let mut padding = [0; BYTES];
    steps.input.pack(&[(steps.padding)(params)], &mut padding);
    let mut columns = vec![[0; BYTES]; shape.m * shape.k];
    let mut part = vec![0; shape.m * share];
    for group in 0..params.groups {
        im2col(params, group, input.as_chunks::<BYTES>().0, padding, &mut columns);
        let filters = filters(params, steps.weights.bytes() * share, group, weights);
        (steps.product)(&shape, columns.as_flattened(), &filters, &mut part);
        for (row, part) in out.chunks_exact_mut(params.out_channels).zip(part.chunks_exact(share)) {
            row[group * share..][..share].copy_from_slice(part);
        }
    }
}

/// Returns the weights of one group, `share` bytes of each row of the flattened weights.
fn filters(params: &Params, share: usize, group: usize, weights: &[u8]) -> Vec<u8> {
    let rows = weights.chunks_exact(share * params.groups);
    rows.flat_map(|row| &row[group * share..][..share]).copied().collect()
}

/// Builds the convolution by a matrix kernel, with the matrix kernel's forms and its promise over the depth axis of im2col. The first arm keeps its
/// name; the second arm has another name and other loops.
macro_rules! kernel {
    ($matmul:path) => {
        $crate::conv2d::by_matmul::kernel!(
            $matmul,
            $crate::conv2d::by_matmul::convolve,
            None,
            [$matmul.name, $matmul.summary, $matmul.contract.source]
        )
    };
    ($matmul:path, $convolve:path, $transposed:expr, [$name:expr, $summary:expr, $source:expr]) => {{
        use $crate::conv2d::by_matmul::Steps;
        use $crate::conv2d::{Domain, Kernel, Run};
        use $crate::kernel::Native;
        const MATMUL: $crate::matmul::Kernel = $matmul;
        const OPERANDS: $crate::matmul::Domain = MATMUL.contract.domain;
        const PORTABLE: Steps = Steps::new(OPERANDS.lhs, OPERANDS.rhs, MATMUL.portable);
        const NATIVE: Option<Native<Run>> = match MATMUL.native {
            None => None,
            Some(native) => Some(Native {
                isa: native.isa,
                arch: native.arch,
                instructions: native.instructions,
                symbol: native.symbol,
                available: native.available,
                run: match native.run {
                    None => None,
                    Some(_) => Some(|params, input, weights, out| {
                        if let Some(Native { run: Some(product), .. }) = MATMUL.native {
                            let steps = Steps { product, ..PORTABLE };
                            $convolve(&steps, params, input, weights, out);
                        }
                    }),
                },
            }),
        };
        Kernel {
            name: $name,
            summary: $summary,
            contract: $crate::contract::Contract {
                promise: MATMUL.contract.promise,
                domain: Domain { operands: OPERANDS, grouped: true, transposed: $transposed },
                deviations: MATMUL.contract.deviations,
                source: $source,
            },
            portable: |params, input, weights, out| $convolve(&PORTABLE, params, input, weights, out),
            native: NATIVE,
        }
    }};
}
pub(crate) use kernel;
