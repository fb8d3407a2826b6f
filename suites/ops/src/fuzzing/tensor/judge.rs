//! Check of one case on a kernel in every form that this machine has.

use super::report::{Explained, report, unseen};
use super::{Fuzzed, Kernel};
use tiebreak_engine::erased::{AnyCase, Kernel as AnyKernel};
use tiebreak_engine::operation::{Case, Expected, Observed, Operation};
use tiebreak_impls::kernel::Native;
use tiebreak_impls::{Form, frame};
use tiebreak_worker::execute::execute;

/// Upper bound on the work (results times elements of the largest input) of a case that may also be compared with big integers.
const EXACT: usize = 1 << 10;

/// Sampling step of the comparison with big integers, because it takes ten times as long as everything else.
const ONE_IN: u32 = 16;

/// Returns the forms of a kernel with separate code: the models of its instructions, and the instructions themselves if the machine has them.
pub(super) fn forms<O: Operation>(kernel: &Kernel<O>) -> &'static [Form] {
    match kernel.native {
        Some(Native { run: Some(_), available, .. }) if available() => &[Form::Portable, Form::Native],
        _ => &[Form::Portable],
    }
}

/// Runs a case that the kernel's domain covers, in buffers that show stray accesses; an error describes the difference.
pub fn hold<O: Fuzzed>(kernel: &'static Kernel<O>, case: &Case<O::Params>) -> Result<(), String> {
    held(&AnyKernel::of::<O>(kernel), forms::<O>(kernel), &AnyCase::of::<O>(case.clone()), O::explained)
}

fn held(kernel: &AnyKernel, forms: &[Form], case: &AnyCase, explained: Explained) -> Result<(), String> {
    let fails = |reason: String| unseen(kernel, case, &reason);
    let contract = kernel.scheme().map_err(|e| fails(e.to_string()))?;
    let expected = contract.expected(case).map_err(|e| fails(e.to_string()))?;
    let (job, payload) = (case.params.job(kernel.name), case.payload());
    let work = expected.len() * case.tensors.iter().map(Vec::len).max().unwrap_or(0);
    if work <= EXACT && is_chosen(&payload) && contract.exact(case).as_ref() != Ok(&expected) {
        return Err(fails("the oracle disagrees with itself".to_owned()));
    }
    for form in forms {
        let mut outs = vec![0; expected.len()];
        let call = |input: &[i32], output: &mut [i32]| execute(&job, *form, input, output, case.misalign);
        frame::run(&payload, &mut outs, case.misalign, call).map_err(|e| fails(e.to_string()))?;
        let differ = different(&expected, &outs);
        if differ > 0 {
            let case = case.clone();
            let seen = Observed { case, outs, expected, differ, faulty: Vec::new(), due: Vec::new() };
            return Err(report(kernel, &contract, seen, explained));
        }
    }
    Ok(())
}

/// True for one case in [`ONE_IN`]. The elements decide, so that an input is always judged the same way.
fn is_chosen(payload: &[i32]) -> bool {
    let mixed = payload.iter().fold(0u32, |mixed, element| (mixed ^ *element as u32).wrapping_mul(0x9E37_79B1));
    (mixed >> 16).is_multiple_of(ONE_IN)
}

fn different(expected: &Expected, outs: &[i32]) -> usize {
    expected.iter().zip(outs).filter(|(expected, out)| expected.is_some_and(|expected| expected != **out)).count()
}
