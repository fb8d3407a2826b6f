//! Image to columns as a kernel.

use super::{Kernel, Kind, Params, kernel};
use crate::conv2d::im2col::im2col;

pub(super) const IM2COL: Kernel =
    kernel("tvm-im2col", "TVM im2col: rows of channels copied, padding filled in by runs", Kind::Im2col, run);

fn run(params: &Params, input: &[i32], out: &mut [i32]) {
    params.conv2d(|p| im2col(p, 0, input, p.input_zero_point, out));
}
