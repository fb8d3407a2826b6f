//! Dictionaries of fuzz targets, made of their seeds: a word that a reader knows stands in one of them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Shortest and longest word, and how many there are at most, the most frequent first.
const SHORTEST: usize = 2;
const LONGEST: usize = 40;
const MOST: usize = 160;

/// The words of the seeds, as libFuzzer reads a dictionary: names with the sign that follows them.
pub fn dictionary(seeds: &[Vec<u8>]) -> String {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for seed in seeds {
        words(seed).for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let mut words: Vec<(&[u8], usize)> = counts.into_iter().collect();
    words.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    words.truncate(MOST);
    words.iter().fold(String::new(), |mut out, (word, _)| {
        let _ = writeln!(out, "\"{}\"", escaped(word));
        out
    })
}

/// The names in a seed, each with `=`, `:`, `<` or `(` after it.
fn words(seed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.!".contains(byte);
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + seed[at..].iter().position(|byte| byte.is_ascii_alphabetic() || *byte == b'!')?;
        let len = seed[start..].iter().take_while(|byte| inside(byte)).count();
        at = start + len;
        let sign = usize::from(seed.get(at).is_some_and(|byte| b"=:<(".contains(byte)));
        at += sign;
        Some(&seed[start..at])
    })
    .filter(|word| (SHORTEST..=LONGEST).contains(&word.len()))
}

fn escaped(word: &[u8]) -> String {
    word.iter().fold(String::new(), |mut out, byte| {
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(*byte)),
            b' '..=b'~' => write!(out, "{}", char::from(*byte)),
            _ => write!(out, "\\x{byte:02x}"),
        };
        out
    })
}
