//! x86 with AVX2. On bytes, `vpmaddubsw` adds two products in signed 16 bits with saturation (two products of 255 * 127 do not fit), then `vpmaddwd`
//! by ones widens. On int16, `vpmaddwd` suffices. Its only sum that does not fit, with all four factors -32768, wraps to -2^31, as the int32 sum
//! does.
//!
//! Source: apache/tvm python/tvm/topi/x86/tensor_intrin.py, dot_16x1x16_uint8_int8_int32_skylake and
//! dot_16x1x16_uint8_int8_int16; int8 code generation for backends; Intel SDM volume 2.

use super::{Domain, Kernel, contract, micro_wide, portable, wide_form};
use crate::dot::x86_avx2::{bytes, halves};
use crate::element::Element;
use crate::simd::{PortableWide, Wide};

/// Unsigned bytes times signed bytes.
pub(crate) const MADDUBS: Kernel = Kernel {
    name: "x86-maddubs",
    summary: "x86 GEMM: vpmaddubsw saturating at 16 bits, vpmaddwd by ones, vpaddd",
    contract: contract(
        "pairs-s16-saturate",
        Domain::all(Element::U8, Element::I8),
        "apache/tvm python/tvm/topi/x86/tensor_intrin.py; Intel SDM volume 2, PMADDUBSW",
    ),
    portable: portable!(U8, I8, maddubs::<PortableWide>),
    native: Some(wide_form!(
        AVX2,
        "tiebreak_matmul_x86_maddubs",
        ["vpmaddubsw", "vpmaddwd", "vpaddd"],
        U8,
        I8,
        u8,
        maddubs
    )),
};

/// int16.
pub(crate) const MADD: Kernel = Kernel {
    name: "x86-madd",
    summary: "x86 GEMM on int16: vpmaddwd, vpaddd",
    contract: contract(
        "exact",
        Domain::all(Element::I16, Element::I16),
        "int8 code generation for backends (vpmaddwd); Intel SDM volume 2, PMADDWD",
    ),
    portable: portable!(I16, I16, [u8; 2], madd::<PortableWide>),
    native: Some(wide_form!(AVX2, "tiebreak_matmul_x86_madd", ["vpmaddwd", "vpaddd"], I16, I16, [u8; 2], madd)),
};

#[inline(always)]
fn maddubs<W: Wide>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro_wide::by_halves(depth_blocks, a, b, c, bytes::<W>);
}

#[inline(always)]
fn madd<W: Wide>(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
    micro_wide::by_registers(depth_blocks, a, b, c, halves::<W>);
}
