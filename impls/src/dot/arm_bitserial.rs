//! Arm, bit-serial: the set bits that two planes share are counted in each byte, and adjacent counts are added to a 16-bit lane, unsigned or signed.
//!
//! Source: apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount (later aprofile/asimd/popcount.py);
//! notes on int8 code generation for backends (popcount-AND and vpadal).

use super::{Domain, register_kernels};
use crate::element::Element;
use crate::simd::{BYTES, Register};

/// Number of 16-bit lanes in a register.
const HALVES: usize = 8;

/// Domain of both kernels: two bytes for each accumulator.
const DOMAIN: Domain = Domain { lhs: Element::U8, rhs: Element::U8, results: HALVES, elements: BYTES, pairs: &[] };

register_kernels! {
    BITSERIAL by bitserial: "arm-bitserial", "Arm, bit-serial: and, cnt, uadalp into unsigned 16-bit lanes",
        "popcount-2" on DOMAIN, "apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount; int8 code generation for backends",
        NEON "tiebreak_dot_arm_bitserial" ["and", "cnt", "uadalp"];
    SIGNED by signed: "arm-bitserial-signed", "Arm, bit-serial: and, cnt, sadalp into signed 16-bit lanes",
        "popcount-2-signed" on DOMAIN, "apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount, whose unipolar form has vpadals",
        NEON "tiebreak_dot_arm_bitserial_signed" ["and", "cnt", "sadalp"];
}

#[inline(always)]
fn signed<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
    let operands = a.as_chunks::<BYTES>().0.iter().zip(b.as_chunks::<BYTES>().0);
    let results = acc.as_chunks::<HALVES>().0.iter().zip(out.as_chunks_mut::<HALVES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        // Accumulators are int32 values; a lane holds them modulo 2^16.
        let mut lanes = [0; BYTES];
        for (lane, acc) in lanes.as_chunks_mut::<2>().0.iter_mut().zip(acc) {
            *lane = (*acc as u16).to_le_bytes();
        }
        let counts = R::load_bytes(a).and(R::load_bytes(b)).cnt();
        R::load_bytes(&lanes).sadalp_8h(counts).store_bytes(&mut lanes);
        for (out, lane) in out.iter_mut().zip(lanes.as_chunks::<2>().0) {
            *out = i16::from_le_bytes(*lane).into();
        }
    }
}

#[inline(always)]
fn bitserial<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
    let operands = a.as_chunks::<BYTES>().0.iter().zip(b.as_chunks::<BYTES>().0);
    let results = acc.as_chunks::<HALVES>().0.iter().zip(out.as_chunks_mut::<HALVES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        // Accumulators are int32 values; a lane holds them modulo 2^16.
        let mut lanes = [0; BYTES];
        for (lane, acc) in lanes.as_chunks_mut::<2>().0.iter_mut().zip(acc) {
            *lane = (*acc as u16).to_le_bytes();
        }
        count(R::load_bytes(&lanes), R::load_bytes(a), R::load_bytes(b)).store_bytes(&mut lanes);
        for (out, lane) in out.iter_mut().zip(lanes.as_chunks::<2>().0) {
            *out = u16::from_le_bytes(*lane).into();
        }
    }
}

/// Computes one step: adds to each lane of `.8h` the number of bits set in both operands, two bytes for each lane.
#[inline(always)]
pub(crate) fn count<R: Register>(acc: R, a: R, b: R) -> R {
    acc.uadalp_8h(a.and(b).cnt())
}
