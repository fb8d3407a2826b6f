//! [`Vector`] over AArch64 Advanced SIMD, one instruction for each method.
//!
//! `asm!` instead of intrinsics: LLVM rewrites intrinsics (`vrshlq` by a constant becomes `srshr`, `vshrq_n` by 31 becomes `cmlt`), but the
//! instruction itself is under test. Saturating instructions also set FPSR.QC, which no kernel reads; they are therefore not marked
//! `preserves_flags`.

use super::{LANES, Vector};
use core::arch::aarch64::{int32x4_t, vdupq_n_s32, vld1q_s32, vst1q_s32};
use core::arch::asm;

/// Four int32 lanes in a NEON register.
#[derive(Clone, Copy, Debug)]
pub struct Neon(pub(super) int32x4_t);

/// One instruction with two operands on `.4s`.
macro_rules! binary {
    ($mnemonic:literal, $arrangement:literal, $a:expr, $b:expr) => {{
        let out: int32x4_t;
        // SAFETY: Advanced SIMD is part of the AArch64 baseline; the instruction reads and writes registers only.
        unsafe {
            asm!(
                concat!($mnemonic, " {d:v}.", $arrangement, ", {a:v}.", $arrangement, ", {b:v}.", $arrangement),
                d = lateout(vreg) out,
                a = in(vreg) $a,
                b = in(vreg) $b,
                options(pure, nomem, nostack),
            );
        }
        Neon(out)
    }};
}

impl Vector for Neon {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        // SAFETY: Advanced SIMD is part of the AArch64 baseline.
        Self(unsafe { vdupq_n_s32(value) })
    }

    #[inline(always)]
    fn load(from: &[i32; LANES]) -> Self {
        // SAFETY: the reference covers the 16 bytes read; the instruction needs element alignment only.
        Self(unsafe { vld1q_s32(from.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [i32; LANES]) {
        // SAFETY: the reference covers the 16 bytes written; the instruction needs element alignment only.
        unsafe { vst1q_s32(to.as_mut_ptr(), self.0) }
    }

    methods! {
        sqrdmulh(self, other) => binary!("sqrdmulh", "4s", self.0, other.0);
        sqdmulh(self, other) => binary!("sqdmulh", "4s", self.0, other.0);
        srshl(self, shift) => binary!("srshl", "4s", self.0, shift.0);
        sqshl(self, shift) => binary!("sqshl", "4s", self.0, shift.0);
        sshl(self, shift) => binary!("sshl", "4s", self.0, shift.0);
        sqadd(self, other) => binary!("sqadd", "4s", self.0, other.0);
        add(self, other) => binary!("add", "4s", self.0, other.0);
        mul(self, other) => binary!("mul", "4s", self.0, other.0);
        and(self, other) => binary!("and", "16b", self.0, other.0);
    }

    #[inline(always)]
    fn sshr31(self) -> Self {
        let out: int32x4_t;
        // SAFETY: Advanced SIMD is part of the AArch64 baseline; the instruction reads and writes registers only.
        unsafe {
            asm!(
                "sshr {d:v}.4s, {a:v}.4s, #31",
                d = lateout(vreg) out,
                a = in(vreg) self.0,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        Self(out)
    }

    #[inline(always)]
    fn keep(self) {
        // SAFETY: the template is empty. Without `pure` the compiler may drop neither the block nor the value that it reads.
        unsafe { asm!("/* {0:v} */", in(vreg) self.0, options(nomem, nostack, preserves_flags)) }
    }
}
