//! Comparison of all pairs of schemes over all accumulators of many multipliers and shifts, by census: which schemes are identical, and for which
//! parameters.
//!
//! At each multiplier and shift, schemes that fold into the same pieces form a class, and only one pair of each two classes is counted.

use rayon::prelude::*;
use std::collections::BTreeMap;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::census::{Census, Counter, Counts};
use tiebreak_oracle::fpm::pieces::{Folder, Piece};
use tiebreak_oracle::fpm::{Parameters, Scheme};

/// Upper bound on the pieces of a counted scheme. Left shifts that wrap very often give more.
const MOST_PIECES: usize = 1 << 10;
/// Accumulators tried outwards from zero for the smallest witness, before the search in closed form.
const NEAR: i64 = 64;

/// Comparison of two schemes at one multiplier and shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Accumulators for which both schemes have a value.
    pub inputs: u64,
    /// Accumulators on which the schemes differ.
    pub differ: u64,
    /// Largest absolute difference; `None` if it is larger than a census lists.
    pub largest: Option<u64>,
    /// True if both schemes have values on the same accumulators.
    pub same_domain: bool,
}

/// Smallest input on which two schemes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Accumulator.
    pub x: i64,
    /// Multiplier and shift.
    pub channel: Channel,
    /// Results of the two schemes.
    pub values: (i64, i64),
}

/// Comparison of two schemes over all multipliers and shifts examined.
#[derive(Clone, Debug)]
pub struct Between {
    /// Indices of the two schemes.
    pub pair: (usize, usize),
    /// Comparison for each multiplier and shift; `None` if a scheme has too many pieces to count.
    pub cells: Vec<Option<Cell>>,
    /// Smallest input with a difference; `None` if the schemes never differ.
    pub witness: Option<Witness>,
}

/// Comparison of all pairs of schemes.
#[derive(Clone, Debug)]
pub struct Atlas {
    /// Schemes compared.
    pub schemes: Vec<Scheme>,
    /// Multipliers and shifts examined, each with all its accumulators.
    pub channels: Vec<Channel>,
    /// Classes of schemes that are the same function over everything examined, by the index of their first scheme.
    pub classes: BTreeMap<usize, Vec<usize>>,
    /// Comparison of each pair of classes, represented by their first schemes.
    pub between: Vec<Between>,
}

impl Atlas {
    /// Returns the number of examined multipliers.
    pub fn multipliers(&self) -> usize {
        let mut all: Vec<i32> = self.channels.iter().map(|c| c.multiplier).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }
}

impl Between {
    /// Returns the sums over everything counted: accumulators, and accumulators with a difference.
    pub fn total(&self) -> (u64, u64) {
        self.cells.iter().flatten().fold((0, 0), |(inputs, differ), c| (inputs + c.inputs, differ + c.differ))
    }

    /// Returns the largest absolute difference: `None` if there is no difference, and `Some(None)` if it is larger than a census lists.
    pub fn largest(&self) -> Option<Option<u64>> {
        let all = self.cells.iter().flatten().filter(|c| c.differ > 0).map(|c| c.largest);
        all.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
    }

