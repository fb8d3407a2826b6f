//! Shards of `verify`. Units are a kernel of an operation in all lanes, a group of self-checks, and the bounds of all operations.

use super::super::{Listing, base, environment, note, out_lock, print, style, threads};
use super::super::{built, verify as cli};
use super::{MergeArgs, note_ran, plan, whole};
use crate::budget::Effort;
use crate::engine::sharded::{self, Campaign, Context};
use crate::lane::config::HOST;
use crate::verify::{Command, Heading, Outcome, REGISTRY};
use crate::{code, figures, proofs, rewritten};
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tiebreak_reports::files::{self, LEDGER};
use tiebreak_reports::html::Earlier;
use tiebreak_reports::json;
use tiebreak_reports::ledger::{Lane, LaneStatus, Ledger, Network, Verdict};
use tiebreak_reports::table::{self, Detail};
use tiebreak_shards::{self as shards, Part, Shard};

/// Name of the command.
pub(super) const COMMAND: &str = "verify";

/// Data that the files of a run need in addition to its units.
#[derive(Serialize, Deserialize)]
struct RunOptions {
    seed: u64,
    effort: Effort,
    /// True if all kernels of an operation run on its own plan.
    is_whole: bool,
    /// True if one screen is printed.
    is_screen: bool,
    /// Caller's library, and true if the caller has lanes.
    library: Option<PathBuf>,
    has_lanes: bool,
    /// Network of a model.
    #[serde(default)]
    network: Option<Network>,
    run: Context,
}

/// Runs a shard. Returns true if its units have run, regardless of their results. Only the merged run has a verdict.
pub(in crate::cli) fn run(args: &cli::Args, shard: Shard) -> Result<bool> {
    threads::start(args.jobs)?;
    built::check()?;
    let request = cli::request(args)?;
    let campaign = Campaign::open(&request, &REGISTRY)?;
    let kept = RunOptions {
        seed: args.seed,
        effort: args.effort,
        is_whole: cli::is_whole(args),
        is_screen: cli::detail(args)? == Detail::Screen,
        library: args.library.file().map(Path::to_owned),
        has_lanes: cli::callers_lanes(args).is_some(),
        network: request.network.clone(),
        run: campaign.context(),
    };
    let arguments = request.command.arguments.clone();
    let plan = plan(COMMAND, arguments, campaign.units(), shard, serde_json::to_value(kept)?);
    let ran = shards::run(&plan, &args.out(), args.shards.resume, |units, sink| {
        campaign.run(units, &|at, recorded, seconds| sink(at, serde_json::to_string(&recorded)?, seconds))
    })?;
    note_ran(&plan, &args.out(), ran);
    Ok(true)
}

/// Writes the files of the whole run.
pub(super) fn merge(args: &MergeArgs, parts: Vec<Part>) -> Result<bool> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("tiebreak-out"));
    if out.join(LEDGER).exists() {
        bail!("{} exists: name another directory with --out", out.join(LEDGER).display());
    }
    let Some((plan, units)) = whole(parts, alike)? else { return Ok(false) };
    let kept = RunOptions::deserialize(&plan.context).context("the first file has no plan of `verify`")?;
    let command = Command { arguments: plan.arguments.clone(), ..Command::default() }.whole();
    let heading = Heading { command, seed: kept.seed, effort: kept.effort, begun: Instant::now() };
    let seconds = units.iter().map(|unit| unit.seconds).sum();
    let recorded = |unit: shards::Unit| {
        serde_json::from_str(&unit.gave).with_context(|| format!("the unit `{}` is damaged", unit.unit))
    };
    let recorded = units.into_iter().map(recorded).collect::<Result<Vec<_>>>()?;
    let Outcome { mut ledger, mismatches } = sharded::whole(&kept.run, &REGISTRY, &heading, recorded)?;
    ledger.seconds = seconds;
    ledger.network = kept.network.clone().map(|network| network.judged(&ledger.rows));
    ledger.environment = Some(environment::now());
    if kept.is_whole {
        ledger.figures = figures::of(&ledger);
        rewritten::judge(&mut ledger)?;
    }
    let library = kept.library.as_deref().map(|file| (super::super::library::LIBRARY, file));
    let is_own = |lane: &str| lane == HOST || !kept.has_lanes;
    ledger.code = code::of(&ledger, library, is_own);
    ledger.proofs = proofs::of(&ledger, is_own);
    files::check_writable(&out)?;
    let _lock = out_lock::take(&out)?;
    let earlier: Vec<Ledger> = base::published(&ledger).into_iter().collect();
    let earlier = Earlier { runs: &earlier };
    files::write_all(&out, &ledger, &mismatches, earlier)?;
    let detail = if kept.is_screen { Detail::Screen } else { Detail::Tables };
    print(&match args.format {
        Listing::Table => {
            table::render_compared(&ledger, earlier, detail, style()) + &table::format_files(&out, style())
        }
        Listing::Json => json::render(&ledger),
        Listing::Csv => {
            bail!("a run of `verify` has no CSV: {} has its mismatches", out.join("mismatches.csv").display())
        }
    })?;
    note(&format!("merged: {}", out.join(LEDGER).display()));
    Ok(ledger.verdict == Verdict::Holds)
}

/// Describes how the lanes of two shards differ. A verdict holds for one code of each lane.
fn alike(here: &Value, there: &Value) -> Vec<String> {
    let lanes = |kept: &Value| Vec::<Lane>::deserialize(&kept["run"]["lanes"]).unwrap_or_default();
    let (here, there) = (lanes(here), lanes(there));
    let known = |lane: &Lane| match &lane.status {
        LaneStatus::Ran { arch, .. } => (lane.name.clone(), Some(arch.clone()), lane.files.clone()),
        LaneStatus::NotRun { .. } => (lane.name.clone(), None, lane.files.clone()),
    };
    let differs = |(here, there): (&Lane, &Lane)| {
        (known(here) != known(there)).then(|| match (&here.status, &there.status) {
            (LaneStatus::NotRun { reason, .. }, LaneStatus::Ran { .. }) => {
                format!("the lane {} did not run in the first: {reason}", here.name)
            }
            (LaneStatus::Ran { .. }, LaneStatus::NotRun { reason, .. }) => {
                format!("the lane {} did not run in the second: {reason}", here.name)
            }
            _ => format!("the lane {} ran other programs", here.name),
        })
    };
    here.iter().zip(&there).filter_map(differs).collect()
}
