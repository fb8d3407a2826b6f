//! `arith.fptosi` and `arith.fptoui`, as processors execute them: truncation towards zero if the result fits. Otherwise LLVM calls the result poison,
//! and each target gives the result of its instructions.
//!
//! The sequences are those that llc 22.1.8 emits for the baselines of x86-64 and aarch64, and for aarch64 with +fullfp16. A type whose width is not
//! 8, 16 or 32 is converted as the next wider of these types, and stays that wide until it is stored. Only u32 is wider than the instruction, and
//! goes through 64 bits on x86. Values are doubles, which hold every expressed type exactly. `mlir_places.rs` has the sequence for each element of a
//! row.

use crate::quantized::{Expressed, Storage};

/// Converts to the value in a register. The value is then clamped, and its low bits are stored.
pub(crate) type Convert = fn(f64, Storage) -> i64;

/// Converts to 32 bits by `cvttss2si` or `cvttsd2si`: NaN and values that do not fit give the smallest integer.
#[inline(always)]
pub(crate) fn cvtt32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

/// Converts to 64 bits by the same instructions.
#[inline(always)]
fn cvtt64(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) { x as i64 } else { i64::MIN }
}

/// Returns the type in a register for a storage type: the next of 8, 16 and 32 bits.
#[inline(always)]
pub(super) const fn promoted(storage: Storage) -> Storage {
    let bits = if storage.bits <= 8 { 8 } else { storage.bits.next_power_of_two() };
    Storage { bits, ..storage }
}

/// Converts one value on x86.
#[inline(always)]
pub(crate) fn x86(x: f64, storage: Storage) -> i64 {
    match promoted(storage) {
        wide @ Storage { bits: 32, signed: false } => wide.low_bits(cvtt64(x)),
        wide => wide.low_bits(cvtt32(x).into()),
    }
}

/// Converts one value on x86 at -O2, where unsigned types of 17 to 31 bits also go through 32 bits: `cvttss2si eax` instead of `cvttss2si rax`.
#[inline(always)]
pub(crate) fn x86_optimized(x: f64, storage: Storage) -> i64 {
    match storage {
        Storage { bits: 32, signed: false } => x86(x, storage),
        _ => promoted(storage).low_bits(cvtt32(x).into()),
    }
}

/// Converts one element of a vector on x86 with SSE2: `cvttps2dq` or `cvttpd2dq`, then packs, which saturate, or shuffles, which do not.
#[inline(always)]
pub(crate) fn x86_vector(x: f64, storage: Storage, expressed: Expressed) -> i64 {
    let converted = cvtt32(x);
    let saturated = |word: i16| i64::from(word.clamp(-128, 127));
    let double = expressed == Expressed::F64;
    match (storage.bits, storage.signed) {
        // packssdw, packsswb; for f64 pshuflw, packsswb.
        (8, true) if double => saturated(converted as i16),
        (8, true) => converted.clamp(-128, 127).into(),
        // packssdw, packuswb.
        (8, false) if matches!(expressed, Expressed::F16 | Expressed::Bf16) => converted.clamp(0, 255).into(),
        // packuswb twice: both halves of the word saturate, and together are then read as one signed half.
        (8, false) => {
            let byte = |half: i16| half.clamp(0, 255);
            let pair = byte(converted as i16) | byte((converted >> 16) as i16) << 8;
            byte(pair).into()
        }
        // packssdw.
        (16, true) if !double => converted.clamp(-32768, 32767).into(),
        // The excess over 2^31 comes from a second conversion, of x - 2^31, used if the first result is negative.
        (32, false) => {
            let above = cvtt32(x - 2_147_483_648.0) & converted >> 31;
            storage.low_bits((converted | above).into())
        }
        _ => storage.low_bits(converted.into()),
    }
}

/// Converts one value on aarch64: `fcvtzs` or `fcvtzu` to 32 bits, which saturate and give 0 for NaN, then extends the low bits.
#[inline(always)]
pub(crate) fn aarch64(x: f64, storage: Storage) -> i64 {
    let converted = if storage.signed { (x as i32).into() } else { (x as u32).into() };
    storage.low_bits(converted)
}

/// Converts one value on aarch64, for bf16, and at -O2 for every type: `fcvtzs` also for unsigned types except u32. All 32 bits are clamped.
#[inline(always)]
pub(crate) fn aarch64_register(x: f64, storage: Storage) -> i64 {
    match storage {
        Storage { bits: 32, signed: false } => (x as u32).into(),
        Storage { signed: true, .. } => (x as i32).into(),
        Storage { signed: false, .. } => (x as i32 as u32).into(),
    }
}

