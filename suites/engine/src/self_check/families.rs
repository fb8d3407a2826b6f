//! Families of injected faults that affect one place only: a position, a tail, elements from some index on, a size, a channel, a zero point, a scale,
//! an interval of elements or results, an alignment, a later call or every n-th call, state left by the previous call, equal parameters, a call that
//! differs little from the previous call, or equal slices of an operand. Families with several conditions are in `joint.rs`. Each family is drawn at
//! thresholds from common to rare.

use crate::operation::meaning::{Meaning, are_interchangeable, meaning};
use crate::self_check::condition::{Fault, FaultCondition, Near, Strike, place};
use crate::self_check::fault_spans::{FaultSpans, Range, of_kind, pairs};
use crate::self_check::history::Since;
use crate::self_check::slices::{Along, Likeness, Slices};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use tiebreak_common::stream::{below, int32};

/// Widths of vectors, in elements.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];

/// Periods of calls: every n-th call is affected.
const EACH: [u64; 4] = [2, 3, 10, 64];

/// Powers of two for the first affected element, channel or size.
const POWERS: std::ops::RangeInclusive<u32> = 0..=14;

/// Powers of two for the first affected element of long tensors.
const FAR: std::ops::RangeInclusive<u32> = 15..=16;

/// Powers of two for the first affected channel with separate parameters.
const CHANNELS: std::ops::RangeInclusive<u32> = 3..=11;

/// Parameter with an entry for each channel; the results of the channels alternate.
const LIST: &str = "channels.len";

/// Digits of the relative distance between the ratio of two scales and a power of two.
const DIGITS: std::ops::RangeInclusive<i32> = 2..=6;

/// Powers of two that all sizes exceed at once.
const TOGETHER: std::ops::RangeInclusive<u32> = 0..=6;

/// Words of a block, for operands with a single axis.
const BLOCKS: [usize; 3] = [8, 16, 32];

/// Largest affected size, if a single size is affected.
const SIZES: f64 = 80.0;

/// Widths of an interval, in bits.
const INTERVALS: [u32; 4] = [28, 24, 20, 16];

/// Ratios of the ends of an interval of scales, in percent.
const RATIOS: [u64; 4] = [400, 200, 125, 105];

/// Number of values below which a range is affected by single values.
const NARROW: f64 = 65_536.0;

/// Rarity of a fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Threshold {
    /// Name of the parameter concerned; empty without a parameter.
    name: String,
    at: u64,
    unit: Cow<'static, str>,
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, at, unit } = self;
        match (name.as_str(), &**unit) {
            ("", "") => write!(f, "{at}"),
            ("", unit) => write!(f, "{unit} {at}"),
            (name, "") => f.write_str(name),
            (name, unit) => write!(f, "{name} {unit} {at}"),
        }
    }
}

/// Drawn fault of a family.
pub struct Drawn {
    /// Name of the family.
    pub family: &'static str,
    /// Rarity of the fault.
    pub threshold: Threshold,
    /// Fault: place and change.
    pub fault: Fault,
}

/// Draws `sample` faults of every family at every threshold that is meaningful for the spans of the cases.
pub fn draw(seen: &FaultSpans, sample: u32, rng: &mut ChaCha8Rng) -> Vec<Drawn> {
    let mut all = Draft { drawn: Vec::new(), rng };
    for _ in 0..sample {
        all.positions();
        all.elements(seen.rows);
        all.calls();
        for (name, range) in &seen.parameters {
            match meaning(name, range.lo) {
                Meaning::Size if range.lo < range.hi => all.sizes(name, range),
                Meaning::ZeroPoint => all.zero_point(name, range),
                Meaning::Scale => all.scale(name, range),
                Meaning::Size | Meaning::Other => {}
            }
        }
        all.coincidences(&seen.parameters);
        all.joint(seen);
        all.history(&seen.parameters);
        seen.operands.iter().enumerate().for_each(|(operand, (name, axes))| all.slices(operand, name, *axes));
        if let Some(range) = &seen.results {
            all.results(range);
        }
        if let Some(range) = &seen.inputs {
            all.inputs(range);
        }
    }
    for _ in 0..sample {
        all.far();
        if let Some(range) = seen.parameters.get(LIST) {
            all.channels(range);
        }
        all.ratios(&seen.parameters);
    }
    all.drawn
}

