//! Inputs left out of a run: counted for each kernel and lane, and a finding if the caller named them.
//!
//! A lane of the project must offer every kernel and mutant; otherwise a dropped kernel would go unnoticed. A lane of the caller has the kernels of
//! the caller's library: kernels that it lacks are counted, and are no finding. All lanes in a user's file run by default.
//!
//! A caller's lane can be left out only because the caller narrowed the run (a lane of modules, in a run without compiled
//! kernels). The report lists such a lane; it is no finding. A lane that runs and judges nothing is a finding.

use crate::lane::Lane;
use crate::lane::config::Lanes;
use crate::ledger::place::finding;
use crate::ledger::section::LedgerSection;
use crate::operation::outside::Outside;
use crate::operation::request::Scope;
use std::collections::BTreeSet;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{DropReason, Dropped, Finding, LaneStatus, Ledger, Planned, Unchecked, Unit};
use tiebreak_reports::left_out;

/// Reason for which a lane does not run a kernel.
const NOT_OFFERED: &str = "the lane's worker does not offer this kernel";

/// Planned count of a kernel, in any lane.
pub struct PlannedCount<'a> {
    /// Name of the operation.
    pub op: &'a str,
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Unit of the count.
    pub unit: Unit,
    /// True if the caller gave the inputs.
    pub given: bool,
    /// Number planned.
    pub planned: u64,
    /// Inputs outside the kernel's domain.
    pub outside: Option<Dropped>,
}

impl PlannedCount<'_> {
    /// Returns the entry of a lane that does not offer the kernel.
    pub fn not_offered(&self, lane: &Lane) -> Planned {
        let dropped = Dropped {
            why: DropReason::NotOffered,
            because: NOT_OFFERED.to_owned(),
            count: self.planned,
            first: String::new(),
        };
        self.entry(lane, vec![dropped])
    }

    /// Returns the entry of a lane that runs the kernel, without inputs outside the domain and without `others`.
    pub fn ran(&self, lane: &Lane, others: impl IntoIterator<Item = Dropped>) -> Planned {
        let dropped = self.outside.iter().cloned().chain(others).filter(|dropped| dropped.count > 0);
        self.entry(lane, dropped.collect())
    }

    fn entry(&self, lane: &Lane, dropped: Vec<Dropped>) -> Planned {
        let left_out: u64 = dropped.iter().map(|dropped| dropped.count).sum();
        Planned {
            op: self.op.to_owned(),
            kernel: self.kernel.to_owned(),
            lane: lane.name.clone(),
            unit: self.unit,
            given: self.given,
            planned: self.planned,
            run: self.planned.saturating_sub(left_out),
            dropped,
        }
    }
}

/// Counts inputs outside a kernel's domain; `first` is the first of them, with the reason.
pub fn outside_domain(count: u64, first: Option<(String, String)>) -> Option<Dropped> {
    let (first, because) = first?;
    Some(Dropped { why: DropReason::OutsideDomain, because, count, first })
}

/// Counts cases whose tensors cannot be made.
pub fn no_such_case(count: u64) -> Dropped {
    let because = "their tensors cannot be made".to_owned();
    Dropped { why: DropReason::NoSuchCase, because, count, first: String::new() }
}

/// Counts inputs refused by a worker as outside the kernel's domain.
pub fn as_the_worker_says(count: u64, Outside { reason, case, .. }: &Outside) -> Dropped {
    let because = format!("the worker says: {reason}");
    Dropped { why: DropReason::Refused, because, count, first: if count > 0 { case.clone() } else { String::new() } }
}

/// Counts cases spared in a lane whose sampled results equal the first lane's.
pub fn nothing_new(count: u64) -> Dropped {
    let because = "the same code gave the first lane's results on the cases that ran".to_owned();
    Dropped { why: DropReason::NothingNew, because, count, first: String::new() }
}

/// Counts inputs not run after failures.
pub fn given_up(count: u64, because: String) -> Dropped {
    Dropped { why: DropReason::GivenUp, because, count, first: String::new() }
}

/// Counts inputs not run after too many failures of the kernel, or of the lane.
pub fn not_asked_again(count: u64, lane: &Lane) -> Dropped {
    let of_kernel = || "it failed to answer too often to be asked again".to_owned();
    given_up(count, lane.exhausted().unwrap_or_else(of_kernel))
}

/// Returns findings for exhausted lanes: after too much waiting they were sent no more jobs, and inputs not run must not pass.
pub fn exhausted(lanes: &[Lane]) -> impl Iterator<Item = Finding> {
    let message = |lane: &Lane| Some((lane.name.clone(), lane.exhausted()?));
    lanes.iter().filter_map(message).map(|(lane, why)| finding(("", "", &lane), Class::Hang, why))
}

impl LedgerSection {
    /// Notes a lane that does not offer the kernel. In a lane of the project, the omission is a finding.
    pub fn not_offered(&mut self, plan: &PlannedCount<'_>, lane: &Lane) {
        self.planned.push(plan.not_offered(lane));
        if lane.must_offer() {
            let message = format!("not run: {NOT_OFFERED}");
            self.findings.push(finding((plan.op, plan.kernel, &lane.name), Class::NotRun, message));
        }
    }

