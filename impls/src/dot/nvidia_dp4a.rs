//! NVIDIA `dp4a`, as documented: four bytes of each of two 32-bit registers are sign- or zero-extended by the instruction's types, multiplied, and
//! added to a 32-bit accumulator, which wraps. These are models; they do not run on a GPU.
//!
//! Source: PTX ISA, section Integer Arithmetic Instructions: dp4a.

use super::{Domain, Kernel};
use crate::contract::{Overflow, Promise};
use crate::element::Element;

const fn kernel(name: &'static str, summary: &'static str, lhs: Element, rhs: Element, run: super::Run) -> Kernel {
    let promise = Promise { scheme: "products-4", overflow: Overflow::Wrap };
    let domain = Domain { lhs, rhs, results: 1, elements: 4, pairs: &[] };
    Kernel::scalar(name, summary, promise, domain, "PTX ISA, Integer Arithmetic Instructions, dp4a", run)
}

pub(super) const S8: Kernel =
    kernel("nvidia-dp4a-s8", "NVIDIA dp4a.s32.s32, model", Element::I8, Element::I8, |acc, a, b, out| {
        each(acc, a, b, out, dp4a_s8);
    });

pub(super) const U8: Kernel =
    kernel("nvidia-dp4a-u8", "NVIDIA dp4a.u32.u32, model", Element::U8, Element::U8, |acc, a, b, out| {
        each(acc, a, b, out, dp4a_u8);
    });

pub(super) const MIXED: Kernel =
    kernel("nvidia-dp4a-mixed", "NVIDIA dp4a.u32.s32, model", Element::U8, Element::I8, |acc, a, b, out| {
        each(acc, a, b, out, dp4a_mixed);
    });

/// `dp4a.s32.s32`.
#[inline(always)]
pub(crate) fn dp4a_s8(acc: i32, a: &[u8; 4], b: &[u8; 4]) -> i32 {
    dp4a(acc, a.map(|a| i32::from(a as i8)), b.map(|b| i32::from(b as i8)))
}

/// `dp4a.u32.u32`: the accumulator is unsigned and has the same 32 bits.
#[inline(always)]
pub(crate) fn dp4a_u8(acc: i32, a: &[u8; 4], b: &[u8; 4]) -> i32 {
    dp4a(acc, a.map(i32::from), b.map(i32::from))
}

/// `dp4a.u32.s32`.
#[inline(always)]
pub(crate) fn dp4a_mixed(acc: i32, a: &[u8; 4], b: &[u8; 4]) -> i32 {
    dp4a(acc, a.map(i32::from), b.map(|b| i32::from(b as i8)))
}

#[inline(always)]
fn dp4a(acc: i32, a: [i32; 4], b: [i32; 4]) -> i32 {
    a.into_iter().zip(b).fold(acc, |d, (a, b)| d.wrapping_add(a * b))
}

fn each(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32], dp4a: fn(i32, &[u8; 4], &[u8; 4]) -> i32) {
    let operands = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
    for ((acc, out), (a, b)) in acc.iter().zip(out).zip(operands) {
        *out = dp4a(*acc, a, b);
    }
}
