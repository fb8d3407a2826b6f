//! Shards of `corrupt`: each kernel that the lane offers is a unit.

use super::super::Listing;
use super::super::bite::{CorruptArgs, show_faults};
use super::{MergeArgs, note_ran, plan, whole, without_shard};
use crate::cli::verify::arguments;
use crate::engine::self_check::Measure;
use crate::engine::self_check::planted::Tried;
use crate::lane::Lane;
use crate::verify::{Pipeline, REGISTRY};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use tiebreak_common::parallel;
use tiebreak_shards::{self as shards, Part, Shard};

/// Name of the command.
pub(super) const COMMAND: &str = "corrupt";

/// Runs a shard.
pub(in crate::cli) fn run(args: &CorruptArgs, shard: Shard) -> Result<()> {
    if args.what.format != Listing::Table {
        bail!("--format does not go with --shard: give it to `merge`");
    }
    let lane = args.what.lane()?;
    let measure = Measure { lane: &lane, effort: args.what.effort, seed: args.what.seed, sample: args.sample };
    let units = faulted(args, &lane)?;
    let names = units.iter().map(|(op, kernel)| format!("{} {kernel}", op.op())).collect();
    let context = json!({"files": lane.files(None), "verbose": args.verbose});
    let plan = plan(COMMAND, without_shard(&arguments()), names, shard, context);
    let ran = shards::run(&plan, &args.out, args.shards.resume, |pending, sink| {
        let one = |at: &usize| {
            let (begun, (op, kernel)) = (Instant::now(), units[*at]);
            let tried = op.planted_in_kernel(&measure, kernel)?;
            sink(*at, serde_json::to_string(&tried)?, begun.elapsed().as_secs_f64())
        };
        parallel::try_map(pending, one).map(drop)
    })?;
    note_ran(&plan, &args.out, ran);
    Ok(())
}

/// Returns the units: each kernel that the lane offers, with its operation.
pub(in crate::cli) fn faulted(args: &CorruptArgs, lane: &Lane) -> Result<Vec<(&'static Pipeline, &'static str)>> {
    let mut units: Vec<(&'static Pipeline, &'static str)> = Vec::new();
    for op in args.what.operations()? {
        if units.iter().any(|(known, _)| known.op() == op.op()) {
            bail!("--op {} is there twice: a unit runs once", op.op());
        }
        units.extend(op.planted_in(lane).into_iter().map(|kernel| (op, kernel)));
    }
    if units.is_empty() {
        bail!("the lane {} offers no kernel of the requested operations", lane.name);
    }
    Ok(units)
}

/// Prints the output of the unsharded command.
pub(super) fn merge(args: &MergeArgs, parts: Vec<Part>) -> Result<bool> {
    if args.out.is_some() {
        bail!("--out does not go with shards of `corrupt`, which are printed: give --format");
    }
    let Some((plan, units)) = whole(parts, alike)? else { return Ok(false) };
    let mut of_ops: BTreeMap<usize, Vec<Vec<Tried>>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for unit in &units {
        let (op, _) = unit.unit.split_once(' ').context("a unit without an operation")?;
        if !order.contains(&op) {
            order.push(op);
        }
        let tried = serde_json::from_str(&unit.gave);
        let tried = tried.with_context(|| format!("the unit `{}` is damaged", unit.unit))?;
        of_ops.entry(order.iter().position(|known| *known == op).unwrap_or_default()).or_default().push(tried);
    }
    let mut rows = Vec::new();
    for (op, each) in of_ops {
        rows.extend(REGISTRY.find(order[op]).context("there is no such operation")?.planted_rows(each));
    }
    show_faults(&rows, args.format, plan.context["verbose"] == true)?;
    Ok(true)
}

/// Reports a lane whose programs differ between shards.
fn alike(here: &Value, there: &Value) -> Vec<String> {
    let differs = here["files"] != there["files"];
    differs.then(|| "the lane ran other programs".to_owned()).into_iter().collect()
}
