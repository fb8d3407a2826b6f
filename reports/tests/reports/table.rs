use crate::sample;
use expect_test::expect_file;
use tiebreak_reports::ledger::{self, Against, Coverage, Ledger};
use tiebreak_reports::markdown;
use tiebreak_reports::table::{Detail, Style, render};

fn at(ledger: &Ledger, width: u16) -> String {
    render(ledger, Detail::Tables, Style { colour: false, width: Some(width) })
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

/// Only lines to be copied whole (commands, findings, witnesses) may exceed the width.
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
        let coloured = render(&ledger, Detail::Tables, Style { colour: true, width: Some(100) });
        assert!(!plain.contains('\x1b'));
        assert!(coloured.contains("\x1b["));
        assert_eq!(stripped(&coloured), plain);
    }
}

pub(crate) fn stripped(text: &str) -> String {
    let mut pieces = text.split('\x1b');
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.split_once('m').expect("a colour ends in m").1);
    first + &rest.collect::<String>()
}

#[test]
fn without_a_width_every_column_is_shown() {
    let unlimited = render(&sample::holding(), Detail::Tables, Style::default());
    assert_eq!(unlimited, at(&sample::holding(), u16::MAX));
    assert!(unlimited.contains("ISA path"));
}

/// Every row is shown, even without its counterpart.
#[test]
fn rows_that_do_not_pair_are_still_shown() {
    let mut ledger = sample::holding();
    ledger.rows.retain(|row| row.kernel != "tvm-relay" || row.against == Against::Reference);
    ledger.rows[3].coverage = Coverage::Sampled;
    ledger.rows[5].inputs = 77;
    ledger.rows[7].scheme = "ties-even:saturate".into();
    expect_file!["snapshots/unpaired-140.txt"].assert_eq(&at(&ledger, 140));
}

/// Names stay whole, because readers search for them; prose is wrapped.
#[test]
fn no_name_is_broken() {
    let mut ledger = sample::broken();
    for row in &mut ledger.rows {
        row.kernel.push_str("-of-a-long-name");
        if row.against == Against::Contract {
            row.scheme = "sqrdmulh-fixup-srshl:wrap".into();
        }
        row.out_of_domain = 7;
    }
    for width in [60, 80, 100] {
        let page = at(&ledger, width);
        let (_, lists) = page.split_once("Contracts and ISA paths").unwrap();
        let words: Vec<_> = lists.split([' ', '\n', ',']).filter(|word| !word.is_empty()).collect();
        for row in &ledger.rows {
            for name in [&row.kernel, &row.scheme, &row.lane] {
                assert!(words.contains(&name.as_str()), "{width}: {name}\n{page}");
            }
        }
        let broken = ["sqrdmulh-fixup-srshl:", "sqrdmulh-fixup-", "-of-a-long-", "aarch64-"];
        assert!(broken.iter().all(|piece| words.iter().all(|word| !word.ends_with(piece))), "{width}:\n{page}");
    }
    expect_file!["snapshots/long-names-80.txt"].assert_eq(&at(&ledger, 80));
}

/// The smallest witness shows one class. The other classes are listed next to it, by lane if the counts of lanes differ.
#[test]
fn all_classes_are_told() {
    let mut ledger = sample::holding();
    let rfc = |row: &&mut ledger::Row| row.kernel == "tvm-neon-rfc" && row.against == Against::Reference;
    for row in ledger.rows.iter_mut().filter(rfc) {
        row.classes = [("wrap".into(), 8_388_000), ("double-rounding".into(), 607)].into();
    }
    let line = "8,388,607 differ: wrap 8,388,000, double-rounding 607";
    assert_eq!(at(&ledger, 100).matches(line).count(), 1);
    assert_eq!(markdown::render(&ledger).matches(line).count(), 1);
    let host = ledger.rows.iter_mut().find(rfc).unwrap();
    host.classes.remove("wrap");
    host.classes.insert("saturation".into(), 8_388_000);
    let page = at(&ledger, 100);
    assert!(page.contains(&format!("aarch64-qemu: {line}")), "{page}");
    assert!(page.contains("host: 8,388,607 differ: saturation 8,388,000, double-rounding 607"), "{page}");
}

#[test]
fn an_operation_without_parameters_has_no_count_of_them() {
    let mut ledger = sample::holding();
    ledger.rows.iter_mut().take(2).for_each(|row| row.parameters = 0);
    assert!(at(&ledger, 200).lines().any(|line| line.contains("tvm-relay") && line.contains("   - ")));
    ledger.rows.iter_mut().for_each(|row| row.parameters = 0);
    assert!(at(&ledger, 200).contains("\nKernels\n"));
}

#[test]
fn a_run_of_nothing_says_so() {
    let mut ledger = sample::holding();
    (ledger.rows, ledger.self_checks) = (Vec::new(), Vec::new());
    ledger.catalogue[0].judged = 0;
    expect_file!["snapshots/nothing-100.txt"].assert_eq(&at(&ledger, 100));
}
