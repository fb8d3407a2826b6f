//! Exponentials that round products differently, lose a factor, a clamp or the special case of 0, or take the input for another format.

use super::tensor::{Mutant, mutants};
use crate::exp::gemmlowp::{DOMAIN, FACTORS, exponential, polynomial};
use crate::exp::{Domain, Run, each};
use crate::fpm::gemmlowp::saturating_rounding_doubling_high_mul as mul;

/// Parts of the composition that a mutant keeps or replaces.
#[derive(Clone, Copy)]
struct Kept {
    high: fn(i32, i32) -> i32,
    polynomial: fn(i32) -> i32,
    factors: usize,
    clamp: bool,
    one: bool,
}

const KEPT: Kept = Kept { high: mul, polynomial, factors: FACTORS.len(), clamp: true, one: true };

impl Kept {
    #[inline(always)]
    fn at(self, x: i32, integer_bits: i32) -> i32 {
        let fraction = 31 - integer_bits;
        let quarter = 1i32 << (fraction - 2);
        let rest = (x & (quarter - 1)) - quarter;
        let remainder = rest.wrapping_sub(x);
        let mut result = (self.polynomial)(rest << integer_bits);
        for (power, factor) in (-2..).zip(FACTORS).take(self.factors) {
            if integer_bits > power && remainder >> (fraction + power) & 1 != 0 {
                result = (self.high)(result, factor);
            }
        }
        if self.clamp && integer_bits > 5 && x < -(1 << (36 - integer_bits)) {
            result = 0;
        }
        if self.one && x == 0 { i32::MAX } else { result }
    }
}

/// Returns a high half without rounding.
#[inline(always)]
fn floored(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 31) as i32
}

/// Computes the polynomial with products that are not rounded.
#[inline(always)]
fn floored_polynomial(a: i32) -> i32 {
    const EIGHTH: i32 = 1_895_147_668;
    let x = a + (1 << 28);
    let x2 = floored(x, x);
    let (x3, x4) = (floored(x2, x), floored(x2, x2));
    let inner = (floored(((x4 + 2) >> 2) + x3, 715_827_883) + x2 + 1) >> 1;
    EIGHTH + floored(EIGHTH, x + inner)
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-exp-truncating-products", "directed-rounding", "high products are not rounded: vqdmulh for vqrdmulh",
        claims "gemmlowp" OutOfDomain on DOMAIN, from "of our own: vqdmulh in vector code where vqrdmulh is meant",
        |params, x, out| {
            let kept = Kept { high: floored, polynomial: floored_polynomial, ..KEPT };
            each(x, out, |x| kept.at(x, params.integer_bits));
        };
    "mutant-exp-no-clamp", "missing-saturation", "inputs below -32 are not 0: their exponent is taken modulo 32",
        claims "gemmlowp" OutOfDomain on DOMAIN,
        from "google/gemmlowp fixedpoint/fixedpoint.h: the branch for more than five integer bits left out, as in CMSIS-NN's form",
        |params, x, out| each(x, out, |x| Kept { clamp: false, ..KEPT }.at(x, params.integer_bits));
    "mutant-exp-zero-is-not-one", "special-value", "the case of 0 is left out: 0 lies a quarter below the least input",
        claims "gemmlowp" OutOfDomain on DOMAIN,
        from "google/gemmlowp fixedpoint/fixedpoint.h: the last line, SelectUsingMask(MaskIfZero(a), ..), left out",
        |params, x, out| each(x, out, |x| Kept { one: false, ..KEPT }.at(x, params.integer_bits));
    "mutant-exp-six-factors", "lost-factor", "the factor e^-16 is left out",
        claims "gemmlowp" OutOfDomain on DOMAIN, from "of our own: the barrel shifter ends one step early",
        |params, x, out| each(x, out, |x| Kept { factors: FACTORS.len() - 1, ..KEPT }.at(x, params.integer_bits));
    "mutant-exp-five-integer-bits", "fixed-point-format", "the input is taken for one of five integer bits, whatever it has",
        claims "gemmlowp" OutOfDomain on DOMAIN,
        from "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h: a form for scaled bits of 5 alone, called with others",
        |_, x, out| each(x, out, |x| exponential(x, 5));
];
