//! Run by units, of which a shard runs some, and the outcome of all units.

use crate::ledger::coverage;
use crate::ledger::partial_run::Heading;
use crate::ledger::section::{LedgerSection, Outcome};
use crate::operation::request::{Request, Scope};
use crate::pipeline::Pipeline;
use crate::registry::Registry;
use crate::units::{Done, Ended, Extent};
use crate::verification::{Begun, Gathered};
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::time::Instant;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::{Finding, Lane};

/// Name of the unit of the bounds.
const BOUNDS: &str = "bounds";

/// Run with open lanes.
pub struct Campaign<'a> {
    request: &'a Request,
    registry: &'a Registry,
    begun: Begun,
    /// Names of the units of each operation.
    units: Vec<Vec<String>>,
}

/// Facts for the outcome, in addition to the units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Context {
    /// Names in the request.
    pub scope: Scope,
    /// Lanes of the run, in order.
    pub lanes: Vec<Lane>,
    /// Findings about lanes that must run and do not.
    pub findings: Vec<Finding>,
    /// Name, extent and number of units of each operation.
    pub operations: Vec<(String, Extent, usize)>,
}

/// Result of a unit, and findings about the lanes afterwards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// Result of the unit.
    pub done: Done,
    /// Findings about lanes that were sent no more jobs by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<Finding>,
}

impl<'a> Campaign<'a> {
    /// Opens the lanes.
    pub fn open(request: &'a Request, registry: &'a Registry) -> Result<Self> {
        let begun = Begun::new(request, registry)?;
        let of = |(op, names): &(&Pipeline, Vec<String>)| units_of(request, &begun, op, names);
        let units = begun.selected.iter().map(of).collect::<Result<_>>()?;
        Ok(Self { request, registry, begun, units })
    }

    /// Returns the names of the units, in order: the units of each operation, then the bounds.
    pub fn units(&self) -> Vec<String> {
        self.units.iter().flatten().cloned().chain([BOUNDS.to_owned()]).collect()
    }

    /// Returns the facts for the outcome.
    pub fn context(&self) -> Context {
        let of = |((op, names), units): (&(&'static Pipeline, Vec<String>), &Vec<String>)| {
            (op.op().to_owned(), op.extent(self.request, names, self.begun.lanes_of(op)), units.len())
        };
        Context {
            scope: self.request.scope(),
            lanes: self.begun.statuses.clone(),
            findings: self.begun.findings.clone(),
            operations: self.begun.selected.iter().zip(&self.units).map(of).collect(),
        }
    }

    /// Runs units by number; `ended` takes each result.
    pub fn run(&self, units: &[usize], ended: &(dyn Fn(usize, Recorded, f64) -> Result<()> + Sync)) -> Result<()> {
        let recorded = |at: usize, done: Done, seconds: f64| {
            let exhausted = coverage::exhausted(&self.begun.lanes).collect();
            ended(at, Recorded { done, exhausted }, seconds)
        };
        let mut first = 0;
        let mut tasks = Vec::new();
        for (at, of) in self.units.iter().enumerate() {
            let own = units.iter().filter(|unit| (first..first + of.len()).contains(*unit));
            tasks.push((Some(at), first, own.map(|unit| unit - first).collect::<Vec<_>>()));
            first += of.len();
        }
        tasks.push((None, first, units.iter().filter(|unit| **unit == first).map(|_| 0).collect()));
        tasks.retain(|(_, _, units)| !units.is_empty());
        let run = |(at, first, units): &(Option<usize>, usize, Vec<usize>)| {
            let ended: Ended<'_> = &|unit, done, seconds| recorded(first + unit, done, seconds);
            match at {
                Some(at) => {
                    let (op, names) = &self.begun.selected[*at];
                    op.run_units((self.request, names, self.begun.lanes_of(op)), units, ended)
                }
                None => {
                    let begun = Instant::now();
                    let bounds = (self.registry.bounds)(self.request, self.begun.own())?;
                    ended(0, Done::Bounds(bounds), begun.elapsed().as_secs_f64())
                }
            }
        };
        parallel::try_map(&tasks, run).map(drop)
    }
}

fn units_of(request: &Request, begun: &Begun, op: &Pipeline, names: &[String]) -> Result<Vec<String>> {
    op.units(request, names, begun.lanes_of(op))
}

/// Builds the outcome of a run from all units, in order.
pub fn whole(context: &Context, registry: &Registry, heading: &Heading, recorded: Vec<Recorded>) -> Result<Outcome> {
    let mut section = LedgerSection { findings: context.findings.clone(), ..LedgerSection::default() };
    let mut exhausted: Vec<Finding> = Vec::new();
    for finding in recorded.iter().flat_map(|one| &one.exhausted) {
        // Each exhausted lane is reported once.
        if !exhausted.iter().any(|known| known.lane == finding.lane) {
            exhausted.push(finding.clone());
        }
    }
    exhausted.sort_by_key(|finding| context.lanes.iter().position(|lane| lane.name == finding.lane));
    let mut rest = recorded.into_iter().map(|one| one.done);
    for (op, extent, units) in &context.operations {
        let verifies = registry.find(op).with_context(|| format!("there is no operation {op}"))?;
        section.extend(verifies.whole(extent, rest.by_ref().take(*units).collect())?);
    }
    let Some(Done::Bounds(bounds)) = rest.next() else { bail!("the unit `{BOUNDS}` is missing") };
    Ok(Gathered { statuses: context.lanes.clone(), part: section, bounds, exhausted }.outcome(&context.scope, heading))
}
