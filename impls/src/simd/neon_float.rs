//! [`Float`] over AArch64 Advanced SIMD, one instruction for each method, by `asm!` for the reason in [`super::neon`].

use super::{Float, Neon};
use core::arch::aarch64::int32x4_t;
use core::arch::asm;

/// One instruction without an accumulator. Saturating instructions set FPSR.QC, and `fcvtns` sets FPSR.IXC; no code reads these flags.
macro_rules! pure {
    ($template:literal, $($name:ident = $operand:expr),+) => {{
        let out: int32x4_t;
        // SAFETY: Advanced SIMD is part of the AArch64 baseline; the instruction reads and writes registers only.
        unsafe {
            asm!($template, d = lateout(vreg) out, $($name = in(vreg) $operand,)+ options(pure, nomem, nostack));
        }
        Neon(out)
    }};
}

impl Float for Neon {
    methods! {
        fmul(self, other) => pure!("fmul {d:v}.4s, {a:v}.4s, {b:v}.4s", a = self.0, b = other.0);
        fcvtns(self) => pure!("fcvtns {d:v}.4s, {a:v}.4s", a = self.0);
        sqxtn_4h(self) => pure!("sqxtn {d:v}.4h, {a:v}.4s", a = self.0);
    }

    #[inline(always)]
    fn sqxtn2_8h(self, upper: Self) -> Self {
        let mut out: int32x4_t = self.0;
        // SAFETY: Advanced SIMD is part of the AArch64 baseline; the instruction reads and writes registers only.
        unsafe {
            asm!(
                "sqxtn2 {d:v}.8h, {a:v}.4s",
                d = inlateout(vreg) out,
                a = in(vreg) upper.0,
                options(pure, nomem, nostack),
            );
        }
        Self(out)
    }

    methods! {
        sqadd_8h(self, other) => pure!("sqadd {d:v}.8h, {a:v}.8h, {b:v}.8h", a = self.0, b = other.0);
        sqxtn_8b(self) => pure!("sqxtn {d:v}.8b, {a:v}.8h", a = self.0);
        sqxtun_8b(self) => pure!("sqxtun {d:v}.8b, {a:v}.8h", a = self.0);
    }
}
