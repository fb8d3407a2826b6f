//! `[B, OH*OW, OC]` to `[B,OH,OW,OC]`: another name for the same elements.
//!
//! Source: RFC on int8 convolution for Arm, sections Unflattening, and Flattening of the weights.

use super::{Kernel, Kind, kernel};

pub(super) const UNFLATTEN: Kernel =
    kernel("tvm-unflatten", "TVM unflatten: a change of shape only", Kind::Unflatten, |_, input, out| {
        out.copy_from_slice(input);
    });
