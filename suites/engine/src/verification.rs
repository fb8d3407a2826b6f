//! Verification run: from the request to a ledger.

use crate::adopted::{Adopted, adopt};
use crate::lane::Lane;
use crate::lane::config::Lanes;
use crate::ledger::coverage;
use crate::ledger::partial_run::{FirstFinding, Heading, PartialRun, go_on};
use crate::ledger::place::finding;
use crate::ledger::section::{LedgerSection, Outcome};
use crate::opened::{Opened, lane_names, left_out, open_lanes, with_modules};
use crate::operation::request::{Request, Scope};
use crate::pipeline::Pipeline;
use crate::registry::Registry;
use crate::selected::{Selected, select};
use crate::{activity, progress};
use anyhow::Result;
use std::time::Instant;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::{self, Finding, Verdict};

/// Runs a request; `partial` collects the partial results. Fails for errors of usage only; failures of kernels and lanes are in the ledger.
pub fn run(request: &Request, registry: &Registry, partial: &PartialRun) -> Result<Outcome> {
    let (seed, effort) = (request.seed, request.effort);
    let _said = activity::say(progress::bars());
    let heading = Heading { command: request.command.whole(), seed, effort, begun: Instant::now() };
    match complete(request, registry, partial, &heading) {
        Err(error) if error.is::<FirstFinding>() => Ok(partial.unfinished(&heading, &error.to_string())),
        outcome => outcome,
    }
}

/// Run before the first unit.
pub(crate) struct Begun {
    pub(crate) selected: Selected,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) statuses: Vec<ledger::Lane>,
    /// Findings about lanes that must run and do not.
    pub(crate) findings: Vec<Finding>,
}

impl Begun {
    /// Opens the lanes, and selects the kernels.
    pub(crate) fn new(request: &Request, registry: &Registry) -> Result<Self> {
        let names = lane_names(request, registry);
        let known = match select(request, registry, &Adopted::new()) {
            Ok(selected) => with_modules(request, &selected, &names)?,
            // A worker of the caller may offer the kernel.
            Err(_) if names.iter().any(|name| !Lanes::is_ours(name)) => request.known_lanes.clone(),
            Err(error) => return Err(error),
        };
        let Opened { lanes, statuses, findings } = open_lanes(request, &names, &known)?;
        let selected = select(request, registry, &adopt(&lanes, registry)?)?;
        let statuses = statuses.into_iter().chain(left_out(request, &names)).collect();
        Ok(Self { selected, lanes, statuses, findings })
    }

    /// Returns the lanes of an operation: lanes of compiled modules come last, and have only compiled kernels.
    pub(crate) fn lanes_of(&self, op: &Pipeline) -> &[Lane] {
        if op.is_compiled() { &self.lanes } else { self.own() }
    }

    /// Returns the lanes without compiled modules.
    pub(crate) fn own(&self) -> &[Lane] {
        &self.lanes[..self.lanes.iter().position(Lane::is_compiled).unwrap_or(self.lanes.len())]
    }
}

/// Results of all units of a run.
pub(crate) struct Gathered {
    pub(crate) statuses: Vec<ledger::Lane>,
    /// Results of the lanes, and of each operation.
    pub(crate) part: LedgerSection,
    pub(crate) bounds: Vec<ledger::Bound>,
    /// Findings about lanes that were sent no more jobs.
    pub(crate) exhausted: Vec<Finding>,
}

impl Gathered {
    /// Builds the outcome, with a verdict.
    pub(crate) fn outcome(mut self, scope: &Scope, heading: &Heading) -> Outcome {
        self.part.findings.extend(self.bounds.iter().filter(|bound| !bound.shown).map(not_shown));
        let Outcome { mut ledger, mismatches } = self.part.outcome(heading, self.statuses);
        ledger.bounds = self.bounds;
        ledger.left_out.clone_from(&scope.left_out);
        ledger.findings.extend(self.exhausted);
        let unseen = coverage::findings(scope, &ledger);
        ledger.findings.extend(unseen);
        if ledger.findings.is_empty() && ledger.rows.iter().all(|row| row.judged() == 0) {
            ledger.findings.push(nothing_ran(ledger.rows.iter().any(|row| row.out_of_domain > 0)));
        }
        ledger.verdict = if ledger.findings.is_empty() { Verdict::Holds } else { Verdict::Broken };
        Outcome { ledger, mismatches }
    }
}

/// Runs a request to the end.
fn complete(request: &Request, registry: &Registry, partial: &PartialRun, heading: &Heading) -> Result<Outcome> {
    let begun = Begun::new(request, registry)?;
    let mut section = LedgerSection { findings: begun.findings.clone(), ..LedgerSection::default() };
    partial.lanes(&begun.statuses, &section);
    go_on(request, &section.findings)?;
    let (parts, bounds) = operations((request, partial), registry, &begun)?;
    parts.into_iter().for_each(|one| section.extend(one));
    let exhausted = coverage::exhausted(&begun.lanes).collect();
    Ok(Gathered { statuses: begun.statuses, part: section, bounds, exhausted }.outcome(&request.scope(), heading))
}

/// Runs the operations and the bounds in parallel, because the end of an operation leaves cores idle. A run that ends at the first finding runs them
/// in order.
fn operations(
    (request, partial): (&Request, &PartialRun),
    registry: &Registry,
    begun: &Begun,
) -> Result<(Vec<LedgerSection>, Vec<ledger::Bound>)> {
    let selected = &begun.selected;
    let verified = |(op, names): &(&'static Pipeline, Vec<String>)| {
        let section = op.verify((request, partial), names, begun.lanes_of(op))?;
        partial.operation(op.op(), &section);
        go_on(request, &section.findings)?;
        Ok(section)
    };
    let bounds = || (registry.bounds)(request, begun.own());
    if request.fail_fast {
        let parts = selected.iter().map(verified).collect::<Result<_>>()?;
        return Ok((parts, bounds()?));
    }
    let (parts, bounds) = parallel::both(|| parallel::try_map(selected, verified), bounds);
    Ok((parts?, bounds?))
}

fn not_shown(bound: &ledger::Bound) -> Finding {
    let witness = bound.witness_past_bound.as_ref().or(bound.witness_at_bound.as_ref());
    let case = witness.map_or(String::new(), |w| format!(": {}: got {}, exact {}", w.case, w.got, w.exact));
    let message = format!("{} is not {}{case}", bound.quantity, tiebreak_reports::text::bound(bound));
    finding((&bound.op, &bound.kernel, &bound.lane), Class::Bound, message)
}

/// Returns the finding for a run in which no contract judged an input, which shows nothing about any kernel, regardless of what the caller allowed.
fn nothing_ran(without_value: bool) -> Finding {
    let why = match without_value {
        true => "no contract gives a value to any input of this run",
        false => "no lane ran, or no kernel's domain holds the parameters",
    };
    finding(("", "", ""), Class::NotRun, format!("{why}, so that nothing was judged"))
}
