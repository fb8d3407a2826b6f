//! Pseudorandom numbers for tests, the same in every run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Stream of pseudorandom numbers.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// Makes the stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns uniform bits.
    pub(crate) fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns a uniform int32.
    pub(crate) fn int32(&mut self) -> i32 {
        self.word() as i32
    }

    /// Returns an int32 of random magnitude: uniform bits after a uniform number of sign bits.
    pub(crate) fn int32_of_any_size(&mut self) -> i32 {
        let value = self.int32();
        value >> (self.word() & 31)
    }
}
