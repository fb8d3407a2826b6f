//! Shards of the commands of xtask itself, `bite` and `fuzz`, and their merge. `tiebreak`'s commands share the mechanism.

use crate::say::{note, print};
use crate::workspace::Workspace;
use crate::{bite, fuzz};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use tiebreak_shards::{self as shards, Merged, Part, Plan, Shard, Sink, messages, without_shard};
use tiebreak_sources::PACKAGES;

/// Words that start xtask.
const PROGRAM: &str = "cargo xtask";

/// Options of a shard.
#[derive(Debug, Args)]
#[command(next_help_heading = "A part of the run")]
pub(crate) struct Options {
    /// Run every Nth unit, starting with the Ith, and keep the result of each; `merge` joins the N files
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Continue an interrupted shard with the same --out
    #[arg(long, requires = "shard")]
    resume: bool,
    /// Directory for the file of a shard
    #[arg(long, value_name = "DIR", default_value = "tiebreak-out", requires = "shard")]
    out: PathBuf,
    /// Print the units as JSON, for `plan`
    #[arg(long, hide = true, conflicts_with = "shard")]
    units: bool,
}

/// Command that is divided into units.
pub(crate) struct Cut<'a> {
    /// Name.
    pub(crate) command: &'static str,
    /// Units, in an order that depends only on the arguments.
    pub(crate) units: Vec<String>,
    /// Seconds of each unit, if the arguments specify them.
    pub(crate) seconds: Option<u64>,
    /// Data of the command in addition to the units.
    pub(crate) context: Value,
    /// Options of the command line.
    pub(crate) options: &'a Options,
}

/// Units and seconds for `plan`.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    units: &'a [String],
    seconds: Option<u64>,
}

impl Cut<'_> {
    /// Runs all units and returns the result of each, or runs one shard or lists the units and returns `None`.
    pub(crate) fn run(
        &self,
        workspace: &Workspace,
        run: impl FnOnce(&[usize], Sink<'_>) -> Result<()>,
    ) -> Result<Option<Vec<String>>> {
        if self.options.units {
            let listed = Listed { units: &self.units, seconds: self.seconds };
            print(format_args!("{}\n", serde_json::to_string(&listed)?))?;
            return Ok(None);
        }
        let Some(shard) = self.options.shard else { return self.whole(run).map(Some) };
        let plan = Plan {
            format: Plan::FORMAT,
            command: self.command.to_owned(),
            arguments: without_shard(&given()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: Some(sources(&workspace.root)?),
            units: self.units.clone(),
            shard,
            context: self.context.clone(),
        };
        let out = &self.options.out;
        let ran = shards::run(&plan, out, self.options.resume, run)?;
        messages::ran(&plan, out, ran).iter().for_each(note);
        Ok(None)
    }

    fn whole(&self, run: impl FnOnce(&[usize], Sink<'_>) -> Result<()>) -> Result<Vec<String>> {
        let all: Vec<usize> = (0..self.units.len()).collect();
        let gave = Mutex::new(vec![String::new(); all.len()]);
        run(&all, &|at, text, _| {
            gave.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[at] = text;
            Ok(())
        })?;
        Ok(gave.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Returns the arguments of the command.
fn given() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns a hash of the sources of kernels, oracle and harness.
fn sources(root: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    for package in PACKAGES {
        hash.update(package.hash(root).with_context(|| format!("cannot read {}", package.directory))?);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Merges the files that a command line of `merge` names if they are shards of `bite` or `fuzz`.
pub(crate) fn merge(arguments: &[OsString]) -> Result<Option<ExitCode>> {
    if arguments.get(1).is_none_or(|command| command != "merge") {
        return Ok(None);
    }
    let (options, files): (Vec<_>, Vec<_>) =
        arguments[2..].iter().partition(|word| word.to_string_lossy().starts_with('-'));
    let parts = files.into_iter().map(|file| own(Path::new(file))).collect::<Result<Vec<_>>>()?;
    if parts.iter().all(Option::is_none) {
        return Ok(None);
    }
    if let Some(option) = options.first() {
        bail!("{} does not go with shards of `bite` and `fuzz`, which are printed: leave it out", option.display());
    }
    let parts = parts.into_iter().collect::<Option<Vec<_>>>();
    let parts =
        parts.context("some of the files are shards of `bite` or `fuzz`, and others are not: merge them apart")?;
    match shards::merge(parts, PROGRAM, |_, _| Vec::new())? {
        Merged::Missing { units, commands } => {
            messages::missing(&units, &commands).iter().for_each(note);
            Ok(Some(ExitCode::from(1)))
        }
        Merged::Whole(plan, units) => {
            let gave = units.into_iter().map(|unit| unit.gave).collect::<Vec<_>>();
            let shown = if plan.command == bite::COMMAND { bite::shown } else { fuzz::shown };
            shown(&plan.units, &plan.context, &gave).map(Some)
        }
    }
}

/// Reads the shard of an xtask command; `None` for any other file, which `tiebreak` reports.
fn own(path: &Path) -> Result<Option<Part>> {
    if !path.is_file() {
        return Ok(None);
    }
    let part = shards::read(path).unwrap_or_default();
    Ok(part.filter(|part| [bite::COMMAND, fuzz::COMMAND].contains(&&*part.plan.command)))
}
