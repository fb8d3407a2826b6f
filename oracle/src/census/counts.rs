//! Number of accumulators at which two schemes differ, by delta.

/// Largest magnitude of a difference with a count of its own.
pub const MAX_COUNTED_DELTA: i64 = 16;
const SIZE: usize = 2 * MAX_COUNTED_DELTA as usize + 1;

/// Accumulators by difference, right minus left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Accumulators for which both schemes have a value.
    pub inputs: u64,
    /// Accumulators with a difference of `i - MAX_COUNTED_DELTA`.
    near: [u64; SIZE],
}

impl Default for Counts {
    fn default() -> Self {
        Self { inputs: 0, near: [0; SIZE] }
    }
}

impl Counts {
    /// Counts one accumulator for each difference.
    pub fn of(deltas: impl Iterator<Item = i64>) -> Self {
        let mut counts = Self::default();
        for delta in deltas {
            counts.inputs += 1;
            counts.note(delta.into(), 1);
        }
        counts
    }

    /// Adds `count` accumulators with this difference.
    pub fn put(&mut self, delta: i64, count: u64) {
        self.inputs += count;
        self.note(delta.into(), count);
    }

    /// Adds one accumulator with this difference.
    #[inline(always)]
    pub(super) fn put_one(&mut self, delta: i64) {
        self.inputs += 1;
        if let Some(sum) = self.near.get_mut(delta.wrapping_add(MAX_COUNTED_DELTA) as usize) {
            *sum += 1;
        }
    }

    /// Returns the number of differing accumulators.
    pub fn differ(&self) -> u64 {
        self.inputs - self.near[MAX_COUNTED_DELTA as usize]
    }

    /// Returns the differences of magnitude 1 to [`MAX_COUNTED_DELTA`] that occur, in increasing order, with their counts.
    pub fn by_delta(&self) -> impl Iterator<Item = (i64, u64)> {
        let all = self.near.iter().enumerate().map(|(i, count)| (i as i64 - MAX_COUNTED_DELTA, *count));
        all.filter(|(delta, count)| *delta != 0 && *count != 0)
    }

    /// Returns the number of accumulators that differ by more than [`MAX_COUNTED_DELTA`].
    pub fn far(&self) -> u64 {
        self.inputs - self.near.iter().sum::<u64>()
    }

    /// Adds the counts of other accumulators, multiplied by `times`.
    pub fn add(&mut self, other: &Self, times: u64) {
        self.inputs += other.inputs * times;
        for (sum, count) in self.near.iter_mut().zip(other.near) {
            *sum += count * times;
        }
    }

    /// Adds `count` accumulators, already in `inputs`, to the count of this difference. A `count` that is negative modulo 2^64 subtracts.
    #[inline]
    pub(super) fn note(&mut self, delta: i128, count: u64) {
        if let Some(sum) =
            usize::try_from(delta + i128::from(MAX_COUNTED_DELTA)).ok().and_then(|i| self.near.get_mut(i))
        {
            *sum = sum.wrapping_add(count);
        }
    }
}
