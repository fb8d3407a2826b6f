//! Layouts of the spatial pack, NCHW: the values that a tile of 16 pixels and 16 output channels reads and writes are adjacent.
//!
//! Source: RFC on int8 convolution for Arm, section Background; apache/tvm python/tvm/topi/arm_cpu/conv2d_spatial_pack.py, conv2d_spatial_pack_nchw.

use super::{Kernel, Kind, kernel};
use crate::conv2d::{self, im2col::inside};

/// Pixels, and output channels, in a tile.
pub(crate) const TILE: usize = 16;

pub(super) const DATA_PACK: Kernel = kernel(
    "tvm-data-pack",
    "TVM spatial pack of an image NCHW: tiles of 16 pixels of a row, padding filled in",
    Kind::DataPack,
    |params, input, out| params.conv2d(|p| data_pack(p, input, p.input_zero_point, out)),
);

pub(super) const KERNEL_PACK: Kernel = kernel(
    "tvm-kernel-pack",
    "TVM spatial pack of weights OIHW: tiles of 16 output channels",
    Kind::KernelPack,
    |params, input, out| params.conv2d(|p| kernel_pack(p, input, out)),
);

pub(super) const UNPACK: Kernel = kernel(
    "tvm-spatial-unpack",
    "TVM spatial pack, unpacked: tiles of 16 pixels by 16 output channels to NCHW",
    Kind::SpatialUnpack,
    |params, input, out| params.conv2d(|p| unpack(p, input, out)),
);

/// Packs `[B,C,H,W]` to `[B, OH, OW/16, C, KH, KW, 16]`, with `zero_point` outside the image, and 0 for pixels beyond the row.
pub(crate) fn data_pack<T: Copy + Default>(p: &conv2d::Params, input: &[T], zero_point: T, out: &mut [T]) {
    let Ok((rows, columns)) = p.output() else { return };
    let plane = p.height * p.width;
    let mut out = out.as_chunks_mut::<TILE>().0.iter_mut();
    for image in input.chunks_exact(p.channels * plane) {
        for at in 0..rows * columns.div_ceil(TILE) {
            let (y, first) = (at / columns.div_ceil(TILE), at % columns.div_ceil(TILE) * TILE);
            for (plane, i) in image.chunks_exact(plane).flat_map(|plane| (0..p.kernel_h).map(move |i| (plane, i))) {
                let line = inside(y * p.stride_h + i * p.dilation_h, p.top, p.height);
                let line = line.map(|line| &plane[line * p.width..][..p.width]);
                for j in 0..p.kernel_w {
                    let Some(lanes) = out.next() else { return };
                    let value = |x: usize| {
                        let column = inside(x * p.stride_w + j * p.dilation_w, p.left, p.width);
                        line.zip(column).map_or(zero_point, |(line, column)| line[column])
                    };
                    for (x, lane) in (first..).zip(lanes) {
                        *lane = if x < columns { value(x) } else { T::default() };
                    }
                }
            }
        }
    }
}

/// Packs `[O,C,KH,KW]` to `[O/16, C, KH, KW, 16]`, padded by 0.
pub(crate) fn kernel_pack<T: Copy + Default>(p: &conv2d::Params, input: &[T], out: &mut [T]) {
    let depth = p.channels * p.kernel_h * p.kernel_w;
    out.fill(T::default());
    for (o, filter) in input.chunks_exact(depth).enumerate() {
        let places = out[o / TILE * TILE * depth + o % TILE..].iter_mut().step_by(TILE);
        filter.iter().zip(places).for_each(|(element, place)| *place = *element);
    }
}

/// Unpacks `[B, OH, OW/16, O/16, 16, 16]`, with the pixel before the output channel, to `[B,O,OH,OW]`. The padding is dropped.
pub(crate) fn unpack<T: Copy>(p: &conv2d::Params, input: &[T], out: &mut [T]) {
    let Ok((rows, columns)) = p.output() else { return };
    let (tiles, blocks) = (columns.div_ceil(TILE), p.out_channels.div_ceil(TILE));
    for (at, line) in out.chunks_exact_mut(columns).enumerate() {
        let (y, o, batch) = (at % rows, at / rows % p.out_channels, at / rows / p.out_channels);
        for (tile, run) in line.chunks_mut(TILE).enumerate() {
            let block = ((batch * rows + y) * tiles + tile) * blocks + o / TILE;
            let from = input[block * TILE * TILE + o % TILE..].iter().step_by(TILE);
            run.iter_mut().zip(from).for_each(|(value, element)| *value = *element);
        }
    }
}
