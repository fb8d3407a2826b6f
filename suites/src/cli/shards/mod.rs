//! `--shard` of every command but `census --space`, and `merge`, which turns the files of shards into the output of a single process.

mod audit;
mod corrupt;
mod verify;

use super::{Listing, built, note, space};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tiebreak_common::called::program;
pub(super) use tiebreak_shards::without_shard;
use tiebreak_shards::{self as shards, Merged, Part, Plan, Ran, Shard, Unit, messages};

pub(super) use audit::{models, run as audit};
pub(super) use corrupt::{faulted, run as corrupt};
pub(super) use verify::run as verify;

/// The options of a shard.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A part of the run")]
pub(super) struct Options {
    /// Run every Nth unit, starting with the Ith, and keep what each gives; `merge` puts the N files together
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
    /// Continue an interrupted shard with the same --out
    #[arg(long, requires = "shard")]
    pub(super) resume: bool,
}

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
pub(super) struct MergeArgs {
    /// Files of all shards, complete or not
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The merged ledger of `census --space`, or the directory for the files of `verify` [default: tiebreak-out/space.jsonl, tiebreak-out]
    #[arg(long, value_name = "PATH")]
    pub(super) out: Option<PathBuf>,
    /// Count every chunk of `census --space` again, instead of one in 64 of each file
    #[arg(long)]
    pub(super) verify_all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: Listing,
}

/// Merges shards. Returns false if a shard is missing; otherwise returns the result of the command.
pub(super) fn merge(args: &MergeArgs) -> Result<bool> {
    let each = args.files.iter().map(|path| shards::read(path)).collect::<Result<Vec<_>>>()?;
    if each.iter().all(Option::is_none) {
        return space::merge(args);
    }
    let other = |(part, path): (Option<Part>, &PathBuf)| {
        part.with_context(|| format!("{} is not the file of a shard, and others are: merge them apart", path.display()))
    };
    let parts = each.into_iter().zip(&args.files).map(other).collect::<Result<Vec<_>>>()?;
    if args.verify_all {
        bail!("--verify-all counts chunks of `census --space` again; these are shards of `{}`", parts[0].plan.command);
    }
    match &*parts[0].plan.command {
        verify::COMMAND => verify::merge(args, parts),
        corrupt::COMMAND => corrupt::merge(args, parts),
        audit::COMMAND => audit::merge(args, parts),
        other => bail!("{} is a shard of `{other}`, which this program cannot merge", args.files[0].display()),
    }
}

/// Returns the merged units. If units are missing, prints them and returns `None`.
fn whole(parts: Vec<Part>, alike: impl Fn(&Value, &Value) -> Vec<String>) -> Result<Option<(Plan, Vec<Unit>)>> {
    match shards::merge(parts, program(), alike)? {
        Merged::Whole(plan, units) => Ok(Some((*plan, units))),
        Merged::Missing { units, commands } => {
            messages::missing(&units, &commands).iter().for_each(|line| note(line));
            Ok(None)
        }
    }
}

/// Builds the plan of a shard.
fn plan(command: &str, arguments: Vec<String>, units: Vec<String>, shard: Shard, context: Value) -> Plan {
    Plan {
        format: Plan::FORMAT,
        command: command.to_owned(),
        arguments,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sources: built::sources(),
        units,
        shard,
        context,
    }
}

/// Prints the units that a shard ran, and the path of its file.
fn note_ran(plan: &Plan, out: &Path, ran: Ran) {
    messages::ran(plan, out, ran).iter().for_each(|line| note(line));
}
