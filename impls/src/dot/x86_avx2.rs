//! x86 with AVX2: `vpmaddubsw` on bytes, whose pair sums saturate at 16 bits, and `vpmaddwd` on int16.
//!
//! Source: Intel SDM volume 2, PMADDUBSW, PMADDWD; int8 code generation for backends; apache/tvm
//! python/tvm/topi/x86/tensor_intrin.py, dot_16x1x16_uint8_int8_int32_skylake.

use super::{Domain, Kernel, wide_form, wide_steps};
use crate::contract::{Contract, Overflow};
use crate::element::Element;
use crate::simd::{PortableWide, WIDE_LANES, Wide};

pub(super) const MADDUBS: Kernel = Kernel {
    name: "x86-maddubs",
    summary: "x86: vpmaddubsw saturating at 16 bits, vpmaddwd by ones, vpaddd",
    contract: Contract::new(
        "products-4-s16-saturate",
        Overflow::Wrap,
        Domain {
            lhs: Element::U8,
            rhs: Element::I8,
            results: WIDE_LANES,
            elements: 32,
            pairs: &[[0, 1], [4, 5], [8, 9], [12, 13], [16, 17], [20, 21], [24, 25], [28, 29]],
        },
        "apache/tvm python/tvm/topi/x86/tensor_intrin.py; Intel SDM volume 2, PMADDUBSW",
    ),
    portable: maddubs::<PortableWide>,
    native: Some(wide_form!(AVX2, "tiebreak_dot_x86_maddubs", ["vpmaddubsw", "vpmaddwd", "vpaddd"], maddubs)),
};

pub(super) const MADD: Kernel = Kernel {
    name: "x86-madd",
    summary: "x86 on int16: vpmaddwd, vpaddd",
    contract: Contract::new(
        "products-2",
        Overflow::Wrap,
        Domain { lhs: Element::I16, rhs: Element::I16, results: WIDE_LANES, elements: 16, pairs: &[] },
        "int8 code generation for backends (vpmaddwd); Intel SDM volume 2, PMADDWD",
    ),
    portable: madd::<PortableWide>,
    native: Some(wide_form!(AVX2, "tiebreak_dot_x86_madd", ["vpmaddwd", "vpaddd"], madd)),
};

wide_steps!(pub(super) maddubs: bytes::<W>, madd: halves::<W>);

/// Computes one step on unsigned bytes times signed bytes.
#[inline(always)]
pub(crate) fn bytes<W: Wide>(acc: W, a: W, b: W) -> W {
    acc.vpaddd(a.vpmaddubsw(b).vpmaddwd(W::splat_halves(1)))
}

/// Computes one step on int16. Two products of -32768 by -32768 wrap to -2^31, the same value as a wrapping int32 sum.
#[inline(always)]
pub(crate) fn halves<W: Wide>(acc: W, a: W, b: W) -> W {
    acc.vpaddd(a.vpmaddwd(b))
}
