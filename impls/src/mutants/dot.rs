//! Dot-product steps with operands of the wrong type, or with the wrong overflow of the accumulator.

use super::tensor::{Mutant, mutants};
use crate::dot::arm_counts_u8::shifted;
use crate::dot::arm_low_bits::ELEMENTS;
use crate::dot::{Domain, Run};
use crate::element::Element;

/// Four accumulators with four adjacent products each: `vpdpbusd`, `dp4a`.
const MIXED: Domain = Domain { lhs: Element::U8, rhs: Element::I8, results: 4, elements: 16, pairs: &[] };

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-dp4a-signs", "signedness", "unsigned by signed, computed as signed by signed",
        claims "products-4" Wrap on MIXED, from "of our own: dp4a.s32.s32 for dp4a.u32.s32",
        |acc, a, b, out| quads([Element::I8, Element::I8], acc, a, b, out, i32::wrapping_add);
    "mutant-dot-saturates", "saturation", "vpdpbusds for vpdpbusd: the accumulator saturates",
        claims "products-4" Wrap on MIXED, from "of our own: vpdpbusds for vpdpbusd",
        |acc, a, b, out| quads([Element::U8, Element::I8], acc, a, b, out, i32::saturating_add);
    "mutant-dot-wraps", "missing-saturation", "vpdpbusd for vpdpbusds: the accumulator wraps",
        claims "products-4" Saturate on MIXED, from "of our own: vpdpbusd for vpdpbusds",
        |acc, a, b, out| quads([Element::U8, Element::I8], acc, a, b, out, i32::wrapping_add);
    "mutant-bitserial-counts-u8", "wrap", "counts of 4 by 4 bits are shifted in lanes of 8 bits",
        claims "products-32" Wrap on LOW_BITS, from "apache/tvm python/tvm/topi/arm_cpu/bitserial_conv2d.py, _intrin_popcount",
        shifted;
    "mutant-bitserial-unset-is-zero", "signedness", "an unset bit of a bipolar operand counts as 0",
        claims "products-32-bipolar-4" Wrap on LOW_BITS,
        from "apache/tvm python/tvm/topi/nn/bitserial_conv2d.py, whose argument `unipolar` chooses the formula",
        |acc, a, b, out| products(acc, a, b, out, |b| b);
    "mutant-bitserial-signed-planes", "signedness", "the highest plane of an unsigned operand is subtracted, as that of a signed one is",
        claims "products-32" Wrap on LOW_BITS, from "of our own: two's complement read in an unsigned operand",
        |acc, a, b, out| products(acc, a, b, out, |b| if b < 8 { b } else { b - 16 });
];

/// One accumulator with 32 products of four-bit elements.
const LOW_BITS: Domain = Domain { lhs: Element::U4, rhs: Element::U4, results: 1, elements: ELEMENTS, pairs: &[] };

/// Adds the sum of 32 products to each accumulator; `value` decodes each element of `b`.
fn products(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32], value: fn(i32) -> i32) {
    let operands = a.as_chunks::<ELEMENTS>().0.iter().zip(b.as_chunks::<ELEMENTS>().0);
    for ((acc, out), (a, b)) in acc.iter().zip(out).zip(operands) {
        let sum = a.iter().zip(b).map(|(a, b)| i32::from(*a) * value((*b).into())).sum();
        *out = acc.wrapping_add(sum);
    }
}

/// Computes `out[i] = add(acc[i], sum of the products of quad i)`, with the bytes read as `types`.
fn quads(types: [Element; 2], acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32], add: fn(i32, i32) -> i32) {
    let operands = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
    for ((acc, out), (a, b)) in acc.iter().zip(out).zip(operands) {
        let product = |k: usize| types[0].read(&a[k..]) * types[1].read(&b[k..]);
        *out = add(*acc, (0..4).map(product).sum());
    }
}
