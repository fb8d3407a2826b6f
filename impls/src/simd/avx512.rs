//! Instructions on 512 bits, each in a block of `asm!` that loads its operands and stores its result: no type of the compiler is involved, so that code
//! around it needs no target feature.

/// `$acc`, 64 bytes, becomes what the lines leave in `zmm0`, which begins as `$acc`; `zmm1` and `zmm2` begin as `$a` and `$b`, references to 64 bytes.
macro_rules! step {
    ($acc:ident, $a:expr, $b:expr, $($line:expr),+) => {
        // SAFETY: whoever runs this has asked the CPU for the instructions. The pointers are those of 64 bytes to read, and of 64 bytes to write.
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
