//! `cargo xtask fuzz`: fuzz targets under cargo-fuzz, without a sanitizer, so that a stable toolchain is enough. Targets that read texts start
//! from the seeds of `suites/examples/fuzz-seeds.rs`, with the words of `fuzz/dictionaries`.

use crate::process::{self, which};
use crate::say::note;
use crate::setup;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// How long a target is fuzzed unless the arguments say otherwise.
const DEFAULT_TIME: &str = "-max_total_time=30";

/// The arguments of `fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Target [default: each in turn]
    target: Option<String>,
    /// Passed to libFuzzer, such as `-max_total_time=600` (30 s if not given)
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Fuzzes. Exit code 1 if a target found something.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let selected = select(&targets(&workspace)?, arguments.target.as_deref())?;
    provision(&workspace)?;
    in_step(&workspace)?;
    let seeds = if selected.iter().any(|target| is_seeded(target)) { Some(seeds(&workspace)?) } else { None };
    let mut failed = false;
    for target in selected {
        let mut command = workspace.cargo();
        // cargo-fuzz has a target directory of its own.
        command.env_remove("CARGO_TARGET_DIR").env("RUSTC_BOOTSTRAP", "1");
        command.args(["fuzz", "run", "-s", "none", &target]);
        if let Some(seeds) = seeds.as_ref().filter(|_| is_seeded(&target)) {
            // What is found goes into the first directory.
            let found = workspace.root.join("fuzz/corpus").join(&target);
            fs::create_dir_all(&found).with_context(|| format!("cannot make {}", found.display()))?;
            command.arg(found).arg(seeds.join(&target)).arg("--").arg(dictionary(&workspace, &target)?);
        } else {
            command.arg("--");
        }
        command.args(with_time(&arguments.arguments));
        note(process::line(&command));
        failed |= !process::status(&mut command)?.success();
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// Targets that read texts.
const SEEDED: [&str; 2] = ["quant_type", "texts"];

fn is_seeded(target: &str) -> bool {
    SEEDED.contains(&target)
}

/// Fails if the lock file of the fuzz targets does not match the workspace: cargo-fuzz would change it silently.
fn in_step(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path", "fuzz/Cargo.toml"]);
    process::output(&mut command).map(drop).context(
        "fuzz/Cargo.lock is out of step with the workspace; `cargo metadata --manifest-path fuzz/Cargo.toml` brings it there: commit it",
    )
}

/// Writes the seeds, one directory for each target.
fn seeds(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.root.join("target/tiebreak/fuzz-seeds");
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--release", "--package", "tiebreak-suites", "--example", "fuzz-seeds", "--"]);
    process::output(command.arg(&directory)).context("cannot write the seeds of the fuzz targets")?;
    Ok(directory)
}

/// The argument of libFuzzer that names a target's words.
fn dictionary(workspace: &Workspace, target: &str) -> Result<OsString> {
    let file = workspace.root.join("fuzz/dictionaries").join(format!("{target}.dict"));
    if !file.is_file() {
        bail!("there is no dictionary {}", file.display());
    }
    let mut argument = OsString::from("-dict=");
    argument.push(file);
    Ok(argument)
}

/// The names of the files in `fuzz/fuzz_targets`.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let directory = workspace.root.join("fuzz/fuzz_targets");
    let entries =
        fs::read_dir(&directory).with_context(|| format!("there are no fuzz targets in {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("rs")) {
            names.extend(path.file_stem().and_then(OsStr::to_str).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

fn select(targets: &[String], wanted: Option<&str>) -> Result<Vec<String>> {
    match wanted {
        None if targets.is_empty() => bail!("there are no fuzz targets in fuzz/fuzz_targets"),
        None => Ok(targets.to_vec()),
        Some(wanted) if targets.iter().any(|target| target == wanted) => Ok(vec![wanted.to_owned()]),
        Some(wanted) => bail!("there is no fuzz target `{wanted}`; there are: {}", targets.join(", ")),
    }
}

fn with_time(arguments: &[OsString]) -> Vec<OsString> {
    let timed = arguments.iter().any(|argument| argument.to_string_lossy().starts_with("-max_total_time"));
    let default = (!timed).then(|| OsString::from(DEFAULT_TIME));
    default.into_iter().chain(arguments.iter().cloned()).collect()
}

/// Installs a C++ compiler and cargo-fuzz, and the tools that everything needs.
fn provision(workspace: &Workspace) -> Result<()> {
    let tools = [Tool::BASE.as_slice(), &[Tool::Cxx]].concat();
    setup::require(&setup::provision(workspace, &tools)?, &tools)?;
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

    #[test]
    fn an_unknown_target_is_told_the_known_ones() {
        let targets = ["dot".to_owned(), "fpm".to_owned()];
        assert_eq!(select(&targets, Some("fpm")).expect("it is there"), ["fpm"]);
        assert_eq!(select(&targets, None).expect("all of them"), targets);
        let error = select(&targets, Some("fpn")).unwrap_err().to_string();
        assert_eq!(error, "there is no fuzz target `fpn`; there are: dot, fpm");
        assert!(select(&[], None).is_err());
    }

    #[test]
    fn a_seeded_target_is_there_with_its_dictionary() {
        let workspace = Workspace::locate().expect("the workspace");
        let targets = targets(&workspace).expect("a directory of targets");
        for target in SEEDED {
            assert!(targets.iter().any(|known| known == target), "{target}");
            dictionary(&workspace, target).expect(target);
        }
    }

    #[test]
    fn fuzzing_ends_by_itself() {
        assert_eq!(with_time(&[]), [DEFAULT_TIME]);
        assert_eq!(with_time(&["-max_total_time=9".into()]), ["-max_total_time=9"]);
        assert_eq!(with_time(&["-runs=5".into()]), [DEFAULT_TIME, "-runs=5"]);
    }
}
