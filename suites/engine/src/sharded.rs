//! A run by its units, of which a shard runs some; and all units as the outcome of one run.

use crate::ledger::coverage;
use crate::ledger::kept::Heading;
use crate::ledger::part::{Outcome, Part};
use crate::operation::request::{Request, Scope};
use crate::registry::{Registry, Verifies};
use crate::units::{Done, Ended, Extent};
use crate::verification::{Begun, Gathered};
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::time::Instant;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::{Finding, Lane};

/// The unit of the bounds.
const BOUNDS: &str = "bounds";

/// A run whose lanes are open.
pub struct Campaign<'a> {
    request: &'a Request,
    registry: &'a Registry,
    begun: Begun,
    /// Names of the units of each operation.
    units: Vec<Vec<String>>,
}

/// What the outcome needs beside the units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Context {
    /// What was asked.
    pub scope: Scope,
    /// Lanes asked for, in order.
    pub lanes: Vec<Lane>,
    /// Of lanes that must run and do not.
    pub findings: Vec<Finding>,
    /// Each operation by name, with its number of units.
    pub operations: Vec<(String, Extent, usize)>,
}

/// What a unit gave, and what is wrong with the lanes after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// What it gave.
    pub done: Done,
    /// Of lanes that were asked nothing more by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<Finding>,
}

impl<'a> Campaign<'a> {
    /// Opens the lanes.
    pub fn open(request: &'a Request, registry: &'a Registry) -> Result<Self> {
        let begun = Begun::new(request, registry)?;
        let of = |(op, names): &(_, Vec<String>)| units_of(request, &begun, *op, names);
        let units = begun.selected.iter().map(of).collect::<Result<_>>()?;
        Ok(Self { request, registry, begun, units })
    }

    /// Names of the units, in their order: those of each operation, then the bounds.
    pub fn units(&self) -> Vec<String> {
        self.units.iter().flatten().cloned().chain([BOUNDS.to_owned()]).collect()
    }

    /// What the outcome needs beside them.
    pub fn context(&self) -> Context {
        let of = |((op, names), units): (&(&'static dyn Verifies, Vec<String>), &Vec<String>)| {
            (op.op().to_owned(), op.extent(self.request, names, self.begun.lanes_of(*op)), units.len())
        };
        Context {
            scope: self.request.scope(),
            lanes: self.begun.statuses.clone(),
            findings: self.begun.findings.clone(),
            operations: self.begun.selected.iter().zip(&self.units).map(of).collect(),
        }
    }

    /// Runs those of the units, by number; `ended` takes each as it ends.
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
                    op.run_units((self.request, names, self.begun.lanes_of(*op)), units, ended)
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

fn units_of(request: &Request, begun: &Begun, op: &dyn Verifies, names: &[String]) -> Result<Vec<String>> {
    op.units(request, names, begun.lanes_of(op))
}

/// All units of a run, in their order, as its outcome.
pub fn whole(context: &Context, registry: &Registry, heading: &Heading, recorded: Vec<Recorded>) -> Result<Outcome> {
    let mut part = Part { findings: context.findings.clone(), ..Part::default() };
    let mut exhausted: Vec<Finding> = Vec::new();
    for finding in recorded.iter().flat_map(|one| &one.exhausted) {
        // A lane is exhausted once.
        if !exhausted.iter().any(|known| known.lane == finding.lane) {
            exhausted.push(finding.clone());
        }
    }
    exhausted.sort_by_key(|finding| context.lanes.iter().position(|lane| lane.name == finding.lane));
    let mut rest = recorded.into_iter().map(|one| one.done);
    for (op, extent, units) in &context.operations {
        let verifies = registry.find(op).with_context(|| format!("there is no operation {op}"))?;
        part.extend(verifies.whole(extent, rest.by_ref().take(*units).collect())?);
    }
    let Some(Done::Bounds(bounds)) = rest.next() else { bail!("the unit `{BOUNDS}` is missing") };
    Ok(Gathered { statuses: context.lanes.clone(), part, bounds, exhausted }.outcome(&context.scope, heading))
}