pub(crate) struct Draft<'a> {
    drawn: Vec<Drawn>,
    rng: &'a mut ChaCha8Rng,
}

impl Draft<'_> {
    pub(crate) fn add(&mut self, family: &'static str, (name, unit, at): (&str, &'static str, u64), fault: Fault) {
        let threshold = Threshold { name: name.to_owned(), at, unit: unit.into() };
        self.drawn.push(Drawn { family, threshold, fault });
    }

    pub(crate) fn below(&mut self, most: u64) -> usize {
        below(self.rng, u32::try_from(most).unwrap_or(u32::MAX).max(1)) as usize
    }

    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + self.below((hi - lo) as u64 + 1) as f64
    }

    /// Draws positions in a vector, tails, lengths and alignments.
    fn positions(&mut self) {
        for width in VECTORS {
            let at = ("", "vectors of", width as u64);
            let rest = self.below(width as u64);
            self.add("one position of a vector", at, more(place!(position_mod: [width, rest])));
            let tail = place!(last_vector: width);
            let moved = 1 + self.below(width as u64 - 1);
            self.add("tail, misplaced", at, stale(moved, tail.clone()));
            self.add("tail", at, more(tail));
            let rest = self.below(width as u64);
            self.add("one length modulo a vector", at, more(place!(length_mod: [width, rest])));
        }
        let place = place!(constant: 2usize);
        self.add("an operand of one value", ("", "", 2), more(place));
        let misalign = 1 + self.below(15);
        let place = place!(misalign: [misalign, misalign]);
        self.add("one alignment", ("", "", 16), more(place));
    }

    /// Draws elements, columns and rows, from an index on and single; also misread elements from an index on.
    fn elements(&mut self, rows: bool) {
        for first in POWERS.map(|power| 1usize << power) {
            let one = first + self.below(first as u64);
            let at = ("", "", first as u64);
            let from = [first, usize::MAX];
            self.add("from an element on", at, stale(1, place!(index: from)));
            self.add("one element", at, more(place!(index: [one, one])));
            self.add("operand misread from an element on", at, misread(place!(index: from)));
            if !rows {
                continue;
            }
            if first <= 4096 {
                self.add("from a column on", at, stale(1, place!(column: from)));
                self.add("operand misread from a column on", at, misread(place!(column: from)));
            }
            if first <= 64 {
                self.add("one column", at, more(place!(column: [one, one])));
                self.add("one row", at, more(place!(row: [one, one])));
            }
        }
    }

    /// Draws elements of long tensors, from an index on.
    fn far(&mut self) {
        for first in FAR.map(|power| 1usize << power) {
            let at = ("", "", first as u64);
            let from = [first, usize::MAX];
            self.add("from an element on", at, stale(1, place!(index: from)));
            self.add("operand misread from an element on", at, misread(place!(index: from)));
        }
    }

    /// Draws channels, from an index on and single.
    fn channels(&mut self, range: &Range) {
        let of = |channels: [usize; 2]| place!(of_each: (LIST.to_owned(), channels));
        for first in CHANNELS.map(|power| 1usize << power).filter(|first| (*first as f64) < range.hi) {
            let at = ("", "", first as u64);
            self.add("from a channel on", at, stale(1, of([first, usize::MAX])));
            let one = first + self.below((first as u64).min(range.hi as u64 - first as u64));
            self.add("one channel", at, more(of([one, one])));
        }
    }

    /// Draws two scales with a ratio equal or close to a power of two.
    fn ratios(&mut self, parameters: &BTreeMap<String, Range>) {
        let scales = |pair: &[(&String, &Range); 2]| meaning(pair[0].0, pair[0].1.lo) == Meaning::Scale;
        for [(name, _), (other, _)] in pairs(parameters).into_iter().filter(scales) {
            for digits in DIGITS {
                let distance = [f64::MIN_POSITIVE, 2.0 * 10f64.powi(-digits)];
                let near = Near { of: [name.clone(), other.clone()], distance };
                let fault = more(place!(near_a_power: near));
                let names = format!("{name}, {other}");
                self.add("two scales nearly a power of two apart", (&names, "digits", digits as u64), fault);
            }
        }
    }

    /// Draws single calls of a process, and periodic calls.
    fn calls(&mut self) {
        for call in [2, 3, 10, 100] {
            let place = place!(batches: [call, call]);
            self.add("one call", ("", "", call), more(place));
        }
        for calls in EACH {
            let place = place!(batches_mod: [calls, calls / 2]);
            self.add("one of so many calls", ("", "", calls), more(place));
        }
        for power in POWERS.step_by(2).filter(|power| *power <= 8) {
            let first = 1usize << power;
            let from = [first, usize::MAX];
            let fault = Fault::InResults(Strike { place: place!(index: from), moved: None, left: true });
            self.add("what the last call left, from an element on", ("", "", first as u64), fault);
            for (family, since) in [("after a larger call", Since::Larger), ("after a smaller call", Since::Smaller)] {
                self.add(family, ("", "from element", first as u64), more(place!(index: from, since: since)));
            }
        }
    }

    /// Draws sizes, from a value on and single.
    fn sizes(&mut self, name: &str, range: &Range) {
        let of = |range: [f64; 2]| place!(parameters: BTreeMap::from([(name.to_owned(), range)]));
        for first in POWERS.map(|power| (1u64 << power) + 1).filter(|first| *first as f64 <= 2.0 * range.hi) {
            self.add("a size at least", (name, "at least", first), more(of([first as f64, f64::MAX])));
        }
        let one = self.between(range.lo.min(1.0), range.hi.min(SIZES));
        self.add("one size", (name, "", 0), more(of([one, one])));
    }

    fn zero_point(&mut self, name: &str, range: &Range) {
        let one = self.between(range.lo.max(-128.0), range.hi.min(255.0));
        let place = place!(parameters: BTreeMap::from([(name.to_owned(), [one, one])]));
        self.add("one zero point", (name, "", 0), more(place));
    }

    /// Draws an interval of scales, anywhere on a logarithmic axis between the least and the greatest.
    fn scale(&mut self, name: &str, range: &Range) {
        if range.lo <= 0.0 {
            return;
        }
        for percent in RATIOS {
            let ratio = percent as f64 / 100.0;
            let place = f64::from(below(self.rng, 1 << 20)) / f64::from(1 << 20);
            let first = range.lo * (range.hi / range.lo).powf(place) / ratio.sqrt();
            let place = BTreeMap::from([(name.to_owned(), [first, first * ratio])]);
            let fault = more(place!(parameters: place));
            self.add("an interval of scales", (name, "percent", percent), fault);
        }
    }

    /// Draws two equal parameters of a kind, all zero points 0, and all varying sizes above a bound.
    fn coincidences(&mut self, parameters: &BTreeMap<String, Range>) {
        for [(name, range), (other, theirs)] in pairs(parameters) {
            if range.lo.max(theirs.lo) <= range.hi.min(theirs.hi) {
                let place = place!(equal: vec![name.clone(), other.clone()]);
                self.add("two parameters alike", (&format!("{name}, {other}"), "", 0), more(place));
            }
        }
        let within = |all: &[(&String, &Range)], range: [f64; 2]| {
            let parameters: BTreeMap<_, _> = all.iter().map(|(name, _)| ((*name).clone(), range)).collect();
            place!(parameters: parameters)
        };
        let zero_points = of_kind(parameters, Meaning::ZeroPoint);
        if zero_points.iter().all(|(_, range)| range.lo <= 0.0 && 0.0 <= range.hi) && zero_points.len() > 1 {
            self.add("all zero points 0", ("", "", 0), more(within(&zero_points, [0.0, 0.0])));
        }
        let sizes = of_kind(parameters, Meaning::Size);
        for first in TOGETHER.map(|power| (1u64 << power) + 1) {
            let wide: Vec<_> = sizes.iter().copied().filter(|(_, range)| first as f64 <= range.hi / 4.0).collect();
            if wide.len() > 1 {
                self.add("sizes together at least", ("", "", first), more(within(&wide, [first as f64, f64::MAX])));
            }
        }
    }

    /// Draws calls after a call with a changed parameter or two exchanged parameters, and calls with the parameters of the last call but one.
    fn history(&mut self, parameters: &BTreeMap<String, Range>) {
        let of = |since: Since| more(place!(since: since));
        for (name, range) in parameters {
            if range.lo < range.hi {
                let fault = of(Since::Changed(name.clone()));
                self.add("one parameter changed since the last call", (name, "", 0), fault);
            }
        }
        for [(name, _), (other, _)] in pairs(parameters) {
            if are_interchangeable(name, other) {
                let fault = of(Since::Exchanged([name.clone(), other.clone()]));
                self.add("two parameters exchanged since the last call", (&format!("{name}, {other}"), "", 0), fault);
            }
        }
        self.add("parameters of the last call but one", ("", "", 0), of(Since::Back));
    }

    /// Draws slices of an operand that are constant or equal, along each axis; blocks for operands with a single axis.
    fn slices(&mut self, operand: usize, name: &str, axes: usize) {
        let blocks = BLOCKS.iter().filter(|_| axes == 1).map(|words| (Along::Blocks(*words), "in blocks of", *words));
        let axes = (0..axes).filter(|_| axes > 1).map(|axis| (Along::Axis(axis), "axis", axis));
        for (along, unit, at) in blocks.chain(axes) {
            for (family, are) in Likeness::ALL {
                let place = place!(slices: Slices { operand, along, are });
                self.add(family, (name, unit, at as u64), more(place));
            }
        }
    }

    /// Draws a single result, or an interval of results.
    fn results(&mut self, range: &Range) {
        let place = |value: [i32; 2]| place!(value: value);
        for (end, value) in [("least", range.lo as i32), ("greatest", range.hi as i32)] {
            self.add("the end of the results", (end, "", 0), more(place([value, value])));
        }
        self.within(range, ["one result", "an interval of results"], place);
    }

    /// Draws a single element of the first operand, or an interval of elements.
    fn inputs(&mut self, range: &Range) {
        let place = |input: [i32; 2]| place!(input: input);
        self.within(range, ["one value of an element", "an interval of elements"], place);
    }

    /// Draws a single number of a small range, or intervals of a large range.
    fn within(&mut self, range: &Range, [one, interval]: [&'static str; 2], place: fn([i32; 2]) -> FaultCondition) {
        if range.hi - range.lo < NARROW {
            let value = self.between(range.lo, range.hi) as i32;
            let numbers = (range.hi - range.lo) as u64 + 1;
            self.add(one, ("", "of", numbers), more(place([value, value])));
            return;
        }
        for bits in INTERVALS {
            let numbers = self.interval(bits, range.lo as i32, range.hi as i32);
            self.add(interval, ("", "2 to the power of", bits.into()), more(place(numbers)));
        }
    }

    fn interval(&mut self, bits: u32, lo: i32, hi: i32) -> [i32; 2] {
        let first = int32(self.rng).clamp(lo, hi);
        [first, first.saturating_add((1 << bits) - 1)]
    }
}

pub(crate) fn more(place: FaultCondition) -> Fault {
    Fault::InResults(Strike { place, moved: None, left: false })
}

fn stale(moved: usize, place: FaultCondition) -> Fault {
    Fault::InResults(Strike { place, moved: Some(moved), left: false })
}

fn misread(place: FaultCondition) -> Fault {
    Fault::InOperand(Strike { place, moved: Some(1), left: false })
}
