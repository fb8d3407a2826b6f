//! Each difference of a requantization from its reference has the class of the change that causes it. All differences once had the class of the
//! multiplication: results that a left shift had wrapped to the other end of the type were called `double-rounding`.

use crate::common::*;
use tiebreak_oracle::requantize;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::case::text;
use tiebreak_suites::engine::erased::{Scheme, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::operation::{CaseSelection, Wanted};
use tiebreak_suites::requantize::{Promised, Requantize};
use tiebreak_suites::verify::{Visitor, visit_tensors};

/// Returns the class of the first step from `ties-up` to a kernel's contract whose result equals the contract's.
fn class(kernel: &str, case: &str) -> Option<Class> {
    let kernel = op::<Requantize>().kernels().iter().find(|known| known.name == kernel).expect("a kernel");
    let case = text::parse(case, &kernel.contract.domain).expect("a case");
    let contract = kernel.scheme().expect("a scheme");
    let reference = Promised::plain(requantize::Scheme::parse("ties-up").expect("a scheme"));
    let reference = Scheme::of::<Requantize>(reference);
    let [own, exact] = [&contract, &reference].map(|scheme| scheme.expected(&case).expect("values"));
    assert_ne!(own, exact, "{case:?}");
    let path = contract.path_from(&reference, &kernel.contract.domain);
    path.iter().find(|step| step.expected(&case).as_ref() == Some(&own)).map(|step| step.class(&case.params))
}

#[test]
fn what_a_left_shift_wraps_is_no_double_rounding() {
    for (kernel, case, due) in [
        ("tflite-requantize-i8", "m=1073741824 s=1 x=1073741824", Class::Wrap),
        ("tflite-requantize-i8", "m=738197504 s=-2 bias=-17175 zero_point=-47 x=19181", Class::DoubleRounding),
        ("xnnpack-rndnu-i8", "m=64 s=1 x=1073741824", Class::Saturation),
    ] {
        assert_eq!(class(kernel, case), Some(due), "{kernel} {case}");
    }
}

/// Double rounding moves a result by one unit, wrapping by any number.
#[test]
fn a_run_distinguishes_rounding_from_wrapping() {
    let arguments = ["--op=requantize", "--kernel=tflite-requantize-i8", "--lane=host", "--effort=quick"];
    let ledger = verify(&arguments).exits(0).ledger();
    let row = items(&ledger, "rows").iter().find(|row| row["against"] == "reference").expect("a row");
    let of = |class: &str| row["classes"][class].as_u64().unwrap_or_default();
    assert!(of("double-rounding") > 1000 && of("wrap") > 1000, "{}", row["classes"]);
    // The class that the witness does not show has an example, whose command reproduces it.
    let [example] = &row["examples"].as_array().expect("examples")[..] else { panic!("{}", row["examples"]) };
    assert_ne!(example["class"], row["witness"]["class"]);
    let again = again(example["command"].as_str().expect("a command")).exits(0).ledger();
    let shown = items(&again, "rows").iter().find(|row| row["against"] == "reference").expect("a row");
    assert_eq!(shown["witness"]["class"], example["class"], "{example}");
    let near: u64 = ["-1", "1"].iter().filter_map(|delta| row["by_delta"][delta].as_u64()).sum();
    assert!(near >= of("double-rounding"), "{row}");
}

/// Counts of last steps, whose results are taken from the contract because both have the same scheme name.
#[derive(Default)]
struct Ends {
    steps: usize,
    cases: usize,
}

/// Largest number of elements of a tensor for which a case is computed twice.
const FEW: usize = 500;

impl Visitor for Ends {
    fn visit<O: Fuzzed>(&mut self) {
        let op = op::<O>();
        for kernel in op.kernels() {
            let domain = &kernel.contract.domain;
            let contract = kernel.scheme().expect("a scheme");
            let Some(reference) = op.reference(kernel, &Wanted::default()) else { continue };
            let path = contract.path_from(&op.scheme(&reference).expect("a scheme"), domain);
            let Some(step) = path.iter().find(|step| step.is_last()) else { continue };
            let specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
            let cases = specs.iter().filter_map(|spec| spec.case(domain, 1));
            let small = cases.filter(|case| case.tensors.iter().all(|tensor| tensor.len() <= FEW));
            let first = self.cases;
            for case in small.step_by(7) {
                let own = contract.expected(&case).expect("values");
                assert_eq!(step.expected(&case), Some(own), "{} {}: {case:?}", O::OP, kernel.name);
                self.cases += 1;
            }
            assert!(self.cases > first, "{} {}: no case", O::OP, kernel.name);
            self.steps += 1;
        }
    }
}

/// A difference is judged by the result of the contract instead of the last step's.
#[test]
fn the_last_step_gives_what_the_contract_expects() {
    let mut ends = Ends::default();
    visit_tensors(&mut ends);
    println!("{} paths end in their contract, {} cases", ends.steps, ends.cases);
    assert!(ends.steps > 20, "{} paths", ends.steps);
}
