//! Lanes of a run: lanes that run, and a finding for each lane that must run and does not.

use crate::lane::config::Lanes;
use crate::lane::{Lane, NotRun, OpenError};
use crate::ledger::place::finding;
use crate::operation::request::Request;
use crate::pipeline::Pipeline;
use crate::progress::progress;
use crate::registry::Registry;
use anyhow::Result;
use tiebreak_common::class::Class;
use tiebreak_common::{identity, parallel};
use tiebreak_reports::ledger::{self, Finding, LaneStatus};

/// Returns the names of a run's lanes: the named lanes, otherwise the default lanes, and for casts the lanes of compiled modules.
pub(crate) fn lane_names(request: &Request, registry: &Registry) -> Vec<String> {
    if !request.lanes.is_empty() {
        return request.lanes.clone();
    }
    let mut names = request.known_lanes.default_names();
    if request.ops.iter().filter_map(|op| registry.find(op)).any(Pipeline::is_compiled) {
        names.extend(request.known_lanes.compiled_names());
    }
    names
}

/// Returns the caller's lanes that a run without `--lane` leaves out, with the reason. Not a finding, because the caller narrowed the run.
pub(crate) fn left_out(request: &Request, names: &[String]) -> Vec<ledger::Lane> {
    let unnamed = request.lanes.is_empty().then(|| request.known_lanes.left_out(names));
    let lane = |(name, reason): (&str, &str)| ledger::Lane {
        name: name.to_owned(),
        status: LaneStatus::NotRun { reason: reason.to_owned(), allowed: true },
        files: Vec::new(),
    };
    unnamed.into_iter().flatten().map(lane).collect()
}

/// Compiles the modules for the lanes of a run, and returns the lanes file with them.
pub(crate) fn with_modules(
    request: &Request,
    selected: &[(&Pipeline, Vec<String>)],
    names: &[String],
) -> Result<Lanes> {
    let lanes = &request.known_lanes;
    let compile = lanes.lanes.iter().filter(|l| l.modules.is_some() && l.command.is_some() && names.contains(&l.name));
    let count = compile.count();
    if count == 0 {
        return Ok(lanes.clone());
    }
    let mut functions = Vec::new();
    for (op, kernels) in selected {
        functions.extend(op.functions(request, kernels)?);
    }
    let plan = tiebreak_mlir::Plan::new(functions);
    let bar = progress("modules", plan.objects() * count);
    let provided = crate::lane::provide(lanes, names, &plan, || bar.inc(1));
    bar.finish_and_clear();
    provided
}

/// Opened lanes of a run: lanes that run, their statuses for the ledger, and a finding for each lane that must run and does not.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) statuses: Vec<ledger::Lane>,
    pub(crate) findings: Vec<Finding>,
}

pub(crate) fn open_lanes(request: &Request, names: &[String], known: &Lanes) -> Result<Opened> {
    let Opened { mut lanes, mut statuses, mut findings } = Opened::default();
    let kept = known.hashes.as_deref().map(identity::HashCache::open);
    let open = |name: &String| {
        let lane = Lane::open(name, known)?;
        Ok::<_, OpenError>(lane.map(|lane| {
            let files = lane.files(kept.as_ref());
            (lane, files)
        }))
    };
    for (name, opened) in names.iter().zip(parallel::try_map(names, open)?) {
        let (status, files) = match opened {
            Ok((lane, files)) => {
                let ran = LaneStatus::Ran { arch: lane.hello.arch.clone(), via: lane.via() };
                lanes.push(lane);
                (ran, files)
            }
            Err(why) => {
                let (reason, allowed) = (why.to_string(), may_be_absent(request, name, &why));
                if !allowed {
                    findings.push(not_run(name, &why));
                }
                (LaneStatus::NotRun { reason, allowed }, Vec::new())
            }
        };
        statuses.push(ledger::Lane { name: name.clone(), status, files });
    }
    kept.inspect(identity::HashCache::save);
    lanes.sort_by_key(Lane::is_compiled);
    Ok(Opened { lanes, statuses, findings })
}

/// True if a missing lane is excused: not installed, and either allowed by the caller or in need of tools outside this request. Installed lanes that
/// fail to start are never excused.
fn may_be_absent(request: &Request, name: &str, why: &NotRun) -> bool {
    let unasked = request.lanes.is_empty() && request.known_lanes.compiled_names().any(|compiled| compiled == name);
    let by_name = request.allow_not_run.iter().any(|allowed| allowed == name);
    match why {
        NotRun::Absent(_) => unasked || by_name,
        NotRun::NoProgram(_) => by_name,
        NotRun::Broken { .. } | NotRun::OtherArch { .. } => false,
    }
}

/// Returns the finding for a requested lane that did not run, unless the caller allowed it by name (invariant 4 of ARCHITECTURE.md).
fn not_run(name: &str, why: &NotRun) -> Finding {
    let accepts = match why {
        NotRun::Broken { .. } | NotRun::OtherArch { .. } => String::new(),
        NotRun::Absent(_) | NotRun::NoProgram(_) => format!("; `--allow-not-run {name}` accepts that"),
    };
    finding(("", "", name), Class::NotRun, format!("not run: {why}{accepts}"))
}
