use crate::sample;
use expect_test::expect_file;
use tiebreak_reports::ledger::{Against, Coverage, Ledger};
use tiebreak_reports::table::{Style, render};

fn at(ledger: &Ledger, width: u16) -> String {
    render(ledger, Style { colour: false, width: Some(width) })
}

#[test]
fn a_holding_run() {
    expect_file!["snapshots/holding-100.txt"].assert_eq(&at(&sample::holding(), 100));
    expect_file!["snapshots/holding-140.txt"].assert_eq(&at(&sample::holding(), 140));
    expect_file!["snapshots/holding-200.txt"].assert_eq(&at(&sample::holding(), 200));
}

#[test]
fn a_broken_run() {
    expect_file!["snapshots/broken-100.txt"].assert_eq(&at(&sample::broken(), 100));
    expect_file!["snapshots/broken-80.txt"].assert_eq(&at(&sample::broken(), 80));
}

/// Nothing but lines to be copied whole (commands, findings, witnesses) may pass the right edge.
#[test]
fn tables_and_prose_keep_to_the_width() {
    for ledger in [sample::holding(), sample::broken()] {
        for width in [80, 100, 120, 140, 200] {
            for line in at(&ledger, width).lines() {
                let whole = line.contains("cargo xtask") || line.contains("class ");
                assert!(whole || line.chars().count() <= width as usize, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_changes_no_character() {
    for ledger in [sample::holding(), sample::broken()] {
        let plain = at(&ledger, 100);
        let coloured = render(&ledger, Style { colour: true, width: Some(100) });
        assert!(!plain.contains('\x1b'));
        assert!(coloured.contains("\x1b["));
        assert_eq!(stripped(&coloured), plain);
    }
}

fn stripped(text: &str) -> String {
    let mut pieces = text.split('\x1b');
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.split_once('m').expect("a colour ends in m").1);
    first + &rest.collect::<String>()
}

#[test]
fn without_a_width_every_column_is_shown() {
    let unlimited = render(&sample::holding(), Style::default());
    assert_eq!(unlimited, at(&sample::holding(), u16::MAX));
    assert!(unlimited.contains("ISA path"));
}

/// Every row is told, also when the rows do not pair up as expected.
#[test]
fn rows_that_do_not_pair_are_still_shown() {
    let mut ledger = sample::holding();
    ledger.rows.retain(|row| row.kernel != "tvm-relay" || row.against == Against::Reference);
    ledger.rows[3].coverage = Coverage::Sampled;
    ledger.rows[5].inputs = 77;
    ledger.rows[7].scheme = "ties-even:saturate".into();
    expect_file!["snapshots/unpaired-140.txt"].assert_eq(&at(&ledger, 140));
}

#[test]
fn a_run_of_nothing_says_so() {
    let mut ledger = sample::holding();
    (ledger.rows, ledger.self_checks) = (Vec::new(), Vec::new());
    expect_file!["snapshots/nothing-100.txt"].assert_eq(&at(&ledger, 100));
}
