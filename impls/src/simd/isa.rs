//! Instruction sets that a form may need, and their detection on this machine.

/// Instruction set, as stated in [`crate::kernel::Native`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    /// Name in reports.
    pub(crate) name: &'static str,
    /// Architecture that has the instruction set.
    pub(crate) arch: &'static str,
    /// Returns true if this machine has the instruction set.
    pub(crate) available: fn() -> bool,
}

impl Isa {
    /// Panics before an instruction traps, if the form was called without a check of the CPU.
    ///
    /// # Panics
    /// Panics if this machine lacks the instruction set.
    #[inline(always)]
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    pub(crate) fn require(&self) {
        assert!((self.available)(), "this CPU has no {}", self.name);
    }
}

/// Makes an [`Isa`] from features that the standard library detects; one of the alternatives suffices.
macro_rules! isa {
    ($name:literal, $arch:literal, $detect:ident, $($($feature:tt)&&+)||+) => {
        Isa {
            name: $name,
            arch: $arch,
            #[cfg(target_arch = $arch)]
            available: || $($(std::arch::$detect!($feature))&&+)||+,
            #[cfg(not(target_arch = $arch))]
            available: || false,
        }
    };
}

/// Advanced SIMD, part of the AArch64 baseline.
pub(crate) const NEON: Isa = Isa { name: "neon", arch: "aarch64", available: || cfg!(target_arch = "aarch64") };
/// FEAT_DotProd: `udot`, `sdot`.
pub(crate) const DOTPROD: Isa = isa!("neon dotprod", "aarch64", is_aarch64_feature_detected, "dotprod");
/// FEAT_I8MM: `ummla`, `smmla`.
pub(crate) const I8MM: Isa = isa!("neon i8mm", "aarch64", is_aarch64_feature_detected, "i8mm");
/// 256-bit integer registers.
pub(crate) const AVX2: Isa = isa!("avx2", "x86_64", is_x86_feature_detected, "avx2");
/// 512-bit registers of bytes and int16.
pub(crate) const AVX512: Isa = isa!("avx512bw", "x86_64", is_x86_feature_detected, "avx512f" && "avx512bw");
/// `vpdpbusd`, `vpdpbusds` on 512 bits.
pub(crate) const VNNI512: Isa =
    isa!("avx512vnni", "x86_64", is_x86_feature_detected, "avx512f" && "avx512bw" && "avx512vnni");
/// `vpdpbssd` on 256 bits.
pub(crate) const VNNI_INT8: Isa = isa!("avxvnniint8", "x86_64", is_x86_feature_detected, "avx2" && "avxvnniint8");
/// `vpdpbusd`, `vpdpbusds` on 256 bits, in the encoding of AVX-512 or of AVX.
pub(crate) const VNNI: Isa =
    isa!("vnni", "x86_64", is_x86_feature_detected, "avx2" && "avx512vnni" && "avx512vl" || "avx2" && "avxvnni");
