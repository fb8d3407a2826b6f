//! Fuzzing of operations on tensors: small cases run in this process in every form of the machine, and are judged by contracts.
//!
//! An input is a sequence of numbers, from which `arbitrary` makes a case, or the text `KERNEL CASE`. Seeds are texts.

mod judge;
mod report;

use super::numbers::Numbers;
use tiebreak_engine::case::text::{Draft, complete};
use tiebreak_engine::erased::Domain;
use tiebreak_engine::operation::{self, Case, Operation};
use tiebreak_impls::kernel;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_reports::{ledger, text as words};

pub use judge::hold;

/// Operation with parameters that a fuzzer can make.
pub trait Fuzzed: Operation {
    /// Makes the parameters of a small case. Parameters that the domain does not cover are not run.
    fn params(domain: &Self::Domain, numbers: &mut Numbers<'_>) -> Self::Params;

    /// Makes the tensors of a case, for parameters in the domain.
    fn tensors(domain: &Self::Domain, params: &Self::Params, numbers: &mut Numbers<'_>) -> [Vec<i32>; 3] {
        let inputs = operation::sizes::<Self>(domain, params).map_or([0; 3], |sizes| sizes.inputs);
        let mut tensor = |t: usize| numbers.tensor(inputs[t], &Self::range(domain, t));
        [tensor(0), tensor(1), tensor(2)]
    }

    /// Returns the arguments of `explain` that show one result of a case step by step, from the case, the name of a kernel and the scheme of its
    /// contract. `None` if `explain` does not have the operation.
    fn explained(_case: &ledger::Case, _kernel: &str, _scheme: &str) -> Option<String> {
        None
    }
}

/// Kernel or mutant of an operation.
pub type Kernel<O> = kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// Upper bound on the work (results times elements of the largest input) of a text case that is run.
pub const RUN: usize = 1 << 18;

/// Kernel and case of an input.
pub struct FuzzedCase<O: Operation> {
    /// Kernel that runs the case.
    pub kernel: &'static Kernel<O>,
    /// Case that the kernel's domain covers.
    pub case: Case<O::Params>,
}

/// Runs and judges the case of an input on a kernel of the operation, or on the kernel named on the command line. The error is a report.
pub fn run<O: Fuzzed>(bytes: &[u8]) -> Result<(), String> {
    match super::chosen_kernel() {
        Some(name) => run_among::<O>(&[one::<O>(name).map_err(|error| error.to_string())?], bytes),
        None => run_among::<O>(&kernels::<O>(), bytes),
    }
}

/// Does the same as [`run`] with a kernel of `among`, which must not be empty.
pub fn run_among<O: Fuzzed>(among: &[&'static Kernel<O>], bytes: &[u8]) -> Result<(), String> {
    read::<O>(among, bytes).map_or(Ok(()), |posed| hold::<O>(posed.kernel, &posed.case))
}

/// Returns the kernels of an operation, except for compiled kernels, which run in lanes of their own.
pub fn kernels<O: Operation>() -> Vec<&'static Kernel<O>> {
    operation::kernels::<O>().iter().filter(|kernel| !operation::is_compiled::<O>(&kernel.contract.domain)).collect()
}

/// Finds a kernel or mutant that runs in this process by name.
pub fn one<O: Operation>(name: &str) -> Result<&'static Kernel<O>, UnknownName> {
    let known = || kernels::<O>().into_iter().chain(operation::mutants::<O>().iter().map(|mutant| &mutant.kernel));
    known().find(|kernel| kernel.name == name).ok_or_else(|| unknown("kernel", name, known().map(|k| k.name)))
}

/// Reads the kernel and the case of an input; `None` if the kernel does not accept the case.
pub fn read<O: Fuzzed>(among: &[&'static Kernel<O>], bytes: &[u8]) -> Option<FuzzedCase<O>> {
    if let Some((name, case)) = std::str::from_utf8(bytes).ok().and_then(|text| text.trim_end().split_once(' '))
        && one::<O>(name).is_ok()
    {
        let kernel = among.iter().find(|kernel| kernel.name == name).or(among.first())?;
        return Some(FuzzedCase { kernel, case: case_of::<O>(kernel, case)? });
    }
    let mut numbers = Numbers::new(bytes);
    let kernel = *numbers.one_of(among);
    Some(FuzzedCase { kernel, case: made::<O>(&kernel.contract.domain, numbers)? })
}

/// Parses a case; `None` if the kernel does not accept it, or if it is too large.
fn case_of<O: Operation>(kernel: &'static Kernel<O>, text: &str) -> Option<Case<O::Params>> {
    let domain = Domain::of::<O>(kernel.contract.domain.clone());
    let draft = Draft::read(domain.op(), text).ok()?;
    draft.work(&domain).filter(|work| *work <= RUN)?;
    Some(draft.case(&domain).ok()?.typed::<O>())
}

/// Makes a case from numbers; `None` if the domain does not cover it.
pub fn made<O: Fuzzed>(domain: &O::Domain, mut numbers: Numbers<'_>) -> Option<Case<O::Params>> {
    let params = O::params(domain, &mut numbers);
    if operation::sizes::<O>(domain, &params).is_err() || !O::covers(domain, &params) {
        return None;
    }
    let misalign = numbers.size(16) - 1;
    let tensors = O::tensors(domain, &params, &mut numbers);
    Some(Case { params, tensors: tensors.into(), misalign })
}

/// Returns the text of an input, which reads as the same kernel and case. `None` if no kernel accepts the case, or if it is too large.
pub fn line<O: Fuzzed>(bytes: &[u8]) -> Option<String> {
    let FuzzedCase { kernel, case } = read::<O>(&kernels::<O>(), bytes)?;
    let case = words::case(&complete(
        &Domain::of::<O>(kernel.contract.domain.clone()),
        &Case::of::<O>(case),
        &[const { None }; 3],
    )?);
    case_of::<O>(kernel, &case).map(|_| format!("{} {case}", kernel.name))
}

/// Returns each case of the catalogue for every kernel that accepts it.
pub fn seeds<O: Fuzzed>() -> Vec<String> {
    let cases = O::CATALOGUE.lines().filter_map(|line| line.split_once(" out[")).map(|(case, _)| case);
    let taken = cases.flat_map(|case| kernels::<O>().into_iter().map(move |kernel| (kernel, case)));
    let taken = taken.filter(|(kernel, case)| case_of::<O>(kernel, case).is_some());
    taken.map(|(kernel, case)| format!("{} {case}", kernel.name)).collect()
}
