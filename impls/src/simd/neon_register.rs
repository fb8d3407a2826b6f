//! [`Register`] over AArch64 Advanced SIMD, one instruction for each method, by `asm!` for the reason in [`super::neon`].
//!
//! `udot`, `sdot`, `ummla` and `smmla` are extensions. A CPU without them traps, so forms with these instructions check the CPU first.

use super::Neon;
use super::register::{BYTES, Register};
use core::arch::aarch64::{int32x4_t, vld1q_u8, vreinterpretq_s32_u8, vreinterpretq_u8_s32, vst1q_u8};
use core::arch::asm;

/// One instruction without an accumulator: `{d:v}` is the result, `{a:v}` and `{b:v}` are the operands.
macro_rules! pure {
    ($template:literal, $($name:ident = $operand:expr),+) => {{
        let out: int32x4_t;
        // SAFETY: Advanced SIMD is part of the AArch64 baseline; the instruction reads and writes registers only.
        unsafe {
            asm!(
                $template,
                d = lateout(vreg) out,
                $($name = in(vreg) $operand,)+
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        Neon(out)
    }};
}

/// One instruction that adds to `{d:v}`; the lines before it enable an extension in the assembler.
macro_rules! accumulate {
    ($($template:literal),+; $acc:expr, $($name:ident = $operand:expr),+) => {{
        let mut acc: int32x4_t = $acc.0;
        // SAFETY: the instruction reads and writes registers only; a CPU without the extension traps.
        unsafe {
            asm!(
                $($template,)+
                d = inlateout(vreg) acc,
                $($name = in(vreg) $operand,)+
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        Neon(acc)
    }};
}

impl Register for Neon {
    #[inline(always)]
    fn load_bytes(from: &[u8; BYTES]) -> Self {
        // SAFETY: the reference covers the 16 bytes read; the instruction needs element alignment only.
        Self(unsafe { vreinterpretq_s32_u8(vld1q_u8(from.as_ptr())) })
    }

    #[inline(always)]
    fn store_bytes(self, to: &mut [u8; BYTES]) {
        // SAFETY: the reference covers the 16 bytes written; the instruction needs element alignment only.
        unsafe { vst1q_u8(to.as_mut_ptr(), vreinterpretq_u8_s32(self.0)) }
    }

    methods! {
        umull(self, other) => pure!("umull {d:v}.8h, {a:v}.8b, {b:v}.8b", a = self.0, b = other.0);
        umull2(self, other) => pure!("umull2 {d:v}.8h, {a:v}.16b, {b:v}.16b", a = self.0, b = other.0);
        smull(self, other) => pure!("smull {d:v}.8h, {a:v}.8b, {b:v}.8b", a = self.0, b = other.0);
        smull2(self, other) => pure!("smull2 {d:v}.8h, {a:v}.16b, {b:v}.16b", a = self.0, b = other.0);
        umlal2_8h(self, a, b) => accumulate!("umlal2 {d:v}.8h, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
        smlal2_8h(self, a, b) => accumulate!("smlal2 {d:v}.8h, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
        uadalp_4s(self, pairs) => accumulate!("uadalp {d:v}.4s, {a:v}.8h"; self, a = pairs.0);
        sadalp_4s(self, pairs) => accumulate!("sadalp {d:v}.4s, {a:v}.8h"; self, a = pairs.0);
        uadalp_8h(self, pairs) => accumulate!("uadalp {d:v}.8h, {a:v}.16b"; self, a = pairs.0);
        sadalp_8h(self, pairs) => accumulate!("sadalp {d:v}.8h, {a:v}.16b"; self, a = pairs.0);
        add_8h(self, other) => pure!("add {d:v}.8h, {a:v}.8h, {b:v}.8h", a = self.0, b = other.0);
        addp(self, other) => pure!("addp {d:v}.4s, {a:v}.4s, {b:v}.4s", a = self.0, b = other.0);
        sxtl(self) => pure!("sxtl {d:v}.8h, {a:v}.8b", a = self.0);
        sxtl2(self) => pure!("sxtl2 {d:v}.8h, {a:v}.16b", a = self.0);
        uxtl(self) => pure!("uxtl {d:v}.8h, {a:v}.8b", a = self.0);
        uxtl2(self) => pure!("uxtl2 {d:v}.8h, {a:v}.16b", a = self.0);
        umlal_4s(self, a, b) => accumulate!("umlal {d:v}.4s, {a:v}.4h, {b:v}.4h"; self, a = a.0, b = b.0);
        umlal2_4s(self, a, b) => accumulate!("umlal2 {d:v}.4s, {a:v}.8h, {b:v}.8h"; self, a = a.0, b = b.0);
        smlal_4s(self, a, b) => accumulate!("smlal {d:v}.4s, {a:v}.4h, {b:v}.4h"; self, a = a.0, b = b.0);
        smlal2_4s(self, a, b) => accumulate!("smlal2 {d:v}.4s, {a:v}.8h, {b:v}.8h"; self, a = a.0, b = b.0);
        cnt(self) => pure!("cnt {d:v}.16b, {a:v}.16b", a = self.0);
        zip1_2d(self, other) => pure!("zip1 {d:v}.2d, {a:v}.2d, {b:v}.2d", a = self.0, b = other.0);
        zip2_2d(self, other) => pure!("zip2 {d:v}.2d, {a:v}.2d, {b:v}.2d", a = self.0, b = other.0);
        udot(self, a, b) => accumulate!(".arch_extension dotprod", "udot {d:v}.4s, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
        sdot(self, a, b) => accumulate!(".arch_extension dotprod", "sdot {d:v}.4s, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
        ummla(self, a, b) => accumulate!(".arch_extension i8mm", "ummla {d:v}.4s, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
        smmla(self, a, b) => accumulate!(".arch_extension i8mm", "smmla {d:v}.4s, {a:v}.16b, {b:v}.16b"; self, a = a.0, b = b.0);
    }
}
