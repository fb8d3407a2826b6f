//! One verification run: from what was asked to a ledger.

mod again;
pub mod coverage;
mod kept;
mod operation;
pub mod place;
pub mod tensor_op;

use crate::activity;
use crate::lane::config::Lanes;
use crate::lane::{Lane, NotRun, OpenError};
use crate::tensor::{Asked, Wanted};
use anyhow::Result;
use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Instant;
use tiebreak_common::budget::Effort;
use tiebreak_common::class::Class;
use tiebreak_common::identity;
use tiebreak_common::parallel;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::names::unknown;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::ledger::{self, Finding, LaneStatus, Ledger, Mismatch, SelfCheck, Verdict};

pub use again::Command;
pub use kept::{Heading, Kept};
pub use operation::{Registry, Verifies, every_name};
use place::finding;
pub use tensor_op::{again, line};

/// What is to be verified.
#[derive(Clone, Debug)]
pub struct Request {
    /// Operations, of [`OPS`].
    pub ops: Vec<String>,
    /// Kernels by name; all when empty.
    pub kernels: Vec<String>,
    /// Lanes by name; the default ones when empty.
    pub lanes: Vec<String>,
    /// Whether the caller named the operations; otherwise they are those that the rest of the request goes with.
    pub ops_named: bool,
    /// Lanes that may be absent.
    pub allow_not_run: Vec<String>,
    /// Whether kernels that are named may leave out parameters that are given.
    pub allow_outside_domain: bool,
    /// Whether the run ends at its first finding.
    pub fail_fast: bool,
    /// How much.
    pub effort: Effort,
    /// What operations run in place of their plan.
    pub asked: Asked,
    /// What differences are counted against.
    pub reference: Scheme,
    /// Rule by which a quantization is rounded once, for what its differences are counted against.
    pub rounding: RoundingRule,
    /// Seed of every stream.
    pub seed: u64,
    /// How to ask for this run again.
    pub command: Command,
    /// The lanes there are.
    pub known_lanes: Lanes,
    /// Where the run leaves what it has so far.
    pub kept: Kept,
}

impl Request {
    /// What differences are counted against.
    fn wanted(&self) -> Wanted {
        Wanted { multiplication: self.reference.label(), rounding: self.rounding }
    }

    /// An error where there are findings and the run ends at the first.
    fn go_on(&self, findings: &[Finding]) -> Result<(), FirstFinding> {
        if self.fail_fast && !findings.is_empty() { Err(FirstFinding) } else { Ok(()) }
    }
}

/// Why a run did not go on: [`Request::fail_fast`]. What it has is kept.
#[derive(Debug, thiserror::Error)]
#[error("--fail-fast ended it at the first finding")]
struct FirstFinding;

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The ledger.
    pub ledger: Ledger,
    /// Kept mismatches.
    pub mismatches: Vec<Mismatch>,
}

/// What one operation adds to a ledger.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// One for each kernel, lane, scheme and coverage.
    pub rows: Vec<ledger::Row>,
    /// What the catalogues gave.
    pub catalogue: Vec<ledger::CatalogueRun>,
    /// Comparisons to the bit.
    pub agreements: Vec<ledger::Agreement>,
    /// Kernels that take nothing of the run.
    pub outside_domain: Vec<ledger::OutsideDomain>,
    /// What was planned and run.
    pub planned: Vec<ledger::Planned>,
    /// Results that the caller named.
    pub positions: Vec<ledger::Position>,
    /// Lanes without self-checks.
    pub unchecked: Vec<ledger::Unchecked>,
    /// Mutants and controls.
    pub self_checks: Vec<ledger::SelfCheck>,
    /// What breaks the run.
    pub findings: Vec<Finding>,
    /// Mismatches that are kept.
    pub mismatches: Vec<Mismatch>,
}

/// Runs it. An error is one of usage; whatever goes wrong with a kernel or a lane is in the ledger.
pub fn run(request: &Request, registry: &Registry) -> Result<Outcome> {
    let (seed, effort) = (request.seed, request.effort);
    let _said = activity::say(&BARS);
    let heading = Heading { command: request.command.whole(), seed, effort, begun: Instant::now() };
    match complete(request, registry, &heading) {
        Err(error) if error.is::<FirstFinding>() => Ok(request.kept.unfinished(&heading, &error.to_string())),
        outcome => outcome,
    }
}

