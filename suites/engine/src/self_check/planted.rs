//! Faults injected singly into a kernel's answers, until a case of the plan detects them.

use crate::erased::{Kernel, Op, Params};
use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::case::Case;
use crate::operation::expected::differs;
use crate::run::answers::{answers, outs};
use crate::run::subject::ExpectedCase;
use crate::self_check::condition::{Fault, Seen};
use crate::self_check::families::{self, Drawn};
use crate::self_check::fault_spans::{FaultSpans, Range};
use crate::self_check::history::ParamChange;
use crate::self_check::slices::Operand;
use crate::self_check::{Measure, Planned, planned};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tiebreak_common::called;
use tiebreak_common::parallel;
use tiebreak_common::stream::stream;
use tiebreak_reports::bite::{Hole, Planted};

/// Outcome of a fault.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tried {
    family: Cow<'static, str>,
    threshold: families::Threshold,
    /// Number of the first case that detects the fault, from 1.
    case: Option<u64>,
    /// Generator that detects the fault, if no other generator does.
    only: Option<Cow<'static, str>>,
    hole: Hole,
}

/// Injects faults of every family into every kernel that the lane offers.
pub fn all(op: Op, measure: &Measure<'_>) -> Result<Vec<Planted>> {
    let offered = offered(op, measure.lane);
    let each = parallel::try_map(&offered, |kernel| in_kernel(kernel, measure))?;
    Ok(rows(op, each))
}

/// Returns the kernels that a lane offers.
pub fn offered(op: Op, lane: &Lane) -> Vec<&'static Kernel> {
    let compiled = lane.is_compiled();
    let offered = |kernel: &&Kernel| {
        kernel.contract.domain.is_compiled() == compiled && lane.isa_path(op.name(), kernel.name).is_some()
    };
    op.kernels().iter().filter(offered).collect()
}

/// Groups the outcomes of all kernels by family and threshold.
pub fn rows(op: Op, each: Vec<Vec<Tried>>) -> Vec<Planted> {
    let mut rows: BTreeMap<(String, families::Threshold), Vec<Tried>> = BTreeMap::new();
    for tried in each.into_iter().flatten() {
        rows.entry((tried.family.clone().into_owned(), tried.threshold.clone())).or_default().push(tried);
    }
    rows.into_iter().map(|((family, threshold), tried)| row(op, &family, threshold, tried)).collect()
}

fn row(op: Op, family: &str, threshold: families::Threshold, tried: Vec<Tried>) -> Planted {
    let mut cases: Vec<u64> = tried.iter().filter_map(|tried| tried.case).collect();
    cases.sort_unstable();
    Planted {
        op: op.name().to_owned(),
        family: family.to_owned(),
        threshold: threshold.to_string(),
        tried: tried.len() as u64,
        detected: cases.len() as u64,
        cases: cases.get(cases.len() / 2).copied().unwrap_or(0),
        most_cases: cases.last().copied().unwrap_or(0),
        only: tried.iter().filter_map(|tried| tried.only.as_deref()).fold(BTreeMap::new(), |mut only, part| {
            *only.entry(part.to_owned()).or_default() += 1;
            only
        }),
        holes: tried.into_iter().filter(|tried| tried.case.is_none()).map(|tried| tried.hole).collect(),
    }
}

/// Kernel with the answers to its plan.
struct Subject<'a> {
    kernel: &'static Kernel,
    cases: Vec<Planned>,
    /// Results of the kernel for each case.
    given: Vec<Vec<i32>>,
    /// Number of calls up to and including each case; a case without results is no call.
    calls: Vec<u64>,
    /// Requests of the cases, as a worker reads them: parameters and misalignment.
    requests: Vec<Value>,
    /// Changes of parameters in each case.
    changes: Vec<ParamChange>,
    measure: &'a Measure<'a>,
}

