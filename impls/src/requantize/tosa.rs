//! TOSA: `tosa.rescale`, as MLIR lowers it: the input less its zero point, `apply_scale`, the output's zero point, clamp.
//!
//! The input zero point is the negated bias. Each sum is an int32 and wraps, as `arith.subi` and `arith.addi` do. An `apply_scale` result beyond
//! int32 also wraps; the specification REQUIREs that there is none. The clamp is to the output type. The legalization of TFLite rounds doubly unless
//! it is built with `TFLITE_SINGLE_ROUNDING`.
//!
//! Source: TOSA specification, RESCALE; llvm/llvm-project `mlir/lib/Conversion/TosaToLinalg/TosaToLinalg.cpp`, `RescaleConverter`;
//! tensorflow/tensorflow `tensorflow/compiler/mlir/tosa/transforms/legalize_utils.cc`, `buildRescale`.

use super::{Domain, Kernel, Params, Run, layer};
use crate::contract::{self, Overflow, Promise};
use crate::element::Element;
use crate::fpm::tosa::{self, apply_scale_32};

const SOURCE: &str = "TOSA specification, RESCALE; mlir/lib/Conversion/TosaToLinalg/TosaToLinalg.cpp, RescaleConverter";

/// `DOUBLE_ROUND` to int8.
pub(super) const DOUBLE_I8: Kernel = rescale(
    "tosa-rescale-i8",
    "tosa.rescale to int8, double rounding",
    "tosa-apply-scale-32-double",
    Element::I8,
    run::<true>,
);

/// `DOUBLE_ROUND` to unsigned bytes.
pub(super) const DOUBLE_U8: Kernel = rescale(
    "tosa-rescale-u8",
    "tosa.rescale to uint8, double rounding",
    "tosa-apply-scale-32-double",
    Element::U8,
    run::<true>,
);

/// `SINGLE_ROUND` to int8.
pub(super) const SINGLE_I8: Kernel = rescale(
    "tosa-rescale-single-i8",
    "tosa.rescale to int8, single rounding",
    "tosa-apply-scale-32-single",
    Element::I8,
    run::<false>,
);

/// `SINGLE_ROUND` to int16.
pub(super) const SINGLE_I16: Kernel = rescale(
    "tosa-rescale-single-i16",
    "tosa.rescale to int16, single rounding",
    "tosa-apply-scale-32-single",
    Element::I16,
    run::<false>,
);

const fn rescale(name: &'static str, summary: &'static str, scheme: &'static str, output: Element, run: Run) -> Kernel {
    let channels = contract::Domain { per_channel: true, ..tosa::DOMAIN };
    let domain = Domain { output, channels, bias: true, zero_point: true, clamp: false };
    Kernel::scalar(name, summary, Promise { scheme, overflow: Overflow::Wrap }, domain, SOURCE, run)
}

fn run<const DOUBLE_ROUND: bool>(params: &Params, acc: &[i32], out: &mut [i32]) {
    layer(params, acc, out, apply_scale_32::<DOUBLE_ROUND>);
}