/// The outcome of a run that goes to its end.
fn complete(request: &Request, registry: &Registry, heading: &Heading) -> Result<Outcome> {
    let selected = select(request, registry)?;
    let names = lane_names(request, registry);
    let Opened { lanes, statuses, findings } = open_lanes(request, &names, &with_modules(request, &selected, &names)?)?;
    let statuses: Vec<ledger::Lane> = statuses.into_iter().chain(left_out(request, &names)).collect();
    let mut part = Part { findings, ..Part::default() };
    request.kept.lanes(&statuses, &part);
    request.go_on(&part.findings)?;
    let (parts, bounds) = operations(request, registry, &selected, &lanes)?;
    parts.into_iter().for_each(|one| part.extend(one));
    part.findings.extend(bounds.iter().filter(|bound| !bound.shown).map(not_shown));
    let Outcome { mut ledger, mismatches } = part.outcome(heading, statuses);
    ledger.bounds = bounds;
    ledger.findings.extend(coverage::exhausted(&lanes));
    let unseen = coverage::findings(request, &ledger);
    ledger.findings.extend(unseen);
    if ledger.findings.is_empty() && ledger.rows.iter().all(|row| row.judged() == 0) {
        ledger.findings.push(nothing_ran(ledger.rows.iter().any(|row| row.out_of_domain > 0)));
    }
    ledger.verdict = if ledger.findings.is_empty() { Verdict::Holds } else { Verdict::Broken };
    Ok(Outcome { ledger, mismatches })
}

/// What each operation gives, and the bounds. They run beside each other, because the end of one leaves cores idle; a run that ends at its first
/// finding takes one after the other.
fn operations(
    request: &Request,
    registry: &Registry,
    selected: &Selected,
    lanes: &[Lane],
) -> Result<(Vec<Part>, Vec<ledger::Bound>)> {
    // Lanes of compiled modules come last, and have no kernels but those.
    let own = &lanes[..lanes.iter().position(Lane::is_compiled).unwrap_or(lanes.len())];
    let verified = |(op, names): &(&'static dyn Verifies, Vec<String>)| {
        let part = op.verify(request, names, if op.is_compiled() { lanes } else { own })?;
        request.kept.operation(op.op(), &part);
        request.go_on(&part.findings)?;
        Ok(part)
    };
    let bounds = || (registry.bounds)(request, own);
    if request.fail_fast {
        let parts = selected.iter().map(verified).collect::<Result<_>>()?;
        return Ok((parts, bounds()?));
    }
    let (parts, bounds) = parallel::both(|| parallel::try_map(selected, verified), bounds);
    Ok((parts?, bounds?))
}

impl Part {
    /// Adds what another operation or kernel adds.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.catalogue.extend(other.catalogue);
        self.agreements.extend(other.agreements);
        self.outside_domain.extend(other.outside_domain);
        self.planned.extend(other.planned);
        self.positions.extend(other.positions);
        self.unchecked.extend(other.unchecked);
        self.self_checks.extend(other.self_checks);
        self.findings.extend(other.findings);
        self.mismatches.extend(other.mismatches);
    }

    /// Without findings about a kernel in a lane that `other` has, from more inputs, one about.
    pub fn without_findings_of(mut self, other: &Self) -> Self {
        let key = |f: &Finding| (f.kernel.clone(), f.lane.clone());
        let known: BTreeSet<_> = other.findings.iter().map(key).collect();
        self.findings.retain(|f| !known.contains(&key(f)));
        self
    }
}

/// Operations to run, each with the kernels named; none where all are meant.
type Selected = Vec<(&'static dyn Verifies, Vec<String>)>;

fn select(request: &Request, registry: &Registry) -> Result<Selected> {
    let operations = registry.operations;
    let asked = operations.iter().copied().filter(|op| request.ops.iter().any(|name| name == op.op()));
    let all = request.kernels.is_empty();
    let named = |op: &'static dyn Verifies| {
        let names = op.names();
        let of = request.kernels.iter().filter(|name| names.contains(&name.as_str()));
        (op, of.cloned().collect::<Vec<String>>())
    };
    let selected: Selected = asked.map(named).filter(|(_, names)| all || !names.is_empty()).collect();
    let missing = |name: &&String| !selected.iter().any(|(_, names)| names.contains(name));
    if let Some(name) = request.kernels.iter().find(missing) {
        if let Some(op) = operations.iter().find(|op| op.names().contains(&name.as_str())) {
            anyhow::bail!("{name} is a kernel of {op}: run it with --op {op}", op = op.op());
        }
        return Err(unknown("kernel", name, registry.kernel_names(&request.ops)).into());
    }
    let idle = |op: &&String| !selected.iter().any(|(known, _)| known.op() == op.as_str());
    if let Some(op) = request.ops.iter().filter(|_| request.ops_named).find(idle) {
        anyhow::bail!("none of the kernels named is one of {op}: name one, or leave --op {op} out");
    }
    Ok(selected)
}

