//! x86 with VNNI: the accumulators of `vpdpbusd` wrap; those of `vpdpbusds` saturate at each step. With saturation, the result depends on the order
//! of the depth and on the number of accumulators for each result. Here there are four, and each block of 16 elements adds a quad to each
//! accumulator.
//!
//! Source: Intel SDM volume 2, VPDPBUSD, VPDPBUSDS; apache/tvm python/tvm/topi/x86/tensor_intrin.py,
//! dot_16x1x16_uint8_int8_int32_cascadelake.

use super::{Domain, Kernel, contract, micro_wide, portable, wide_form};
use crate::element::Element;
use crate::simd::{PortableWide, Wide};

const SOURCE: &str = "apache/tvm python/tvm/topi/x86/tensor_intrin.py; Intel SDM volume 2, VPDPBUSD and VPDPBUSDS";

/// Kernel with wrapping accumulators.
pub(crate) const VNNI: Kernel = Kernel {
    name: "x86-vnni",
    summary: "x86 GEMM with VNNI: vpdpbusd",
    contract: contract("exact", Domain::all(Element::U8, Element::I8), SOURCE),
    portable: portable!(U8, I8, dpbusd::<PortableWide>),
    native: Some(wide_form!(VNNI, "tiebreak_matmul_x86_vnni", ["vpdpbusd"], U8, I8, u8, dpbusd)),
};

/// Kernel with saturating accumulators.
pub(crate) const SATURATING: Kernel = Kernel {
    name: "x86-vnni-saturating",
    summary: "x86 GEMM with VNNI: vpdpbusds, saturating at 32 bits in each of four accumulators",
    contract: contract("quads-32-saturate", Domain::all(Element::U8, Element::I8), SOURCE),
    portable: portable!(U8, I8, dpbusds::<PortableWide>),
    native: Some(wide_form!(VNNI, "tiebreak_matmul_x86_vnni_saturating", ["vpdpbusds"], U8, I8, u8, dpbusds)),
};

#[inline(always)]
fn dpbusd<W: Wide>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro_wide::by_halves(depth_blocks, a, b, c, W::vpdpbusd);
}

#[inline(always)]
fn dpbusds<W: Wide>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro_wide::by_halves(depth_blocks, a, b, c, W::vpdpbusds);
}
