//! Arm, the schedule that preceded the GEMM. Image and weights are widened to int16 in the layout NCHW and packed in tiles of 16 pixels and of 16
//! output channels. For each element of the depth, `smlal` adds the outer product of a column of 16 and a row of 16.
//!
//! Zero points are subtracted when elements are widened: a difference of two bytes has 9 bits, and a product of two differences has 18 bits.
//!
//! Source: RFC on int8 convolution for Arm, section Background; apache/tvm python/tvm/topi/arm_cpu/conv2d_spatial_pack.py, conv2d_spatial_pack_nchw.

use super::{Domain, Kernel, Params};
use crate::contract::{Contract, Overflow};
use crate::element::Element;
use crate::kernel::Native;
use crate::matmul;
use crate::simd::form::neon_form;
use crate::simd::{BYTES, LANES, Portable, Register};
use crate::transform::spatial::{TILE, data_pack, kernel_pack, unpack};
use std::ops::RangeInclusive;

/// Number of results of a tile: 16 pixels of 16 output channels.
const BLOCK: usize = TILE * TILE;

/// `outer(data, weights, c)`: `c[16*p + o]` is the sum over the depth of `data[d][p] * weights[d][o]`.
type Outer = fn(&[[i16; TILE]], &[[i16; TILE]], &mut [i32; BLOCK]);

/// Outer products by instructions. Both kernels share them, because their elements are int16 here.
const MICRO: Native<Outer> = neon_form!(
    NEON,
    "tiebreak_conv2d_spatial_pack",
    ["smlal", "smlal2"],
    Outer,
    outer::<Neon>(data: &[[i16; TILE]], weights: &[[i16; TILE]], c: &mut [i32; BLOCK])
);

/// Builds the kernel for elements of a type. `$zero_points` is the range of the negated weight zero points.
macro_rules! spatial {
    ($name:literal, $element:ident, $zero_points:expr) => {
        Kernel {
            name: $name,
            summary: "Arm spatial pack, NCHW: bytes widened to int16, outer products of 1x16 by 16x1, smlal, smlal2",
            contract: Contract::new(
                "exact",
                Overflow::Wrap,
                Domain { operands: operands(Element::$element, $zero_points), grouped: true, transposed: None },
                "RFC on int8 convolution for Arm, Background; apache/tvm python/tvm/topi/arm_cpu/conv2d_spatial_pack.py",
            ),
            portable: |params, input, weights, out| {
                convolve(outer::<Portable>, Element::$element, params, (input, weights), out)
            },
            native: Some(Native {
                isa: MICRO.isa,
                arch: MICRO.arch,
                instructions: MICRO.instructions,
                symbol: MICRO.symbol,
                available: MICRO.available,
                run: match MICRO.run {
                    None => None,
                    Some(_) => Some(|params, input, weights, out| {
                        if let Some(micro) = MICRO.run {
                            convolve(micro, Element::$element, params, (input, weights), out);
                        }
                    }),
                },
            }),
        }
    };
}

/// int8.
pub(super) const SIGNED: Kernel = spatial!("arm-spatial-pack-i8", I8, -127..=128);
/// uint8.
pub(super) const UNSIGNED: Kernel = spatial!("arm-spatial-pack-u8", U8, -255..=0);

const fn operands(element: Element, rhs_offsets: RangeInclusive<i32>) -> matmul::Domain {
    let (lhs_offsets, depth) = (i32::MIN..=i32::MAX, 1..=usize::MAX);
    let (lhs_values, rhs_values) = (element.range(), element.range());
    matmul::Domain { lhs: element, rhs: element, lhs_values, rhs_values, depth, lhs_offsets, rhs_offsets }
}

