//! `cargo xtask fuzz`: fuzz targets under cargo-fuzz, without a sanitizer, so that a stable toolchain is enough.
//!
//! A campaign begins with the seeds that the example `fuzzing` of `suites` writes, such as those of the catalogues, and with the inputs that earlier
//! campaigns kept: `fuzz/corpus/TARGET.txt`, readable lines of one input each.

mod campaign;

use crate::process;
use crate::process::which;
use crate::say::{note, print};
use crate::setup;
use crate::shards::{Cut, Options};
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use campaign::{Campaign, Ended, Until};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::LazyLock;

/// Names of all targets. Each has lines in the manifest, and one in `fuzz/fuzz_targets/target.rs`, or is an operation of the registry.
static TARGETS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let bins = include_str!("../../../fuzz/Cargo.toml").split("[[bin]]").skip(1);
    bins.filter_map(|bin| Some(bin.split_once("name = \"")?.1.split_once('"')?.0)).collect()
});

/// Known bugs that targets must find.
const PLANTED: [(&str, &str); 3] =
    [("fpm", "mutant-double-rounding"), ("matmul", "mutant-u8-pair-wrap"), ("quantize", "mutant-quantize-ties-away")];

/// Time limit for finding a known bug, in seconds.
const FOUND_WITHIN: u64 = 60;

/// Arguments of `fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Target [default: all targets in turn]
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter()))]
    target: Option<String>,
    /// Seconds for each target
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Inputs for each target instead of seconds, from a fixed seed: the same work on every machine
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Number of campaigns of each target, with seeds 1 to N [default: one campaign, with seed 1 for --runs and a random seed for --seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// Kernel or known bug to run, instead of all kernels of the operation
    #[arg(long, value_name = "NAME", requires = "target")]
    kernel: Option<String>,
    /// Judge this input alone, without the fuzzer
    #[arg(long, value_name = "FILE", requires = "target")]
    input: Option<PathBuf>,
    /// Then inject known bugs into fpm, matmul and quantize, each of which must be found within a minute
    #[arg(long, conflicts_with_all = ["target", "kernel", "input", "shard"])]
    planted: bool,
    #[command(flatten)]
    shards: Options,
    /// Passed to libFuzzer, such as `-max_len=200`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Fuzzes. The exit code is 1 if a target has a find, or a known bug was not found.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let fuzzing = Fuzzing { workspace: &workspace, arguments };
    if let (Some(target), Some(file)) = (&arguments.target, &arguments.input) {
        return fuzzing.show(target, file);
    }
    if let (Some(target), Some(kernel)) = (&arguments.target, &arguments.kernel) {
        let known = process::status(campaign::harness(&workspace).args(["kernel", target, kernel]))?;
        if !known.success() {
            return Ok(ExitCode::from(2));
        }
    }
    let campaigns = fuzzing.campaigns();
    let (command, units, options) = (COMMAND, campaigns.iter().map(Campaign::name).collect(), &arguments.shards);
    let seconds = arguments.runs.is_none().then_some(arguments.seconds);
    let cut = Cut { command, units, seconds, context: Value::Null, options };
    let gave = cut.run(&workspace, |pending, sink| {
        provision(&workspace)?;
        in_step(&workspace)?;
        build(&workspace, arguments.target.as_deref())?;
        pending.iter().try_for_each(|at| {
            let ended = campaigns[*at].run()?;
            note(format_args!("{}: {}", campaigns[*at].name(), ended.short()));
            sink(*at, serde_json::to_string(&ended)?, ended.seconds as f64)
        })
    })?;
    let Some(gave) = gave else { return Ok(ExitCode::SUCCESS) };
    let found = shown(&cut.units, &cut.context, &gave)?;
    Ok(if fuzzing.bugs()? { ExitCode::from(1) } else { found })
}

/// Name of the command.
pub(crate) const COMMAND: &str = "fuzz";

/// Adds kept inputs to the corpus, and prints a row for each campaign and the finds. The exit code is 1 if there is a find.
pub(crate) fn shown(units: &[String], _: &Value, gave: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let width = units.iter().map(String::len).max().unwrap_or_default().max(12);
    let mut page =
        format!("{:<width$} {:>7} {:>12} {:>12} {:>6}  ended\n", "target", "seconds", "executions", "a second", "kept");
    let mut finds = Vec::new();
    for (unit, gave) in units.iter().zip(gave) {
        let ended: Ended = serde_json::from_str(gave).with_context(|| format!("the unit `{unit}` is damaged"))?;
        let target = unit.split(' ').next().unwrap_or(unit);
        let kept = campaign::keep(&workspace, target, &ended)?;
        page += &format!("{unit:<width$} {}\n", ended.row(kept));
        finds.extend(ended.find.map(|find| (target.to_owned(), ended.kernel, find)));
    }
    print(page)?;
    for (target, kernel, find) in &finds {
        find.report(&workspace, target, kernel.as_deref())?;
    }
    Ok(ExitCode::from(u8::from(!finds.is_empty())))
}

struct Fuzzing<'a> {
    workspace: &'a Workspace,
    arguments: &'a Arguments,
}

