//! A ledger that contradicts itself is rejected. T.8 found verdicts edited to `holds` next to findings, and `held on 0 inputs`.

use crate::sample::{agreement, broken, figures, holding, planned, size};
use tiebreak_reports::files::{LEDGER, ReadError, read_ledger, write_all};
use tiebreak_reports::html::Earlier;
use tiebreak_reports::ledger::*;

type Edit = fn(&mut Ledger);

/// Edits of a run that holds.
const OF_HOLDS: [(&str, Edit); 30] = [
    ("its verdict is holds, and it has 5 findings", |l| l.findings = broken().findings),
    ("its verdict is holds, and no row has an input that was judged", |l| l.rows.clear()),
    ("and no row has an input that was judged", |l| l.rows.iter_mut().for_each(|row| *row = empty(row))),
    ("against its contract differs", |l| {
        let difference = l.rows[5].clone();
        l.rows[0] = Row {
            differ: difference.differ,
            by_delta: difference.by_delta,
            classes: difference.classes,
            ..l.rows[0].clone()
        };
    }),
    ("the self-check fpm srdhm-no-saturation host did not pass", |l| l.self_checks[0].passed = false),
    ("1 outputs of the catalogue of fpm host are broken", |l| l.catalogue[0].broken = 1),
    ("the bound of matmul arm-uadalp host, depth K, result as int32, is not shown", |l| l.bounds[0].shown = false),
    ("the rewrite `qcast(dcast(q)) -> q` of !quant.uniform<i8:f32, 0.3> is not as recorded", |l| {
        l.rewrites[0].counted.differ += 1;
    }),
    ("lane aarch64-native did not run and was not allowed not to", |l| {
        l.lanes[2].status = LaneStatus::NotRun { reason: "none".into(), allowed: false };
    }),
    ("deviates beyond its extent", |l| {
        l.rows[0].declared.insert("position".into(), "why".into());
        l.rows[0].deviations.insert("position".into(), 5);
        l.rows[0].extents.insert("position".into(), Extent { most: 4, each: false, because: "of four".into() });
    }),
    ("its verdict is broken, and it has no finding", |l| l.verdict = Verdict::Broken),
    ("its effort is `some`, and a run has one of quick, standard, exhaustive", |l| l.effort = "some".into()),
    ("it has a verdict, although `unfinished` has a reason for none: a signal", |l| {
        l.unfinished = Some("a signal".into())
    }),
    ("lane host is listed twice", |l| l.lanes.push(l.lanes[0].clone())),
    ("is of lane elsewhere, which is not listed", |l| l.rows[0].lane = "elsewhere".into()),
    ("is of lane aarch64-native, which did not run", |l| l.self_checks[0].lane = "aarch64-native".into()),
    ("the catalogue of fpm is of lane elsewhere, which is not listed", |l| l.catalogue[0].lane = "elsewhere".into()),
    ("5,000,000,000 differ of 4,294,967,296 inputs", |l| l.rows[5].differ = 5_000_000_000),
    ("8,388,608 differ, and by their deltas 8,388,607", |l| l.rows[5].differ += 1),
    ("8,388,607 differ, and by their classes 8,388,608", |l| {
        l.rows[5].classes.values_mut().for_each(|n| *n += 1);
    }),
    ("inputs deviate by `position`, which the contract does not declare", |l| {
        l.rows[0].deviations.insert("position".into(), 1);
    }),
    ("a reference has no deviations, which a contract declares", |l| {
        l.rows[1].declared.insert("position".into(), "why".into());
    }),
    ("5,000,000,000 deviate of 4,294,967,296 inputs", |l| {
        l.rows[0].declared.insert("position".into(), "why".into());
        l.rows[0].deviations.insert("position".into(), 5_000_000_000);
    }),
    ("4,294,967,297 inputs `subnormal` of 4,294,967,296", |l| {
        l.rows[0].kinds.insert("subnormal".into(), (1 << 32) + 1);
    }),
    ("it has a witness of `double-rounding`, and no input differs", |l| l.rows[1].witness = l.rows[5].witness.clone()),
    ("`k` is 5 to 4, of 1 remainders", |l| {
        l.rows[0].sizes.insert("k".into(), Size { least: 5, greatest: 4, remainders: 1 });
    }),
    ("`scale` is 2 to 1", |l| {
        l.rows[0].ranges.insert("scale".into(), Range { least: 2.0, greatest: 1.0 });
    }),
    ("9 pairs are planned, of which 9 ran and 1 were dropped", |l| {
        l.planned = vec![planned("tvm-relay", "host", 10, &[(DropReason::OutsideDomain, 1)])];
        l.planned[0].planned -= 1;
    }),
    ("1 and, of 1,313,714 open ones, 1,313,715 differ of 4,204,203 results", |l| {
        l.agreements = vec![agreement("a", "host", ["b", "host"], [1, 1_313_715], &[("i8:f32", 1_313_716)])];
    }),
    ("a row has 5 values for 6 columns", |l| {
        l.figures = figures();
        l.figures[0].rows[1].pop();
    }),
];

