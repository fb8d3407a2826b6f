//! TVM's convolution by matrix product for Armv8-A, fused: im2col is an index map, weights are packed ahead of time, and the unpacking requantizes.
//!
//! The matrix of im2col is never stored. The product gathers a panel of four output pixels from the image, with the input zero point outside the
//! image and 0 beyond the depth. The weights of a group are packed once, together with the sums of their columns. A block of 4 by 4 sums passes from
//! the micro-kernel through the terms of the offsets, bias, fixed point multiply in 64 bits, zero point and clamp to its place in the output.
//!
//! Source: RFC on int8 convolution for Arm, sections Im2Col (the transform is virtual), Weight transform and Output transform; apache/tvm
//! python/tvm/topi/arm_cpu/conv2d_gemm.py, `compute_conv2d_gemm_without_weight_transform`.

use super::{Domain, Kernel, Params, Run};
use crate::contract::{self, Contract, Overflow};
use crate::conv2d;
use crate::conv2d::im2col::{depth, inside};
use crate::element::Element::{self, I8, U8};
use crate::fpm::tvm_relay::Step;
use crate::matmul;
use crate::matmul::arm_uadalp::{sadalp, uadalp};
use crate::matmul::blocks::{DEPTH, ROWS, block_transpose, padded};
use crate::matmul::driver::MicroKernel;
use crate::simd::Portable;
use crate::simd::form::neon_form;

/// `block(depth_blocks, a, b, [rows, columns], c)`: computes a panel of pixels times a panel of weights, and adds the term of its row and the term of
/// its column to each sum, modulo 2^32.
pub(crate) type BlockKernel = fn(usize, &[u8], &[u8], [&[i32; ROWS]; 2], &mut [i32; ROWS * ROWS]);

/// int8 in portable code.
pub(crate) const SIGNED: BlockKernel =
    |depth_blocks, a, b, terms, c| with_terms(sadalp::<Portable>, depth_blocks, a, b, terms, c);

/// uint8 in portable code.
const UNSIGNED: BlockKernel =
    |depth_blocks, a, b, terms, c| with_terms(uadalp::<Portable>, depth_blocks, a, b, terms, c);

#[inline(always)]
fn with_terms(
    micro_kernel: MicroKernel,
    depth_blocks: usize,
    a: &[u8],
    b: &[u8],
    [rows, columns]: [&[i32; ROWS]; 2],
    c: &mut [i32; ROWS * ROWS],
) {
    micro_kernel(depth_blocks, a, b, c);
    for (row, sums) in rows.iter().zip(c.chunks_exact_mut(ROWS)) {
        for (column, sum) in columns.iter().zip(sums) {
            *sum = sum.wrapping_add(*row).wrapping_add(*column);
        }
    }
}

const fn kernel(name: &'static str, summary: &'static str, element: Element, portable: Run) -> Kernel {
    Kernel {
        name,
        summary,
        contract: Contract::new(
            "ties-up",
            Overflow::Wrap,
            Domain::all([element; 3], contract::Domain::PER_CHANNEL),
            "RFC on int8 convolution for Arm; apache/tvm python/tvm/topi/arm_cpu/conv2d_gemm.py",
        ),
        portable,
        native: None,
    }
}

/// int8, with smull and sadalp.
pub(crate) const I8_FUSED: Kernel = Kernel {
    native: Some(neon_form!(
        NEON,
        "tiebreak_qconv2d_tvm_gemm_i8",
        ["smull", "smull2", "sadalp", "addp"],
        Run,
        fn block(depth_blocks: usize, a: &[u8], b: &[u8], terms: [&[i32; ROWS]; 2], c: &mut [i32; 16]) {
            with_terms(sadalp::<crate::simd::Neon>, depth_blocks, a, b, terms, c);
        },
        |params, input, weights, out| convolve(&Steps::new(I8, block), params, input, weights, out)
    )),
    ..kernel(
        "tvm-conv2d-gemm-i8",
        "TVM GEMM convolution for Armv8-A fused with qnn.requantize: virtual im2col, packed weights, int8",
        I8,
        |params, input, weights, out| convolve(&Steps::new(I8, SIGNED), params, input, weights, out),
    )
};

/// uint8, with umull and uadalp.
pub(super) const U8_FUSED: Kernel = Kernel {
    native: Some(neon_form!(
        NEON,
        "tiebreak_qconv2d_tvm_gemm_u8",
        ["umull", "umull2", "uadalp", "addp"],
        Run,
        fn block(depth_blocks: usize, a: &[u8], b: &[u8], terms: [&[i32; ROWS]; 2], c: &mut [i32; 16]) {
            with_terms(uadalp::<crate::simd::Neon>, depth_blocks, a, b, terms, c);
        },
        |params, input, weights, out| convolve(&Steps::new(U8, block), params, input, weights, out)
    )),
    ..kernel(
        "tvm-conv2d-gemm-u8",
        "TVM GEMM convolution for Armv8-A fused with qnn.requantize: virtual im2col, packed weights, uint8",
        U8,
        |params, input, weights, out| convolve(&Steps::new(U8, UNSIGNED), params, input, weights, out),
    )
};

/// Steps of a convolution, so that a mutant can replace one step and keep the others.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    /// Type of input and weights.
    pub(crate) element: Element,
    /// Computes a block of 4 by 4 sums.
    pub(crate) block: BlockKernel,
    /// Returns the window of the index map.
    pub(crate) window: fn(conv2d::Params) -> conv2d::Params,
    /// Returns the group whose packed weights are used for a group.
    pub(crate) packed: fn(usize) -> usize,
    /// Returns the output channel whose bias and multiplier are used for a column of a group.
    pub(crate) channel: fn(group: usize, share: usize, column: usize) -> usize,
}