/// Injects faults of every family into a kernel.
pub fn in_kernel(kernel: &'static Kernel, measure: &Measure<'_>) -> Result<Vec<Tried>> {
    let scheme = kernel.scheme()?;
    let cases: Vec<_> = planned(kernel, &scheme, measure, |_| true).collect::<Result<_>>()?;
    let subject = Subject::of(kernel, cases, measure)?;
    Ok(subject.drawn().into_iter().map(|drawn| subject.tried(drawn)).collect())
}

/// Returns, for each fault that is meaningful for the kernel's plan, flags for the cases that detect the fault as a single call.
pub(crate) fn alone(kernel: &'static Kernel, cases: &[&Case<Params>], measure: &Measure<'_>) -> Result<Vec<Vec<bool>>> {
    let scheme = kernel.scheme()?;
    let plan: Vec<_> = planned(kernel, &scheme, measure, |_| true).collect::<Result<_>>()?;
    let drawn = Subject::of(kernel, plan, measure)?.drawn();
    let one = |case: &&Case<Params>| -> Result<Vec<bool>> {
        let contract = scheme.expected(case)?;
        let expected_case = ExpectedCase::new((*case).clone(), contract, None);
        let subject = Subject::of(kernel, vec![Planned { generator: "vectors", expected_case }], measure)?;
        Ok(drawn.iter().map(|drawn| subject.shows(0, &drawn.fault, &mut 0)).collect())
    };
    let of_cases = parallel::try_map(cases, one)?;
    Ok((0..drawn.len()).map(|fault| of_cases.iter().map(|of| of[fault]).collect()).collect())
}

/// Returns the changes of parameters in each case; a case without results is no call.
fn changes(requests: &[Value], given: &[Vec<i32>]) -> Vec<ParamChange> {
    let (mut before, mut results) = ([None, None], None);
    let each = requests.iter().zip(given).map(|(request, outs)| {
        let params = &request["params"];
        let change = ParamChange::of(params, before).sized(results, outs.len());
        if !outs.is_empty() {
            before = [Some(params), before[0]];
            results = Some(outs.len());
        }
        change
    });
    each.collect()
}

impl<'a> Subject<'a> {
    /// Runs a kernel on cases. Fails if the kernel does not answer, or differs from the contract.
    fn of(kernel: &'static Kernel, cases: Vec<Planned>, measure: &'a Measure<'a>) -> Result<Self> {
        let runner = Runner::new(measure.lane);
        let mut given = Vec::with_capacity(cases.len());
        let shown = || format!("`{} verify --kernel {}` shows it", called::program(), kernel.name);
        for case in &cases {
            let mut answered = answers(&runner, kernel, std::slice::from_ref(&case.expected_case), true);
            let Some(outs) = answered.each.pop().flatten() else {
                bail!("{} {} does not answer: {}", kernel.op().name(), kernel.name, shown());
            };
            // Otherwise every fault would be detected at the kernel's own differences.
            if differs(&case.expected_case.contract, &outs) {
                bail!("{} {} differs from its contract: {}", kernel.op().name(), kernel.name, shown());
            }
            given.push(outs);
        }
        let request = |case: &Case<Params>| -> Result<Value> {
            let mut request = serde_json::to_value(case.params.job(kernel.name))?;
            request["misalign"] = case.misalign.into();
            Ok(request)
        };
        let requests = cases.iter().map(|case| request(&case.expected_case.case)).collect::<Result<Vec<_>>>()?;
        let changes = changes(&requests, &given);
        let calls = given.iter().scan(0, |calls, outs: &Vec<i32>| {
            *calls += u64::from(!outs.is_empty());
            Some(*calls)
        });
        let calls = calls.collect();
        Ok(Self { kernel, cases, given, calls, requests, changes, measure })
    }

    /// Draws faults of every family that is meaningful for the cases.
    fn drawn(&self) -> Vec<Drawn> {
        let mut rng = stream(self.measure.seed, &format!("{}/{}/planted", self.kernel.op().name(), self.kernel.name));
        families::draw(&self.spanned(), self.measure.sample, &mut rng)
    }

