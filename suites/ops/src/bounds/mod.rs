//! Input bounds of each kernel. The oracle derives them from operand types and accumulator widths alone. A run then shows them on the kernel: the
//! extreme input at the bound must be right, and the input one past the bound must be wrong.
//!
//! Every run includes the cases at each bound and one past it. If a kernel is right one past its bound, the bound is not tight, and the run fails.

mod claims;

use crate::dot::Dot;
use crate::matmul::Matmul;
use crate::requantize::Requantize;
use anyhow::{Result, bail};
use tiebreak_common::{called, parallel};
use tiebreak_engine::case::text;
use tiebreak_engine::lane::{Failure, Lane};
use tiebreak_engine::operation::{self, Case, Command, Operation, Request, Wanted, scheme_named};
use tiebreak_engine::run::answers::outs;
use tiebreak_impls::job_error::JobError;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::{Bound, BoundWitness};
use tiebreak_reports::text as words;

/// Input of a kernel, without its exact result.
#[derive(Clone, Debug)]
enum BoundCase {
    Matmul(Case<tiebreak_impls::matmul::Params>, Reading),
    Dot(Case<tiebreak_impls::dot::Params>, Reading),
    Requantize(Case<tiebreak_impls::requantize::Params>),
}

/// Text of a case, the same in each lane.
#[derive(Clone, Debug, Default)]
struct Written {
    case: String,
    /// True if a run of the case shows the exact value.
    is_shown: bool,
}

impl BoundCase {
    fn written(&self, kernel: &str, exact: i64) -> Written {
        let case = match self {
            Self::Matmul(case, _) => spelled::<Matmul>(kernel, case),
            Self::Dot(case, _) => spelled::<Dot>(kernel, case),
            Self::Requantize(case) => spelled::<Requantize>(kernel, case),
        };
        Written { is_shown: !case.is_empty() && self.is_shown_by_run(kernel, exact), case }
    }

    /// True if a run of this case shows the exact value: the contract covers the case, and the reference gives that value.
    fn is_shown_by_run(&self, kernel: &str, exact: i64) -> bool {
        match self {
            Self::Matmul(case, _) => described::<Matmul>(kernel, case, exact),
            Self::Dot(case, _) => described::<Dot>(kernel, case, exact),
            Self::Requantize(case) => described::<Requantize>(kernel, case, exact),
        }
    }
}

fn described<O: Operation>(kernel: &str, case: &Case<O::Params>, exact: i64) -> bool {
    let described = || {
        let kernel = tiebreak_engine::operation::find::<O>(kernel)?;
        let scheme = scheme_named::<O>(&O::reference(kernel, &Wanted::default())?).ok()?;
        let expected = O::expected(&scheme, case).ok()?;
        let covered = O::covers(&kernel.contract.domain, &case.params);
        Some(covered && expected.first().is_some_and(|first| first.map(i64::from) == Some(exact)))
    };
    described().unwrap_or(false)
}

/// Interpretation of a 32-bit result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Signed,
    Unsigned,
}

impl Reading {
    fn of(self, v: i32) -> i64 {
        match self {
            Self::Signed => v.into(),
            Self::Unsigned => (v as u32).into(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Signed => "int32",
            Self::Unsigned => "uint32",
        }
    }
}

/// Bound that has not been shown on a kernel yet.
#[derive(Clone, Debug)]
struct Claim {
    op: &'static str,
    kernel: &'static str,
    quantity: String,
    bound: Option<i64>,
    because: String,
    at: Option<(BoundCase, i64)>,
    past: Option<(BoundCase, i64)>,
}

/// Returns the names of all kernels that have bounds.
pub fn kernels() -> Vec<&'static str> {
    let mut names: Vec<_> = claims::all().iter().map(|claim| claim.kernel).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    names
}

/// Shows the bounds of the requested operations in every lane. Returns none if the request names kernels or selects cases.
pub fn requested_bounds(request: &Request, lanes: &[Lane]) -> Result<Vec<Bound>> {
    if !request.kernels.is_empty() || !request.selection.is_nothing() {
        return Ok(Vec::new());
    }
    let mut claims = claims::all();
    claims.retain(|claim| request.ops.iter().any(|op| op == claim.op));
    Ok(show_all(&claims, lanes, &request.command))
}

/// Shows the bounds of the named kernels (all kernels if `names` is empty) in each lane. An unknown kernel, or one without bounds, is an error.
pub fn bounds(names: &[String], lanes: &[Lane], command: &Command) -> Result<Vec<Bound>> {
    let known = kernels();
    for name in names {
        if crate::registry::OPERATIONS.iter().any(|op| op.names().contains(&name.as_str()))
            && !known.contains(&name.as_str())
        {
            bail!(
                "{name} has no bounds: they are those of dot-product steps, matrix products and the legacy requantization"
            );
        }
        if !known.contains(&name.as_str()) {
            return Err(unknown("kernel", name, known.iter().copied()).into());
        }
    }
    let mut claims = claims::all();
    claims.retain(|claim| names.is_empty() || names.iter().any(|name| name == claim.kernel));
    Ok(show_all(&claims, lanes, command))
}

