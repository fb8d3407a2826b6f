//! The corner catalogue: lines that cannot be are refused with their number and what to write; lines that can are true.

use crate::common::channel;
use tiebreak_impls::fpm;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_suites::fpm::catalogue::{self, Entry};

const GOOD: &str = "1 1073741824 -1 ties-up=0 gemmlowp-double=1 # a quarter";

/// The reason why a line is refused, when it is the third of a file.
fn reason(line: &str) -> String {
    let bad = catalogue::read(&format!("# a comment\n{GOOD}\n{line}\n")).expect_err(line);
    assert_eq!(bad.line, 3, "{bad}");
    assert!(bad.to_string().starts_with("line 3: "), "{bad}");
    bad.reason
}

#[test]
fn numbers_schemes_and_values_are_checked() {
    let cases = [
        ("1 2 3 ties-up=0", "no provenance: end the line with `# where it comes from`"),
        ("1 2 # p", "no s: a line starts with x, m and s"),
        ("one 2 3 ties-up=0 # p", "x: `one` is not an int32"),
        ("2147483648 2 3 ties-up=0 # p", "x: `2147483648` is not an int32"),
        ("1 2147483648 3 ties-up=0 # p", "m: `2147483648` is not an int32"),
        ("1 2 32 ties-up=0 # p", "s: 32 is not in -31..=31"),
        ("1 2 3 # p", "no value: name at least one SCHEME=VALUE"),
        ("1 2 3 ties-up # p", "`ties-up` is not SCHEME=VALUE"),
        ("1 2 3 ties-up=x # p", "`ties-up=x`: `x` is neither an integer nor `-`"),
        ("1 2 3 tie-up=0 # p", "unknown scheme `tie-up`"),
        ("1 1073741824 0 ties-up=0 # p", "ties-up is 1, not 0"),
        ("1 1073741824 0 ties-up=- # p", "ties-up is 1, not -"),
        ("-2147483648 -2147483648 0 ties-up=2147483647 # p", "ties-up is -, not 2147483647"),
        ("-2147483648 -2147483648 0 ties-up:saturate=0 # p", "ties-up:saturate is 2147483647, not 0"),
    ];
    for (line, expected) in cases {
        let reason = reason(line);
        assert!(reason.contains(expected), "{line}: {reason}");
    }
    println!("{} bad lines", cases.len());
}

#[test]
fn a_line_is_read_as_written() {
    let read = catalogue::read(&format!("\n# comment\n  \n{GOOD}\n")).expect("good");
    let values = vec![("ties-up".to_owned(), Some(0)), ("gemmlowp-double".to_owned(), Some(1))];
    assert_eq!(read, [Entry { x: 1, channel: channel(1 << 30, -1), values, provenance: "a quarter".to_owned() }]);
}

/// The line that `case` offers can be put into the catalogue as it is.
#[test]
fn ready_lines_are_lines() {
    let schemes: Vec<Scheme> = ["ties-up", "gemmlowp-double"].map(|n| Scheme::parse(n).expect("known")).into();
    for (x, m, s) in [(1, 1 << 30, -1), (i32::MIN, i32::MIN, 0), (-5, 3, 31)] {
        let line = catalogue::ready_line(x, channel(m, s), &schemes, "a test");
        assert_eq!(catalogue::read(&line).expect(&line).len(), 1);
    }
    let printed = crate::common::tiebreak(&["case", "--x=-1", "--multiplier=1073741825", "--shift=-1"]).exits(0).stdout;
    let (_, line) = printed.split_once("As a catalogue line:\n").expect("it offers one");
    assert_eq!(catalogue::read(line).expect("it can be read").len(), 1);
}

/// Every value holds, no case is there twice, and every scheme that a kernel promises has cases.
#[test]
fn the_catalogue_is_sound() {
    let entries = catalogue::read(catalogue::TEXT).expect("every line is one");
    for (i, e) in entries.iter().enumerate() {
        assert!(!e.provenance.is_empty(), "{e:?}");
        let twice = entries[..i].iter().any(|other| (other.x, other.channel) == (e.x, e.channel));
        assert!(!twice, "{e:?} is there twice");
    }
    let uncovered: Vec<_> = fpm::kernels()
        .iter()
        .filter(|k| !entries.iter().any(|e| k.contract.domain.contains(e.channel.multiplier, e.channel.shift, 31)))
        .map(|k| k.name)
        .collect();
    assert!(uncovered.is_empty(), "{uncovered:?}");
    println!("{} entries", entries.len());
}
