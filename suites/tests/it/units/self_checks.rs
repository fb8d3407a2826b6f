//! Self-checks of fixed point multiply fail for wrong mutants.

use tiebreak_impls::mutants::Witness;
use tiebreak_reports::ledger::SelfCheck;
use tiebreak_suites::engine::erased::{Mutant, op};
use tiebreak_suites::engine::self_check::mutants::check;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::lane::Lane;

fn checked(mutant: &Mutant) -> SelfCheck {
    check(mutant, &Lane::host(), 1).expect("known schemes")
}

fn dead() -> Mutant {
    let mutants = op::<FixedPointMultiply>().mutants();
    mutants.iter().find(|mutant| mutant.kernel.name == "mutant-ties-down").expect("registered").clone()
}

#[test]
fn a_mutant_that_dies_as_it_must_passes() {
    assert!(checked(&dead()).passed);
}

/// A sound kernel registered as a mutant is not detected, and the check reports this.
#[test]
fn a_mutant_that_lives_fails() {
    let kernel = op::<FixedPointMultiply>().find("tvm-relay").expect("registered").clone();
    let check = checked(&Mutant { kernel, witnesses: &[], ..dead() });
    assert!(!check.passed && check.seen.starts_with("alive after "), "{}", check.seen);
}

#[test]
fn a_mutant_of_another_class_fails() {
    let check = checked(&Mutant { class: "wrap", ..dead() });
    assert!(!check.passed && check.seen.contains("classes tie-direction"), "{}", check.seen);
}

#[test]
fn a_mutant_that_does_not_show_what_was_published_fails() {
    const OTHER: &[Witness] = &[Witness { x: 1, m: 1 << 30, s: 0, got: 2, expected: 1 }];
    let check = checked(&Mutant { witnesses: OTHER, ..dead() });
    assert!(!check.passed && check.seen.contains("does not give 2 for 1"), "{}", check.seen);
}
