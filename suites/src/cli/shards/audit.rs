//! Shards of `audit`: each model is a unit.

use super::super::audit::{Answer, Args, Format, Printed, answer};
use super::{Listing, MergeArgs, note_ran, plan, whole, without_shard};
use crate::cli::verify::arguments;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;
use tiebreak_common::identity;
use tiebreak_shards::{self as shards, Part, Shard};

/// Name of the command.
pub(super) const COMMAND: &str = "audit";

/// Runs a shard.
pub(in crate::cli) fn run(args: &Args, shard: Shard) -> Result<()> {
    let names = models(args)?;
    let hash = |model: &String| identity::hash(Path::new(model)).ok();
    let hashes: Vec<Option<String>> = names.iter().map(hash).collect();
    let context = json!({"files": hashes, "format": args.format});
    let plan = plan(COMMAND, without_shard(&arguments()), names, shard, context);
    let ran = shards::run(&plan, &args.out, args.shards.resume, |pending, sink| {
        pending.iter().try_for_each(|at| {
            let begun = Instant::now();
            let gave = serde_json::to_string(&answer(args, &args.models[*at])?)?;
            sink(*at, gave, begun.elapsed().as_secs_f64())
        })
    })?;
    note_ran(&plan, &args.out, ran);
    Ok(())
}

/// Returns the units: the models, without repetition.
pub(in crate::cli) fn models(args: &Args) -> Result<Vec<String>> {
    let names: Vec<String> = args.models.iter().map(|model| model.display().to_string()).collect();
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        bail!("{twice} is there twice: a unit runs once");
    }
    Ok(names)
}

/// Prints the output of the unsharded command.
pub(super) fn merge(args: &MergeArgs, parts: Vec<Part>) -> Result<bool> {
    if args.out.is_some() || args.format != Listing::Table {
        bail!("--out and --format do not go with shards of `audit`: the format is that of the shards");
    }
    let Some((plan, units)) = whole(parts, alike)? else { return Ok(false) };
    let format: Format = serde_json::from_value(plan.context["format"].clone()).context("the plan has no format")?;
    let mut printed = Printed::new(format);
    for unit in &units {
        let answer: Answer =
            serde_json::from_str(&unit.gave).with_context(|| format!("the unit `{}` is damaged", unit.unit))?;
        printed.print(&answer)?;
    }
    Ok(!printed.fails)
}

/// Reports a model whose content differs between shards.
fn alike(here: &Value, there: &Value) -> Vec<String> {
    let differs = here["files"] != there["files"];
    differs.then(|| "a model had another content".to_owned()).into_iter().collect()
}
