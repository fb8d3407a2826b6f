//! Random streams. Each sample comes from a stream that is named after its purpose, under the run's seed. A new stream therefore changes no other
//! stream, and arguments that are sampled jointly have separate streams.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Returns the stream for `purpose` under `seed`.
pub fn stream(seed: u64, purpose: &str) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // FNV-1a. Any fixed hash of names to stream numbers would do.
    let id = purpose.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    rng.set_stream(id);
    rng
}

/// Returns a uniform int32.
#[inline]
pub fn int32(rng: &mut ChaCha8Rng) -> i32 {
    rng.next_u32() as i32
}

/// Returns an int32 of random magnitude: uniform bits after a uniform number of sign bits.
#[inline]
pub fn int32_of_any_size(rng: &mut ChaCha8Rng) -> i32 {
    let shift = below(rng, 32);
    int32(rng) >> shift
}

/// Returns a uniform number below `n`. All callers pass an `n` far below 2^32.
#[inline]
pub fn below(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32
}
