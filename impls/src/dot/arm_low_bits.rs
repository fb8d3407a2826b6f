//! Arm, bit-serial on operands of one to four bits. A step cuts 32 elements of each operand into bit planes. One register holds the planes of `b`;
//! each plane of `a` is combined with all of them by one `and`, `cnt` and `uadalp`. Counts are weighted by `2^(i + j)` in int32.
//!
//! Unipolar: a set bit of `b` is 1, an unset bit is 0. Bipolar: an unset bit is -1, so that `b` represents `2b - (2^w - 1)`, where w is its number of
//! bits; the counts of `a` with the complement are subtracted.
//!
//! Source: apache/tvm python/tvm/topi/nn/bitserial_util.py and bitserial_conv2d.py, where the bipolar kind is `popcount(a & w) - popcount(a & ~w)`,
//! and arm_cpu/bitserial_conv2d.py, _intrin_popcount: and, cnt, vpadal.

use super::arm_bitserial::count;
use super::{Domain, Kernel, register_kernels};
use crate::element::Element;
use crate::simd::{BYTES, LANES, Register};

/// Elements of a step. One plane of them fills a lane of 32 bits.
pub(crate) const ELEMENTS: usize = 32;
const PLANE: usize = ELEMENTS / 8;
const SOURCE: &str = "apache/tvm python/tvm/topi/nn/bitserial_conv2d.py; arm_cpu/bitserial_conv2d.py, _intrin_popcount";

/// Defines kernels that are all unipolar or all bipolar, one on each line: bits and types of `a` and `b`, scheme, name, symbol.
macro_rules! low_bits {
    (
        $kind:literal, $bipolar:literal;
        $($constant:ident: $a:literal by $b:literal ($lhs:ident, $rhs:ident), $scheme:literal, $name:literal, $symbol:literal;)+
    ) => {$(
        pub(super) const $constant: Kernel = {
            #[inline(always)]
            fn serial<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
                steps::<R, $a, $b, $bipolar>(acc, a, b, out);
            }
            register_kernels! {
                KERNEL by serial: $name, concat!("Arm, bit-serial, ", $a, " by ", $b, " bits, ", $kind, ": and, cnt, uadalp"),
                    $scheme on Domain { lhs: Element::$lhs, rhs: Element::$rhs, results: 1, elements: ELEMENTS, pairs: &[] }, SOURCE,
                    NEON $symbol ["and", "cnt", "uadalp", "mul", "add", "addp"];
            }
            KERNEL
        };
    )+};
}

low_bits! {
    "unipolar", false;
    A1W1: 1 by 1 (U1, U1), "products-32", "arm-bitserial-a1w1", "tiebreak_dot_arm_bitserial_a1w1";
    A1W2: 1 by 2 (U1, U2), "products-32", "arm-bitserial-a1w2", "tiebreak_dot_arm_bitserial_a1w2";
    A1W3: 1 by 3 (U1, U3), "products-32", "arm-bitserial-a1w3", "tiebreak_dot_arm_bitserial_a1w3";
    A1W4: 1 by 4 (U1, U4), "products-32", "arm-bitserial-a1w4", "tiebreak_dot_arm_bitserial_a1w4";
    A2W1: 2 by 1 (U2, U1), "products-32", "arm-bitserial-a2w1", "tiebreak_dot_arm_bitserial_a2w1";
    A2W2: 2 by 2 (U2, U2), "products-32", "arm-bitserial-a2w2", "tiebreak_dot_arm_bitserial_a2w2";
    A2W3: 2 by 3 (U2, U3), "products-32", "arm-bitserial-a2w3", "tiebreak_dot_arm_bitserial_a2w3";
    A2W4: 2 by 4 (U2, U4), "products-32", "arm-bitserial-a2w4", "tiebreak_dot_arm_bitserial_a2w4";
    A3W1: 3 by 1 (U3, U1), "products-32", "arm-bitserial-a3w1", "tiebreak_dot_arm_bitserial_a3w1";
    A3W2: 3 by 2 (U3, U2), "products-32", "arm-bitserial-a3w2", "tiebreak_dot_arm_bitserial_a3w2";
    A3W3: 3 by 3 (U3, U3), "products-32", "arm-bitserial-a3w3", "tiebreak_dot_arm_bitserial_a3w3";
    A3W4: 3 by 4 (U3, U4), "products-32", "arm-bitserial-a3w4", "tiebreak_dot_arm_bitserial_a3w4";
    A4W1: 4 by 1 (U4, U1), "products-32", "arm-bitserial-a4w1", "tiebreak_dot_arm_bitserial_a4w1";
    A4W2: 4 by 2 (U4, U2), "products-32", "arm-bitserial-a4w2", "tiebreak_dot_arm_bitserial_a4w2";
    A4W3: 4 by 3 (U4, U3), "products-32", "arm-bitserial-a4w3", "tiebreak_dot_arm_bitserial_a4w3";
    A4W4: 4 by 4 (U4, U4), "products-32", "arm-bitserial-a4w4", "tiebreak_dot_arm_bitserial_a4w4";
}

