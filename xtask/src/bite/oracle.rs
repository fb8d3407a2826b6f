//! Changes of the oracle, judged by its own tests: those of the changed part first, the exhaustive ones that take longest last.

use super::outcome::{Ended, Seen};
use super::reach::Reach;
use super::sample::{Choice, file};
use super::scratch::Scratch;
use super::select;
use super::staged::{STAGES, Stage};
use super::subject::{Part, Subject};
use crate::process;
use crate::say::note;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// The oracle.
pub(crate) struct Oracle {
    pub(crate) reach: Reach,
}

/// Tests of more than some seconds, which only what survives all others is judged by: the quickest first.
const LONG: [&str; 7] = [
    "float_formats::every_16_bit_pattern_means_what_half_says_and_rounds_to_itself",
    "elementwise_add::forms_agree_on_all_pairs_of_8_bits",
    "elementwise_mul::forms_agree_on_all_pairs_of_8_bits",
    "cast_forms::the_main_schemes_agree_on_every_16_bit_pattern",
    "fpm_forms::sweeps_agree_with_the_rationals",
    "census::every_pair_at_every_multiplier_and_shift_of_six_to_eight_bits",
    "census::neighbours_of_every_pair_at_six_bits",
];

/// Tests of minutes, which judge no change: they do in larger words what others do in smaller ones. What only they would see is a survivor.
const LONGEST: [&str; 3] = [
    "census::every_pair_at_every_multiplier_and_shift_of_nine_bits",
    "census::every_pair_at_every_multiplier_and_shift_of_ten_bits",
    "census::every_accumulator_of_a_few",
];

impl Subject for Oracle {
    fn package(&self) -> &'static str {
        "oracle"
    }

    /// A test reads a page of the book.
    fn folders(&self) -> &'static [&'static str] {
        &["oracle/src", "oracle/tests", "docs/src"]
    }

    /// As the tests of the oracle are always run.
    fn profile(&self) -> &'static str {
        "debug-assertions = true\noverflow-checks = true\n[profile.bite.package.\"*\"]\nopt-level = 2\n"
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[]
    }

    /// Each stage has a limit of its own.
    fn patience(&self) -> u32 {
        7200
    }

    fn added(&self) -> Result<Vec<(&'static str, String)>> {
        let program = std::env::current_exe().context("the path of this program is not known")?;
        let text = format!("[target.'cfg(all())']\nrunner = [{:?}, \"staged\"]\n", program.to_string_lossy());
        Ok(vec![(".cargo/config.toml", text)])
    }

    fn parts(&self, scratch: &Scratch, choice: &Choice, asked: &[String]) -> Result<Vec<Part>> {
        let every = scratch.list(&["oracle/src/**".to_owned()])?;
        let chosen = choice.of_files(&every);
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        for change in &every {
            let name = part(change);
            let new = || Part { name: name.to_owned(), every: Vec::new(), chosen: Vec::new() };
            parts.entry(name.to_owned()).or_insert_with(new).every.push(change.clone());
        }
        for change in chosen {
            parts.entry(part(&change).to_owned()).and_modify(|part| part.chosen.push(change));
        }
        let selected = select("part of the oracle", parts.keys().cloned().collect(), asked)?;
        Ok(selected.into_iter().filter_map(|name| parts.remove(&name)).collect())
    }

    /// All tests but the long ones.
    fn holds(&self, scratch: &Scratch) -> Result<()> {
        let mut command = scratch.cargo();
        command
            .args(["test", "--quiet", "--profile", "bite"])
            .args(TARGETS)
            .envs(environment(&[stage(Vec::new(), 600)]));
        note(format_args!("the oracle as it is, by `cargo test {}`", TARGETS.join(" ")));
        process::output(&mut command).context("the oracle's tests must pass before a change is tried")?;
        Ok(())
    }

    fn judge(&self, scratch: &Scratch, part: &str, changes: &[String]) -> Result<Vec<(String, Ended)>> {
        note(format_args!("{part}: {} changes by `cargo test {}`", changes.len(), TARGETS.join(" ")));
        let files = ["oracle/src/**".to_owned()];
        let seen = scratch.tried(&files, changes, &TARGETS, &environment(&stages(part, &self.reach)))?;
        let ended = |name: &String| match seen.get(name) {
            Some(Seen::Caught) => Ok(Ended::Tests),
            Some(Seen::TimedOut) => Ok(Ended::TimedOut),
            Some(Seen::NotViable) => Ok(Ended::NotViable),
            Some(Seen::Missed) => Ok(Ended::Missed),
            None => bail!("cargo-mutants did not try {name}"),
        };
        changes.iter().map(|name| Ok((name.clone(), ended(name)?))).collect()
    }

    fn heading(&self) -> &'static str {
        "part"
    }

    fn is_judged_by_tests(&self) -> bool {
        true
    }
}

