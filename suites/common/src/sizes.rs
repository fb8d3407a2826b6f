//! Sizes beyond those of small tests: numbers of channels of real layers, and lengths that 16 bits do not count.

use crate::budget::Budget;

/// Some numbers of channels, for a short run: each order of magnitude, odd multiples of powers of two, one more than a power of two, and more than 2,048.
const FEW_CHANNELS: [usize; 7] = [96, 129, 256, 320, 513, 1024, 2125];
/// Factors of the powers of two that layers have as numbers of channels.
const FACTORS: [usize; 5] = [1, 3, 5, 7, 9];
/// Numbers of channels of layers, from the smallest beyond the numbers that every plan has.
const CHANNELS: std::ops::RangeInclusive<usize> = 96..=2048;
/// Powers of two beside which numbers of channels are tried too.
const POWERS: std::ops::RangeInclusive<u32> = 7..=11;
/// Primes beyond 2^16, 2^18 and 2^20: no share of threads and no block divides them.
pub const LENGTHS: [usize; 3] = [(1 << 16) + 73, (1 << 18) + 73, (1 << 20) + 85];

/// Numbers of channels that real layers have, and those beside powers of two.
pub fn channels(budget: &Budget) -> Vec<usize> {
    if !budget.every_tail {
        return FEW_CHANNELS.to_vec();
    }
    let products = FACTORS.into_iter().flat_map(|factor| (0..=POWERS.end() + 1).map(move |power| factor << power));
    let beside = POWERS.flat_map(|power| [(1 << power) - 1, (1 << power) + 1]);
    let products = products.filter(|count| CHANNELS.contains(count));
    let mut out: Vec<usize> = products.chain(beside).chain(FEW_CHANNELS).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Lengths of long batches, each with the number of kernels of which one runs it: the first alone in a short run; the longest by turns but in an exhaustive
/// run.
pub fn lengths(budget: &Budget) -> &'static [(usize, usize)] {
    const SHORT: [(usize, usize); 1] = [(LENGTHS[0], 1)];
    const STANDARD: [(usize, usize); 3] = [(LENGTHS[0], 1), (LENGTHS[1], 1), (LENGTHS[2], 4)];
    const EXHAUSTIVE: [(usize, usize); 3] = [(LENGTHS[0], 1), (LENGTHS[1], 1), (LENGTHS[2], 1)];
    match (budget.every_tail, budget.sweep) {
        (false, _) => &SHORT,
        (true, false) => &STANDARD,
        (true, true) => &EXHAUSTIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Effort;

    #[test]
    fn layers_have_such_numbers_of_channels() {
        let all = channels(&Effort::Standard.budget());
        assert!([96, 112, 127, 160, 192, 576, 1152, 1280, 1792, 2047, 2048, 2049].iter().all(|n| all.contains(n)));
        assert!(all.iter().all(|count| (96..=2125).contains(count)) && all.len() == 34, "{all:?}");
        let few = channels(&Effort::Quick.budget());
        assert!(few.iter().all(|count| all.contains(count)), "a longer run has what a short one has");
    }

    #[test]
    fn no_share_divides_a_long_batch() {
        assert_eq!(
            [Effort::Quick, Effort::Standard, Effort::Exhaustive].map(|e| lengths(&e.budget()).len()),
            [1, 3, 3]
        );
        for len in LENGTHS {
            assert!((2..1100).all(|share| len % share != 0), "{len}");
        }
    }
}
