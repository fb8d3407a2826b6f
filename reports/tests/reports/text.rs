use crate::sample;
use expect_test::expect;
use std::collections::BTreeMap;
use tiebreak_reports::text::*;

#[test]
fn numbers() {
    let counts = [0, 999, 1_000, 8_388_607, 4_294_967_296, u64::MAX].map(count);
    expect!["0 999 1,000 8,388,607 4,294,967,296 18,446,744,073,709,551,615"].assert_eq(&counts.join(" "));
    let times = [0.0, 0.0416, 3.174, 41.93, 1203.6].map(seconds);
    expect!["0.000 0.042 3.17 41.9 1,204"].assert_eq(&times.join(" "));
    assert_eq!(["1", "-1", "12", "odd"].map(delta), ["+1", "-1", "+12", "odd"]);
    assert_eq!([plural(1, "lane"), plural(0, "lane")], ["1 lane", "0 lanes"]);
}

#[test]
fn differences_by_delta_and_class() {
    let by = |items: &[(&str, u64)]| -> BTreeMap<String, u64> {
        items.iter().map(|(name, n)| (name.to_string(), *n)).collect()
    };
    let many = by(&[("-1", 5), ("1", 5), ("2", 7_000), ("-9", 1), ("8", 1)]);
    assert_eq!(deltas(&many, 3), ["-1: 5", "+1: 5", "+2: 7,000", "others: 2"]);
    assert_eq!(deltas(&by(&[("-1", 5), ("other", 9)]), 3), ["-1: 5", "others: 9"]);
    assert_eq!(classes(&by(&[("wrap", 5)]), 2, "other class"), ["wrap"]);
    let many = by(&[("a", 1), ("b", 2), ("c", 3), ("d", 4)]);
    assert_eq!(classes(&many, 2, "other class"), ["d: 4", "c: 3", "2 other classes: 3"]);
}

#[test]
fn findings_are_lines_to_act_on() {
    let ledger = sample::broken();
    let lines: Vec<_> = ledger.findings.iter().map(finding).collect();
    expect![[r#"
        fpm gemmlowp-neon aarch64-qemu x=-1 m=1073741825 s=-1: got 0, gemmlowp-double -1, class tie-direction
        fpm tvm-neon-rfc aarch64-qemu x=7 m=5 s=31: the worker ended with signal 4 (SIGILL), class crash
        fpm tvm-relay host: the declared deviation fallback was covered and never seen, class stale-deviation
        fpm ties-other-way host: the mutant was not caught: equal on 4,194,304 inputs, class self-check
        aarch64-native: no worker answers at ssh://builder, class not-run"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn a_scheme_keeps_a_policy_that_is_not_the_common_one() {
    let names = ["ties-up:wrap", "ties-up:saturate", "ties-up"].map(scheme);
    assert_eq!(names, ["ties-up", "ties-up:saturate", "ties-up"]);
}

#[test]
fn a_finding_without_its_own_command_is_shown_again_by_the_run() {
    let ledger = sample::broken();
    let again: Vec<_> = ledger.findings.iter().map(|f| rerun(f, &ledger.command)).collect();
    assert!(again[0].starts_with("cargo xtask verify --op fpm --kernel gemmlowp-neon"));
    assert_eq!(again[4], ledger.command);
}

/// Text of a worker cannot break a line or control the terminal.
#[test]
fn text_of_others_stays_on_its_line() {
    let mut odd = sample::broken().findings[1].clone();
    odd.message = "died\r\n\x1b[2Jbadly\t.".into();
    let line = finding(&odd);
    expect!["fpm tvm-neon-rfc aarch64-qemu x=7 m=5 s=31: died [2Jbadly ., class crash"].assert_eq(&line);
}
