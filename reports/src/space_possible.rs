//! Impossible sums: sums of a chunk that contradict its place or themselves, for any schemes.

use crate::space::{Chunk, First, Most, Place, Sums};

/// Accumulators at each pair of multiplier and shift: all int32.
pub const ACCUMULATORS: u64 = 1 << 32;

/// An impossible sum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("shift {}, multipliers {}..{}: {what}: the file is damaged or edited", place.shift, place.from, place.to)]
pub struct Impossible {
    /// Whose they are.
    pub place: Place,
    /// What contradicts what.
    pub what: String,
}

impl Chunk {
    /// Checks that sums are possible: each is within its range, and all are consistent.
    pub fn possible(&self) -> Result<(), Impossible> {
        let Self { place, sums } = self;
        let found = numbers(place, sums).or_else(|| deltas(sums)).or_else(|| witnesses(place, sums));
        found.map_or(Ok(()), |what| Err(Impossible { place: *place, what }))
    }
}

/// Checks that no count exceeds the number of inputs.
fn numbers(place: &Place, sums: &Sums) -> Option<String> {
    let Sums { pairs, pairs_differ, .. } = *sums;
    let (inputs, outside, differ) = (sums.inputs.0, sums.out_of_domain.0, sums.differ.0);
    let all = u128::from(place.pairs()) * u128::from(ACCUMULATORS);
    let most = u128::from(pairs_differ) * u128::from(ACCUMULATORS);
    match () {
        () if pairs != place.pairs() => Some(format!("{pairs} pairs where there are {}", place.pairs())),
        () if pairs_differ > pairs => Some(format!("{pairs_differ} pairs differ, of {pairs}")),
        () if inputs.checked_add(outside) != Some(all) => {
            Some(format!("{inputs} inputs and {outside} out of domain are not the {all} accumulators of {pairs} pairs"))
        }
        () if differ > inputs => Some(format!("{differ} inputs differ, of {inputs}")),
        () if differ < u128::from(pairs_differ) || differ > most => {
            Some(format!("{differ} inputs differ at {pairs_differ} pairs, of 1 to {ACCUMULATORS} each"))
        }
        () => None,
    }
}

/// Checks that the differences by delta add up to the differing inputs.
fn deltas(sums: &Sums) -> Option<String> {
    let number = |name: &str| name.parse().ok().filter(|n: &i64| *n != 0 && n.to_string() == name);
    if let Some(name) = sums.by_delta.keys().find(|name| *name != "other" && number(name).is_none()) {
        return Some(format!("`{name}` is no difference"));
    }
    if let Some((name, _)) = sums.by_delta.iter().find(|(_, count)| count.0 == 0) {
        return Some(format!("no input has the difference {name}, which is listed"));
    }
    let all = sums.by_delta.values().try_fold(0u128, |all, count| all.checked_add(count.0));
    (all != Some(sums.differ.0)).then(|| format!("{} inputs differ, which is not the sum by difference", sums.differ.0))
}

/// Checks that the pair with the most differences and the first differing pair are possible.
fn witnesses(place: &Place, sums: &Sums) -> Option<String> {
    let (most, first) = match (sums.differ.0, sums.most, sums.first) {
        (0, None, None) => return None,
        (1.., Some(most), Some(first)) => (most, first),
        (differ, most, first) => {
            let there = |found: bool| if found { "one" } else { "none" };
            let [most, first] = [most.is_some(), first.is_some()].map(there);
            return Some(format!("{differ} inputs differ, with {most} as the most and {first} as the first"));
        }
    };
    let inside = |multiplier, shift| shift == place.shift && (place.from..=place.to).contains(&multiplier);
    let Most { multiplier, shift, differ } = most;
    if !inside(multiplier, shift) {
        return Some(format!("the most differ at multiplier {multiplier}, shift {shift}, which is not there"));
    }
    let First { multiplier: m, shift, x, left, right } = first;
    if !inside(m, shift) || m > multiplier {
        return Some(format!(
            "the first differs at multiplier {m}, shift {shift}, which is not there or not the first"
        ));
    }
    if i32::try_from(x).is_err() || left == right {
        return Some(format!("the first is at accumulator {x}, {left} and {right}, which is no difference"));
    }
    // Every pair that differs does so on one input at least, and on no more than the most.
    let (all, pairs) = (sums.differ.0, u128::from(sums.pairs_differ));
    let most = u128::from(differ);
    (differ > ACCUMULATORS || most * pairs < all || most + pairs - 1 > all)
        .then(|| format!("{all} inputs differ at {pairs} pairs, which cannot be with {differ} as the most at one"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Accumulators;

    fn sound() -> Chunk {
        let all = |n| Accumulators(n);
        let place = Place { shift: -3, from: 1 << 30, to: (1 << 30) + 9 };
        let sums = Sums {
            pairs: 10,
            pairs_differ: 3,
            inputs: all(10 << 32),
            out_of_domain: all(0),
            differ: all(12),
            by_delta: [("-1".to_owned(), all(5)), ("other".to_owned(), all(7))].into(),
            most: Some(Most { multiplier: (1 << 30) + 4, shift: -3, differ: 8 }),
            first: Some(First { multiplier: (1 << 30) + 1, shift: -3, x: -5, left: 1, right: 0 }),
        };
        Chunk { place, sums }
    }

    #[test]
    fn sums_that_no_counting_gives_are_refused_by_name() {
        sound().possible().expect("it is sound");
        let nothing = |sums: &mut Sums| {
            *sums = Sums { pairs: 10, inputs: Accumulators(10 << 32), ..Sums::default() };
        };
        let refused = |change: &dyn Fn(&mut Sums)| {
            let mut chunk = sound();
            change(&mut chunk.sums);
            chunk.possible().map_err(|e| e.what)
        };
        assert_eq!(refused(&nothing), Ok(()));
        type Change<'a> = &'a dyn Fn(&mut Sums);
        let cases: [(Change<'_>, &str); 16] = [
            (&|s| s.pairs = 11, "11 pairs where there are 10"),
            (&|s| s.pairs_differ = 999_999, "999999 pairs differ, of 10"),
            (&|s| s.inputs.0 -= 1, "are not the 42949672960 accumulators"),
            (&|s| s.inputs.0 = u128::MAX, "out of domain"),
            (&|s| s.out_of_domain.0 = u128::MAX, "out of domain"),
            (&|s| s.differ.0 = 11 << 32, "of 42949672960"),
            (&|s| s.differ.0 = 2, "2 inputs differ at 3 pairs"),
            (&|s| s.differ.0 = 4 << 32, "at 3 pairs, of 1 to"),
            (&|s| s.differ.0 = 13, "not the sum by difference"),
            (&|s| s.by_delta = [("+1".to_owned(), Accumulators(12))].into(), "`+1` is no difference"),
            (&|s| _ = s.by_delta.insert("4".to_owned(), Accumulators(0)), "difference 4, which is listed"),
            (&|s| s.first = None, "none as the first"),
            (&|s| s.most.as_mut().expect("one").shift = 0, "which is not there"),
            (&|s| s.first.as_mut().expect("one").multiplier += 7, "not the first"),
            (&|s| s.first.as_mut().expect("one").left = 0, "which is no difference"),
            (&|s| s.most.as_mut().expect("one").differ = 3, "3 as the most at one"),
        ];
        for (change, words) in cases {
            let message = refused(change).expect_err(words);
            assert!(message.contains(words), "`{words}` is not in `{message}`");
        }
        let message = refused(&|s| s.most.as_mut().expect("one").differ = 11).expect_err("too many");
        assert!(message.contains("11 as the most at one"), "{message}");
    }
}
