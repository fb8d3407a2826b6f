//! The harness checking itself: every mutant must die with its class, and every control must come out equal.

use super::explained::{Basis, Explained};
use super::judge::{Posed, Record, Side, outs, run};
use super::{Asked, Control, Operation, text};
use crate::count::Count;
use crate::lane::Lane;
use crate::verify::line;
use std::collections::BTreeSet;
use tiebreak_common::class::Class;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_impls::mutants::tensor::Mutant;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{CheckKind, SelfCheck};
use tiebreak_reports::text as words;

/// Runs what a self-check runs; beside what was seen, how many of its cases could not be posed.
pub fn planned<O: Operation>(
    kernel: &Kernel<O::Run, O::Domain>,
    scheme: &O::Scheme,
    lane: &Lane,
    seed: u64,
) -> (Record<O::Params>, usize) {
    let domain = &kernel.contract.domain;
    let specs = O::trial(domain, seed);
    let posed: Vec<Posed<O::Params>> = specs
        .iter()
        .enumerate()
        .filter_map(|(i, spec)| spec.case::<O>(domain, seed, i))
        .filter_map(|case| Some(Posed { contract: O::expected(scheme, &case).ok()?, case, reference: None }))
        .collect();
    (run::<O>(lane, kernel, scheme, &[], &posed), specs.len() - posed.len())
}

/// The differences of a kernel from its contract, explained.
pub fn explained<O: Operation>(
    kernel: &Kernel<O::Run, O::Domain>,
    scheme: &O::Scheme,
    lane: &Lane,
    side: &Side<O::Params>,
) -> Vec<Explained<O::Params>> {
    let domain = &kernel.contract.domain;
    let (kept, asked) = (false, &Asked::default());
    Basis::<O> { kernel: kernel.name, made: None, domain, contract: scheme, scheme, kept, asked }.explained(lane, side)
}

/// Runs a mutant in `lane`.
pub fn check<O: Operation>(
    mutant: &Mutant<O::Run, O::Domain>,
    lane: &Lane,
    seed: u64,
) -> Result<SelfCheck, UnknownName> {
    let kernel = &mutant.kernel;
    let (scheme, expected) = (O::contract(kernel)?, mutant.class.parse::<Class>()?);
    let missing = mutant.witnesses.iter().filter_map(|witness| missing::<O>(kernel, &scheme, lane, witness));
    let missing: Vec<String> = missing.collect();
    let (record, lost) = planned::<O>(kernel, &scheme, lane, seed);
    let side = &record.contract;
    let all = explained::<O>(kernel, &scheme, lane, side);
    let (seen, passed) = match (all.first(), record.failures.first()) {
        _ if lost > 0 => (format!("{lost} cases of its plan cannot be posed"), false),
        (_, Some(failed)) => (failed.failure.to_string(), false),
        (None, None) => (format!("alive after {} results", side.count.inputs), false),
        (Some(first), None) => {
            let classes: BTreeSet<Class> = all.iter().map(|explained| explained.explanation.class).collect();
            let named = classes.iter().eq([&expected]);
            let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
            let wrong = if named { String::new() } else { format!("; classes {}", names.join(", ")) };
            let class = first.explanation.class;
            let text = line::<O>(&kernel.contract.domain, &first.witness, &O::label(&scheme), class);
            (text + &wrong, named)
        }
    };
    let passed = passed && missing.is_empty();
    let seen = std::iter::once(seen).chain(missing).collect::<Vec<_>>().join("; ");
    Ok(of::<O>(CheckKind::Mutant, (kernel.name, mutant.origin), lane, mutant.class, (passed, seen)))
}

/// What a mutant does not give for a published witness: one that does not show it is not the bug.
fn missing<O: Operation>(
    kernel: &Kernel<O::Run, O::Domain>,
    scheme: &O::Scheme,
    lane: &Lane,
    witness: &Published,
) -> Option<String> {
    let (case, index) = O::published(witness)?;
    let given = outs::<O>(&mut lane.lease(), kernel.name, &case, case.tensors[0].len());
    let expected = O::expected(scheme, &case).ok().and_then(|expected| expected[index]);
    if given.is_ok_and(|outs| outs[index] == witness.got) && expected == Some(witness.expected) {
        return None;
    }
    let arguments = text::arguments::<O>(&kernel.contract.domain, &case);
    let case = O::spelled(&case, index, None).or(arguments).unwrap_or_default();
    Some(format!("{} does not give {} for {}", words::case(&case), witness.got, witness.expected))
}

/// Runs a control in `lane`.
pub fn check_control<O: Operation>(control: &Control<O>, lane: &Lane, seed: u64) -> Result<SelfCheck, UnknownName> {
    let kernel = &control.kernel;
    let scheme = O::contract(kernel)?;
    let (record, lost) = planned::<O>(kernel, &scheme, lane, seed);
    let side = &record.contract;
    let Count { inputs, differ, .. } = side.count;
    let seen = match (record.failures.first(), explained::<O>(kernel, &scheme, lane, side).first()) {
        (Some(failed), _) => failed.failure.to_string(),
        (None, None) => format!("equal on {inputs} inputs"),
        (None, Some(first)) => {
            let (label, class) = (O::label(&scheme), first.explanation.class);
            let line = line::<O>(&kernel.contract.domain, &first.witness, &label, class);
            format!("{differ} of {inputs} inputs differ, {line}")
        }
    };
    let passed = differ == 0 && inputs > 0 && lost == 0 && record.failures.is_empty();
    Ok(of::<O>(CheckKind::Control, (control.name, control.origin), lane, "", (passed, seen)))
}

fn of<O: Operation>(
    kind: CheckKind,
    (name, origin): (&str, &str),
    lane: &Lane,
    expected_class: &str,
    (passed, seen): (bool, String),
) -> SelfCheck {
    SelfCheck {
        op: O::OP.to_owned(),
        name: name.to_owned(),
        lane: lane.name.clone(),
        kind,
        passed,
        expected_class: expected_class.to_owned(),
        seen,
        origin: origin.to_owned(),
    }
}
