//! `--shard` of every command but `census --space`, and `merge`: the files of shards as what one process would have given.

mod audit;
mod corrupt;
mod verify;

use super::{Listing, built, note, space};
use crate::shell::quoted;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tiebreak_common::shards::{self, Merged, Part, Plan, Ran, Shard, Unit};
use tiebreak_reports::text;

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

/// Merges. Returns false if a shard is missing, or as the command itself would.
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

/// The whole, or nothing after saying what is missing.
fn whole(parts: Vec<Part>, alike: impl Fn(&Value, &Value) -> Vec<String>) -> Result<Option<(Plan, Vec<Unit>)>> {
    match shards::merge(parts, alike)? {
        Merged::Whole(plan, units) => Ok(Some((*plan, units))),
        Merged::Missing { units, commands } => {
            let names = units.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = if units.len() > NAMED { ", .." } else { "" };
            note(&format!(
                "missing: {} ({names}{more}); nothing was written. Run the shards with these commands, then merge again:",
                text::plural(units.len(), "unit")
            ));
            commands.iter().for_each(|command| note(&format!("  {command}")));
            Ok(None)
        }
    }
}

/// Missing units that are named.
const NAMED: usize = 3;

/// The plan of a shard of a command.
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

/// Says what of a shard ran, and where it is.
fn note_ran(plan: &Plan, out: &Path, ran: Ran) {
    let Ran { now, before } = ran;
    let earlier = if before > 0 { format!(", {before} before") } else { String::new() };
    let empty = if now + before == 0 { ": there are fewer units than shards" } else { "" };
    note(&format!(
        "shard {}: {} of {} ran{earlier}{empty}",
        plan.shard,
        text::count(now as u64),
        text::plural(plan.units.len(), "unit")
    ));
    note(&format!("file: {}", quoted(&plan.file(out).display().to_string())));
}

/// Options that say where and how a shard runs, and change no result: with a value, and without one.
const OF_SHARD: [(&str, bool); 4] = [("--shard", true), ("--out", true), ("--jobs", true), ("--resume", false)];

/// Arguments without those of the shard.
pub(super) fn without_shard(arguments: &[String]) -> Vec<String> {
    let (mut out, mut rest) = (Vec::new(), arguments.iter());
    while let Some(argument) = rest.next() {
        let option = OF_SHARD.iter().find(|(name, _)| argument == name);
        let joined = OF_SHARD.iter().any(|(name, has_value)| {
            *has_value && argument.strip_prefix(name).is_some_and(|value| value.starts_with('='))
        });
        match option {
            Some((_, true)) => drop(rest.next()),
            Some((_, false)) => {}
            None if joined => {}
            None => out.push(argument.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_a_shard_are_those_of_the_run() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = "--op mul --shard 1/2 --jobs=3 --seed 5 --resume --out=a --out b --output --shards=2";
        assert_eq!(without_shard(&words(given)), words("--op mul --seed 5 --output --shards=2"));
    }
}
