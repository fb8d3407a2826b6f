//! Sizes beyond those of small tests: channel counts of real layers, and batch lengths that exceed 16 bits.

use crate::budget::Budget;

/// Channel counts of a short run: each order of magnitude, odd multiples of powers of two, one above a power of two, and more than 2,048.
const FEW_CHANNELS: [usize; 7] = [96, 129, 256, 320, 513, 1024, 2125];
/// Odd factors of layers' channel counts; the other factor is a power of two.
const FACTORS: [usize; 5] = [1, 3, 5, 7, 9];
/// Range of layers' channel counts. Every plan has smaller counts already.
const CHANNELS: std::ops::RangeInclusive<usize> = 96..=2048;
/// Exponents of the powers of two whose neighbours are tried as channel counts.
const POWERS: std::ops::RangeInclusive<u32> = 7..=11;
/// Primes above 2^16, 2^18 and 2^20: no thread count and no block size divides them.
pub const LENGTHS: [usize; 3] = [(1 << 16) + 73, (1 << 18) + 73, (1 << 20) + 85];

/// Returns channel counts of real layers, and neighbours of powers of two.
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

/// Returns pairs (length of a long batch, `n`): one of `n` kernels runs this length. A short run has only the first length. Only an exhaustive run
/// gives the longest length to every kernel.
pub fn lengths(budget: &Budget) -> &'static [(usize, usize)] {
    const SHORT: [(usize, usize); 1] = [(LENGTHS[0], 1)];
    const STANDARD: [(usize, usize); 3] = [(LENGTHS[0], 1), (LENGTHS[1], 4), (LENGTHS[2], 2)];
    const EXHAUSTIVE: [(usize, usize); 3] = [(LENGTHS[0], 1), (LENGTHS[1], 1), (LENGTHS[2], 1)];
    match (budget.every_tail, budget.sweep) {
        (false, _) => &SHORT,
        (true, false) => &STANDARD,
        (true, true) => &EXHAUSTIVE,
    }
}

/// Returns the product of sizes, or the largest number if the product does not fit.
pub fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, size| product.saturating_mul(*size as u64))
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
