//! x86 with AVX-512: the steps of [`super::x86_avx2`] and [`super::x86_vnni`] on registers of 512 bits.
//!
//! Source: Intel SDM volume 2, PMADDUBSW, PMADDWD, VPDPBUSD; apache/tvm python/tvm/topi/x86/tensor_intrin.py, dot_16x1x16_uint8_int8_int32_skylake and
//! _cascadelake.

use super::{Domain, Kernel, x86_avx2, x86_vnni};
use crate::contract::{Contract, Overflow};
use crate::element::Element;
use crate::simd::PortableWide;
use crate::simd::form::avx512_form;

const SOURCE: &str = "apache/tvm python/tvm/topi/x86/tensor_intrin.py; Intel SDM volume 2, PMADDUBSW and VPDPBUSD";

/// Number of results of a step.
#[cfg(target_arch = "x86_64")]
const RESULTS: usize = 16;

pub(super) const MADDUBS: Kernel = Kernel {
    name: "x86-maddubs-512",
    summary: "x86 on 512 bits: vpmaddubsw saturating at 16 bits, vpmaddwd by ones, vpaddd",
    contract: Contract::new(
        "products-4-s16-saturate",
        Overflow::Wrap,
        Domain {
            lhs: Element::U8,
            rhs: Element::I8,
            results: 16,
            elements: 64,
            pairs: &[
                [0, 1],
                [4, 5],
                [8, 9],
                [12, 13],
                [16, 17],
                [20, 21],
                [24, 25],
                [28, 29],
                [32, 33],
                [36, 37],
                [40, 41],
                [44, 45],
                [48, 49],
                [52, 53],
                [56, 57],
                [60, 61],
            ],
        },
        SOURCE,
    ),
    portable: x86_avx2::maddubs::<PortableWide>,
    native: Some(avx512_form!(
        AVX512,
        "tiebreak_dot_x86_maddubs_512",
        ["vpmaddubsw", "vpmaddwd", "vpaddd"],
        super::Run,
        fn run(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
            let operands = a.as_chunks::<64>().0.iter().zip(b.as_chunks::<64>().0);
            let results = acc.as_chunks::<RESULTS>().0.iter().zip(out.as_chunks_mut::<RESULTS>().0);
            for ((acc, out), (a, b)) in results.zip(operands) {
                let mut sums = *acc;
                // Makes 16-bit ones by a shift of all-ones.
                crate::simd::avx512::step!(
                    sums,
                    a,
                    b,
                    "vpmaddubsw zmm1, zmm1, zmm2",
                    "vpternlogd zmm3, zmm3, zmm3, 0xff",
                    "vpsrlw zmm3, zmm3, 15",
                    "vpmaddwd zmm1, zmm1, zmm3",
                    "vpaddd zmm0, zmm0, zmm1"
                );
                *out = sums;
            }
        }
    )),
};

pub(super) const VNNI: Kernel = Kernel {
    name: "x86-vnni-512",
    summary: "x86 on 512 bits: vpdpbusd",
    contract: Contract::new(
        "products-4",
        Overflow::Wrap,
        Domain { lhs: Element::U8, rhs: Element::I8, results: 16, elements: 64, pairs: &[] },
        SOURCE,
    ),
    portable: x86_vnni::dpbusd::<PortableWide>,
    native: Some(avx512_form!(
        VNNI512,
        "tiebreak_dot_x86_vnni_512",
        ["vpdpbusd"],
        super::Run,
        fn run(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
            let operands = a.as_chunks::<64>().0.iter().zip(b.as_chunks::<64>().0);
            let results = acc.as_chunks::<RESULTS>().0.iter().zip(out.as_chunks_mut::<RESULTS>().0);
            for ((acc, out), (a, b)) in results.zip(operands) {
                let mut sums = *acc;
                crate::simd::avx512::step!(sums, a, b, "vpdpbusd zmm0, zmm1, zmm2");
                *out = sums;
            }
        }
    )),
};
