//! [`Wide`] over AVX2 and VNNI, one instruction for each method. `asm!` guarantees that exactly this instruction runs, whatever the compiler would
//! make of an intrinsic, and allows both encodings of VNNI in one function.
//!
//! The trait's methods are called from functions that have AVX2 enabled and have checked the CPU for it; see [`super::form`].

use super::wide::{WIDE_BYTES, WIDE_LANES, Wide};
use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set1_epi16, _mm256_storeu_si256,
};

/// Eight int32 lanes in a `ymm` register. With `EVEX`, VNNI has the encoding of AVX-512 VNNI (with VL), otherwise that of AVX-VNNI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ymm<const EVEX: bool>(__m256i);

/// [`Ymm`] for kernels without VNNI.
pub(crate) type Avx2 = Ymm<false>;

/// True if this CPU has VNNI in the encoding of AVX-512.
pub(crate) fn evex() -> bool {
    is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl")
}

/// Defines a function of one instruction, `{d} = {a} op {b}`.
macro_rules! binary {
    ($name:ident, $template:literal) => {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn $name(a: __m256i, b: __m256i) -> __m256i {
            let d: __m256i;
            // SAFETY: the function needs AVX2; the instruction reads and writes registers only.
            unsafe {
                asm!($template, d = lateout(ymm_reg) d, a = in(ymm_reg) a, b = in(ymm_reg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            d
        }
    };
}

/// Defines a function of one instruction, `{d} += {a} op {b}`. A CPU without the instruction traps.
macro_rules! accumulate {
    ($name:ident, $template:literal) => {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn $name(mut d: __m256i, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: the instruction reads and writes registers only; a CPU without it traps.
            unsafe {
                asm!($template, d = inlateout(ymm_reg) d, a = in(ymm_reg) a, b = in(ymm_reg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            d
        }
    };
}

binary!(maddubs, "vpmaddubsw {d}, {a}, {b}");
binary!(madd, "vpmaddwd {d}, {a}, {b}");
binary!(add, "vpaddd {d}, {a}, {b}");
accumulate!(dpbusd_evex, "{{evex}} vpdpbusd {d}, {a}, {b}");
accumulate!(dpbusd_vex, "{{vex}} vpdpbusd {d}, {a}, {b}");
accumulate!(dpbusds_evex, "{{evex}} vpdpbusds {d}, {a}, {b}");
accumulate!(dpbusds_vex, "{{vex}} vpdpbusds {d}, {a}, {b}");
accumulate!(dpbssd, "vpdpbssd {d}, {a}, {b}");

impl<const EVEX: bool> Wide for Ymm<EVEX> {
    #[inline(always)]
    fn splat_halves(value: i16) -> Self {
        // SAFETY: the caller of a form with this type has checked the CPU for AVX2.
        Self(unsafe { _mm256_set1_epi16(value) })
    }

    #[inline(always)]
    fn load_bytes(from: &[u8; WIDE_BYTES]) -> Self {
        // SAFETY: as above; the reference covers the 32 bytes read, at any alignment.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn broadcast(from: &[u8; 16]) -> Self {
        // SAFETY: as above; the reference covers the 16 bytes read, at any alignment.
        Self(unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.as_ptr().cast())) })
    }

    #[inline(always)]
    fn load(from: &[i32; WIDE_LANES]) -> Self {
        // SAFETY: as above; the reference covers the 32 bytes read, at any alignment.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [i32; WIDE_LANES]) {
        // SAFETY: as above; the reference covers the 32 bytes written, at any alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn vpmaddubsw(self, signed: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { maddubs(self.0, signed.0) })
    }

    #[inline(always)]
    fn vpmaddwd(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { madd(self.0, other.0) })
    }

    #[inline(always)]
    fn vpaddd(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { add(self.0, other.0) })
    }

    #[inline(always)]
    fn vpdpbusd(self, unsigned: Self, signed: Self) -> Self {
        let (acc, a, b) = (self.0, unsigned.0, signed.0);
        // SAFETY: as above, and for VNNI in this encoding.
        Self(unsafe { if EVEX { dpbusd_evex(acc, a, b) } else { dpbusd_vex(acc, a, b) } })
    }

    #[inline(always)]
    fn vpdpbusds(self, unsigned: Self, signed: Self) -> Self {
        let (acc, a, b) = (self.0, unsigned.0, signed.0);
        // SAFETY: as above, and for VNNI in this encoding.
        Self(unsafe { if EVEX { dpbusds_evex(acc, a, b) } else { dpbusds_vex(acc, a, b) } })
    }

    #[inline(always)]
    fn vpdpbssd(self, a: Self, b: Self) -> Self {
        // SAFETY: as above, and for AVX-VNNI-INT8.
        Self(unsafe { dpbssd(self.0, a.0, b.0) })
    }
}
