//! Image to columns as a kernel.

use super::{Kernel, Kind, Params, kernel};
use crate::conv2d::{self, im2col::im2col};

pub(super) const IM2COL: Kernel =
    kernel("tvm-im2col", "TVM im2col: rows of channels copied, padding filled in by runs", Kind::Im2col, run);

fn run(params: &Params, input: &[i32], out: &mut [i32]) {
    let Params::Conv2d(params) = params else { return };
    // One matrix of all channels, for any number of groups.
    im2col(&conv2d::Params { groups: 1, ..*params }, 0, input, params.input_zero_point, out);
}
