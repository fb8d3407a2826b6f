//! Arm, bit-serial as TVM schedules it: counts of set bits are shifted by the weight of their planes in 8-bit lanes, where they wrap, and then added
//! in 32 bits.
//!
//! A byte has up to eight set bits, and `8 << (i + j)` fits in a byte up to `i + j = 4`. So operands with six bits in total are safe, and operands
//! with seven bits in total are not.
//!
//! Source: apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount.

use super::arm_low_bits::{ELEMENTS, plane_of};
use super::{Domain, Kernel};
use crate::contract::{Contract, Overflow};
use crate::element::Element;

pub(super) const SHIFTED: Kernel = Kernel {
    name: "arm-bitserial-counts-u8",
    summary: "Arm, bit-serial, 4 by 4 bits: counts shifted in 8-bit lanes, which wrap",
    contract: Contract::new(
        "products-32-counts-u8-wrap",
        Overflow::Wrap,
        Domain { lhs: Element::U4, rhs: Element::U4, results: 1, elements: ELEMENTS, pairs: &[] },
        "apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount",
    ),
    portable: shifted,
    native: None,
};

/// Adds the counts of each pair of planes, shifted as bytes.
pub(crate) fn shifted(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
    let operands = a.as_chunks::<ELEMENTS>().0.iter().zip(b.as_chunks::<ELEMENTS>().0);
    for ((acc, out), (a, b)) in acc.iter().zip(out).zip(operands) {
        *out = *acc;
        for weight in 0..16 {
            let (i, j) = (weight / 4, weight % 4);
            for (a, b) in plane_of(a, i).iter().zip(plane_of(b, j)) {
                let lane = (a & b).count_ones() as u8;
                *out = out.wrapping_add((lane << (i + j)).into());
            }
        }
    }
}