impl Fuzzing<'_> {
    /// Judges one input.
    fn show(&self, target: &str, file: &std::path::Path) -> Result<ExitCode> {
        let mut command = campaign::harness(self.workspace);
        command.args(["show", target]).arg(file);
        command.args(self.arguments.kernel.iter().map(|kernel| format!("--kernel={kernel}")));
        let code = process::status(&mut command)?.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(2)))
    }

    /// Returns a campaign for each selected target and each seed.
    fn campaigns(&self) -> Vec<Campaign<'_>> {
        let selected = TARGETS.iter().filter(|name| self.arguments.target.as_deref().is_none_or(|only| only == **name));
        let of = |target: &'static str| {
            let seeds: Vec<_> = self.arguments.seeds.map_or(vec![None], |last| (1..=last).map(Some).collect());
            seeds.into_iter().map(move |seed| Campaign {
                workspace: self.workspace,
                target,
                seed,
                until: self.arguments.runs.map_or(Until::Seconds(self.arguments.seconds), Until::Runs),
                kernel: self.arguments.kernel.as_deref(),
                arguments: &self.arguments.arguments,
            })
        };
        selected.flat_map(|target| of(target)).collect()
    }

    /// Runs the known bugs, if requested. Returns true if one was not found.
    fn bugs(&self) -> Result<bool> {
        let planted: &[_] = if self.arguments.planted { &PLANTED } else { &[] };
        let mut missed = false;
        for (target, bug) in planted {
            let (kernel, until) = (Some(*bug), Until::Seconds(FOUND_WITHIN));
            let campaign = Campaign { workspace: self.workspace, target, seed: None, until, kernel, arguments: &[] };
            let Ended { find, seconds, .. } = campaign.run()?;
            let found = if find.is_some() { "found" } else { "NOT found" };
            print(format_args!("planted {bug} in {target}: {found} after {seconds} s\n"))?;
            missed |= find.is_none();
        }
        Ok(missed)
    }
}

/// Builds a target, or all targets.
fn build(workspace: &Workspace, target: Option<&str>) -> Result<()> {
    let mut command = campaign::cargo(workspace);
    command.args(["fuzz", "build", "-s", "none", "--codegen-units", "16"]).args(target);
    note(process::line(&command));
    anyhow::ensure!(process::status(&mut command)?.success(), "the fuzz targets cannot be built");
    Ok(())
}

/// Fails if the lock file of the fuzz targets does not match the workspace, because cargo-fuzz would change it silently.
fn in_step(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path", "fuzz/Cargo.toml"]);
    process::output(&mut command).map(drop).context(
        "fuzz/Cargo.lock is out of step with the workspace; `cargo metadata --manifest-path fuzz/Cargo.toml` brings it there: commit it",
    )
}

/// Installs a C++ compiler, cargo-fuzz, and the basic tools.
fn provision(workspace: &Workspace) -> Result<()> {
    let tools = [Tool::BASE.as_slice(), &[Tool::Cxx]].concat();
    setup::provide(workspace, &tools)?;
    if which(&["cargo-fuzz"]).is_some() {
        return Ok(());
    }
    note("installing cargo-fuzz: it builds and runs the fuzz targets");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    process::output(command.args(["install", "cargo-fuzz", "--locked"])).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::collections::BTreeSet;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parsed(words: &[&str]) -> Result<Arguments, clap::Error> {
        Line::try_parse_from([&["fuzz"], words].concat()).map(|line| line.arguments)
    }

    #[test]
    fn an_unknown_target_is_code_2_and_names_the_nearest() {
        let error = parsed(&["requantise"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("'requantize'"), "{error}");
        assert_eq!(parsed(&["fpm", "--seconds", "0"]).unwrap_err().exit_code(), 2);
        assert_eq!(parsed(&["--kernel", "tvm-neon"]).unwrap_err().exit_code(), 2);
        assert_eq!(parsed(&["--runs", "0"]).unwrap_err().exit_code(), 2);
        assert_eq!(parsed(&["--runs", "5", "--seconds", "5"]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn what_is_not_named_is_as_usual() {
        let usual = parsed(&[]).expect("no argument is needed");
        assert_eq!((usual.target, usual.seconds, usual.planted), (None, 30, false));
        let given = parsed(&["fpm", "--seconds=5", "--", "-max_len=9"]).expect("all of them are known");
        assert_eq!((given.target.as_deref(), given.seconds), (Some("fpm"), 5));
        assert_eq!(given.arguments, ["-max_len=9"]);
    }

    /// Returns the names of the files of a directory of `fuzz`.
    fn files(directory: &str) -> BTreeSet<String> {
        let directory = Workspace::locate().expect("the workspace").root.join("fuzz").join(directory);
        let stem = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.expect("a directory that can be read").path();
            path.file_stem().and_then(std::ffi::OsStr::to_str).expect("a name").to_owned()
        };
        std::fs::read_dir(&directory).expect("a directory of fuzz").map(stem).collect()
    }

    #[test]
    fn the_targets_of_the_manifest_are_those_of_the_code() {
        let known: BTreeSet<String> = TARGETS.iter().map(|name| (*name).to_owned()).collect();
        let code =
            [include_str!("../../../fuzz/fuzz_targets/target.rs"), include_str!("../../../suites/ops/src/registry.rs")];
        let lines = code.into_iter().flat_map(str::lines);
        let arms = lines.filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"));
        assert_eq!(arms.map(|(name, _)| name.to_owned()).collect::<BTreeSet<_>>(), known);
        assert!(files("dictionaries").is_subset(&known));
        assert!(PLANTED.iter().all(|(target, _)| known.contains(*target)));
    }
}
