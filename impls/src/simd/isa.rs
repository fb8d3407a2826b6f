//! Instruction sets that a form may need, and whether this machine has them.

/// An instruction set, as [`crate::kernel::Native`] states it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    /// Its name in reports.
    pub(crate) name: &'static str,
    /// The architecture that has it.
    pub(crate) arch: &'static str,
    /// Whether this machine has it.
    pub(crate) available: fn() -> bool,
}

impl Isa {
    /// Stops a form that nobody should have called, before an instruction traps.
    ///
    /// # Panics
    /// Where this machine lacks the instruction set.
    #[inline(always)]
    #[cfg(target_arch = "aarch64")]
    pub(crate) fn require(&self) {
        assert!((self.available)(), "this CPU has no {}", self.name);
    }
}

/// Advanced SIMD, part of the AArch64 baseline.
pub(crate) const NEON: Isa = Isa { name: "neon", arch: "aarch64", available: || cfg!(target_arch = "aarch64") };