impl Steps {
    /// Makes the correct steps around the product of two panels.
    pub(crate) const fn new(element: Element, block: BlockKernel) -> Self {
        Self {
            element,
            block,
            window: |window| window,
            packed: |group| group,
            channel: |group, share, column| group * share + column,
        }
    }
}

/// Packed weights of one group.
struct Packed {
    /// Panels `[share'/4, depth'/16, 4, 16]`, padded by 0.
    panels: Vec<u8>,
    /// Sum of each column, padded with 0 to a whole panel.
    sums: Vec<i32>,
}

impl Packed {
    fn new(steps: &Steps, shape: &conv2d::Params, group: usize, weights: &[u8]) -> Self {
        let (depth, share) = (depth(shape), shape.out_channels / shape.groups);
        let columns = weights.chunks_exact(shape.out_channels).flat_map(|row| &row[group * share..][..share]);
        let columns: Vec<u8> = columns.copied().collect();
        let mut panels = vec![0; padded(depth, DEPTH) * padded(share, ROWS)];
        block_transpose(depth, share, &columns, &mut panels);
        let sum = |column: usize| sum(steps.element, columns.iter().skip(column).step_by(share));
        let mut sums: Vec<i32> = (0..share).map(sum).collect();
        sums.resize(padded(share, ROWS), 0);
        Self { panels, sums }
    }
}

/// Returns the sum of raw elements.
fn sum<'a>(element: Element, bytes: impl Iterator<Item = &'a u8>) -> i32 {
    bytes.fold(0, |sum, byte| sum.wrapping_add(element.read(&[*byte])))
}

/// Runs the steps.
pub(crate) fn convolve(steps: &Steps, params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let shape = &params.shape;
    let Ok((rows, columns)) = shape.output() else { return };
    let product = matmul::Params {
        m: shape.batches * rows * columns,
        n: shape.out_channels / shape.groups,
        k: depth(shape),
        lhs_offset: shape.input_zero_point.wrapping_neg(),
        rhs_offset: shape.weight_zero_point.wrapping_neg(),
    };
    let constant = product.lhs_offset.wrapping_mul(product.rhs_offset).wrapping_mul(product.k as i32);
    let multiply: Vec<Step> = (0..shape.out_channels).map(|o| Step::new(params.channel(o))).collect();
    let window = (steps.window)(*shape);
    let packed: Vec<Packed> = (0..shape.groups).map(|group| Packed::new(steps, shape, group, weights)).collect();
    let panel = padded(product.k, DEPTH) * ROWS;
    let mut pixels = vec![0; panel];
    for (group, first) in (0..shape.groups).flat_map(|g| (0..product.m).step_by(ROWS).map(move |first| (g, first))) {
        let weights = &packed[(steps.packed)(group)];
        let count = ROWS.min(product.m - first);
        let pixel_sums = gather(steps.element, &window, (rows, columns), (group, first, count), input, &mut pixels);
        let rows = pixel_sums.map(|sum| product.rhs_offset.wrapping_mul(sum).wrapping_add(constant));
        for (block, (b, sums)) in weights.panels.chunks_exact(panel).zip(weights.sums.chunks_exact(ROWS)).enumerate() {
            let mut terms = [0; ROWS];
            terms.iter_mut().zip(sums).for_each(|(term, sum)| *term = product.lhs_offset.wrapping_mul(*sum));
            let mut c = [0; ROWS * ROWS];
            (steps.block)(panel / (ROWS * DEPTH), &pixels, b, [&rows, &terms], &mut c);
            for (row, sums) in c.chunks_exact(ROWS).take(count).enumerate() {
                for (column, sum) in (block * ROWS..product.n).zip(sums) {
                    let o = (steps.channel)(group, product.n, column);
                    let scaled = multiply[o].upward(sum.wrapping_add(params.bias(o)));
                    out[(first + row) * shape.out_channels + group * product.n + column] = params.finish(scaled);
                }
            }
        }
    }
}

/// Fills the panel `[depth'/16, 4, 16]` of `count` output pixels from `first` on, and returns the sum of each row. Pixels beyond `count` and elements
/// beyond the depth are 0.
fn gather(
    element: Element,
    window: &conv2d::Params,
    (rows, columns): (usize, usize),
    (group, first, count): (usize, usize, usize),
    input: &[u8],
    panel: &mut [u8],
) -> [i32; ROWS] {
    let share = window.channels / window.groups;
    let mut sums = [0i32; ROWS];
    panel.fill(0);
    for (row, (pixel, sum)) in (first..first + count).zip(&mut sums).enumerate() {
        let (b, y, x) = (pixel / columns / rows, pixel / columns % rows, pixel % columns);
        for k in 0..depth(window) {
            let (tap, c) = (k / share, k % share);
            let line = y * window.stride_h + tap / window.kernel_w * window.dilation_h;
            let column = x * window.stride_w + tap % window.kernel_w * window.dilation_w;
            let place = inside(line, window.top, window.height).zip(inside(column, window.left, window.width));
            let byte = place.map_or(window.input_zero_point as u8, |(line, column)| {
                input[((b * window.height + line) * window.width + column) * window.channels + group * share + c]
            });
            panel[k / DEPTH * DEPTH * ROWS + row * DEPTH + k % DEPTH] = byte;
            *sum = sum.wrapping_add(element.read(&[byte]));
        }
    }
    sums
}
