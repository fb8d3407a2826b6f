//! Accumulators at which two schemes differ, in order of distance from zero.

use super::pair::Pair;
use super::{Census, Counter, pairs};

/// Iterator from zero outwards; of two accumulators at the same distance, the positive accumulator comes first.
#[derive(Debug)]
pub struct Differing {
    up: Walk,
    down: Walk,
    /// Accumulators that each walk has found and not yet returned.
    pending: (Option<i64>, Option<i64>),
}

/// Walk in one direction.
#[derive(Debug)]
struct Walk {
    census: Census,
    counter: Counter,
    upwards: bool,
    /// Next and last accumulator, in the direction of the walk.
    next: i64,
    end: i64,
    /// Accumulators folded at a time.
    block: i64,
    /// Intervals ahead, the nearest last.
    pairs: Vec<Pair>,
}

impl Differing {
    /// Returns `None` if a scheme does not fold.
    pub(super) fn new(census: Census) -> Option<Self> {
        let mut counter = Counter::default();
        let none = counter.counts(&census)?.differ() == 0;
        let Census { lo, hi, .. } = census;
        let whole = counter.fold(&census, lo..=hi).is_some();
        let block = if whole { hi - lo + 1 } else { census.period().unwrap_or(counter.block()) };
        let walk =
            |upwards, next, end| Walk { census, counter: Counter::default(), upwards, next, end, block, pairs: vec![] };
        let mut up = walk(true, lo.max(0), hi);
        let mut down = walk(false, hi.min(-1), lo);
        if none {
            (up.end, down.end) = (i64::MIN, i64::MAX);
        }
        let found = (up.find(), down.find());
        Some(Self { up, down, pending: found })
    }
}

impl Iterator for Differing {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let (up, down) = self.pending;
        let upwards = match (up, down) {
            (Some(up), Some(down)) => up <= -down,
            (up, _) => up.is_some(),
        };
        if upwards {
            self.pending.0 = self.up.find();
            up
        } else {
            self.pending.1 = down.and_then(|_| self.down.find());
            down
        }
    }
}

impl Walk {
    fn find(&mut self) -> Option<i64> {
        loop {
            let Some(pair) = self.pairs.last() else {
                self.load()?;
                continue;
            };
            let from = self.next;
            let found = if self.upwards { pair.next(from.max(pair.lo)) } else { pair.previous(from.min(pair.hi)) };
            let on = if self.upwards { 1 } else { -1 };
            let end = if self.upwards { pair.hi } else { pair.lo };
            self.next = found.unwrap_or(end) + on;
            if found.is_none() || found == Some(end) {
                self.pairs.pop();
            }
            if found.is_some() {
                return found;
            }
        }
    }

    /// Loads the intervals of the next block that has any; `None` after the end.
    fn load(&mut self) -> Option<()> {
        while self.pairs.is_empty() {
            let (lo, hi) = if self.upwards {
                (self.next, self.end.min(self.next.saturating_add(self.block - 1)))
            } else {
                (self.end.max(self.next.saturating_sub(self.block - 1)), self.next)
            };
            if lo > hi {
                return None;
            }
            self.counter.fold(&self.census, lo..=hi)?;
            pairs(self.counter.pieces(), |pair| self.pairs.push(pair));
            if self.upwards {
                self.pairs.reverse();
            }
            if self.pairs.is_empty() {
                self.next = if self.upwards { hi + 1 } else { lo - 1 };
            }
        }
        Some(())
    }
}