/// The tests of the oracle.
const TARGETS: [&str; 2] = ["--lib", "--test=it"];

/// The folder of `oracle/src` in which a change is, or the file.
fn part(change: &str) -> &str {
    let path = file(change).trim_start_matches("oracle/src/");
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// Tests of the part's own name, those that name it, those of what is made of it, and the long ones among all of them.
fn stages(part: &str, reach: &Reach) -> Vec<Stage> {
    let [direct, others] = reach.of(part);
    let (own, direct): (Vec<String>, Vec<String>) = direct.into_iter().partition(|name| name.starts_with(part));
    let filters = [own, direct, others].map(|names| names.iter().map(|name| format!("{name}::")).collect::<Vec<_>>());
    let reached = |test: &&str| filters.iter().flatten().any(|filter| test.starts_with(filter.as_str()));
    let long = |test| Stage { arguments: words(&["--exact", test]), seconds: 600 };
    let long: Vec<Stage> = LONG.into_iter().filter(reached).map(long).collect();
    // Without a filter all tests would run.
    let stages = filters.into_iter().zip([120, 120, 300]).filter(|(filters, _)| !filters.is_empty());
    stages.map(|(filters, seconds)| stage(filters, seconds)).chain(long).collect()
}

/// Tests of these names but the long ones; all others where there is no name.
fn stage(mut filters: Vec<String>, seconds: u64) -> Stage {
    filters.extend(LONG.iter().chain(&LONGEST).flat_map(|name| words(&["--skip", name])));
    Stage { arguments: filters, seconds }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Property tests draw the same cases for every change, do not look for smaller ones, and keep nothing.
fn environment(stages: &[Stage]) -> Vec<(&'static str, String)> {
    let text = serde_json::to_string(stages).expect("words and numbers are JSON");
    let properties = [
        ("PROPTEST_RNG_SEED", "1"),
        ("PROPTEST_MAX_SHRINK_ITERS", "0"),
        ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
    ];
    properties.map(|(name, value)| (name, value.to_owned())).into_iter().chain([(STAGES, text)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn a_part_is_a_folder_or_a_file() {
        assert_eq!(part("oracle/src/elementwise/add/mod.rs:1:2: replace + with - in f"), "elementwise");
        assert_eq!(part("oracle/src/rounding.rs:1:2: replace f -> i32 with 0"), "rounding");
    }

    #[test]
    fn tests_that_name_a_part_come_first_and_long_ones_last() {
        let reach = Reach::read(&Workspace::locate().expect("the workspace").root.join("oracle")).expect("it is there");
        let stages = stages("elementwise", &reach);
        let [first, .., last] = &stages[..] else { panic!("{stages:?}") };
        assert!(first.arguments.iter().any(|argument| argument == "elementwise_mul::"));
        assert!(first.arguments.windows(2).any(|pair| pair == ["--skip", LONG[2]]));
        assert_eq!(last.arguments, ["--exact", LONG[2]]);
        let no_long = |stage: &Stage| stage.arguments[0] != "--exact";
        assert!(super::stages("transform", &reach).iter().all(no_long));
    }

    #[test]
    fn the_tests_that_are_named_exist() {
        let root = Workspace::locate().expect("the workspace").root.join("oracle/tests/it");
        for name in LONG.iter().chain(&LONGEST) {
            let (module, test) = name.split_once("::").expect("a module and a test");
            let text = std::fs::read_to_string(root.join(format!("{module}.rs"))).expect("the module is there");
            assert!(text.contains(&format!("fn {test}(")), "there is no test {name}");
        }
    }
}