    /// Returns the highest rate of differing accumulators, and the index of its multiplier and shift.
    pub fn worst(&self) -> Option<(f64, usize)> {
        let rates = self.cells.iter().enumerate().filter_map(|(at, cell)| {
            let Cell { inputs, differ, .. } = (*cell)?;
            (differ > 0).then(|| (differ as f64 / inputs as f64, at))
        });
        rates.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// Compares each pair of `schemes` at each of `channels`, and calls `done` after each channel.
pub fn examine(schemes: Vec<Scheme>, channels: Vec<Channel>, done: impl Fn() + Sync) -> Atlas {
    let start = || (Counter::new(MOST_PIECES), Folder::new(MOST_PIECES));
    let at = |(counter, folder): &mut (Counter, Folder), channel: &Channel| {
        let cells = cells(&schemes, *channel, counter, folder);
        done();
        cells
    };
    let by_channel: Vec<Vec<Option<Cell>>> = channels.par_iter().map_init(start, at).collect();
    let pairs: Vec<(usize, usize)> = pairs(schemes.len()).collect();
    let mut class: Vec<usize> = (0..schemes.len()).collect();
    for (at, (i, j)) in pairs.iter().enumerate() {
        let same = by_channel.iter().all(|cells| cells[at].is_some_and(|c| c.differ == 0 && c.same_domain));
        if same && class[*j] == *j {
            class[*j] = class[*i];
        }
    }
    let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (scheme, class) in class.iter().enumerate() {
        classes.entry(*class).or_default().push(scheme);
    }
    let first = |scheme: usize| class[scheme] == scheme;
    let represented = pairs.iter().enumerate().filter(|(_, (i, j))| first(*i) && first(*j));
    let between = represented
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(at, pair)| {
            let cells: Vec<Option<Cell>> = by_channel.iter().map(|cells| cells[at]).collect();
            let witness = witness(&schemes, *pair, &channels, &cells);
            Between { pair: *pair, cells, witness }
        })
        .collect();
    Atlas { schemes, channels, classes, between }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

/// Compares each pair of schemes at one multiplier and shift.
fn cells(schemes: &[Scheme], channel: Channel, counter: &mut Counter, folder: &mut Folder) -> Vec<Option<Cell>> {
    let p = Parameters::q31(channel.multiplier, channel.shift);
    let whole = p.word.min() as i64..=p.word.max() as i64;
    let mut folded: Vec<Option<Vec<Piece>>> = Vec::with_capacity(schemes.len());
    for scheme in schemes {
        let steps = scheme.definition.steps.iter().map(|(_, step)| *step);
        folded.push(
            folder
                .fold(steps, scheme.overflow, &p, whole.clone())
                .map(|pieces| pieces.iter().map(Piece::reduced).collect()),
        );
    }
    // Index of the first scheme with the same pieces. A scheme that does not fold is in its own class.
    let first: Vec<usize> = (0..schemes.len())
        .map(|j| (0..j).find(|i| folded[j].is_some() && folded[*i] == folded[j]).unwrap_or(j))
        .collect();
    let mut counted: BTreeMap<(usize, usize), Option<Counts>> = BTreeMap::new();
    let mut count = |i: usize, j: usize| {
        let key = (first[i].min(first[j]), first[i].max(first[j]));
        let census = Census::of(schemes[key.0], schemes[key.1], p);
        *counted.entry(key).or_insert_with(|| counter.at_once(&census))
    };
    let own: Vec<Option<u64>> = (0..schemes.len()).map(|i| count(i, i).map(|c| c.inputs)).collect();
    let cell = |(i, j)| {
        let counts = count(i, j)?;
        let largest = counts.by_delta().map(|(delta, _)| delta.unsigned_abs()).max().unwrap_or(0);
        Some(Cell {
            inputs: counts.inputs,
            differ: counts.differ(),
            largest: (counts.far() == 0).then_some(largest),
            same_domain: own[i] == Some(counts.inputs) && own[j] == Some(counts.inputs),
        })
    };
    pairs(schemes.len()).map(cell).collect()
}

/// Returns the smallest input with a difference: nearest to zero, then with the smallest shift and multiplier.
fn witness(
    schemes: &[Scheme],
    (i, j): (usize, usize),
    channels: &[Channel],
    cells: &[Option<Cell>],
) -> Option<Witness> {
    let differing = |cell: &Option<Cell>| cell.is_some_and(|c| c.differ > 0);
    let mut there: Vec<Channel> = channels.iter().zip(cells).filter(|(_, c)| differing(c)).map(|(c, _)| *c).collect();
    let order = |c: &Channel| (c.shift.unsigned_abs(), c.multiplier.unsigned_abs(), c.multiplier < 0, c.shift > 0);
    there.sort_by_key(order);
    let census = |c: &Channel| Census::of(schemes[i], schemes[j], Parameters::q31(c.multiplier, c.shift));
    let found =
        |x: i64, channel: &Channel| census(channel).values(x).map(|values| Witness { x, channel: *channel, values });
    let near = (0..=NEAR).find_map(|distance| {
        let differs = |x: i64| there.iter().find(|c| census(c).differs(x)).and_then(|c| found(x, c));
        let (up, down) = (differs(distance), differs(-distance));
        // At equal distance, the smaller shift and multiplier come first.
        [up, down].into_iter().flatten().min_by_key(|w| (order(&w.channel), w.x < 0))
    });
    near.or_else(|| {
        let mut best: Option<Witness> = None;
        for channel in &there {
            let bound = best.map_or(i64::from(i32::MAX) + 1, |w| w.x.abs() - 1);
            let whole = census(channel);
            let inside = Census { lo: whole.lo.max(-bound), hi: whole.hi.min(bound), ..whole };
            let nearest = inside.differing().and_then(|mut d| d.next());
            best = nearest.and_then(|x| found(x, channel)).or(best);
        }
        best
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_common::parameters::CORNER_MULTIPLIERS;

    fn schemes(names: &[&str]) -> Vec<Scheme> {
        names.iter().map(|name| Scheme::parse(name).expect("a scheme")).collect()
    }

    fn all() -> Vec<Scheme> {
        Scheme::every().filter(|s| !s.label().contains(':')).collect()
    }

    /// Compares counts by classes with the census of each pair from the definitions.
    #[test]
    fn cells_are_those_of_the_pairs() {
        let (schemes, mut counter) = (all(), Counter::default());
        let shifts = [-31, -9, -1, 0, 1, 4, 7];
        let channels: Vec<Channel> = CORNER_MULTIPLIERS[..12]
            .iter()
            .flat_map(|m| shifts.map(|shift| Channel { multiplier: *m, shift }))
            .collect();
        let atlas = examine(schemes, channels, || ());
        let mut compared = 0;
        for between in &atlas.between {
            let (left, right) = (atlas.schemes[between.pair.0], atlas.schemes[between.pair.1]);
            for (channel, cell) in atlas.channels.iter().zip(&between.cells) {
                let census = Census::of(left, right, Parameters::q31(channel.multiplier, channel.shift));
                let counts = counter.counts(&census);
                let described = cell.map(|c| (c.inputs, c.differ));
                assert_eq!(
                    described,
                    counts.map(|c| (c.inputs, c.differ())),
                    "{} {} {channel:?}",
                    left.label(),
                    right.label()
                );
                compared += 1;
            }
            assert_eq!(between.witness.is_some(), between.total().1 > 0);
            if let Some(Witness { x, channel, values }) = between.witness {
                let census = Census::of(left, right, Parameters::q31(channel.multiplier, channel.shift));
                assert!(census.values(x) == Some(values) && values.0 != values.1);
                let nearer = (1 - x.abs()..x.abs()).take(200).find(|x| census.differs(*x));
                assert_eq!(nearer, None, "{} {} {channel:?}", left.label(), right.label());
            }
        }
        assert!(compared > 5000, "{compared}");
    }

    #[test]
    fn classes_are_the_same_function() {
        let names = ["ties-up", "gemmlowp-double", "tflite-single", "tosa-apply-scale-32-single", "cmsis-nn-single"];
        let channels: Vec<Channel> =
            CORNER_MULTIPLIERS.iter().flat_map(|m| (-31..=3).map(|shift| Channel { multiplier: *m, shift })).collect();
        let atlas = examine(schemes(&names), channels, || ());
        let classes: Vec<&Vec<usize>> = atlas.classes.values().collect();
        // TOSA has no value for negative multipliers. It never differs, but is another function.
        assert_eq!(classes, [&vec![0, 2, 4], &vec![1], &vec![3]]);
        let of = |pair| atlas.between.iter().find(|b| b.pair == pair).expect("counted");
        assert_eq!(of((0, 3)).total().1, 0);
        let double = of((0, 1));
        assert_eq!(double.witness.map(|w| (w.x, w.channel.multiplier, w.channel.shift)), Some((1, 1 << 30, -1)));
        assert_eq!(double.largest(), Some(None), "left shifts that wrap differ by far");
    }
}