    /// Notes the lanes that ran kernels of an operation without a self-check of the harness.
    pub fn unchecked(&mut self, op: &str, lanes: &[String]) {
        let checked: BTreeSet<&String> = self.self_checks.iter().map(|check| &check.lane).collect();
        let ran: BTreeSet<&String> = self.rows.iter().map(|row| &row.lane).collect();
        let without: Vec<&String> = lanes.iter().filter(|lane| ran.contains(lane) && !checked.contains(lane)).collect();
        let unchecked: Vec<Unchecked> =
            without.into_iter().map(|lane| Unchecked { op: op.to_owned(), lane: lane.clone() }).collect();
        self.unchecked.extend(unchecked);
    }
}

/// Returns the finding for a kernel that no lane of the run can have.
pub fn not_run(op: &str, kernel: &str, reason: &str) -> Finding {
    finding((op, kernel, ""), Class::NotRun, format!("not run: {reason}"))
}

/// Returns findings for everything that the caller named and the run did not judge.
pub fn findings(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    let mut out = outside(scope, ledger);
    out.extend(kernels_not_offered(scope, ledger));
    out.extend(operations_not_run(scope, ledger));
    // A run with only inputs without a value is reported as a whole.
    let judged = ledger.rows.iter().any(|row| row.judged() > 0);
    if judged || ledger.rows.iter().all(|row| row.out_of_domain == 0) {
        out.extend(kernels_unjudged(scope, ledger));
        // If the run judged nothing and reports the reason, findings about lanes add nothing.
        if judged || (out.is_empty() && ledger.findings.is_empty()) {
            out.extend(lanes_unjudged(scope, ledger));
        }
    }
    out
}

/// Returns findings for given parameters that a named kernel did not run.
fn outside(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    if scope.kernels.is_empty() || scope.allow_outside_domain {
        return Vec::new();
    }
    let mut out: Vec<Finding> = Vec::new();
    for planned in ledger.planned.iter().filter(|planned| planned.given) {
        for dropped in planned.dropped.iter().filter(|dropped| dropped.why == DropReason::OutsideDomain) {
            let message = format!("{}; `--allow-outside-domain` accepts that", left_out::share(planned, dropped));
            let one = finding((&planned.op, &planned.kernel, ""), Class::OutsideDomain, message);
            // The domain is the same in every lane, so one finding is enough.
            if !out.contains(&one) {
                out.push(one);
            }
        }
    }
    out
}

/// Returns findings for named kernels that no lane of the run offers.
fn kernels_not_offered(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut out = Vec::new();
    for planned in ledger.planned.iter().filter(|_| !scope.kernels.is_empty()) {
        let place = (planned.op.as_str(), planned.kernel.as_str());
        let same = |other: &&Planned| (other.op.as_str(), other.kernel.as_str()) == place;
        let missing = |other: &Planned| other.dropped.iter().any(|dropped| dropped.why == DropReason::NotOffered);
        let described = ledger.findings.iter().any(|f| (f.op.as_str(), f.kernel.as_str()) == place);
        if known.insert(place) && !described && ledger.planned.iter().filter(same).all(missing) {
            let message = "not run: no lane of this run offers this kernel".to_owned();
            out.push(finding((place.0, place.1, ""), Class::NotRun, message));
        }
    }
    out
}

/// Returns findings for named operations without a run.
fn operations_not_run(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    let any_lane = ledger.lanes.iter().any(|lane| matches!(lane.status, LaneStatus::Ran { .. }));
    let ran = |op: &str| ledger.rows.iter().any(|row| row.op == op);
    let described = |op: &str| ledger.findings.iter().any(|finding| finding.op == op);
    let named = scope.ops.iter().filter(|_| scope.ops_named && any_lane && scope.kernels.is_empty());
    let silent = named.filter(|op| !ran(op) && !described(op));
    let message = |op: &String| format!("not run: no lane of this run offers a kernel of {op}");
    silent.map(|op| finding((op, "", ""), Class::NotRun, message(op))).collect()
}

/// Returns findings for named kernels without a judged input, unless another finding gives the reason.
fn kernels_unjudged(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    let unjudged = left_out::unjudged(ledger).into_iter().filter(|_| !scope.kernels.is_empty());
    let described =
        |place: &[&str; 3]| ledger.findings.iter().any(|f| [&f.op, &f.kernel, &f.lane].map(String::as_str) == *place);
    let without_value = |[op, kernel, lane]: [&str; 3]| {
        ledger
            .rows
            .iter()
            .any(|r| (r.op.as_str(), r.kernel.as_str(), r.lane.as_str()) == (op, kernel, lane) && r.out_of_domain > 0)
    };
    let one = |place: [&str; 3]| {
        let why = match without_value(place) {
            true => "the contract gives a value to none of its inputs",
            false => "it gave no result to judge",
        };
        let message = format!("{}: {why}", left_out::nothing_judged(ledger, Some(place[0]), place[2]));
        finding((place[0], place[1], place[2]), Class::NothingJudged, message)
    };
    unjudged.filter(|place| !described(place)).map(one).collect()
}

/// Returns findings for lanes that started and judged nothing, if the caller named or owns them.
fn lanes_unjudged(scope: &Scope, ledger: &Ledger) -> Vec<Finding> {
    let named = |lane: &str| scope.lanes.iter().any(|name| name == lane) || !Lanes::is_ours(lane);
    let described = |lane: &str| ledger.findings.iter().any(|finding| finding.lane == lane);
    let idle = left_out::idle_lanes(ledger).into_iter().filter(|lane| named(lane) && !described(lane));
    let message = |lane: &str| {
        let nothing = left_out::nothing_judged(ledger, None, lane);
        format!("{nothing}; it offers none of the kernels of this run, or none of their inputs has a value")
    };
    idle.map(|lane| finding(("", "", lane), Class::NothingJudged, message(lane))).collect()
}
