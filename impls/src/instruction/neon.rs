//! Native execution of AArch64 instructions: clear FPSR.QC, execute on one 128-bit vector, read QC.

use bytemuck::Pod;
use core::arch::aarch64::{int8x16_t, vld1q_s8, vst1q_s8};

/// Builds the native form of one instruction over lanes of `$lane`.
macro_rules! form {
    ($mnemonic:expr, $width:expr, $second:expr, $lane:ty, $lanes:literal) => {
        |[a, b, _], out, qc| {
            let execute = |a: core::arch::aarch64::int8x16_t, b: core::arch::aarch64::int8x16_t| {
                let result: core::arch::aarch64::int8x16_t;
                let fpsr: u64;
                // SAFETY: Advanced SIMD is part of the AArch64 baseline. The block touches registers and the cumulative
                // flags of FPSR only, which code without `preserves_flags` may change. Not `pure`: it clears a flag.
                unsafe {
                    core::arch::asm!(
                        "msr fpsr, xzr",
                        concat!($mnemonic, " {d:v}.", $width, ", {a:v}.", $width, ", ", $second),
                        "mrs {f}, fpsr",
                        d = lateout(vreg) result,
                        a = in(vreg) a,
                        b = in(vreg) b,
                        f = lateout(reg) fpsr,
                        options(nomem, nostack),
                    );
                }
                (result, fpsr >> 27 & 1 != 0)
            };
            neon::each_vector::<$lane, $lanes>((a, b), (out, qc), |value| value as $lane, execute);
        }
    };
}
pub(super) use form;

/// Builds the native form of an instruction that [`super::register`] describes. The template's last line is the instruction on `{d:v}`, `{a:v}` and
/// `{b:v}`. A comment in the template names an operand that the instruction does not have, because `asm!` requires every operand.
macro_rules! register_form {
    ($domain:expr, $($template:literal),+) => {
        |operands, out, qc| {
            $crate::instruction::register::each::<16>(&$domain, operands, (out, qc), |acc, a, b| {
                use core::arch::aarch64::{uint8x16_t, vld1q_u8, vst1q_u8};
                let (mut d, a, b): (uint8x16_t, uint8x16_t, uint8x16_t) =
                    // SAFETY: all three arrays have 16 readable bytes.
                    unsafe { (vld1q_u8(acc.as_ptr()), vld1q_u8(a.as_ptr()), vld1q_u8(b.as_ptr())) };
                let fpsr: u64;
                // SAFETY: callers have checked that the CPU has the instruction. The block touches registers and the cumulative
                // flags of FPSR only, which code without `preserves_flags` may change. Not `pure`: it clears a flag.
                unsafe {
                    core::arch::asm!(
                        "msr fpsr, xzr",
                        $($template,)+
                        "mrs {f}, fpsr",
                        d = inlateout(vreg) d,
                        a = in(vreg) a,
                        b = in(vreg) b,
                        f = lateout(reg) fpsr,
                        options(nomem, nostack),
                    );
                }
                let mut bytes = [0; 16];
                // SAFETY: 16 bytes are writable.
                unsafe { vst1q_u8(bytes.as_mut_ptr(), d) }
                (bytes, fpsr >> 27 & 1 != 0)
            });
        }
    };
}
pub(super) use register_form;

/// Packs operands into registers (zeros after the last value), executes, and unpacks result and flag.
#[inline(always)]
pub(super) fn each_vector<T: Pod + Into<i32>, const N: usize>(
    (a, b): (&[i32], &[i32]),
    (out, qc): (&mut [i32], &mut [i32]),
    narrow: impl Fn(i32) -> T,
    execute: impl Fn(int8x16_t, int8x16_t) -> (int8x16_t, bool),
) {
    debug_assert!(a.len() == b.len() && a.len() == out.len() && qc.len() == a.len().div_ceil(N));
    let operands = a.chunks(N).zip(b.chunks(N));
    for ((a, b), (out, qc)) in operands.zip(out.chunks_mut(N).zip(qc)) {
        let (result, saturated) = execute(pack::<T, N>(a, &narrow), pack::<T, N>(b, &narrow));
        for (out, lane) in out.iter_mut().zip(unpack::<T, N>(result)) {
            *out = lane.into();
        }
        *qc = i32::from(saturated);
    }
}

/// Packs up to `N` lanes into a register.
#[inline(always)]
fn pack<T: Pod, const N: usize>(values: &[i32], narrow: impl Fn(i32) -> T) -> int8x16_t {
    let mut lanes = [T::zeroed(); N];
    for (lane, value) in lanes.iter_mut().zip(values) {
        *lane = narrow(*value);
    }
    let bytes: &[i8] = bytemuck::cast_slice(&lanes);
    assert_eq!(bytes.len(), 16);
    // SAFETY: 16 bytes are readable.
    unsafe { vld1q_s8(bytes.as_ptr()) }
}

/// Unpacks the lanes of a register.
#[inline(always)]
fn unpack<T: Pod, const N: usize>(register: int8x16_t) -> [T; N] {
    let mut lanes = [T::zeroed(); N];
    let bytes: &mut [i8] = bytemuck::cast_slice_mut(&mut lanes);
    assert_eq!(bytes.len(), 16);
    // SAFETY: 16 bytes are writable.
    unsafe { vst1q_s8(bytes.as_mut_ptr(), register) }
    lanes
}
