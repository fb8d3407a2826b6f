//! Instructions in a run.

use crate::instruction::{self, Cases, OP, Outcome};
use crate::listing;
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_engine::count::Count;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::tensor::Parameter;
use tiebreak_engine::verify::coverage::{Plan, given_up};
use tiebreak_engine::verify::place::Place;
use tiebreak_engine::verify::{Part, Request, progress};
use tiebreak_engine::verify::{Verifies, every_name};
use tiebreak_impls::instruction::{Instruction, Kernel, kernels};
use tiebreak_impls::operation::Operation;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::{Against, Case, Coverage, Finding, Mismatch, Row, Unit, Witness};
use tiebreak_reports::text;

/// The operation.
pub struct Instructions;

impl Verifies for Instructions {
    fn op(&self) -> &'static str {
        OP
    }

    fn names(&self) -> Vec<&'static str> {
        every_name::<Instruction>()
    }

    fn listed(&self) -> Vec<Value> {
        listing::instructions()
    }

    fn schemes(&self) -> Vec<Described> {
        listing::mnemonics()
    }

    fn takes(&self, _parameter: Parameter) -> bool {
        false
    }

    fn verify(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Part> {
        let named = names.iter().filter_map(|name| Instruction::find(name).ok());
        let kernels: Vec<&Kernel> = if names.is_empty() { kernels().iter().collect() } else { named.collect() };
        verify(request, &kernels, lanes)
    }
}

fn verify(request: &Request, kernels: &[&'static Kernel], lanes: &[Lane]) -> Result<Part> {
    let bar = progress(OP, kernels.len());
    let budget = request.effort.budget();
    let run = |kernel: &&'static Kernel| {
        let cases = match &request.asked.case {
            Some(text) => Cases::given(kernel, text).with_context(|| format!("--case: {}", kernel.name))?,
            None => Cases::new(kernel, &budget, request.seed)?,
        };
        let offering = lanes.iter().filter(|lane| lane.isa_path(OP, kernel.name).is_some());
        let outcomes: Vec<(&Lane, Outcome)> = offering.map(|lane| (lane, cases.run(lane))).collect();
        bar.inc(1);
        Ok::<_, anyhow::Error>((cases, outcomes))
    };
    let all: Vec<_> = kernels.par_iter().map(run).collect::<Result<_>>()?;
    bar.finish_and_clear();
    let mut part = Part::default();
    for (cases, outcomes) in &all {
        let plan = Plan {
            op: OP,
            kernel: cases.kernel.name,
            unit: Unit::Case,
            given: false,
            planned: cases.len() as u64,
            outside: None,
        };
        for lane in lanes.iter().filter(|lane| lane.isa_path(OP, plan.kernel).is_none()) {
            part.not_offered(&plan, lane);
        }
        for (lane, outcome) in outcomes {
            let row = row(request, cases, lane, outcome);
            part.findings.extend(finding(cases, lane, outcome, row.witness.clone()));
            part.mismatches.extend(outcome.kept.iter().map(|seen| mismatch(request, cases, lane, seen)));
            part.rows.push(row);
            let left = plan.planned - outcome.cases;
            let failed = outcome.failure.as_ref().map(|failure| given_up(left, failure.to_string()));
            part.planned.push(plan.ran(lane, failed));
        }
    }
    Ok(part)
}

fn scheme(cases: &Cases) -> String {
    format!("arm-{}", cases.mnemonic)
}

fn case(seen: &instruction::Mismatch) -> Case {
    Case::from([("a".to_owned(), seen.a.into()), ("b".to_owned(), seen.b.into())])
}

/// The command that runs one pair of operands again.
fn command(request: &Request, cases: &Cases, lane: &Lane, seen: &instruction::Mismatch) -> String {
    let kernel = request.command.kernel(OP, cases.kernel.name, &lane.name);
    format!("{kernel} --case '{}'", text::case(&case(seen)))
}

fn mismatch(request: &Request, cases: &Cases, lane: &Lane, seen: &instruction::Mismatch) -> Mismatch {
    Mismatch {
        op: OP.to_owned(),
        kernel: cases.kernel.name.to_owned(),
        lane: lane.name.clone(),
        against: Against::Contract,
        scheme: scheme(cases),
        case: text::case(&case(seen)),
        got: seen.got.into(),
        expected: seen.expected.into(),
        class: seen.class.into(),
        command: command(request, cases, lane, seen),
    }
}

fn row(request: &Request, cases: &Cases, lane: &Lane, outcome: &Outcome) -> Row {
    let counts = [(Class::Value, outcome.values), (Class::SaturationFlag, outcome.flags)];
    let classes: BTreeMap<String, u64> =
        counts.into_iter().filter(|(_, n)| *n > 0).map(|(class, n)| (class.into(), n)).collect();
    let witness = outcome.kept.first().map(|w| Witness {
        case: case(w),
        got: w.got.into(),
        expected: Some(w.expected.into()),
        scheme: scheme(cases),
        class: w.class.into(),
        because: "differs from the instruction's definition".to_owned(),
        command: command(request, cases, lane, w),
    });
    let count = Count { inputs: outcome.inputs, differ: outcome.values + outcome.flags, ..Count::default() };
    let coverage = if cases.exhaustive { Coverage::Exhaustive } else { Coverage::Sampled };
    let row = place(cases, lane).row(Against::Contract, scheme(cases), &count, coverage);
    Row { classes, witness, seconds: outcome.seconds, ..row }
}

fn place<'a>(cases: &Cases, lane: &'a Lane) -> Place<'a> {
    Place { op: OP, kernel: cases.kernel.name, lane }
}

fn finding(cases: &Cases, lane: &Lane, outcome: &Outcome, witness: Option<Witness>) -> Option<Finding> {
    let (class, message) = match (&outcome.failure, &witness) {
        (Some(failure), _) => (failure.class().into(), failure.to_string()),
        (None, Some(w)) => {
            let wrong = outcome.values + outcome.flags;
            (w.class.clone(), format!("{} of {} results are wrong", text::count(wrong), text::count(outcome.inputs)))
        }
        (None, None) => return None,
    };
    Some(place(cases, lane).finding(class, message, witness))
}
