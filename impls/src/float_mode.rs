//! Float mode of the processor: the rounding mode, flushing of subnormal numbers to zero, and trapping exceptions. The register is MXCSR on x86-64
//! and FPCR on aarch64. A call that changes the mode and returns changes the results of later calls, of any kernel.
//!
//! The frame restores the mode after each call. Otherwise the next kernel would be blamed, or the oracle, which computes in the same process. Flags
//! of exceptions that have occurred are not part of the mode.

use crate::job_error::JobError;

/// Runs a call and restores the mode if the call changed it. A changed mode is then the error, unless the call returned an error itself.
pub(crate) fn kept<T>(call: impl FnOnce() -> Result<T, JobError>) -> Result<T, JobError> {
    let before = register::read();
    let result = call();
    let after = register::read();
    if after == before {
        return result;
    }
    register::write(before);
    result?;
    Err(JobError::ChangedFloatMode { register: register::NAME, before, after, what: described(before, after) })
}

/// Sets the rounding mode to upward and leaves it so, as a known bug does.
pub(crate) fn round_up() {
    register::write(register::read() | register::UP);
}

/// Describes the changed fields.
fn described(before: u64, after: u64) -> String {
    let changed = |bits: u64| (before ^ after) & bits != 0;
    let names = register::BITS.iter().filter(|(bits, _)| changed(*bits)).map(|(_, name)| *name);
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "other bits".to_owned() } else { names.join(", ") }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod register {
    use std::arch::asm;

    pub(super) const NAME: &str = "MXCSR";
    /// Rounding mode upward.
    pub(super) const UP: u64 = 2 << 13;

    /// Flags of exceptions that have occurred. Each inexact result sets one, so they are not part of the mode.
    const OCCURRED: u64 = 0x3F;

    /// Fields by name.
    pub(super) const BITS: &[(u64, &str)] = &[
        (3 << 13, "rounding mode"),
        (1 << 15, "results flushed to zero"),
        (1 << 6, "operands flushed to zero"),
        (0x3F << 7, "traps"),
    ];

    fn word() -> u32 {
        let mut word = 0u32;
        // SAFETY: the instruction writes the four bytes of `word`, and nothing else. Every x86-64 processor has it.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub(super) fn read() -> u64 {
        u64::from(word()) & !OCCURRED
    }

    pub(super) fn write(mode: u64) {
        let word = (u64::from(word()) & OCCURRED | mode) as u32;
        // SAFETY: the instruction reads the four bytes of `word`. Every bit comes from a word that `stmxcsr` wrote, so no reserved bit is set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod register {
    use std::arch::asm;

    pub(super) const NAME: &str = "FPCR";
    /// Rounding mode upward.
    pub(super) const UP: u64 = 1 << 22;

    /// Fields by name.
    pub(super) const BITS: &[(u64, &str)] = &[
        (3 << 22, "rounding mode"),
        (1 << 24 | 1 << 19, "subnormal numbers flushed to zero"),
        (1 << 25, "default NaN"),
        (0x9F00, "traps"),
    ];

    /// Reads the whole register: flags of exceptions that have occurred are in FPSR.
    pub(super) fn read() -> u64 {
        let mode: u64;
        // SAFETY: the instruction reads a register that every process may read, and changes nothing else.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode
    }

    pub(super) fn write(mode: u64) {
        // SAFETY: the instruction writes a register that every process may write, with a value that was read from it.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nomem, nostack, preserves_flags)) };
    }
}

/// Targets without a float mode that is checked.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod register {
    pub(super) const NAME: &str = "";
    pub(super) const UP: u64 = 0;
    pub(super) const BITS: &[(u64, &str)] = &[];

    pub(super) fn read() -> u64 {
        0
    }

    pub(super) fn write(_: u64) {}
}

#[cfg(all(test, not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    /// Rounding upward, and flushing to zero.
    const CHANGED: u64 = if cfg!(target_arch = "x86_64") { 2 << 13 | 1 << 15 } else { 1 << 22 | 1 << 24 };

    #[test]
    fn a_call_that_leaves_another_mode_is_named_and_the_mode_set_back() {
        let before = register::read();
        let left = kept(|| {
            register::write(before | CHANGED);
            Ok(())
        });
        assert_eq!(register::read(), before);
        let said = left.expect_err("the mode was changed").to_string();
        assert!(said.starts_with("it left another float mode behind: "), "{said}");
        assert!(said.contains("rounding mode, ") && said.contains("flushed to zero"), "{said}");
    }

    #[test]
    fn inexact_results_and_a_mode_that_is_set_back_are_no_change() {
        let before = register::read();
        let third = kept(|| {
            register::write(before | CHANGED);
            let third = std::hint::black_box(1.0f32) / std::hint::black_box(3.0);
            register::write(before);
            Ok(third + std::hint::black_box(1.0f32) / std::hint::black_box(3.0))
        });
        assert!(third.is_ok());
    }

    #[test]
    fn a_call_that_fails_keeps_its_own_error() {
        let before = register::read();
        let failed = kept(|| {
            register::write(before | CHANGED);
            Err::<(), _>(JobError::NoRanges)
        });
        assert_eq!((failed, register::read()), (Err(JobError::NoRanges), before));
    }
}
