//! Explanations of judged results: causes, small witnesses, and commands for reproduction. The last stage that runs kernels.

pub mod cause;
pub mod comparison;
pub mod groups;
pub mod history;
pub mod lines;
pub mod sides;
pub mod whereabouts;
pub mod witness;

use crate::erased::Params;
use crate::explain::history::History;
use crate::explain::sides::ExplainedSide;
use crate::judge::JudgedLane;
use crate::judge::agreement::Agreements;
use crate::judge::record::{Record, run};
use crate::lane::Lane;
use crate::operation::case::Spec;
use crate::operation::observed::Witness;
use crate::operation::request::Request;
use crate::operation::selection::CaseSelection;
use crate::plan::plans;
use crate::run::repeats::{self, Repeats};
use crate::run::subject::Subject;
use anyhow::Result;
use std::cell::Cell;
use std::sync::Arc;
use tiebreak_common::budget::Effort;

/// Explanations for a kernel.
pub(crate) struct ExplainedKernel<'a> {
    pub(crate) lanes: Vec<ExplainedLane<'a>>,
    /// Witness of each bitwise comparison with differences.
    pub(crate) agreements: Vec<Option<Witness<Params>>>,
}

/// Explanations for a kernel in a lane.
pub(crate) struct ExplainedLane<'a> {
    pub(crate) sides: Vec<ExplainedSide<'a>>,
    /// Outcome of repeated calls, if they ran.
    pub(crate) repeats: Option<Repeats>,
    /// Command that reproduces a difference between calls with the same input.
    pub(crate) repeated: Option<String>,
}

/// Explains the judged results: the last stage that runs kernels.
pub(crate) fn explained<'a>(
    request: &Request,
    subject: &'a Subject,
    specs: &[Arc<Spec<Params>>],
    judged: &[JudgedLane<'_>],
    agreements: &Agreements<'_>,
) -> Result<ExplainedKernel<'a>> {
    let agreements = sides::agreements(request, agreements);
    let in_lane = |JudgedLane { lane, record, is_complete, .. }: &JudgedLane<'_>| {
        let learnt = if request.selection.is_one_case() { learn(request, subject, lane, record)? } else { None };
        let sides = sides::record(request, subject, lane, (learnt.as_ref().unwrap_or(record), specs));
        // Repeated calls run after the explanations: a kernel that keeps state has it from earlier calls, and replays count those.
        let repeats = is_complete.then(|| repeats::run(request, subject.kernel, lane, specs));
        let differing = repeats.as_ref().and_then(|repeats| repeats.differs.as_ref());
        let history = History { request, subject, lane, specs, replays: Cell::new(0) };
        let repeated = differing.map(|differing| history.repeated(&differing.case, differing.call as usize));
        Ok(ExplainedLane { sides, repeats, repeated })
    };
    let lanes = judged.iter().map(in_lane).collect::<Result<_>>()?;
    Ok(ExplainedKernel { lanes, agreements })
}

/// Adds the evidence of a short plan to a record, without counts: a single case fits many causes, and more cases distinguish them. `None` without
/// differences.
fn learn(request: &Request, subject: &Subject, lane: &Lane, record: &Record) -> Result<Option<Record>> {
    if record.contract.count.differ + record.reference.count.differ == 0 {
        return Ok(None);
    }
    let domain = &subject.kernel.contract.domain;
    let others = CaseSelection { cases: Vec::new(), x: None, ..request.selection.clone() };
    let specs = plans::plan(domain, &others, &Effort::Quick.budget(), request.seed);
    let covered = specs.iter().filter(|spec| domain.covers(&spec.params));
    let cases: Vec<_> = covered.filter_map(|spec| subject.expected_case(spec, request.seed)).collect::<Result<_>>()?;
    let mut learnt = record.clone();
    learnt.learn_from(run(lane, subject.kernel, &subject.contract, &subject.path, &cases));
    Ok(Some(learnt))
}
