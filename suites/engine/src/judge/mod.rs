//! Judged answers of a kernel in every lane.

pub mod agreement;
pub mod in_lanes;
pub mod lane_code;
mod layers;
mod numbers;
pub mod position;
pub mod record;
pub mod side;
pub mod spans;

use crate::erased::Kernel;
use crate::judge::agreement::Agreements;
use crate::judge::in_lanes::InLanes;
use crate::judge::layers::Layers;
use crate::judge::record::Record;
use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::request::Request;
use crate::operation::sweep_outcome::SweepOutcome;
use crate::plan::planned::Planned;
use crate::run::anchor::anchor;
use crate::run::sparing::Sparing;
use crate::run::subject::Subject;
use anyhow::Result;
use tiebreak_common::budget::Effort;
use tiebreak_reports::ledger::Position;

/// Number of cases made and run at a time; their tensors are held in memory.
const HELD: usize = 64;

/// Judged answers of a kernel, in every lane that offers it.
pub(crate) struct Judged<'a> {
    pub(crate) lanes: Vec<JudgedLane<'a>>,
    pub(crate) agreements: Agreements<'a>,
    pub(crate) positions: Vec<Position>,
}

/// Judged answers of a kernel in a lane.
pub(crate) struct JudgedLane<'a> {
    pub(crate) lane: &'a Lane,
    pub(crate) record: Record,
    /// Counts for each layer of a network.
    pub(crate) layers: Layers,
    /// True if a call is to be repeated: the whole plan gave results, without spared cases.
    pub(crate) is_complete: bool,
    pub(crate) sweeps: Vec<SweepOutcome>,
}

/// Runs the cases of a kernel in the lanes, then the sweeps, and judges all results.
pub(crate) fn judged<'a>(
    request: &Request,
    subject: &Subject,
    planned: &Planned,
    offering: &'a [&'a Lane],
) -> Result<Judged<'a>> {
    let kernel = subject.kernel;
    let Planned { specs, at, .. } = planned;
    let keep = request.selection.is_one_case();
    let runners: Vec<Runner<'_>> = offering.iter().map(|lane| Runner::new(lane)).collect();
    let mut seen = InLanes::new(subject, offering);
    let mut sparing = Sparing::new(request, kernel, specs.len(), &runners);
    let mut agreements = Agreements::new(kernel, offering);
    let mut positions = Vec::new();
    let mut layers = vec![Layers::new(); offering.len()];
    for (chunk, specs) in specs.chunks(HELD).enumerate() {
        let cases = specs.iter().filter_map(|spec| Some((spec.block, subject.expected_case(spec, request.seed)?)));
        let (blocks, cases): (Vec<_>, Vec<_>) = cases.unzip();
        let cases: Vec<_> = cases.into_iter().collect::<Result<_>>()?;
        anchor(subject, &cases, (request.effort, request.seed), chunk)?;
        let given = sparing.answers(kernel, &cases, keep);
        agreements.compare(&cases, &given);
        if let Some(at) = at {
            positions.extend(position::at(subject, *at, &cases, offering, &given));
        }
        layers.iter_mut().zip(&given).for_each(|(layers, given)| layers::add(layers, &blocks, &cases, given));
        seen.judge(&cases, &given);
    }
    let mut layers = layers.into_iter();
    let in_lane = |((lane, runner), record): ((&&'a Lane, &Runner<'_>), Record)| {
        let layers = layers.next().unwrap_or_default();
        let is_complete = request.selection.is_nothing()
            && !record.has_failed()
            && record.outside.count == 0
            && !sparing.is_spared(lane);
        JudgedLane { lane, record, layers, is_complete, sweeps: sweeps(request, kernel, runner) }
    };
    let lanes = offering.iter().zip(&runners).zip(seen.records()).map(in_lane).collect();
    Ok(Judged { lanes, agreements, positions })
}

/// Runs the sweeps of a kernel in a lane: the sweeps of every run, and in an exhaustive run all other sweeps.
fn sweeps(request: &Request, kernel: &'static Kernel, runner: &Runner<'_>) -> Vec<SweepOutcome> {
    if request.selection.is_one_case() {
        return Vec::new();
    }
    let mut sweeps = (kernel.op().capabilities().sweeps.small_sweeps)(kernel, runner, &request.selection);
    if request.effort == Effort::Exhaustive {
        sweeps.extend((kernel.op().capabilities().sweeps.all)(kernel, runner, &request.selection, &request.wanted()));
    }
    sweeps
}