    /// Returns the spans of the cases.
    fn spanned(&self) -> FaultSpans {
        let mut spanned = FaultSpans::of(self.kernel.op().tensors());
        for (request, (case, given)) in self.requests.iter().zip(self.cases.iter().zip(&self.given)) {
            spanned.parameters(&request["params"]);
            spanned.rows |=
                self.columns(&case.expected_case.case.params, self.kernel.op().tensors().len()) < given.len();
            given.iter().for_each(|value| Range::reach(&mut spanned.results, f64::from(*value)));
            spanned.results_of(&self.kernel.contract.domain.result_element(&case.expected_case.case.params));
            spanned.ranks(&self.dimensions(&case.expected_case.case.params));
            case.expected_case.case.tensors[0]
                .iter()
                .for_each(|value| Range::reach(&mut spanned.inputs, f64::from(*value)));
        }
        spanned
    }

    /// Returns the dimensions of each operand.
    fn dimensions(&self, params: &Params) -> Vec<Vec<usize>> {
        (0..params.op().tensors().len()).map(|t| self.kernel.contract.domain.dimensions(params, t)).collect()
    }

    /// Returns the length of the last axis of an operand, or of the result.
    fn columns(&self, params: &Params, t: usize) -> usize {
        self.kernel.contract.domain.dimensions(params, t).last().copied().unwrap_or(1)
    }

    fn tried(&self, Drawn { family, threshold, fault }: Drawn) -> Tried {
        let mut struck = 0;
        let first = (0..self.cases.len()).find(|at| self.shows(*at, &fault, &mut struck));
        let part = first.map(|at| self.cases[at].generator);
        let rest = first.map_or(0..0, |at| at + 1..self.cases.len());
        let another = |at: usize| Some(self.cases[at].generator) != part && self.shows(at, &fault, &mut 0);
        let only = part.filter(|_| !rest.into_iter().any(another));
        let fault = serde_json::to_string(&fault).unwrap_or_default();
        let hole = Hole { kernel: self.kernel.name.to_owned(), fault, struck };
        Tried {
            family: family.into(),
            threshold,
            case: first.map(|at| at as u64 + 1),
            only: only.map(Cow::Borrowed),
            hole,
        }
    }

    /// True if a case detects a fault. Adds the affected results to `struck`: up to the first detected one, otherwise all.
    fn shows(&self, at: usize, fault: &Fault, struck: &mut u64) -> bool {
        let ExpectedCase { case, contract, .. } = &self.cases[at].expected_case;
        let results = self.kernel.op().tensors().len();
        let (payload, request, number, change) =
            (&case.tensors[0], &self.requests[at], self.calls[at], &self.changes[at]);
        let last = self.given[..at].iter().rev().find(|given| !given.is_empty()).map_or(&[][..], Vec::as_slice);
        let dimensions = self.dimensions(&case.params);
        let operands: Vec<Operand<'_>> =
            case.tensors.iter().zip(&dimensions).map(|(words, dimensions)| Operand { words, dimensions }).collect();
        match fault {
            Fault::InResults(fault) => {
                let given = &self.given[at];
                let columns = self.columns(&case.params, results);
                let len = given.len();
                let seen = Seen { request, number, change, last, operands: &operands, payload, columns, len };
                // Words that are not affected are as the contract expects.
                fault.changes(&seen, given).any(|(index, changed)| {
                    *struck += 1;
                    contract[index].is_some_and(|expected| expected != changed)
                })
            }
            Fault::InOperand(fault) => {
                let mut changed = (**case).clone();
                let columns = self.columns(&case.params, 0);
                let len = payload.len();
                let seen = Seen { request, number, change, last, operands: &operands, payload: &[], columns, len };
                let count = fault.apply(&seen, &mut changed.tensors[0]);
                if count == 0 {
                    return false;
                }
                *struck += count;
                let mut lease = self.measure.lane.lease();
                let Ok(outs) = outs(&mut lease, self.kernel.name, &changed, contract.len()) else { return true };
                differs(contract, &outs)
            }
        }
    }
}
