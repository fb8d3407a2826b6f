use crate::sample;
use expect_test::expect_file;
use std::path::Path;
use tiebreak_reports::files::{LEDGER, read_ledger};
use tiebreak_reports::html::Earlier;
use tiebreak_reports::ledger::*;
use tiebreak_reports::markdown;
use tiebreak_reports::summary::{MOST, render};

#[test]
fn a_holding_run() {
    expect_file!["snapshots/holding-summary.md"].assert_eq(&alone(&sample::holding()));
}

#[test]
fn a_broken_run() {
    expect_file!["snapshots/broken-summary.md"].assert_eq(&alone(&sample::broken()));
}

/// Returns the part that is read without a click.
fn front(page: &str) -> &str {
    page.split("<details>").next().expect("there is something")
}

fn alone(ledger: &Ledger) -> String {
    render(ledger, Earlier::default())
}

/// Checks the limit, the title, and that there is at most one fold, closed.
fn fits(ledger: &Ledger, earlier: Earlier<'_>) -> String {
    let page = render(ledger, earlier);
    assert!(page.len() <= MOST && MOST == 4096, "{} bytes\n{page}", page.len());
    assert!(page.starts_with("# Tiebreak: ") && page.contains("**Changed:** "), "{page}");
    let folds = page.matches("<details>").count();
    assert!(folds <= 1 && folds == page.matches("</details>").count(), "{page}");
    page
}

/// Every published ledger of the project. Summaries had 33,000 bytes, of which readers saw 4,000.
#[test]
fn published_runs_fit() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(published).expect("it is there") {
        let ledger = entry.expect("listed").path().join(LEDGER);
        if ledger.is_file() {
            runs.push(read_ledger(&ledger).expect("a ledger"));
        }
    }
    assert!(runs.len() >= 2);
    for run in &runs {
        for before in runs.iter().map(std::slice::from_ref).chain([&[][..]]) {
            let page = fits(run, Earlier { runs: before });
            for file in ["report.html", "details.md", "mismatches.csv", "junit.xml", "findings.sarif", "ledger.json"] {
                assert!(front(&page).contains(&format!("`{file}`")), "{file}: {page}");
            }
            // One table, with a row for each operation.
            assert_eq!(page.matches("\n|---|").count(), 1, "{page}");
            for row in &run.rows {
                assert!(front(&page).contains(&format!("\n| {} | ", row.op)), "{}: {page}", row.op);
            }
        }
    }
}

/// Run with ten operations, many kernels, and long findings with characters of several bytes.
fn large() -> Ledger {
    let mut ledger = sample::broken();
    let (rows, findings, lanes) = (ledger.rows.clone(), ledger.findings.clone(), ledger.lanes.clone());
    let ops =
        ["fpm", "instruction", "dot", "matmul", "conv2d", "requantize", "quantize", "dequantize", "add", "transform"];
    for (i, op) in ops.into_iter().cycle().take(400).enumerate() {
        ledger.rows.extend(rows.iter().cloned().map(|row| Row {
            op: op.into(),
            kernel: format!("{}-{i}", row.kernel),
            inputs: u64::MAX / 100_000,
            ..row
        }));
        ledger.findings.extend(findings.iter().cloned().map(|finding| Finding {
            op: op.into(),
            message: format!("{} {}", finding.message, "\u{2260}".repeat(i)),
            ..finding
        }));
    }
    for i in 0..100 {
        ledger.lanes.extend(lanes.iter().cloned().map(|lane| Lane { name: format!("{}-{i}", lane.name), ..lane }));
        ledger.outside_domain.push(OutsideDomain {
            op: "fpm".into(),
            kernel: format!("kernel-{i}"),
            domain: "s 0..=31".repeat(i),
        });
    }
    ledger.command = format!("cargo xtask verify {}", "--kernel tvm-neon-rfc ".repeat(300));
    ledger
}

/// A summary of 129,711 bytes was called ready for a comment.
#[test]
fn a_very_large_ledger_fits() {
    let earlier = [sample::holding()];
    let earlier = Earlier { runs: &earlier };
    let page = fits(&large(), earlier);
    assert!(markdown::render(&large()).len() > 100 * MOST);
    for said in
        ["details.md", "- and ", "**Findings**", "**Changed:** ", "gemmlowp-neon aarch64-qemu", "\n- worse: fpm "]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    // Every operation has its row.
    for op in ["fpm", "transform", "dequantize", "instruction"] {
        assert!(front(&page).contains(&format!("| {op} | ")), "{op}");
    }
    fits(&Ledger { findings: Vec::new(), verdict: Verdict::Holds, ..large() }, earlier);
}

#[test]
fn ledgers_of_any_size_fit() {
    for n in [0, 1, 2, 3, 10, 30, 60, 100, 200, 400] {
        let mut ledger = large();
        ledger.rows.truncate(n * 3);
        ledger.findings.truncate(n);
        ledger.lanes.truncate(n);
        ledger.outside_domain.truncate(n / 2);
        fits(&ledger, Earlier::default());
        fits(&sample::holding(), Earlier { runs: &[ledger.clone()] });
        ledger.rows.iter_mut().enumerate().for_each(|(i, row)| row.op = format!("operation-{i}"));
        fits(&ledger, Earlier::default());
    }
}

/// The order is that of a review: changes, failing kernels, operations with findings before those without.
#[test]
fn what_changed_and_what_fails_are_in_front() {
    let mut ledger = sample::broken();
    ledger.rows.insert(0, Row { op: "add".into(), ..ledger.rows[0].clone() });
    ledger.findings.reverse();
    let page = render(&ledger, Earlier { runs: &[sample::holding()] });
    let at = |text: &str| front(&page).find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    let order = [
        "**Changed:** ",
        "Against the run of 2026-11-22T05:40:00Z",
        "- worse: fpm ",
        "fpm gemmlowp-neon aarch64-qemu",
        "  - `cargo xtask verify --op fpm --kernel gemmlowp-neon --multiplier=1073741825",
        "aarch64-native: no worker",
        "| fpm | ",
        "| add | ",
        "**Not covered, and neither planned nor allowed**",
        "`report.html`",
    ];
    let places: Vec<usize> = order.into_iter().map(at).collect();
    assert!(places.is_sorted(), "{places:?}: {page}");
    assert!(alone(&ledger).contains("**Changed:** not known"));
}

/// Two findings that differ only in their lane were shown as two.
#[test]
fn a_finding_in_two_lanes_is_one() {
    let mut ledger = sample::broken();
    let mut other = ledger.findings[0].clone();
    other.lane = "elsewhere".into();
    other.message = "differs on 2 of 7 inputs".into();
    let number = ledger.findings.len();
    ledger.findings.push(other);
    let (first, second) = (ledger.findings[0].lane.clone(), "elsewhere");
    for page in [
        alone(&ledger),
        markdown::render(&ledger),
        tiebreak_reports::html::render(&ledger, Earlier::default()),
        tiebreak_reports::table::render(&ledger, Default::default(), Default::default()),
        tiebreak_reports::sarif::render(&ledger),
    ] {
        let line = format!("{} {} {first}, {second}", ledger.findings[0].op, ledger.findings[0].kernel);
        // The terminal repeats the first finding after the verdict.
        let listed = page.split("\nfirst finding: ").next().unwrap_or_default();
        assert_eq!(listed.matches(&line).count(), 1, "{page}");
    }
    assert!(alone(&ledger).contains(&format!("{number} findings on ")));
    // JUnit's file has a suite for each lane, and the ledger a finding for each lane.
    assert!(tiebreak_reports::junit::render(&ledger).contains("elsewhere"));
}
