//! TVM's `qnn.avg_pool2d` for equal input and output quantization: a cast to int32, `nn.avg_pool2d` with a division toward zero, a clip to the type.
//! Padding is the stored value 0 for any zero point, and the divisor counts it if `count_include_pad` is set.
//!
//! Source: apache/tvm `src/relay/qnn/op/avg_pool2d.cc` (QnnAvgPoolCanonicalize), `include/tvm/topi/nn/pooling.h` (pool_impl).

use super::tflite::DOMAIN;
use super::windows::{clamp, each};
use super::{Counted, Domain, Kernel, Params};
use crate::contract::{Overflow, Promise};
use crate::element::Element;
use crate::kernel::of_elements;

of_elements! {
    "TVM qnn.avg_pool2d of equal quantization: int32 sum, division toward zero",
    Promise { scheme: "tvm", overflow: Overflow::OutOfDomain },
    Domain { element: ELEMENT, counted: Counted::Either, clamp: false, ..DOMAIN },
    "apache/tvm src/relay/qnn/op/avg_pool2d.cc, include/tvm/topi/nn/pooling.h",
    |params, input, out| run(params, ELEMENT, input, out);
    AVERAGE_I8 = "tvm-avg-pool2d-i8", I8;
    AVERAGE_U8 = "tvm-avg-pool2d-u8", U8;
}

#[inline(always)]
fn run(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    each(params, element, input, out, |window| clamp(window.sum() / window.divisor() as i32, params));
}
