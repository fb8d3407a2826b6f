//! Dictionaries of fuzz targets, collected from seeds: every word that a reader knows occurs in a seed.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Minimum and maximum length of a word, and maximum number of words. The most frequent words are kept.
const SHORTEST: usize = 2;
const LONGEST: usize = 40;
const MOST: usize = 160;

/// Returns a libFuzzer dictionary of the words in the seeds.
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

/// Returns the words of a seed: names, each with a following `=`, `:`, `<` or `(`, if any.
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
