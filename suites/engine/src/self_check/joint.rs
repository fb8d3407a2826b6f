//! Families of faults with several conditions at once: on any three parameters, on two sizes that are large or whole numbers of blocks together, on
//! an axis of a tensor of some rank, on a result at a bound of a narrow range, on a result at which a float becomes infinite.

use crate::operation::meaning::{Meaning, meaning};
use crate::self_check::condition::{FaultCondition, place};
use crate::self_check::families::{Draft, more};
use crate::self_check::fault_spans::{FaultSpans, Range, of_kind, pairs};
use std::collections::BTreeMap;

/// Powers of two that two sizes exceed at once.
const TWO: std::ops::RangeInclusive<u32> = 2..=9;

/// Elements of a block.
const BLOCKS: [u64; 3] = [16, 32, 64];

/// Number of conditions at once.
const CONDITIONS: usize = 3;

/// Number of faults with any conditions, for each fault of another family.
const MANY: usize = 8;

/// Size larger than a vector.
const BEYOND_VECTOR: f64 = 17.0;

impl Draft<'_> {
    /// Draws faults of every family with several conditions.
    pub(crate) fn joint(&mut self, seen: &FaultSpans) {
        for _ in 0..MANY {
            self.conditions(&seen.parameters);
        }
        self.sizes_together(&seen.parameters);
        self.axes(&seen.parameters);
        self.bounds(&seen.parameters);
        for word in &seen.edges {
            let place = place!(value: [*word, *word]);
            self.add("a result where a float becomes infinite", ("word", "", *word as u32 as u64), more(place));
        }
    }

    /// Draws three conditions: a size at or above its least, beyond a vector, or a whole number of blocks; a zero point 0, below 0 and above 0.
    fn conditions(&mut self, parameters: &BTreeMap<String, Range>) {
        let mut rest = of_kind(parameters, Meaning::Size);
        rest.extend(of_kind(parameters, Meaning::ZeroPoint));
        if rest.len() < CONDITIONS {
            return;
        }
        let mut place = FaultCondition::default();
        for _ in 0..CONDITIONS {
            let (name, range) = rest.swap_remove(self.below(rest.len() as u64));
            let levels = match meaning(name, range.lo) {
                Meaning::ZeroPoint => vec![[0.0, 0.0], [1.0, f64::MAX], [f64::MIN, -1.0]],
                _ => vec![[range.lo, range.lo], [range.lo + 1.0, f64::MAX], [BEYOND_VECTOR, f64::MAX]],
            };
            if meaning(name, range.lo) == Meaning::Size && range.hi >= 2.0 * BEYOND_VECTOR && self.below(4) == 0 {
                place.parameters_mod.insert(name.clone(), [BLOCKS[0], 0]);
                continue;
            }
            let met = |level: &[f64; 2]| level[0] <= range.hi && range.lo <= level[1];
            let levels: Vec<_> = levels.into_iter().filter(met).collect();
            place.parameters.insert(name.clone(), levels[self.below(levels.len() as u64)]);
        }
        self.add("three conditions at once", ("", "", CONDITIONS as u64), more(place));
    }

    /// Draws two sizes that are both large, and two that are both whole numbers of blocks.
    fn sizes_together(&mut self, parameters: &BTreeMap<String, Range>) {
        let sizes = |[(one, _), (other, _)]: &[(&String, &Range); 2]| {
            meaning(one, 0.0) == Meaning::Size && meaning(other, 0.0) == Meaning::Size
        };
        for [(one, range), (other, theirs)] in pairs(parameters).into_iter().filter(sizes) {
            let hi = range.hi.min(theirs.hi);
            let named = |range: [f64; 2]| BTreeMap::from([(one.clone(), range), (other.clone(), range)]);
            for first in TWO.map(|power| (1u64 << power) + 1).filter(|first| *first as f64 <= hi / 2.0) {
                let place = place!(parameters: named([first as f64, f64::MAX]));
                self.add("two sizes together at least", ("", "", first), more(place));
            }
            for by in BLOCKS.into_iter().filter(|by| *by as f64 <= hi / 2.0) {
                let whole = BTreeMap::from([one, other].map(|name| (name.clone(), [by, 0])));
                let place = place!(parameters_mod: whole);
                self.add("two sizes of whole blocks", ("", "of", by), more(place));
            }
        }
    }

    /// Draws channels along one axis of tensors of each rank, and blocks of each rank.
    fn axes(&mut self, parameters: &BTreeMap<String, Range>) {
        let named = |end: &str| parameters.iter().find(|(name, _)| name.ends_with(end));
        let Some((ranks, range)) = named("shape.len") else { return };
        let at = |name: &String, at: f64| (name.clone(), [at, at]);
        let of = |rank: usize| rank as f64;
        for rank in range.lo as usize..=range.hi.min(5.0) as usize {
            if let Some((axes, _)) = named("channel.axis") {
                let axis = self.below(rank as u64);
                let parameters = BTreeMap::from([at(ranks, of(rank)), at(axes, of(axis))]);
                let place = place!(parameters: parameters);
                self.add("channels along one axis", ("axes", "", rank as u64), more(place));
            }
            if let Some((counts, _)) = named("blocks.counts.len") {
                let place = place!(parameters: BTreeMap::from([at(counts, of(rank))]));
                self.add("blocks of one number of axes", ("axes", "", rank as u64), more(place));
            }
        }
    }

    /// Draws results at either bound of a type without its smallest value.
    fn bounds(&mut self, parameters: &BTreeMap<String, Range>) {
        let named = |end: &str| parameters.iter().find(|(name, range)| name.ends_with(end) && range.lo < range.hi);
        let (Some((bits, widths)), Some((least, range))) = (named(".bits"), named(".min")) else { return };
        for width in widths.lo.max(2.0) as u32..=widths.hi as u32 {
            // Bound of a signed type in two's complement, or of an unsigned type.
            let signed = range.lo < 0.0 && self.below(2) == 0;
            let lowest = if signed { 1.0 - 2f64.powi(width as i32 - 1) } else { 1.0 };
            if !(range.lo..=range.hi).contains(&lowest) {
                continue;
            }
            let bound = if self.below(2) == 0 { least.clone() } else { least.replace(".min", ".max") };
            let width = f64::from(width);
            let parameters = BTreeMap::from([(bits.clone(), [width, width]), (least.clone(), [lowest, lowest])]);
            let place = place!(parameters: parameters, bound: bound);
            self.add("a result at a bound of a narrow range", ("bits", "", width as u64), more(place));
        }
    }
}
