//! Arm, bytes widened to 16 bits first: `smlal` and `smlal2`, or `umlal` and `umlal2`, add each product to a separate int32 accumulator.
//!
//! Source: RFC on int8 convolution for Arm, section Background (transform to int16, multiply and accumulate).

use super::{Domain, register_kernels};
use crate::element::Element;
use crate::simd::{BYTES, LANES, Register};

const SOURCE: &str = "RFC on int8 convolution for Arm, Background";

/// Returns the domain of both kernels: an accumulator for each element.
const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 16, elements: 16, pairs: &[] }
}

register_kernels! {
    // `sxtl` and `sxtl2` are not listed, because some disassemblers print them as `sshll` by 0.
    SMLAL by smlal: "arm-smlal-int16", "Arm, int8 widened to int16: sxtl, sxtl2, smlal, smlal2",
        "products-1" on domain(Element::I8), SOURCE, NEON "tiebreak_dot_arm_smlal_int16" ["smlal", "smlal2"];
    // `uxtl` and `uxtl2` are not listed, because some disassemblers print them as `ushll` by 0.
    UMLAL by umlal: "arm-umlal-int16", "Arm, uint8 widened to int16: uxtl, uxtl2, umlal, umlal2",
        "products-1" on domain(Element::U8), SOURCE, NEON "tiebreak_dot_arm_umlal_int16" ["umlal", "umlal2"];
}

#[inline(always)]
fn umlal<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
    let operands = a.as_chunks::<BYTES>().0.iter().zip(b.as_chunks::<BYTES>().0);
    let results = acc.as_chunks::<BYTES>().0.iter().zip(out.as_chunks_mut::<BYTES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        let (a, b) = (R::load_bytes(a), R::load_bytes(b));
        let acc = acc.as_chunks::<LANES>().0;
        let out = out.as_chunks_mut::<LANES>().0;
        let (low_a, low_b, high_a, high_b) = (a.uxtl(), b.uxtl(), a.uxtl2(), b.uxtl2());
        R::load(&acc[0]).umlal_4s(low_a, low_b).store(&mut out[0]);
        R::load(&acc[1]).umlal2_4s(low_a, low_b).store(&mut out[1]);
        R::load(&acc[2]).umlal_4s(high_a, high_b).store(&mut out[2]);
        R::load(&acc[3]).umlal2_4s(high_a, high_b).store(&mut out[3]);
    }
}

#[inline(always)]
fn smlal<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
    let operands = a.as_chunks::<BYTES>().0.iter().zip(b.as_chunks::<BYTES>().0);
    let results = acc.as_chunks::<BYTES>().0.iter().zip(out.as_chunks_mut::<BYTES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        let (a, b) = (R::load_bytes(a), R::load_bytes(b));
        let acc = acc.as_chunks::<LANES>().0;
        let out = out.as_chunks_mut::<LANES>().0;
        let (low_a, low_b, high_a, high_b) = (a.sxtl(), b.sxtl(), a.sxtl2(), b.sxtl2());
        R::load(&acc[0]).smlal_4s(low_a, low_b).store(&mut out[0]);
        R::load(&acc[1]).smlal2_4s(low_a, low_b).store(&mut out[1]);
        R::load(&acc[2]).smlal_4s(high_a, high_b).store(&mut out[2]);
        R::load(&acc[3]).smlal2_4s(high_a, high_b).store(&mut out[3]);
    }
}
