//! Changes of the oracle, judged by its own tests: those of the changed part first, the exhaustive ones that take longest last.

use super::outcome::{Ended, Seen};
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
pub(crate) struct Oracle;

/// Tests of more than some seconds, which only what survives all others is judged by: the quickest first.
const LONG: [&str; 10] = [
    "float_formats::every_16_bit_pattern_means_what_half_says_and_rounds_to_itself",
    "add_forms::forms_agree_on_all_pairs_of_8_bits",
    "mul_forms::forms_agree_on_all_pairs_of_8_bits",
    "cast_forms::the_main_schemes_agree_on_every_16_bit_pattern",
    "census::every_pair_at_every_multiplier_and_shift_of_six_to_eight_bits",
    "fpm_forms::sweeps_agree_with_the_rationals",
    "census::neighbours_of_every_pair_at_six_bits",
    "census::every_pair_at_every_multiplier_and_shift_of_nine_bits",
    "census::every_pair_at_every_multiplier_and_shift_of_ten_bits",
    "census::every_accumulator_of_a_few",
];

/// Whose tests are those of a part besides the modules that begin with its name.
const TESTS: [(&str, &[&str]); 12] = [
    ("conv2d", &["tensor_forms"]),
    ("dequantize", &["cast_", "either_way"]),
    ("derivation", &["cast_runs"]),
    ("dot", &["narrow_lanes", "tensor_forms"]),
    ("elementwise", &["add_forms", "mul_forms"]),
    ("float", &["either_way"]),
    ("fpm", &["double_rounding"]),
    ("matmul", &["narrow_lanes", "tensor_forms"]),
    ("pair_sum", &["narrow_lanes"]),
    ("quantize", &["cast_", "either_way"]),
    ("requantize", &["tensor_forms"]),
    ("census", &["staircases"]),
];

/// Parts of which others are made: where they are changed, any of the long tests may see it.
const SHARED: [&str; 5] = ["fpm", "quantize", "rounding", "word", "scheme"];

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
        command.args(["test", "--quiet", "--profile", "bite"]).args(TARGETS).envs(environment(&stages("")));
        note(format_args!("the oracle as it is, by `cargo test {}`", TARGETS.join(" ")));
        process::output(&mut command).context("the oracle's tests must pass before a change is tried")?;
        Ok(())
    }

    fn judge(&self, scratch: &Scratch, part: &str, changes: &[String]) -> Result<Vec<(String, Ended)>> {
        note(format_args!("{part}: {} changes by `cargo test {}`", changes.len(), TARGETS.join(" ")));
        let files = ["oracle/src/**".to_owned()];
        let seen = scratch.tried(&files, changes, &TARGETS, &environment(&stages(part)))?;
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

/// Tests of the part, all others, and the long ones that may see it. Those of no part are all others.
fn stages(part: &str) -> Vec<Stage> {
    let others = TESTS.iter().find(|(name, _)| *name == part).map_or(&[][..], |(_, others)| others);
    let its_own: Vec<&str> = [part].into_iter().filter(|part| !part.is_empty()).chain(others.iter().copied()).collect();
    let stage = |arguments: Vec<&str>, skipped: &[&str], seconds| Stage {
        arguments: arguments
            .into_iter()
            .chain(skipped.iter().flat_map(|name| ["--skip", name]))
            .map(str::to_owned)
            .collect(),
        seconds,
    };
    let mut stages = Vec::new();
    if !its_own.is_empty() {
        stages.push(stage(its_own.clone(), &LONG, 90));
    }
    stages.push(stage(Vec::new(), &[&its_own[..], &LONG].concat(), 300));
    let reaches = |test: &&str| SHARED.contains(&part) || its_own.iter().any(|filter| test.starts_with(filter));
    stages.extend(LONG.into_iter().filter(reaches).map(|test| stage(vec!["--exact", test], &[], 900)));
    stages
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
        assert_eq!(part("oracle/src/add/mod.rs:1:2: replace + with - in f"), "add");
        assert_eq!(part("oracle/src/rounding.rs:1:2: replace f -> i32 with 0"), "rounding");
    }

    #[test]
    fn the_tests_of_a_part_come_first_and_its_long_ones_last() {
        let stages = stages("mul");
        assert_eq!(stages[0].arguments[0], "mul");
        assert!(
            stages[0]
                .arguments
                .iter()
                .all(|argument| !stages[2].arguments[1..].contains(argument) || argument == LONG[2])
        );
        assert_eq!(stages[1].arguments[..2], ["--skip", "mul"]);
        assert_eq!(stages[2..].iter().map(|stage| stage.arguments[1].as_str()).collect::<Vec<_>>(), [LONG[2]]);
        assert_eq!(super::stages("rounding").len(), 2 + LONG.len());
        assert_eq!(super::stages("transform").len(), 2);
    }

    #[test]
    fn the_tests_that_are_named_exist() {
        let root = Workspace::locate().expect("the workspace").root.join("oracle/tests/it");
        for name in LONG {
            let (module, test) = name.split_once("::").expect("a module and a test");
            let text = std::fs::read_to_string(root.join(format!("{module}.rs"))).expect("the module is there");
            assert!(text.contains(&format!("fn {test}(")), "there is no test {name}");
        }
        let main = std::fs::read_to_string(root.join("main.rs")).expect("the modules are listed");
        for module in TESTS.iter().flat_map(|(_, modules)| *modules) {
            assert!(main.contains(&format!("mod {module}")), "there is no module {module}");
        }
    }
}
