//! Package to change, and the tests that judge the changes: `verify` and unit tests for the kernels, the oracle's own tests for the oracle.

use super::outcome::{Ended, Seen};
use super::sample::{Choice, file};
use super::scratch::Scratch;
use super::select;
use crate::process;
use crate::say::note;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// Test that runs `verify`.
pub(crate) const JUDGE: &str = include_str!("judge.rs.in");

/// Package to change.
pub(crate) struct Subject {
    /// Folder of the package.
    pub(crate) package: &'static str,
    /// Folders of the packages that judge the changes, and that the package does not need.
    pub(crate) judges: &'static [&'static str],
    /// Copied folders, of the package and of other packages.
    pub(crate) folders: &'static [&'static str],
    /// Addition to the build profile of the copy.
    pub(crate) profile: &'static str,
    /// Unchanged files, as patterns.
    pub(crate) left_out: &'static [&'static str],
    /// Time limit for one change, in seconds.
    pub(crate) patience: u32,
    /// Heading of the parts.
    pub(crate) heading: &'static str,
    /// Program that verifies kernels; `None` for the oracle, which tests judge.
    tiebreak: Option<PathBuf>,
}

/// Row of the table.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// All changes of the part.
    pub(crate) every: Vec<String>,
    /// Selected changes.
    pub(crate) chosen: Vec<String>,
}

/// Tests for changes that no earlier stage detected.
struct Stage {
    /// Arguments of `cargo test`, and filters for the tests.
    tests: Vec<String>,
    filters: Vec<String>,
    /// Outcome if a test fails, and if the tests run for too long.
    ended: [Ended; 2],
}

/// Tests of the oracle that take more than ten seconds. They judge only survivors.
const LONG: [&str; 7] = [
    "float_formats::every_16_bit_pattern_means_what_half_says_and_rounds_to_itself",
    "elementwise_add::forms_agree_on_all_pairs_of_8_bits",
    "elementwise_mul::forms_agree_on_all_pairs_of_8_bits",
    "cast_forms::the_main_schemes_agree_on_every_16_bit_pattern",
    "fpm_forms::sweeps_agree_with_the_rationals",
    "census::every_pair_at_every_multiplier_and_shift_of_six_to_eight_bits",
    "census::neighbours_of_every_pair_at_six_bits",
];

/// Tests that take minutes and judge no change, because shorter tests check the same at smaller widths. A change that only they detect is a survivor.
const LONGEST: [&str; 3] = [
    "census::every_pair_at_every_multiplier_and_shift_of_nine_bits",
    "census::every_pair_at_every_multiplier_and_shift_of_ten_bits",
    "census::every_accumulator_of_a_few",
];

impl Subject {
    /// Kernels as shipped, without assertions. Excluded is code that no worker of this machine runs, or that every operation runs.
    pub(crate) fn kernels(tiebreak: PathBuf) -> Self {
        Self {
            package: "impls",
            judges: &["impls/worker"],
            folders: &["impls/src", "impls/worker/src"],
            profile: "",
            left_out: &["**/neon*.rs", "**/tests.rs", "**/*_tests.rs", "impls/src/mutants/**", "impls/src/simd/**"],
            patience: 90,
            heading: "operation",
            tiebreak: Some(tiebreak),
        }
    }

    /// Oracle, with its usual assertions. One of its tests reads a page of the book.
    pub(crate) fn oracle() -> Self {
        Self {
            package: "oracle",
            judges: &[],
            folders: &["oracle/src", "oracle/tests", "docs/src"],
            profile: "debug-assertions = true\noverflow-checks = true\n[profile.bite.package.\"*\"]\nopt-level = 2\n",
            left_out: &[],
            patience: 600,
            heading: "part",
            tiebreak: None,
        }
    }

    /// True if a change that unit tests detect, but not `verify`, counts as detected.
    pub(crate) fn is_judged_by_tests(&self) -> bool {
        self.tiebreak.is_none()
    }

    /// Returns the rows of the table, and the changes of each.
    pub(crate) fn parts(&self, scratch: &Scratch, choice: &Choice, asked: &[String]) -> Result<Vec<Part>> {
        if self.tiebreak.is_some() {
            let part = |name: String| {
                let every = scratch.list(&files(&name))?;
                Ok(Part { chosen: choice.of(&every), name, every })
            };
            return select("operation", self.operations()?, asked)?.into_iter().map(part).collect();
        }
        let every = scratch.list(&["oracle/src/**".to_owned()])?;
        let chosen = choice.of_files(&every);
        let names: BTreeSet<&str> = every.iter().map(|change| part(change)).collect();
        let names = select("part of the oracle", names.into_iter().map(str::to_owned).collect(), asked)?;
        let part = |name: String| {
            let here =
                |changes: &[String]| changes.iter().filter(|change| part(change) == name).cloned().collect::<Vec<_>>();
            Part { every: here(&every), chosen: here(&chosen), name }
        };
        Ok(names.into_iter().map(part).collect())
    }

    /// Builds and judges the unchanged copy. If this fails, no change can be judged.
    pub(crate) fn holds(&self, scratch: &Scratch) -> Result<()> {
        let (ops, stage) = match &self.tiebreak {
            Some(_) => (self.operations()?.join(" "), 0),
            None => (String::new(), 1),
        };
        let Stage { tests, filters, .. } = self.stages("").swap_remove(stage);
        let mut command = scratch.cargo();
        command.args(["test", "--quiet", "--profile", "bite"]).args(&tests).arg("--").args(&filters);
        command.envs(self.environment(scratch, ops));
        note(format_args!("the package {} as it is, by `cargo test {}`", self.package, tests.join(" ")));
        process::output(&mut command).context("the tests must pass before a change is tried")?;
        Ok(())
    }

