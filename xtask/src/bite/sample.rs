//! Which changes are tried: a sample by the seed, and of this a shard.

use std::hash::{DefaultHasher, Hash, Hasher};

/// What is chosen of some changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// How many [default: all].
    pub(crate) sample: Option<u32>,
    pub(crate) seed: u64,
    /// The part I of N parts.
    pub(crate) shard: Option<(u32, u32)>,
}

/// `I/N`, with I from 1 to N.
pub(crate) fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "it is I/N, such as 1/4, with I from 1 to N".to_owned())
}

impl Choice {
    /// The changes that are tried, in their order: those of the sample, and of these the shard's.
    pub(crate) fn of(&self, every: &[String]) -> Vec<String> {
        let mut order: Vec<usize> = (0..every.len()).collect();
        order.sort_by_key(|i| draw(self.seed, &every[*i]));
        order.truncate(self.sample.map_or(usize::MAX, |n| n as usize));
        self.here(order, every)
    }

    /// The same, drawn from each file in proportion to its changes: at equal distances in the list of all files, each in a random order.
    pub(crate) fn of_files(&self, every: &[String]) -> Vec<String> {
        let mut order: Vec<usize> = (0..every.len()).collect();
        order.sort_by_key(|i| (file(&every[*i]), draw(self.seed, &every[*i])));
        let n = self.sample.map_or(every.len(), |n| (n as usize).min(every.len()));
        self.here((0..n).map(|i| order[i * every.len() / n]).collect(), every)
    }

    fn here(&self, mut places: Vec<usize>, every: &[String]) -> Vec<String> {
        places.sort_unstable();
        let (part, parts) = self.shard.unwrap_or((1, 1));
        let here = places.into_iter().enumerate().filter(|(i, _)| *i as u32 % parts == part - 1);
        here.map(|(_, place)| every[place].clone()).collect()
    }
}

/// The file of `FILE:LINE:COLUMN: CHANGE`.
pub(crate) fn file(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// A number that depends on the seed and on the name of a change alone.
fn draw(seed: u64, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(sample: Option<u32>, seed: u64, shard: Option<(u32, u32)>) -> Choice {
        Choice { sample, seed, shard }
    }

    fn names() -> Vec<String> {
        let file = |i: u32| if i < 40 { "large.rs" } else { ["a.rs", "b.rs"][i as usize % 2] };
        (0..50).map(|i| format!("{}:{i}:1: change", file(i))).collect()
    }

    #[test]
    fn a_sample_depends_on_its_seed_and_on_nothing_else() {
        for choose in [Choice::of, Choice::of_files] {
            let of = |seed| choose(&choice(Some(9), seed, None), &names());
            assert_eq!((of(1).len(), of(1)), (9, of(1)));
            assert_ne!(of(1), of(2));
        }
    }

    #[test]
    fn shards_are_a_partition_of_the_sample() {
        let whole = choice(Some(20), 3, None).of(&names());
        let mut parts: Vec<String> = (1..=3).flat_map(|i| choice(Some(20), 3, Some((i, 3))).of(&names())).collect();
        parts.sort_by_key(|name| names().iter().position(|n| n == name));
        assert_eq!(parts, whole);
    }

    #[test]
    fn every_file_has_its_part_of_a_sample() {
        let chosen = choice(Some(10), 1, None).of_files(&names());
        let of = |wanted: &str| chosen.iter().filter(|name| file(name) == wanted).count();
        assert_eq!([of("large.rs"), of("a.rs"), of("b.rs")], [8, 1, 1]);
        assert_eq!(choice(None, 1, None).of_files(&names()), names());
    }

    #[test]
    fn a_shard_is_one_of_its_number() {
        assert_eq!(shard("2/4"), Ok((2, 4)));
        for wrong in ["0/4", "5/4", "4", "a/b", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