/// The lanes of a run: those it names, otherwise the usual ones, and for casts those of compiled modules.
fn lane_names(request: &Request, registry: &Registry) -> Vec<String> {
    if !request.lanes.is_empty() {
        return request.lanes.clone();
    }
    let mut names = request.known_lanes.default_names();
    if request.ops.iter().filter_map(|op| registry.find(op)).any(Verifies::is_compiled) {
        names.extend(request.known_lanes.compiled_names());
    }
    names
}

/// Lanes of the caller's that a run without `--lane` leaves out: each is said with the reason, and is no finding, since the caller narrowed the run.
fn left_out(request: &Request, names: &[String]) -> Vec<ledger::Lane> {
    let unnamed = request.lanes.is_empty().then(|| request.known_lanes.left_out(names));
    let lane = |(name, reason): (&str, &str)| ledger::Lane {
        name: name.to_owned(),
        status: LaneStatus::NotRun { reason: reason.to_owned(), allowed: true },
        files: Vec::new(),
    };
    unnamed.into_iter().flatten().map(lane).collect()
}

/// The lanes file with what this run's lanes of compiled modules need.
fn with_modules(request: &Request, selected: &[(&dyn Verifies, Vec<String>)], names: &[String]) -> Result<Lanes> {
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

/// The lanes of a run: those that run, what the ledger says of each, and a finding for each that must run and does not.
#[derive(Default)]
struct Opened {
    lanes: Vec<Lane>,
    statuses: Vec<ledger::Lane>,
    findings: Vec<Finding>,
}

fn open_lanes(request: &Request, names: &[String], known: &Lanes) -> Result<Opened> {
    let Opened { mut lanes, mut statuses, mut findings } = Opened::default();
    let kept = known.hashes.as_deref().map(identity::Kept::open);
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
    kept.inspect(identity::Kept::save);
    lanes.sort_by_key(Lane::is_compiled);
    Ok(Opened { lanes, statuses, findings })
}

/// A lane that is not installed, where the caller allows it to be absent, or where it needs tools which nobody asked for. What is
/// installed and does not start is nobody's wish.
fn may_be_absent(request: &Request, name: &str, why: &NotRun) -> bool {
    let unasked = request.lanes.is_empty() && request.known_lanes.compiled_names().any(|compiled| compiled == name);
    let by_name = request.allow_not_run.iter().any(|allowed| allowed == name);
    match why {
        NotRun::Absent(_) => unasked || by_name,
        NotRun::NoProgram(_) => by_name,
        NotRun::Broken { .. } | NotRun::OtherArch { .. } => false,
    }
}

fn not_shown(bound: &ledger::Bound) -> Finding {
    let witness = bound.witness_past_bound.as_ref().or(bound.witness_at_bound.as_ref());
    let case = witness.map_or(String::new(), |w| format!(": {}: got {}, exact {}", w.case, w.got, w.exact));
    let message = format!("{} is not {}{case}", bound.quantity, tiebreak_reports::text::bound(bound));
    finding((&bound.op, &bound.kernel, &bound.lane), Class::Bound, message)
}

/// Invariant 4: a lane that was asked for and did not run breaks the run, unless the caller allowed it by name.
fn not_run(name: &str, why: &NotRun) -> Finding {
    let accepts = match why {
        NotRun::Broken { .. } | NotRun::OtherArch { .. } => String::new(),
        NotRun::Absent(_) | NotRun::NoProgram(_) => format!("; `--allow-not-run {name}` accepts that"),
    };
    finding(("", "", name), Class::NotRun, format!("not run: {why}{accepts}"))
}

/// The finding of a self-check that failed.
pub fn failed_check(check: &SelfCheck) -> Finding {
    let message = tiebreak_reports::self_checks::describe(check);
    finding((&check.op, &check.name, &check.lane), Class::SelfCheck, message)
}

/// A run in which no contract judged an input says nothing of any kernel, whatever the caller allowed.
fn nothing_ran(without_value: bool) -> Finding {
    let why = match without_value {
        true => "no contract gives a value to any input of this run",
        false => "no lane ran, or no kernel's domain holds the parameters",
    };
    finding(("", "", ""), Class::NotRun, format!("{why}, so that nothing was judged"))
}

/// The bars of what runs at the same time, one below the other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// A bar on a terminal, nothing elsewhere. It is gone once its work has ended, or has stopped early.
pub fn progress(what: &str, tasks: usize) -> ProgressBar {
    let bar = BARS.add(ProgressBar::new(tasks as u64).with_finish(ProgressFinish::AndClear));
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
