//! `[B, OH*OW, OC]` to `[B,OH,OW,OC]`: the same elements in the same order.
//!
//! Source: RFC on int8 convolution for Arm, sections Unflattening, and Flattening of the weights.

use super::{Kernel, Kind, kernel};

pub(super) const UNFLATTEN: Kernel =
    kernel("tvm-unflatten", "TVM unflatten: a change of shape only", Kind::Unflatten, |_, input, out| {
        out.copy_from_slice(input);
    });
