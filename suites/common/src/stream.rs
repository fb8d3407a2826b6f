//! Random streams. Everything sampled comes from a stream named by what it is for, under the run's seed: adding a stream
//! changes no other, and arguments sampled jointly do not share one.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream for `purpose` under `seed`.
pub fn stream(seed: u64, purpose: &str) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // FNV-1a: any fixed injection-like map of names to stream numbers will do.
    let id = purpose.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    rng.set_stream(id);
    rng
}

/// A uniform int32.
#[inline]
pub fn int32(rng: &mut ChaCha8Rng) -> i32 {
    rng.next_u32() as i32
}

/// An int32 of random magnitude: uniform bits after a uniform number of sign bits.
#[inline]
pub fn int32_of_any_size(rng: &mut ChaCha8Rng) -> i32 {
    let shift = below(rng, 32);
    int32(rng) >> shift
}

/// A uniform number below `n`, which is far below 2^32 everywhere it is used.
#[inline]
pub fn below(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32
}