    /// Tries changes of a part. Each stage judges the changes that no earlier stage detected.
    pub(crate) fn judge(&self, scratch: &Scratch, part: &str, changes: &[String]) -> Result<Vec<(String, Ended)>> {
        let files = if self.tiebreak.is_some() { files(part) } else { vec!["oracle/src/**".to_owned()] };
        let environment = self.environment(scratch, judges(part).join(" "));
        let (mut all, mut left) = (Vec::new(), changes.to_vec());
        for Stage { tests, filters, ended: [failed, late] } in self.stages(part) {
            if left.is_empty() {
                break;
            }
            note(format_args!("{part}: {} changes by `cargo test {}`", left.len(), tests.join(" ")));
            let seen = scratch.tried(&files, &left, [&tests, &filters], &environment)?;
            for name in std::mem::take(&mut left) {
                let ended = match seen.get(&name) {
                    Some(Seen::Caught) => failed,
                    Some(Seen::TimedOut) => late,
                    Some(Seen::NotViable) => Ended::NotViable,
                    Some(Seen::Missed) => {
                        left.push(name);
                        continue;
                    }
                    None => bail!("cargo-mutants did not try {name}"),
                };
                all.push((name, ended));
            }
        }
        all.extend(left.into_iter().map(|name| (name, Ended::Missed)));
        Ok(all)
    }

    /// Returns the stages. Kernels: `verify`, then unit tests. Oracle: tests with the part's name, further tests except the long ones, the long ones.
    fn stages(&self, part: &str) -> Vec<Stage> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let stage =
            |tests: &[&str], filters: &[&str], ended| Stage { tests: words(tests), filters: words(filters), ended };
        if self.tiebreak.is_some() {
            return vec![
                stage(&["--test=bite"], &[], [Ended::Verify, Ended::TimedOut]),
                stage(&["--lib"], &[], [Ended::Tests; 2]),
            ];
        }
        let ended = [Ended::Tests, Ended::TimedOut];
        let short: Vec<&str> = LONG.iter().chain(&LONGEST).flat_map(|name| ["--skip", *name]).collect();
        vec![
            stage(&["--lib", "--test=it"], &[&[part], &short[..]].concat(), ended),
            stage(&["--lib", "--test=it"], &short, ended),
            stage(&["--test=it"], &[&["--exact"], &LONG[..]].concat(), ended),
        ]
    }

    /// Returns the environment of the tests: program, operations, output directory. Property tests draw equal cases for every change, do not shrink
    /// them, and store nothing.
    fn environment(&self, scratch: &Scratch, ops: String) -> Vec<(&'static str, String)> {
        let tiebreak = self.tiebreak.iter().map(|path| ("TIEBREAK_BITE_PROGRAM", path.to_string_lossy().into_owned()));
        let fixed = [
            ("TIEBREAK_BITE_OPS", ops),
            ("TIEBREAK_BITE_DIRECTORY", scratch.out().to_string_lossy().into_owned()),
            ("PROPTEST_RNG_SEED", "1".to_owned()),
            ("PROPTEST_MAX_SHRINK_ITERS", "0".to_owned()),
            ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true".to_owned()),
        ];
        tiebreak.chain(fixed).collect()
    }

    /// Returns the operations for which `tiebreak` has kernels.
    fn operations(&self) -> Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Kernel {
            op: String,
        }
        let program = self.tiebreak.as_ref().context("the oracle has no kernels")?;
        let text = process::output(Command::new(program).args(["kernels", "--format", "json"]))?;
        let kernels: Vec<Kernel> = serde_json::from_str(&text).context("`tiebreak kernels` lists no kernels")?;
        let mut ops: Vec<String> = kernels.into_iter().map(|kernel| kernel.op).collect();
        let mut seen = BTreeSet::new();
        ops.retain(|op| seen.insert(op.clone()));
        Ok(ops)
    }
}

/// Returns the folder of `oracle/src` with a change, or the file.
fn part(change: &str) -> &str {
    let path = file(change).trim_start_matches("oracle/src/");
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// Returns the files of an operation's kernels, with shared files outside of its folder.
fn files(op: &str) -> Vec<String> {
    let shared: &[&str] = match op {
        "add" | "mul" | "sub" => &["impls/src/elementwise/*.rs"],
        "quantize" | "dequantize" => &["impls/src/expressed.rs", "impls/src/quantized/*.rs"],
        _ => &[],
    };
    let folder = match op {
        "add" | "mul" | "sub" => format!("elementwise/{op}"),
        op => op.to_owned(),
    };
    std::iter::once(format!("impls/src/{folder}/**")).chain(shared.iter().map(|file| (*file).to_owned())).collect()
}

/// Returns the operations that share code with an operation. A change in one requires `verify` for all of them.
fn judges(op: &str) -> Vec<&str> {
    match op {
        "fpm" => vec!["fpm", "requantize", "add", "sub", "mul", "concat"],
        "add" | "mul" | "sub" => vec!["add", "sub", "mul"],
        "quantize" | "dequantize" => vec!["quantize", "dequantize"],
        // Packing and patches are separate kernels.
        "matmul" | "conv2d" => vec![op, "transform"],
        op => vec![op],
    }
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
        let stages = Subject::oracle().stages("elementwise");
        assert_eq!(stages[0].filters[0], "elementwise");
        assert!(stages[..2].iter().all(|stage| stage.filters.windows(2).any(|pair| pair == ["--skip", LONG[2]])));
        assert_eq!(stages[2].filters[..2], ["--exact", LONG[0]]);
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
