//! Tensor operations: small cases through kernels in this process, in both forms, against their contracts.

use super::numbers::Numbers;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::tensor::explain::{Observed, explain};
use tiebreak_engine::tensor::judge::outs;
use tiebreak_engine::tensor::shrink::{Shown, first_difference, shrink};
use tiebreak_engine::tensor::side::{Group, of_group};
use tiebreak_engine::tensor::{Asked, Case, Expected, Operation, Wanted, catalogue, self_check};
use tiebreak_engine::verify::Command;
use tiebreak_engine::verify::tensor_op::{again, line};
use tiebreak_impls::Form;
use tiebreak_impls::execute::execute;
use tiebreak_impls::kernel;

/// An operation whose parameters a fuzzer can make up.
pub trait Fuzzed: Operation {
    /// Parameters of a small case; those that the domain does not cover are not run.
    fn params(domain: &Self::Domain, numbers: &mut Numbers<'_>) -> Self::Params;

    /// The tensors of a case with these parameters, which the domain covers.
    fn tensors(domain: &Self::Domain, params: &Self::Params, numbers: &mut Numbers<'_>) -> [Vec<i32>; 3] {
        let inputs = Self::sizes(domain, params).map_or([0; 3], |sizes| sizes.inputs);
        let mut tensor = |t: usize| numbers.tensor(inputs[t], &Self::range(domain, t));
        [tensor(0), tensor(1), tensor(2)]
    }
}

type Kernel<O> = kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// Cases up to so many results times elements of the largest input are compared with big integers too.
const EXACT: usize = 1 << 10;

/// Runs the case that the bytes stand for, which begin with the choice of a kernel, and compares every result: what to report
/// where one differs.
pub fn run<O: Fuzzed>(bytes: &[u8]) -> Result<(), String> {
    let mut numbers = Numbers::new(bytes);
    let kernel = kernel::<O>(&mut numbers);
    made::<O>(&kernel.contract.domain, numbers).map_or(Ok(()), |case| hold::<O>(kernel, &case))
}

/// The kernel that the first numbers choose. What a compiler makes runs in lanes of its own.
pub fn kernel<O: Operation>(numbers: &mut Numbers<'_>) -> &'static Kernel<O> {
    let kernels: Vec<&'static Kernel<O>> = O::kernels().iter().filter(|k| !O::compiled(&k.contract.domain)).collect();
    numbers.one_of::<&'static Kernel<O>>(&kernels)
}

/// The case that a domain makes of the numbers; `None` if it does not cover it.
pub fn made<O: Fuzzed>(domain: &O::Domain, mut numbers: Numbers<'_>) -> Option<Case<O::Params>> {
    let params = O::params(domain, &mut numbers);
    if O::sizes(domain, &params).is_err() || !O::covers(domain, &params) {
        return None;
    }
    let misalign = numbers.size(16) - 1;
    let tensors = O::tensors(domain, &params, &mut numbers);
    Some(Case { params, tensors, misalign })
}

/// Runs a case that the kernel's domain covers.
pub fn hold<O: Operation>(kernel: &'static Kernel<O>, case: &Case<O::Params>) -> Result<(), String> {
    let described = |reason: String| format!("{} {} {case:?}: {reason}", O::OP, kernel.name);
    let contract = O::contract(kernel).map_err(|e| described(e.to_string()))?;
    let expected = O::expected(&contract, case).map_err(described)?;
    let work = expected.len() * case.tensors.iter().map(Vec::len).max().unwrap_or(0);
    if work <= EXACT && O::exact(&contract, case).as_ref() != Ok(&expected) {
        return Err(described("the oracle disagrees with itself".to_owned()));
    }
    for form in [Form::Portable, Form::Native] {
        let mut outs = vec![0; expected.len()];
        execute(&O::job(kernel.name, &case.params), form, &case.payload(), &mut outs, case.misalign)
            .map_err(described)?;
        let differ = different(&expected, &outs);
        if differ > 0 {
            return Err(report::<O>(
                kernel,
                &contract,
                Observed { case: case.clone(), outs, expected, differ, faulty: Vec::new() },
            ));
        }
    }
    Ok(())
}

fn different(expected: &Expected, outs: &[i32]) -> usize {
    expected.iter().zip(outs).filter(|(expected, out)| expected.is_some_and(|expected| expected != **out)).count()
}

/// The smallest witness, as a line to read, a line for the catalogue, and a command.
fn report<O: Operation>(kernel: &'static Kernel<O>, contract: &O::Scheme, seen: Observed<O::Params>) -> String {
    let (lane, name, domain) = (Lane::host(), kernel.name, &kernel.contract.domain);
    let again_seen = outs::<O>(&mut lane.lease(), name, &seen.case, seen.outs.len());
    if !again_seen.is_ok_and(|outs| outs == seen.outs) {
        return format!(
            "{} {name} {:?}: differs from its contract in a form that the host lane does not run",
            O::OP,
            seen.case
        );
    }
    // Many causes fit one case, few fit all of a plan.
    let groups = O::groups(contract, &seen.case.params, seen.outs.len());
    let group = first_difference::<O>(domain, &seen).and_then(|first| groups.get(first.index).copied()).unwrap_or(0);
    let causes = O::changes_in(group, contract, contract, domain, false);
    let (planned, _) = self_check::planned::<O>(kernel, contract, &lane, 1);
    let words = O::element(domain, &seen.case.params, O::TENSORS.len()).words();
    let here = Observed { expected: of_group(&seen.expected, words, &groups, group), ..seen.clone() };
    let known = planned.contract.groups.get(&group).map_or_else(Vec::new, Group::evidence);
    let evidence: Vec<_> = known.into_iter().chain([&here]).collect();
    let class = explain(&causes, &evidence).class;
    let (scheme, asked) = (contract, &Asked::default());
    let shown = Shown { kernel: name, made: None, domain, contract, scheme, causes: &causes, class, asked };
    let Some(witness) = shrink(&shown, &lane, &seen) else {
        return format!("{} {name} {:?}: differs, but not when judged again", O::OP, seen.case);
    };
    let mut schemes = vec![contract.clone()];
    let reference = O::reference(kernel, &Wanted::default()).and_then(|name| O::scheme(&name).ok());
    schemes.extend(reference.filter(|scheme| O::label(scheme) != O::label(contract)));
    let provenance = format!("{name}, found by fuzzing");
    let kept = catalogue::ready_line::<O>(domain, (&witness.case, witness.index), &schemes, &provenance);
    let kept = kept.map_or(String::new(), |kept| format!("\ncatalogue: {kept}"));
    let shown = line::<O>(domain, &witness, &O::label(contract), class);
    let again = again::<O>(&Command::default(), kernel, "host", (&witness.case, witness.index));
    format!("{} {name} host {shown}{kept}\nagain: {again}", O::OP)
}
