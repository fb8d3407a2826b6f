//! Inputs of the differential test: pairs of corners, and pseudorandom words of every size.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Words at which steps of a fixed point multiply change.
const CORNERS: [i32; 17] = [
    i32::MIN,
    i32::MIN + 1,
    -(1 << 30) - 1,
    -(1 << 30),
    -65536,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    32767,
    1 << 30,
    (1 << 30) + 1,
    i32::MAX - 1,
    i32::MAX,
];

/// Returns all pairs of corners, and `random` pseudorandom pairs. The pairs depend only on the seed.
pub fn inputs(seed: u64, random: usize) -> Vec<(i32, i32)> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut word = || {
        let word = stream.next_u32() as i32;
        word >> (stream.next_u32() % 32)
    };
    let drawn: Vec<(i32, i32)> = (0..random).map(|_| (word(), word())).collect();
    CORNERS.iter().flat_map(|x| CORNERS.iter().map(|m| (*x, *m))).chain(drawn).collect()
}