fn show_all(claims: &[Claim], lanes: &[Lane], command: &Command) -> Vec<Bound> {
    let in_lanes = |claim: &Claim| {
        let offering: Vec<&Lane> =
            lanes.iter().filter(|lane| lane.isa_path(claim.op, claim.kernel).is_some()).collect();
        if offering.is_empty() {
            return Vec::new();
        }
        // Operands of whole depth take long to write, so that all lanes share the texts.
        let written = |probe: &Option<(BoundCase, i64)>| {
            probe.as_ref().map(|(case, exact)| case.written(claim.kernel, *exact)).unwrap_or_default()
        };
        let texts = [&claim.at, &claim.past].map(written);
        offering.into_iter().map(|lane| show(claim, &texts, lane, command)).collect()
    };
    let shown = parallel::map(claims, in_lanes).concat();
    let of_lane = |lane: &Lane| shown.iter().filter(|bound| bound.lane == lane.name).cloned().collect::<Vec<_>>();
    lanes.iter().flat_map(of_lane).collect()
}

/// Splits the named kernels (if `names` is empty, all kernels with bounds) into those that the lane does not offer and those that it offers.
pub fn not_offered(names: &[String], lane: &Lane) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut kernels: Vec<(&str, &str)> = claims::all().iter().map(|claim| (claim.op, claim.kernel)).collect();
    kernels.retain(|(_, kernel)| names.is_empty() || names.iter().any(|name| name == kernel));
    kernels.sort_unstable();
    kernels.dedup();
    let (offered, missing): (Vec<_>, Vec<_>) =
        kernels.into_iter().partition(|(op, kernel)| lane.isa_path(op, kernel).is_some());
    let kernels = |some: Vec<(&str, &'static str)>| some.into_iter().map(|(_, kernel)| kernel).collect();
    (kernels(missing), kernels(offered))
}

fn show(claim: &Claim, texts: &[Written; 2], lane: &Lane, command: &Command) -> Bound {
    let run = |probe: &Option<(BoundCase, i64)>, text: &Written| {
        probe.as_ref().map(|(probe, exact)| witness(claim, (probe, text), *exact, lane, command))
    };
    let (at, past) = (run(&claim.at, &texts[0]), run(&claim.past, &texts[1]));
    let right = at.as_ref().is_none_or(|w| matches!(w, Ok(w) if w.got == w.exact));
    let wrong = past.as_ref().is_none_or(|w| matches!(w, Ok(w) if w.got != w.exact));
    // Without an input past the bound, the claim must say that the whole type is safe.
    let whole = at.is_some() && (past.is_some() || claim.bound.is_none());
    Bound {
        op: claim.op.to_owned(),
        kernel: claim.kernel.to_owned(),
        lane: lane.name.clone(),
        quantity: claim.quantity.clone(),
        bound: claim.bound,
        because: claim.because.clone(),
        witness_at_bound: at.and_then(Result::ok),
        witness_past_bound: past.and_then(Result::ok),
        shown: right && wrong && whole,
    }
}

fn witness(
    claim: &Claim,
    (probe, text): (&BoundCase, &Written),
    exact: i64,
    lane: &Lane,
    command: &Command,
) -> Result<BoundWitness, Failure> {
    let got = match probe {
        BoundCase::Matmul(case, reading) => reading.of(first::<Matmul>(claim, case, lane)?),
        BoundCase::Dot(case, reading) => reading.of(first::<Dot>(claim, case, lane)?),
        BoundCase::Requantize(case) => first::<Requantize>(claim, case, lane)?.into(),
    };
    let Written { case, is_shown } = text.clone();
    // If a run of the case would not show the exact value (for example because it exceeds int32), the command shows the bound again instead.
    let command = match is_shown {
        true => format!("{} --case '{case}'", command.kernel(claim.op, claim.kernel, &lane.name)),
        false => format!("{} bounds --kernel {} --lane {}", called::program(), claim.kernel, lane.name),
    };
    Ok(BoundWitness { case, got, exact, command })
}

/// Runs the case in a lane and returns the first result.
fn first<O: Operation>(claim: &Claim, case: &Case<O::Params>, lane: &Lane) -> Result<i32, Failure> {
    let kernel =
        tiebreak_engine::operation::find::<O>(claim.kernel).ok_or_else(|| Failure::refused("no such kernel"))?;
    let sizes = operation::sizes::<O>(&kernel.contract.domain, &case.params).map_err(JobError::from)?;
    let outs = outs(&mut lane.lease(), claim.kernel, &Case::of::<O>(case.clone()), sizes.outputs)?;
    outs.first().copied().ok_or(Failure::WrongLength { expected: sizes.outputs, got: 0 })
}

/// Returns the text of a case; empty for a case without a text.
fn spelled<O: Operation>(kernel: &str, case: &Case<O::Params>) -> String {
    let kernel = tiebreak_engine::operation::find::<O>(kernel);
    let arguments = kernel.and_then(|kernel| text::arguments_of::<O>(&kernel.contract.domain, case.clone()));
    arguments.map_or(String::new(), |arguments| words::case(&arguments))
}
