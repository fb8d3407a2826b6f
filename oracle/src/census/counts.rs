//! How often two schemes differ, by delta.

/// Differences up to this size are counted apart.
pub const APART: i64 = 16;
const SIZE: usize = 2 * APART as usize + 1;

/// Accumulators by difference, right minus left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Accumulators for which both have a value.
    pub inputs: u64,
    /// Those with a difference of `i - APART`.
    near: [u64; SIZE],
}

impl Default for Counts {
    fn default() -> Self {
        Self { inputs: 0, near: [0; SIZE] }
    }
}

impl Counts {
    /// Of accumulators with these differences, one each.
    pub fn of(deltas: impl Iterator<Item = i64>) -> Self {
        let mut counts = Self::default();
        for delta in deltas {
            counts.inputs += 1;
            counts.note(delta.into(), 1);
        }
        counts
    }

    /// `count` more accumulators with this difference.
    pub fn put(&mut self, delta: i64, count: u64) {
        self.inputs += count;
        self.note(delta.into(), count);
    }

    /// One more accumulator with this difference.
    #[inline(always)]
    pub(super) fn put_one(&mut self, delta: i64) {
        self.inputs += 1;
        if let Some(sum) = self.near.get_mut(delta.wrapping_add(APART) as usize) {
            *sum += 1;
        }
    }

    /// Accumulators that differ.
    pub fn differ(&self) -> u64 {
        self.inputs - self.near[APART as usize]
    }

    /// Differences of at most [`APART`] that occur, in increasing order, with their counts; 0 is not among them.
    pub fn by_delta(&self) -> impl Iterator<Item = (i64, u64)> {
        let all = self.near.iter().enumerate().map(|(i, count)| (i as i64 - APART, *count));
        all.filter(|(delta, count)| *delta != 0 && *count != 0)
    }

    /// Accumulators that differ by more than [`APART`].
    pub fn far(&self) -> u64 {
        self.inputs - self.near.iter().sum::<u64>()
    }

    /// Adds the counts of other accumulators, `times` over.
    pub fn add(&mut self, other: &Self, times: u64) {
        self.inputs += other.inputs * times;
        for (sum, count) in self.near.iter_mut().zip(other.near) {
            *sum += count * times;
        }
    }

    /// `count` more accumulators, of those in `inputs`, with this difference; less where `count` is negative modulo 2^64.
    #[inline]
    pub(super) fn note(&mut self, delta: i128, count: u64) {
        if let Some(sum) = usize::try_from(delta + i128::from(APART)).ok().and_then(|i| self.near.get_mut(i)) {
            *sum = sum.wrapping_add(count);
        }
    }
}