low_bits! {
    "bipolar", true;
    A1W1_BIPOLAR: 1 by 1 (U1, U1), "products-32-bipolar-1", "arm-bitserial-a1w1-bipolar", "tiebreak_dot_arm_bitserial_a1w1_bipolar";
    A1W2_BIPOLAR: 1 by 2 (U1, U2), "products-32-bipolar-2", "arm-bitserial-a1w2-bipolar", "tiebreak_dot_arm_bitserial_a1w2_bipolar";
    A1W3_BIPOLAR: 1 by 3 (U1, U3), "products-32-bipolar-3", "arm-bitserial-a1w3-bipolar", "tiebreak_dot_arm_bitserial_a1w3_bipolar";
    A1W4_BIPOLAR: 1 by 4 (U1, U4), "products-32-bipolar-4", "arm-bitserial-a1w4-bipolar", "tiebreak_dot_arm_bitserial_a1w4_bipolar";
    A2W1_BIPOLAR: 2 by 1 (U2, U1), "products-32-bipolar-1", "arm-bitserial-a2w1-bipolar", "tiebreak_dot_arm_bitserial_a2w1_bipolar";
    A2W2_BIPOLAR: 2 by 2 (U2, U2), "products-32-bipolar-2", "arm-bitserial-a2w2-bipolar", "tiebreak_dot_arm_bitserial_a2w2_bipolar";
    A2W3_BIPOLAR: 2 by 3 (U2, U3), "products-32-bipolar-3", "arm-bitserial-a2w3-bipolar", "tiebreak_dot_arm_bitserial_a2w3_bipolar";
    A2W4_BIPOLAR: 2 by 4 (U2, U4), "products-32-bipolar-4", "arm-bitserial-a2w4-bipolar", "tiebreak_dot_arm_bitserial_a2w4_bipolar";
    A3W1_BIPOLAR: 3 by 1 (U3, U1), "products-32-bipolar-1", "arm-bitserial-a3w1-bipolar", "tiebreak_dot_arm_bitserial_a3w1_bipolar";
    A3W2_BIPOLAR: 3 by 2 (U3, U2), "products-32-bipolar-2", "arm-bitserial-a3w2-bipolar", "tiebreak_dot_arm_bitserial_a3w2_bipolar";
    A3W3_BIPOLAR: 3 by 3 (U3, U3), "products-32-bipolar-3", "arm-bitserial-a3w3-bipolar", "tiebreak_dot_arm_bitserial_a3w3_bipolar";
    A3W4_BIPOLAR: 3 by 4 (U3, U4), "products-32-bipolar-4", "arm-bitserial-a3w4-bipolar", "tiebreak_dot_arm_bitserial_a3w4_bipolar";
    A4W1_BIPOLAR: 4 by 1 (U4, U1), "products-32-bipolar-1", "arm-bitserial-a4w1-bipolar", "tiebreak_dot_arm_bitserial_a4w1_bipolar";
    A4W2_BIPOLAR: 4 by 2 (U4, U2), "products-32-bipolar-2", "arm-bitserial-a4w2-bipolar", "tiebreak_dot_arm_bitserial_a4w2_bipolar";
    A4W3_BIPOLAR: 4 by 3 (U4, U3), "products-32-bipolar-3", "arm-bitserial-a4w3-bipolar", "tiebreak_dot_arm_bitserial_a4w3_bipolar";
    A4W4_BIPOLAR: 4 by 4 (U4, U4), "products-32-bipolar-4", "arm-bitserial-a4w4-bipolar", "tiebreak_dot_arm_bitserial_a4w4_bipolar";
}

/// Runs every step; a step computes one result from 32 elements of each operand.
#[inline(always)]
fn steps<R: Register, const A: usize, const B: usize, const BIPOLAR: bool>(
    acc: &[i32],
    a: &[u8],
    b: &[u8],
    out: &mut [i32],
) {
    let operands = a.as_chunks::<ELEMENTS>().0.iter().zip(b.as_chunks::<ELEMENTS>().0);
    for ((acc, out), (a, b)) in acc.iter().zip(out).zip(operands) {
        let (set, unset) = planes::<B>(b);
        let mut total = R::splat(0);
        for i in 0..A {
            let mut weights = [0; LANES];
            for (j, weight) in weights.iter_mut().enumerate().take(B) {
                *weight = 1 << (i + j);
            }
            let plane = R::load_bytes(&repeated(&plane_of(a, i)));
            total = total.add(counted(plane, R::load_bytes(&set)).mul(R::load(&weights)));
            if BIPOLAR {
                weights = [-weights[0], -weights[1], -weights[2], -weights[3]];
                total = total.add(counted(plane, R::load_bytes(&unset)).mul(R::load(&weights)));
            }
        }
        let pairs = total.addp(total);
        let mut sums = [0; LANES];
        pairs.addp(pairs).store(&mut sums);
        *out = acc.wrapping_add(sums[0]);
    }
}

/// Counts the bits set in both registers, in each 32-bit lane.
#[inline(always)]
fn counted<R: Register>(a: R, b: R) -> R {
    let zero = R::splat(0);
    zero.uadalp_4s(count(zero, a, b))
}

/// Extracts one bit of each element; bit `k` of byte `n` belongs to element `8n + k`.
pub(crate) fn plane_of(elements: &[u8; ELEMENTS], bit: usize) -> [u8; PLANE] {
    let mut plane = [0; PLANE];
    for (k, element) in elements.iter().enumerate() {
        plane[k / 8] |= (element >> bit & 1) << (k % 8);
    }
    plane
}

/// Repeats a plane in each lane of a register.
fn repeated(plane: &[u8; PLANE]) -> [u8; BYTES] {
    std::array::from_fn(|i| plane[i % PLANE])
}

/// Returns the `B` planes of an operand, one in each lane, and their complements; other lanes are 0.
fn planes<const B: usize>(elements: &[u8; ELEMENTS]) -> ([u8; BYTES], [u8; BYTES]) {
    let (mut set, mut unset) = ([0; BYTES], [0; BYTES]);
    for bit in 0..B {
        let plane = plane_of(elements, bit);
        set[bit * PLANE..][..PLANE].copy_from_slice(&plane);
        unset[bit * PLANE..][..PLANE].copy_from_slice(&plane.map(|byte| !byte));
    }
    (set, unset)
}