/// Converts one element of a vector of f64 on aarch64: `fcvtzs` to 64 bits, `fcvtzu` for u32, then `xtn`, `uzp1` or `tbl`, which keep the low bits.
#[inline(always)]
pub(crate) fn aarch64_doubles(x: f64, storage: Storage) -> i64 {
    let unsigned = storage == Storage { bits: 32, signed: false };
    storage.low_bits(if unsigned { x as u64 as i64 } else { x as i64 })
}

/// Converts one element of a vector of f16 on aarch64 with +fullfp16: `fcvtzs` on 16-bit lanes, which saturates to 16 bits, then the low bits.
#[inline(always)]
pub(crate) fn aarch64_halves(x: f64, storage: Storage) -> i64 {
    storage.low_bits((x as i16).into())
}

/// Converts one element of a vector of f16 on aarch64 with +fullfp16 to an unsigned type: `fcvtzu` on 16-bit lanes, then the low bits.
#[inline(always)]
pub(crate) fn aarch64_unsigned_halves(x: f64, storage: Storage) -> i64 {
    storage.low_bits((x as u16).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 22] = [
        0.0,
        -0.9,
        1.9,
        -1.0,
        127.0,
        128.0,
        -129.0,
        300.0,
        38.1,
        -70000.0,
        98304.0,
        8_388_607.0,
        8_388_608.0,
        2_147_483_647.0,
        2_147_483_648.0,
        -2_147_483_648.0,
        -2_147_483_649.0,
        4_294_967_295.0,
        1e12,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];

    /// Compares the models with the instructions of this machine.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn x86_models_are_the_instructions() {
        use std::arch::x86_64::*;
        for x in VALUES.into_iter().flat_map(|x| [x, -x, f64::from(x as f32)]) {
            // SAFETY: SSE2 is part of the x86-64 baseline.
            let (to32, to64, narrow, vector, packed) = unsafe {
                let (one, narrow) = (_mm_set_sd(x), _mm_set_ss(x as f32));
                let vector = _mm_cvttps_epi32(narrow);
                let bytes = [
                    _mm_packs_epi16(_mm_packs_epi32(vector, vector), vector),
                    _mm_packus_epi16(_mm_packus_epi16(vector, vector), vector),
                    _mm_packs_epi32(vector, vector),
                    _mm_packus_epi16(_mm_packs_epi32(vector, vector), vector),
                ];
                let bytes = bytes.map(|bytes| _mm_cvtsi128_si32(bytes));
                (_mm_cvttsd_si32(one), _mm_cvttsd_si64(one), _mm_cvttss_si32(narrow), _mm_cvtsi128_si32(vector), bytes)
            };
            assert_eq!((cvtt32(x), cvtt64(x)), (to32, to64), "{x}");
            let x = f64::from(x as f32);
            assert_eq!((cvtt32(x), cvtt32(x)), (narrow, vector), "{x}");
            let [i8s, u8s, i16s, halves] = packed;
            let ours = |bits, signed| x86_vector(x, Storage { bits, signed }, Expressed::F32);
            assert_eq!(ours(8, true), i64::from(i8s as i8), "{x}");
            assert_eq!(ours(8, false), i64::from(u8s as u8), "{x}");
            let of_half = x86_vector(x, Storage { bits: 8, signed: false }, Expressed::Bf16);
            assert_eq!(of_half, i64::from(halves as u8), "{x}");
            assert_eq!(ours(16, true), i64::from(i16s as i16), "{x}");
        }
    }

    /// Compares the models of instruction sequences with this machine: doubles to bytes and halves, f32 to u32.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn x86_models_are_the_sequences_of_instructions() {
        use std::arch::x86_64::*;
        for x in VALUES.into_iter().flat_map(|x| [x, -x]) {
            // SAFETY: SSE2 is part of the x86-64 baseline.
            let (word, byte, wide) = unsafe {
                let words = _mm_shufflelo_epi16::<0b1000>(_mm_cvttpd_epi32(_mm_set1_pd(x)));
                let one = _mm_set1_ps(x as f32);
                let (low, above) =
                    (_mm_cvttps_epi32(one), _mm_cvttps_epi32(_mm_sub_ps(one, _mm_set1_ps(2_147_483_648.0))));
                let wide = _mm_or_si128(low, _mm_and_si128(above, _mm_srai_epi32::<31>(low)));
                let [word, byte, wide] = [words, _mm_packs_epi16(words, words), wide].map(|v| _mm_cvtsi128_si32(v));
                (word as i16, byte as i8, wide as u32)
            };
            assert_eq!(x86_vector(x, Storage { bits: 8, signed: true }, Expressed::F64), i64::from(byte), "{x}");
            assert_eq!(x86_vector(x, Storage { bits: 16, signed: true }, Expressed::F64), i64::from(word), "{x}");
            let u32 = Storage { bits: 32, signed: false };
            assert_eq!(x86_vector((x as f32).into(), u32, Expressed::F32), i64::from(wide), "{x}");
        }
    }

    /// Compares the model with the instructions of this machine.
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn aarch64_models_are_the_instructions() {
        use std::arch::asm;
        for x in VALUES.into_iter().flat_map(|x| [x, -x]) {
            let (signed, unsigned, wide): (u32, u32, u64);
            // SAFETY: the instructions read and write registers only.
            unsafe {
                asm!("fcvtzs {0:w}, {2:d}", "fcvtzu {1:w}, {2:d}", lateout(reg) signed, out(reg) unsigned, in(vreg) x);
                asm!("fcvtzs {0:x}, {1:d}", lateout(reg) wide, in(vreg) x);
            }
            assert_eq!(aarch64(x, Storage { bits: 32, signed: true }), i64::from(signed as i32), "{x}");
            assert_eq!(aarch64(x, Storage { bits: 32, signed: false }), i64::from(unsigned), "{x}");
            assert_eq!(aarch64_doubles(x, Storage { bits: 32, signed: true }), i64::from(wide as i32), "{x}");
        }
    }

    /// If the truncated value fits, all targets agree.
    #[test]
    fn what_fits_is_truncated_everywhere() {
        for bits in 1..=32 {
            for signed in [true, false] {
                let storage = Storage { bits, signed };
                let fitting = VALUES.into_iter().flat_map(|x| [x, -x, x / 3.0]).filter(|x| {
                    !x.is_nan()
                        && x.trunc() >= *storage.range().start() as f64
                        && x.trunc() <= *storage.range().end() as f64
                });
                for x in fitting {
                    let all = [
                        x86(x, storage),
                        x86_optimized(x, storage),
                        x86_vector(x, storage, Expressed::F32),
                        x86_vector(x, storage, Expressed::F64),
                        x86_vector(x, storage, Expressed::Bf16),
                        aarch64(x, storage),
                        aarch64_register(x, storage),
                        aarch64_doubles(x, storage),
                    ];
                    assert_eq!(all, [x.trunc() as i64; 8], "{x} to {}", storage.name());
                    // Vectors of f16 are used only for these types: up to 16 bits signed, and up to 15 bits for signed conversion of unsigned types.
                    let halves = (bits <= 16 && (signed || bits < 16)).then(|| aarch64_halves(x, storage));
                    let unsigned = (bits <= 16 && !signed).then(|| aarch64_unsigned_halves(x, storage));
                    assert!(halves.into_iter().chain(unsigned).all(|v| v == x.trunc() as i64), "{x}");
                }
            }
        }
    }

    /// Examples of the targets' results for poison.
    #[test]
    fn what_does_not_fit_differs_by_target() {
        let i8 = Storage { bits: 8, signed: true };
        let all = |x| [x86(x, i8), x86_vector(x, i8, Expressed::F32), aarch64(x, i8)];
        assert_eq!(all(128.0), [-128, 127, -128]);
        assert_eq!(all(f64::INFINITY), [0, -128, -1]);
        assert_eq!(all(f64::NEG_INFINITY), [0, -128, 0]);
        assert_eq!(all(f64::NAN), [0, -128, 0]);
        let u8 = Storage { bits: 8, signed: false };
        let vector = |expressed| x86_vector(40_000.0, u8, expressed);
        assert_eq!([vector(Expressed::F32), vector(Expressed::Bf16)], [0, 255]);
        assert_eq!(x86_vector(8_388_608.0, u8, Expressed::F32), 0);
        let u24 = Storage { bits: 24, signed: false };
        assert_eq!([x86(5e9, u24), x86_optimized(5e9, u24)], [705_032_704, 2_147_483_648]);
        // Low bits of results that saturated to 64, to 32 and to 16 bits.
        assert_eq!([aarch64_doubles(5e9, i8), aarch64(5e9, i8), aarch64_halves(5e9, i8)], [0, -1, -1]);
        assert_eq!([aarch64_halves(40_000.0, u8), aarch64_unsigned_halves(40_000.0, u8)], [255, 64]);
        assert_eq!([aarch64(-1.0, u8), aarch64_register(-1.0, u8)], [0, 0xffff_ffff]);
    }
}
