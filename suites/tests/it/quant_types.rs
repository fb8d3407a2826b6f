//! `!quant.uniform` and the ops on it: the RFC's examples, and what a text can get wrong.

use proptest::prelude::*;
use tiebreak_suites::quant_type::{Item, parse};

const RFC: &str = include_str!("../data/quant_rfc.txt");

/// Every "Correct" example is accepted and printed back as it is; every "Incorrect" one is refused where it is wrong, by the rule's name.
#[test]
fn examples_of_the_rfc() {
    let mut counts = [0; 2];
    let mut lines = RFC.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("Correct ").or(line.strip_prefix("example ")) {
            let read = parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.to_string(), text);
            counts[0] += 1;
        } else if let Some(text) = line.strip_prefix("Incorrect ") {
            let error = parse(text).expect_err(text);
            let (place, rule) = lines.next().and_then(|below| below.split_once("^ ")).expect("a caret below");
            assert_eq!(error.character + "Incorrect ".len(), place.len() + 1, "{error}");
            assert!(error.to_string().starts_with(rule), "{error}\n{rule}");
            counts[1] += 1;
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
        }
    }
    assert_eq!(counts, [44, 4]);
}

proptest! {
    /// Blanks and spelling of numbers are lost, and nothing else.
    #[test]
    fn what_is_printed_is_read_as_the_same(
        storage in 0..64u32, scale in 1e-37..1e37f64, zero in 0..=1i64, axis in 0..4usize, channels in 1..5usize,
    ) {
        let name = format!("{}{}", if storage < 32 { 'i' } else { 'u' }, storage % 32 + 1);
        let scales = vec![format!("{scale:?}").replace("e", ".0e").replacen(".0e", if format!("{scale:?}").split('e').next().is_some_and(|m| m.contains('.')) { "e" } else { ".0e" }, 1); channels];
        let zero = -zero * i64::from(storage < 32);
        let text = format!("!quant.uniform<{name} : f32:{axis},{{ {}:{zero} }} >", scales.join(" ,"));
        let read = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(parse(&read.to_string()).expect("what is printed"), read);
    }
}
