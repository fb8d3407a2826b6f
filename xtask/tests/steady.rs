//! Tests give the same verdict every time and everywhere: no test draws fresh seeds, asserts seconds, or passes silently without having run.
//! Assertions behind a verdict are checked in every build.

mod sources;

use sources::{root, sources};
use std::fs;

/// Property that makes a test depend on more than the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unsteady {
    /// The test waits for a time that was guessed.
    Sleeps,
    /// The result depends on the clock.
    AssertsTime,
    /// Random values come from entropy, or from the clock.
    Entropy,
    /// The test passes without having run, and its message is not shown.
    Silent,
    /// The test is not run.
    Ignored,
}

use Unsteady::{AssertsTime, Entropy, Ignored, Silent, Sleeps};

/// Returns the unsteady property of a line of a test. `before` is the line before it.
fn unsteady(before: &str, line: &str) -> Option<Unsteady> {
    let has = |text: &str| line.contains(text);
    if line.trim_start().starts_with("//") {
        return None;
    }
    if has("thread::sleep(") {
        return Some(Sleeps);
    }
    // A guard stops an endless test; a sound test never comes near it.
    if has("assert") && (has("elapsed()") || has("as_secs")) && !has("< GUARD") {
        return Some(AssertsTime);
    }
    if ["from_entropy(", "thread_rng(", "rand::random", "OsRng", "RandomState::new(", "SystemTime::now("]
        .iter()
        .any(|text| has(text))
    {
        return Some(Entropy);
    }
    let detects = |text: &str| {
        ["feature_detected!(", "available)()", "available()", "is_file()", "exists()"].iter().any(|d| text.contains(d))
    };
    let leaves = has("return;") || has("return eprintln!(") || has("return println!(");
    if leaves && (has("not run") || detects(line) || detects(before)) {
        return Some(Silent);
    }
    has("#[ignore").then_some(Ignored)
}

/// Returns the unsteady lines of a text, with their numbers.
fn found(text: &str) -> Vec<(usize, Unsteady)> {
    let lines: Vec<&str> = text.lines().collect();
    let before = |at: usize| at.checked_sub(1).map_or("", |at| lines[at]);
    let of = |(at, line): (usize, &&str)| Some((at + 1, unsteady(before(at), line)?));
    lines.iter().enumerate().filter_map(of).collect()
}

/// Allowed exceptions: file, property, number of lines, reason.
const ALLOWED: &[(&str, Unsteady, usize, &str)] = &[
    (
        "suites/common/src/identity/mod.rs",
        Sleeps,
        1,
        "within one tick of the file system's clock nothing has another time",
    ),
    (
        "suites/tests/it/caller_lanes.rs",
        AssertsTime,
        2,
        "a bound of the time that a run waits in vain is what is tested",
    ),
    (
        "suites/tests/it/check_worker.rs",
        AssertsTime,
        1,
        "that a silent worker is named within seconds is what is tested",
    ),
    ("suites/tests/it/common.rs", Sleeps, 1, "waits until something is there"),
    ("suites/tests/it/processes.rs", Sleeps, 1, "a worker is killed at its work, whatever it has come to"),
    (
        "suites/tests/it/silence.rs",
        Sleeps,
        4,
        "pauses of a process are what is tested, and that nothing comes afterwards",
    ),
    ("suites/tests/it/unfinished.rs", Sleeps, 1, "that a run outlives a signal is what is tested"),
    ("suites/tests/it/spaces.rs", Sleeps, 1, "a process is killed at any moment, which the seed draws"),
    ("suites/tests/it/steady.rs", Ignored, 2, "planted tests, which other tests run"),
];

#[test]
fn no_test_depends_on_more_than_the_code() {
    let mut files = Vec::new();
    for room in ["oracle", "impls", "suites", "reports", "xtask"] {
        sources(&root().join(room), &mut files);
    }
    let mut seen: Vec<(String, Unsteady, usize)> = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("it can be read");
        let name = file.strip_prefix(root()).expect("below the workspace").to_string_lossy().into_owned();
        // In a library file, tests follow `#[cfg(test)]`.
        let own = name.contains("/tests/") || name.ends_with("/tests.rs");
        let tests = if own { &text[..] } else { text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests) };
        let itself = name == "xtask/tests/steady.rs";
        for (line, what) in found(tests).into_iter().filter(|_| !itself) {
            match seen.iter_mut().find(|(known, kind, _)| *known == name && *kind == what) {
                Some((.., times)) => *times += 1,
                None => seen.push((name.clone(), what, 1)),
            }
            println!("{name}: {line} of its tests: {what:?}");
        }
    }
    assert!(files.len() > 400, "{}", files.len());
    let allowed: Vec<_> = ALLOWED.iter().map(|(name, what, times, _)| ((*name).to_owned(), *what, *times)).collect();
    for one in &seen {
        assert!(allowed.contains(one), "{one:?} is not in the list of this test, with its reason");
    }
    for one in &allowed {
        assert!(seen.contains(one), "{one:?} is in the list of this test, and no longer so");
    }
}

/// Lines from earlier tests of this project, and others of their kind.
#[test]
fn planted_lines_are_found() {
    for (text, what) in [
        ("    assert!(begun.elapsed() < Duration::from_secs(5));", AssertsTime),
        ("    assert!(seconds.as_secs_f64() < 1.5);", AssertsTime),
        ("    std::thread::sleep(Duration::from_millis(200));", Sleeps),
        ("    let mut rng = ChaCha8Rng::from_entropy();", Entropy),
        ("    let seed = SystemTime::now();", Entropy),
        ("    if !is_x86_feature_detected!(\"avx2\") {\n        return;\n    }", Silent),
        ("    if !(DOTPROD.available)() {\n        return eprintln!(\"not run: no {}\", DOTPROD.name);", Silent),
        ("    if !models.is_file() { return; }", Silent),
        ("#[ignore]", Ignored),
    ] {
        let kinds: Vec<Unsteady> = found(text).into_iter().map(|(_, what)| what).collect();
        assert_eq!(kinds, [what], "{text}");
    }
}

/// Every package but the kernels, which are shipped code, checks overflow in the profile that verifies, and uses `assert!`, which every profile
/// executes. 13 assertions of the oracle once never ran.
#[test]
fn what_a_verdict_rests_on_is_checked_in_every_build() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("its members");
    let members: Vec<String> =
        members.split('"').filter(|part| part.chars().any(char::is_alphabetic)).map(str::to_owned).collect();
    assert!(members.len() >= 9, "{members:?}");
    for member in members.iter().filter(|member| !["impls", "sources", "xtask"].contains(&member.as_str())) {
        let room = member.rsplit('/').next().expect("a name");
        let package = if room == "suites" { "tiebreak".to_owned() } else { format!("tiebreak-{room}") };
        let heading = format!("[profile.release.package.{package}]\n");
        let section = manifest.split_once(&heading).unwrap_or_else(|| panic!("no {heading}")).1;
        let section = section.split("\n[").next().expect("its lines");
        assert!(section.lines().any(|line| line == "overflow-checks = true"), "{heading}lacks its checks");
        let mut files = Vec::new();
        sources(&root().join(member).join("src"), &mut files);
        assert!(!files.is_empty(), "{member} has no sources");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            assert!(!text.contains("debug_assert"), "{}: `debug_assert!` runs in no build", file.display());
        }
    }
}
