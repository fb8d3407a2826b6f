//! Instructions on 512 bits, each in a block of `asm!` that loads its operands and stores its result. No compiler type is involved, so the code
//! around it needs no target feature.

/// Loads `$acc`, `$a` and `$b` (64 bytes each) into `zmm0`, `zmm1` and `zmm2`, runs the lines, and stores `zmm0` to `$acc`.
macro_rules! step {
    ($acc:ident, $a:expr, $b:expr, $($line:expr),+) => {
        // SAFETY: the caller has checked the CPU for the instructions. The pointers are to 64 bytes to read, and to 64 bytes to write.
        unsafe {
            core::arch::asm!(
                "vmovdqu64 zmm0, [{acc}]",
                "vmovdqu64 zmm1, [{a}]",
                "vmovdqu64 zmm2, [{b}]",
                $($line,)+
                "vmovdqu64 [{acc}], zmm0",
                acc = in(reg) core::ptr::from_mut(&mut $acc).cast::<u8>(),
                a = in(reg) $a.as_ptr(),
                b = in(reg) $b.as_ptr(),
                out("xmm0") _,
                out("xmm1") _,
                out("xmm2") _,
                out("xmm3") _,
                options(nostack, preserves_flags),
            );
        }
    };
}
pub(crate) use step;
