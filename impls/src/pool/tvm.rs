//! TVM's `qnn.avg_pool2d` for equal input and output quantization: a cast to int32, `nn.avg_pool2d` with a division toward zero, a clip to the type.
//! Padding is the stored value 0 for any zero point, and the divisor counts it if `count_include_pad` is set.
//!
//! Source: apache/tvm `src/relay/qnn/op/avg_pool2d.cc` (QnnAvgPoolCanonicalize), `include/tvm/topi/nn/pooling.h` (pool_impl).

use super::tflite::DOMAIN;
use super::windows::{clamp, each};
use super::{Counted, Domain, Kernel, Run};
use crate::contract::{Overflow, Promise};
use crate::element::Element::{self, I8, U8};

/// Average of int8.
pub(super) const AVERAGE_I8: Kernel = average("tvm-avg-pool2d-i8", I8, |params, input, out| {
    each(params, I8, input, out, |window| clamp(window.sum() / window.divisor() as i32, params));
});

/// Average of unsigned bytes.
pub(super) const AVERAGE_U8: Kernel = average("tvm-avg-pool2d-u8", U8, |params, input, out| {
    each(params, U8, input, out, |window| clamp(window.sum() / window.divisor() as i32, params));
});

const fn average(name: &'static str, element: Element, run: Run) -> Kernel {
    Kernel::scalar(
        name,
        "TVM qnn.avg_pool2d of equal quantization: int32 sum, division toward zero",
        Promise { scheme: "tvm", overflow: Overflow::OutOfDomain },
        Domain { element, counted: Counted::Either, clamp: false, ..DOMAIN },
        "apache/tvm src/relay/qnn/op/avg_pool2d.cc, include/tvm/topi/nn/pooling.h",
        run,
    )
}
