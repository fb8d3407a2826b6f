//! MLIR: `tosa.apply_scale` lowered to 32-bit arithmetic, with the product in two halves.
//!
//! `arith.mulsi_extended` computes the halves. Double rounding adds `2^30` or `-2^30`, by the sign of the value, to the low half, and the carry to
//! the high half. The rounding bit of the shift is added to the half that contains it. Then the halves are shifted and added. (The other lowering, in
//! 64 bits, is the specification's own text: [`super::tosa`].) Shifts of 64 and more are poison here; `tosa.rescale` replaces them by a
//! multiplication by 0.
//!
//! Source: llvm/llvm-project `mlir/lib/Conversion/TosaToArith/TosaToArith.cpp`, `ApplyScale32BitOpConverter`.

use super::{Kernel, Params, each, tosa};
use crate::contract::{Contract, Overflow, Promise};

const SOURCE: &str = "llvm/llvm-project mlir/lib/Conversion/TosaToArith/TosaToArith.cpp, ApplyScale32BitOpConverter";

/// Single rounding.
pub(super) const APPLY_SCALE_SINGLE: Kernel = kernel(
    "mlir-apply-scale-halves-single",
    "tosa.apply_scale lowered to 32-bit arithmetic, single rounding",
    "tosa-apply-scale-32-single",
    run::<false>,
);

/// Double rounding.
pub(super) const APPLY_SCALE_DOUBLE: Kernel = kernel(
    "mlir-apply-scale-halves-double",
    "tosa.apply_scale lowered to 32-bit arithmetic, double rounding",
    "tosa-apply-scale-32-double",
    run::<true>,
);

const fn kernel(name: &'static str, summary: &'static str, scheme: &'static str, run: super::Run) -> Kernel {
    let promise = Promise { scheme, overflow: Overflow::OutOfDomain };
    let contract = Contract { promise, domain: tosa::DOMAIN, deviations: &[], source: SOURCE };
    Kernel { name, summary, contract, portable: run, native: None }
}

fn run<const DOUBLE_ROUND: bool>(params: &Params, x: &[i32], out: &mut [i32]) {
    let (m, s) = params.first();
    let shift = (31 - s) as u32;
    each(x, out, |x| apply_scale::<DOUBLE_ROUND>(x, m, shift));
}

#[inline(always)]
pub(crate) fn apply_scale<const DOUBLE_ROUND: bool>(x: i32, m: i32, shift: u32) -> i32 {
    let product = i64::from(x) * i64::from(m);
    let (mut low, mut high) = (product as u32, (product >> 32) as i32);
    let (left, right) = (32u32.saturating_sub(shift), shift.saturating_sub(32));
    if DOUBLE_ROUND && shift >= 32 {
        let direction = if x >= 0 { 1 } else { -1 };
        high = high.wrapping_add(((low >> 30) as i32 + direction) >> 2);
        low = low.wrapping_add((direction << 30) as u32);
    }
    if shift > 32 {
        high = high.wrapping_add(1 << (right - 1));
    } else {
        let (rounded, carry) = low.overflowing_add(1 << (shift - 1));
        (low, high) = (rounded, high.wrapping_add(carry.into()));
    }
    let low = low.checked_shr(shift).unwrap_or(0) as i32;
    low.wrapping_add(high.wrapping_shl(left).wrapping_shr(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::tosa::apply_scale_32;
    use crate::random::Random;

    /// Every shift, at corners and pseudorandom values: the low 32 bits equal those of 64-bit arithmetic, even if the result does not fit.
    #[test]
    fn halves_give_what_64_bits_give() {
        let mut stream = Random::new(1);
        let mut random = || stream.int32_of_any_size();
        for shift in 2..=62u32 {
            let s = 31 - shift as i32;
            for i in 0..4000 {
                let x = [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX, random()][(i % 11).min(6)];
                let m = [0, 1, 1 << 30, i32::MAX, random() & i32::MAX][(i % 7).min(4)];
                assert_eq!(apply_scale::<false>(x, m, shift), apply_scale_32::<false>(x, m, s), "{x} {m} {shift}");
                assert_eq!(apply_scale::<true>(x, m, shift), apply_scale_32::<true>(x, m, s), "{x} {m} {shift}");
            }
        }
    }
}
