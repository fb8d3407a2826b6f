//! Verdicts depend only on the code: property tests draw the same cases every time, and a test that cannot run on a machine reports this.

use crate::common::not_run;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;
use std::process::{Command, Output};

/// Runs one of the planted tests below in a separate process.
fn planted(test: &str, seed: Option<&str>) -> Output {
    let mut tests = Command::new(std::env::current_exe().expect("the path of this test"));
    tests.args(["--ignored", "--exact", &format!("steady::{test}")]);
    if let Some(seed) = seed {
        tests.env("PROPTEST_RNG_SEED", seed);
    }
    tests.output().expect("this program starts")
}

/// Property that is wrong for about one in six hundred cases.
#[test]
#[ignore = "a planted failure, which the test below looks for"]
fn planted_property() {
    let config = Config { failure_persistence: None, cases: 200, ..Config::default() };
    let ended = TestRunner::new(config).run(&(0_u32..1 << 20), |x| {
        proptest::prop_assert!(x % 617 != 616);
        Ok(())
    });
    ended.unwrap_or_else(|found| panic!("{found}"));
}

/// Before the seed was pinned, one run found this bug, and the next run passed.
#[test]
fn a_property_gives_the_same_verdict_every_time() {
    // Without a seed, runs may agree by chance.
    assert!(
        std::env::var_os("PROPTEST_RNG_SEED").is_some(),
        "tests have no seed: cargo sets that of `.cargo/config.toml`"
    );
    let verdict = |seed: Option<&str>| {
        let ended = planted("planted_property", seed);
        let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(printed.contains("running 1 test"), "{printed}");
        let found = printed.lines().find(|line| line.contains("minimal failing input")).map(str::to_owned);
        assert_eq!(found.is_some(), !ended.status.success(), "{printed}");
        found
    };
    let usual: BTreeSet<Option<String>> = (0..8).map(|_| verdict(None)).collect();
    assert_eq!(usual.len(), 1, "without a seed of the caller's: {usual:?}");
    let seeds: Vec<String> = (1..=24).map(|seed| seed.to_string()).collect();
    let others: Vec<Option<String>> = seeds.iter().map(|seed| verdict(Some(seed))).collect();
    let found = others.iter().filter(|found| found.is_some()).count();
    assert!((1..24).contains(&found), "{others:?}");
    println!("{found} of 24 seeds find the planted bug");
    let at = others.iter().position(Option::is_some).expect("one of them does");
    assert_eq!(verdict(Some(&seeds[at])), others[at], "the seed that found it finds it again");
}

#[test]
#[ignore = "a planted test with nothing to run, which the test below looks for"]
fn planted_skip() {
    println!("what a test prints is not shown where it passes");
    not_run("this machine has no such thing");
}

#[test]
fn a_test_with_nothing_to_run_says_so_where_it_passes() {
    let ended = planted("planted_skip", None);
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success() && out.contains("1 passed"), "{out}{err}");
    assert!(!out.contains("is not shown"), "{out}");
    assert_eq!(err, "not run: this machine has no such thing\n");
}
