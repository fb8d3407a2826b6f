//! Compares the counts of a file with the schemes again: whoever writes a file also makes its checksums.
//!
//! Of every chunk the two pairs that it names are counted. Of the chunks themselves one in [`ONE_IN`] is, and all of them where that
//! is little work. The content of all chunks decides which ones, so that the same file is always checked in the same way.

use super::count::{count, nearest_zero};
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use tiebreak_common::stream::{below, stream};
use tiebreak_oracle::census::{APART, Census};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::space::{Chunk, Line, Most, Plan, render};

/// One chunk in so many is counted again.
pub const ONE_IN: usize = 64;
/// Pairs that are counted again at least, where there are so many: half a second of work.
const LEAST_PAIRS: u64 = super::CHUNK as u64;

/// How much was counted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// Chunks counted again.
    pub counted: usize,
    /// Chunks that were read.
    pub of: usize,
}

/// That the chunks say what counting gives; an error with the place and both values where one does not.
pub fn hold(plan: &Plan, chunks: &[Chunk], all: bool) -> Result<Again> {
    let scheme = |name: &str| Scheme::parse(name).with_context(|| format!("the plan is of `{name}`"));
    let schemes = (scheme(&plan.left)?, scheme(&plan.right)?);
    first_error(chunks.par_iter().map(|chunk| witnesses(schemes, chunk)).collect())?;
    let chosen = if all { (0..chunks.len()).collect() } else { chosen(chunks) };
    let bar = ProgressBar::new(chosen.len() as u64);
    let counted = |at: &usize| {
        let same = same(schemes, &chunks[*at]);
        bar.inc(1);
        same
    };
    first_error(chosen.par_iter().map(counted).collect())?;
    bar.finish_and_clear();
    Ok(Again { counted: chosen.len(), of: chunks.len() })
}

/// The error of the first chunk that has one, however many threads looked.
fn first_error(each: Vec<Result<()>>) -> Result<()> {
    each.into_iter().collect()
}

/// Which chunks are counted again, in increasing order.
fn chosen(chunks: &[Chunk]) -> Vec<usize> {
    let mut content = crc32fast::Hasher::new();
    chunks.iter().for_each(|chunk| content.update(render(&Line::Chunk(chunk.clone())).as_bytes()));
    let mut random = stream(content.finalize().into(), "space/again");
    let mut order: Vec<usize> = (0..chunks.len()).collect();
    let (mut taken, mut pairs) = (0, 0);
    while taken < order.len() && (taken < order.len().div_ceil(ONE_IN) || pairs < LEAST_PAIRS) {
        let left = (order.len() - taken) as u32;
        order.swap(taken, taken + below(&mut random, left) as usize);
        pairs += chunks[order[taken]].place.pairs();
        taken += 1;
    }
    order.truncate(taken);
    order.sort_unstable();
    order
}

/// That the pair with the most differences has as many, and the first one the difference nearest to zero that it names.
fn witnesses((left, right): (Scheme, Scheme), chunk: &Chunk) -> Result<()> {
    let (place, sums) = (chunk.place, &chunk.sums);
    let census = |multiplier| Census::of(left, right, Parameters::q31(multiplier, place.shift));
    let at = || format!("shift {}, multipliers {}..{}", place.shift, place.from, place.to);
    let far = |name: &String| name.parse().is_ok_and(|delta: i64| delta.abs() > APART);
    if let Some(name) = sums.by_delta.keys().find(|name| far(name)) {
        bail!("{}: the difference {name} is listed by itself, and those beyond {APART} are counted together", at());
    }
    if let Some(Most { multiplier, differ, .. }) = sums.most {
        let counted = census(multiplier).counts().map(|counts| counts.differ());
        if counted != Some(differ) {
            let counted = counted.map_or("there is no closed form".to_owned(), |n| format!("counted again {n}"));
            bail!("{}: {differ} inputs differ at multiplier {multiplier}, {counted}; {EDITED}", at());
        }
    }
    if let Some(first) = sums.first {
        let found = nearest_zero(&census(first.multiplier), first.multiplier);
        if found != Some(first) {
            let described = |x, left, right| format!("x={x}: {left}, {right}");
            let found = found.map_or("no difference".to_owned(), |f| described(f.x, f.left, f.right));
            let said = described(first.x, first.left, first.right);
            bail!("{}: multiplier {} differs first at {said}, counted again {found}; {EDITED}", at(), first.multiplier);
        }
    }
    Ok(())
}

const EDITED: &str = "the file is damaged or edited, or a program that counts otherwise wrote it";

/// That a chunk counted again has the same sums.
fn same((left, right): (Scheme, Scheme), chunk: &Chunk) -> Result<()> {
    let sums = count(left, right, chunk.place)?;
    if sums == chunk.sums {
        return Ok(());
    }
    let fields = |chunk: &Chunk| match serde_json::to_value(chunk) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (said, counted) = (fields(chunk), fields(&Chunk { place: chunk.place, sums }));
    let unlike = said.iter().filter(|(name, value)| counted.get(*name) != Some(value));
    let unlike = unlike.map(|(name, value)| format!("{name} {value}, counted again {}", counted[name]));
    let place = chunk.place;
    bail!(
        "shift {}, multipliers {}..{}: {}; {EDITED}",
        place.shift,
        place.from,
        place.to,
        unlike.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_reports::space::{Place, Sums};

    fn chunks(n: i32, pairs: i32) -> Vec<Chunk> {
        let place = |i| Place { shift: -1, from: i * pairs, to: i * pairs + pairs - 1 };
        (0..n).map(|i| Chunk { place: place(i), sums: Sums::default() }).collect()
    }

    #[test]
    fn one_in_so_many_is_counted_again_and_all_of_a_few() {
        let many = chunks(200, 1 << 20);
        let some = chosen(&many);
        assert_eq!(some.len(), 4);
        assert_eq!(chosen(&many), some, "the same file, the same chunks");
        assert_eq!(chosen(&chunks(30, 500)).len(), 30);
        assert_eq!(chosen(&chunks(3, 1 << 20)).len(), 1);
        assert_eq!(chosen(&chunks(1 << 12, 1 << 14)).len(), 64);
        assert!(chosen(&[]).is_empty());
        // What one chunk says decides for all of them.
        let others = (0..50).filter(|i| {
            let mut changed = many.clone();
            changed[*i].sums.pairs_differ = 1;
            chosen(&changed) != some
        });
        assert!(others.count() > 40);
    }
}
