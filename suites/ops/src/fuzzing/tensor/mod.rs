//! Operations on tensors: small cases through kernels in this process, in every form that this machine has, against their contracts.
//!
//! An input is either numbers, which `arbitrary` makes a case of, or the text `KERNEL CASE`. Seeds and what is kept of a campaign are texts.

mod judge;
mod report;

use super::numbers::Numbers;
use tiebreak_engine::case::text::{Draft, complete};
use tiebreak_engine::operation::{self, Case, Operation};
use tiebreak_impls::kernel;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_reports::{ledger, text as words};

pub use judge::hold;

/// An operation whose parameters a fuzzer can make up.
pub trait Fuzzed: Operation {
    /// Parameters of a small case; those that the domain does not cover are not run.
    fn params(domain: &Self::Domain, numbers: &mut Numbers<'_>) -> Self::Params;

    /// The tensors of a case with these parameters, which the domain covers.
    fn tensors(domain: &Self::Domain, params: &Self::Params, numbers: &mut Numbers<'_>) -> [Vec<i32>; 3] {
        let inputs = operation::sizes::<Self>(domain, params).map_or([0; 3], |sizes| sizes.inputs);
        let mut tensor = |t: usize| numbers.tensor(inputs[t], &Self::range(domain, t));
        [tensor(0), tensor(1), tensor(2)]
    }

    /// The arguments of `explain` that show one result of a case step by step, where it has the operation: the case in words, the name of a
    /// kernel, and the scheme that the kernel promises.
    fn explained(_case: &ledger::Case, _kernel: &str, _scheme: &str) -> Option<String> {
        None
    }
}

/// A kernel or mutant of an operation.
pub type Kernel<O> = kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

/// Results times elements of the largest input of a case from a text that is run.
pub const RUN: usize = 1 << 18;

/// What an input stands for.
pub struct Posed<O: Operation> {
    /// The kernel.
    pub kernel: &'static Kernel<O>,
    /// A case that its domain covers.
    pub case: Case<O::Params>,
}

/// Runs the case that an input stands for through one of the operation's kernels, and compares every result: what to report where one
/// differs. Where the command line of this program names a kernel, that one is run.
pub fn run<O: Fuzzed>(bytes: &[u8]) -> Result<(), String> {
    match super::chosen_kernel() {
        Some(name) => run_among::<O>(&[one::<O>(name).map_err(|error| error.to_string())?], bytes),
        None => run_among::<O>(&kernels::<O>(), bytes),
    }
}

/// [`run`] through one of these kernels, of which there is one at least.
pub fn run_among<O: Fuzzed>(among: &[&'static Kernel<O>], bytes: &[u8]) -> Result<(), String> {
    read::<O>(among, bytes).map_or(Ok(()), |posed| hold::<O>(posed.kernel, &posed.case))
}

/// The kernels of an operation. What a compiler makes runs in lanes of its own.
pub fn kernels<O: Operation>() -> Vec<&'static Kernel<O>> {
    operation::kernels::<O>().iter().filter(|kernel| !operation::is_compiled::<O>(&kernel.contract.domain)).collect()
}

/// The kernel or mutant of that name, which runs in this process.
pub fn one<O: Operation>(name: &str) -> Result<&'static Kernel<O>, UnknownName> {
    let known = || kernels::<O>().into_iter().chain(operation::mutants::<O>().iter().map(|mutant| &mutant.kernel));
    known().find(|kernel| kernel.name == name).ok_or_else(|| unknown("kernel", name, known().map(|k| k.name)))
}

/// The kernel and case that an input stands for; `None` if no kernel takes the case.
pub fn read<O: Fuzzed>(among: &[&'static Kernel<O>], bytes: &[u8]) -> Option<Posed<O>> {
    if let Some((name, case)) = std::str::from_utf8(bytes).ok().and_then(|text| text.trim_end().split_once(' '))
        && one::<O>(name).is_ok()
    {
        let kernel = among.iter().find(|kernel| kernel.name == name).or(among.first())?;
        return Some(Posed { kernel, case: case_of::<O>(kernel, case)? });
    }
    let mut numbers = Numbers::new(bytes);
    let kernel = *numbers.one_of(among);
    Some(Posed { kernel, case: made::<O>(&kernel.contract.domain, numbers)? })
}

/// The case of a text, where the kernel takes it and it is small.
fn case_of<O: Operation>(kernel: &'static Kernel<O>, text: &str) -> Option<Case<O::Params>> {
    let (draft, domain) = (Draft::<O>::read(text).ok()?, &kernel.contract.domain);
    draft.work(domain).filter(|work| *work <= RUN)?;
    draft.case(domain).ok()
}

/// The case that a domain makes of the numbers; `None` if it does not cover it.
pub fn made<O: Fuzzed>(domain: &O::Domain, mut numbers: Numbers<'_>) -> Option<Case<O::Params>> {
    let params = O::params(domain, &mut numbers);
    if operation::sizes::<O>(domain, &params).is_err() || !O::covers(domain, &params) {
        return None;
    }
    let misalign = numbers.size(16) - 1;
    let tensors = O::tensors(domain, &params, &mut numbers);
    Some(Case { params, tensors, misalign })
}

/// The text of an input, which is read as the same kernel and case. Nothing where no kernel takes it, or the case has no text or a large one.
pub fn line<O: Fuzzed>(bytes: &[u8]) -> Option<String> {
    let Posed { kernel, case } = read::<O>(&kernels::<O>(), bytes)?;
    let case = words::case(&complete::<O>(&kernel.contract.domain, &case, &[const { None }; 3])?);
    case_of::<O>(kernel, &case).map(|_| format!("{} {case}", kernel.name))
}

/// The catalogue's cases, each for every kernel that takes it.
pub fn seeds<O: Fuzzed>() -> Vec<String> {
    let cases = O::CATALOGUE.lines().filter_map(|line| line.split_once(" out[")).map(|(case, _)| case);
    let taken = cases.flat_map(|case| kernels::<O>().into_iter().map(move |kernel| (kernel, case)));
    let taken = taken.filter(|(kernel, case)| case_of::<O>(kernel, case).is_some());
    taken.map(|(kernel, case)| format!("{} {case}", kernel.name)).collect()
}
