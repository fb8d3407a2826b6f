use crate::sample;
use expect_test::expect_file;
use std::collections::HashSet;
use tiebreak_reports::ledger::*;
use tiebreak_reports::markdown;
use tiebreak_reports::summary::{FRONT, WHOLE, render};

#[test]
fn a_holding_run() {
    expect_file!["snapshots/holding-summary.md"].assert_eq(&render(&sample::holding()));
}

#[test]
fn a_broken_run() {
    expect_file!["snapshots/broken-summary.md"].assert_eq(&render(&sample::broken()));
}

/// What is read without a click.
fn front(page: &str) -> &str {
    page.split("<details>").next().expect("there is something")
}

/// Both limits, each fold closed, and nothing said that the details do not say.
fn fits(ledger: &Ledger) -> String {
    let page = render(ledger);
    assert!(front(&page).len() <= FRONT, "{} bytes in front", front(&page).len());
    assert!(page.len() <= WHOLE && WHOLE < 65_536, "{} bytes", page.len());
    assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
    let details = markdown::render(ledger);
    let lines: HashSet<&str> = details.lines().collect();
    let folded = page.split("<summary>").skip(1).flat_map(str::lines);
    let own =
        |line: &str| line.contains("</summary>") || line.contains("more lines are in") || line.contains("details>");
    for line in folded.filter(|line| !line.is_empty() && !own(line)) {
        assert!(lines.contains(line) || details.contains(line), "{line}");
    }
    page
}

/// A run with much of everything: ten operations, many kernels, findings of great length and of several bytes a character.
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
fn a_very_large_ledger_fits_into_a_comment() {
    let page = fits(&large());
    assert!(markdown::render(&large()).len() > 4 * WHOLE);
    for said in [
        "details.md",
        "more lines are in",
        "- and ",
        "**Not covered**",
        "gemmlowp-neon aarch64-qemu",
        "Again</summary>",
    ] {
        assert!(page.contains(said), "{said}: {}", front(&page));
    }
    // Every operation has its line in front.
    for op in ["fpm", "transform", "dequantize", "instruction"] {
        assert!(front(&page).contains(&format!("- {op}: ")), "{op}");
    }
    fits(&Ledger { findings: Vec::new(), verdict: Verdict::Holds, ..large() });
}

#[test]
fn ledgers_of_any_size_fit() {
    for n in [0, 1, 2, 3, 10, 30, 60, 100, 200, 400] {
        let mut ledger = large();
        ledger.rows.truncate(n * 3);
        ledger.findings.truncate(n);
        ledger.lanes.truncate(n);
        ledger.outside_domain.truncate(n / 2);
        fits(&ledger);
    }
}

/// Kernels that fail come before lanes, and operations with findings before those without.
#[test]
fn what_fails_is_in_front() {
    let mut ledger = sample::broken();
    ledger.rows.insert(0, Row { op: "add".into(), ..ledger.rows[0].clone() });
    ledger.findings.reverse();
    let page = render(&ledger);
    let at = |text: &str| front(&page).find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(at("fpm gemmlowp-neon aarch64-qemu") < at("aarch64-native: no worker"));
    assert!(at("  - `cargo xtask verify --op fpm --kernel gemmlowp-neon --multiplier=1073741825") < at("- fpm: "));
    assert!(at("- fpm: 4 findings, ") < at("- add: 1 kernel in 1 lane, "));
}
