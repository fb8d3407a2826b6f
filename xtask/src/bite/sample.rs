//! Selection of the changes to try: a sample by the seed.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Size and seed of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// Number of changes [default: all].
    pub(crate) sample: Option<u32>,
    pub(crate) seed: u64,
}

impl Choice {
    /// Returns the changes of the sample, in their order.
    pub(crate) fn of(&self, every: &[String]) -> Vec<String> {
        let mut order: Vec<usize> = (0..every.len()).collect();
        order.sort_by_key(|i| draw(self.seed, &every[*i]));
        order.truncate(self.sample.map_or(usize::MAX, |n| n as usize));
        at(order, every)
    }

    /// Returns a sample with a proportional share of each file: equidistant places in the list of all files, each file in a random order.
    pub(crate) fn of_files(&self, every: &[String]) -> Vec<String> {
        let mut order: Vec<usize> = (0..every.len()).collect();
        order.sort_by_key(|i| (file(&every[*i]), draw(self.seed, &every[*i])));
        let n = self.sample.map_or(every.len(), |n| (n as usize).min(every.len()));
        at((0..n).map(|i| order[i * every.len() / n]).collect(), every)
    }
}

/// Returns the changes at some places, in their order.
fn at(mut places: Vec<usize>, every: &[String]) -> Vec<String> {
    places.sort_unstable();
    places.into_iter().map(|place| every[place].clone()).collect()
}

/// Returns the file of `FILE:LINE:COLUMN: CHANGE`.
pub(crate) fn file(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// Returns a number that depends only on the seed and the name of a change.
fn draw(seed: u64, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        let file = |i: u32| if i < 40 { "large.rs" } else { ["a.rs", "b.rs"][i as usize % 2] };
        (0..50).map(|i| format!("{}:{i}:1: change", file(i))).collect()
    }

    #[test]
    fn a_sample_depends_on_its_seed_and_on_nothing_else() {
        for choose in [Choice::of, Choice::of_files] {
            let of = |seed| choose(&Choice { sample: Some(9), seed }, &names());
            assert_eq!((of(1).len(), of(1)), (9, of(1)));
            assert_ne!(of(1), of(2));
        }
    }

    #[test]
    fn every_file_has_its_part_of_a_sample() {
        let chosen = Choice { sample: Some(10), seed: 1 }.of_files(&names());
        let of = |wanted: &str| chosen.iter().filter(|name| file(name) == wanted).count();
        assert_eq!([of("large.rs"), of("a.rs"), of("b.rs")], [8, 1, 1]);
        assert_eq!(Choice { sample: None, seed: 1 }.of_files(&names()), names());
    }
}