fn empty(row: &Row) -> Row {
    Row { inputs: 0, differ: 0, by_delta: [].into(), classes: [].into(), witness: None, ..row.clone() }
}

/// Edits of a broken run.
const OF_BROKEN: [(&str, Edit); 3] = [
    ("its verdict is holds, and it has 5 findings", |l| l.verdict = Verdict::Holds),
    (
        "gemmlowp-neon aarch64-qemu against its contract differs, and no finding is about that kernel in that lane",
        |l| {
            l.findings.retain(|finding| finding.class != "tie-direction");
        },
    ),
    ("the self-check fpm ties-other-way host did not pass, and no finding names it", |l| {
        l.findings.retain(|finding| finding.class != "self-check");
    }),
];

#[test]
fn every_contradiction_is_named() {
    let of =
        |edits: &'static [(&'static str, Edit)], ledger: fn() -> Ledger| edits.iter().map(move |edit| (edit, ledger()));
    for ((says, edit), mut ledger) in of(&OF_HOLDS, holding).chain(of(&OF_BROKEN, broken)) {
        assert_eq!(ledger.contradiction(), None);
        edit(&mut ledger);
        let what = ledger.contradiction().unwrap_or_else(|| panic!("accepted: {says}"));
        assert!(what.contains(says), "{what}\nin place of {says}");
    }
}

#[test]
fn a_whole_ledger_is_no_contradiction() {
    let mut ledger = broken();
    ledger.figures = figures();
    ledger.planned = vec![planned("tvm-relay", "host", 10, &[(DropReason::OutsideDomain, 1)])];
    ledger.agreements = vec![agreement("a", "host", ["b", "host"], [0, 3], &[("i8:f32", 3)])];
    ledger.rows[0].sizes.extend([size(("k", 64))]);
    assert_eq!(ledger.contradiction(), None);
    ledger.verdict = Verdict::Unfinished;
    assert_eq!(ledger.contradiction(), None);
}

#[test]
fn a_file_that_contradicts_itself_is_not_read() {
    let dir = tempfile::tempdir().expect("a directory");
    write_all(dir.path(), &holding(), &[], Earlier::default()).expect("it can be written");
    assert!(read_ledger(&dir.path().join(LEDGER)).is_ok());
    let edited = Ledger { verdict: Verdict::Holds, ..broken() };
    write_all(dir.path(), &edited, &[], Earlier::default()).expect("it can be written");
    let error = read_ledger(&dir.path().join(LEDGER)).expect_err("it contradicts itself");
    assert!(matches!(error, ReadError::Contradiction { .. }));
    assert!(error.to_string().contains("contradicts itself: its verdict is holds, and it has 5 findings; "), "{error}");
}