#[inline(always)]
fn outer<R: Register>(data: &[[i16; TILE]], weights: &[[i16; TILE]], c: &mut [i32; BLOCK]) {
    let mut acc = [[R::splat(0); TILE / LANES]; TILE];
    for (data, weights) in data.iter().zip(weights) {
        let (low, high) = (row::<R>(&weights[..8]), row::<R>(&weights[8..]));
        for (acc, pixel) in acc.iter_mut().zip(data) {
            // Repeats the element in each of eight lanes.
            let pixel = R::splat((u32::from(*pixel as u16) * 0x1_0001) as i32);
            acc[0] = acc[0].smlal_4s(pixel, low);
            acc[1] = acc[1].smlal2_4s(pixel, low);
            acc[2] = acc[2].smlal_4s(pixel, high);
            acc[3] = acc[3].smlal2_4s(pixel, high);
        }
    }
    for (acc, c) in acc.as_flattened().iter().zip(c.as_chunks_mut::<LANES>().0) {
        acc.store(c);
    }
}

/// Loads eight int16.
#[inline(always)]
fn row<R: Register>(values: &[i16]) -> R {
    let mut bytes = [0; BYTES];
    for (bytes, value) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(values) {
        *bytes = value.to_le_bytes();
    }
    R::load_bytes(&bytes)
}

/// Convolves every group: NHWC to NCHW, packing, outer products, unpacking, NCHW to NHWC.
fn convolve(outer: Outer, element: Element, params: &Params, (input, weights): (&[u8], &[u8]), out: &mut [i32]) {
    let (groups, share) = (params.groups, params.out_channels / params.groups);
    let one = Params { groups: 1, channels: params.channels / groups, out_channels: share, ..*params };
    let Ok((rows, columns)) = one.output() else { return };
    let (plane, depth) = (params.height * params.width, one.channels * params.kernel_h * params.kernel_w);
    let taps = params.kernel_h * params.kernel_w;
    let widened = |byte: u8, zero_point: i32| (element.read(&[byte]) - zero_point) as i16;
    for group in 0..groups {
        let mut image = vec![0; params.batches * one.channels * plane];
        for (at, value) in image.iter_mut().enumerate() {
            let (pixel, channel, batch) = (at % plane, at / plane % one.channels, at / plane / one.channels);
            let from = (batch * plane + pixel) * params.channels + group * one.channels + channel;
            *value = widened(input[from], params.input_zero_point);
        }
        let mut filters = vec![0; share * depth];
        for (at, value) in filters.iter_mut().enumerate() {
            let (tap, channel, o) = (at % taps, at / taps % one.channels, at / depth);
            let from = (tap * one.channels + channel) * params.out_channels + group * share + o;
            *value = widened(weights[from], params.weight_zero_point);
        }
        let results = group_of(outer, &one, (&image, &filters), depth);
        for (at, value) in results.iter().enumerate() {
            let (pixel, o, batch) =
                (at % (rows * columns), at / (rows * columns) % share, at / (rows * columns) / share);
            out[(batch * rows * columns + pixel) * params.out_channels + group * share + o] = *value;
        }
    }
}

/// Returns the results of one group in NCHW, `[B,O,OH,OW]`.
fn group_of(outer: Outer, one: &Params, (image, filters): (&[i16], &[i16]), depth: usize) -> Vec<i32> {
    let Ok((rows, columns)) = one.output() else { return Vec::new() };
    let tiles = one.batches * rows * columns.div_ceil(TILE);
    let mut data = vec![0; tiles * depth * TILE];
    data_pack(one, image, 0, &mut data);
    let mut packed = vec![0; one.out_channels.next_multiple_of(TILE) * depth];
    kernel_pack(one, filters, &mut packed);
    let mut blocks = vec![0; tiles * one.out_channels.div_ceil(TILE) * BLOCK];
    let mut block = blocks.as_chunks_mut::<BLOCK>().0.iter_mut();
    for data in data.as_chunks::<TILE>().0.chunks_exact(depth) {
        // `block` is the second operand of `zip`: as the first operand, it would lose a block at the end of each tile.
        for (weights, block) in packed.as_chunks::<TILE>().0.chunks_exact(depth).zip(block.by_ref()) {
            outer(data, weights, block);
        }
    }
    let mut out = vec![0; one.batches * one.out_channels * rows * columns];
    unpack(one, &blocks, &mut out);
    out
}
