//! A plan that is made once equals that of every kernel that shares it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use tiebreak_suites::budget::Effort;
use tiebreak_suites::engine::erased::{Domain, Params, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::operation::{CaseSelection, Spec};
use tiebreak_suites::verify::{OPS, Visitor, visit_tensors};

/// Number of kernels by operation and domain.
#[derive(Default)]
struct Compared(BTreeMap<String, usize>);

impl Visitor for Compared {
    fn visit<O: Fuzzed>(&mut self) {
        let (selection, budget) = (CaseSelection::default(), Effort::Quick.budget());
        for kernel in op::<O>().kernels() {
            let domain = &kernel.contract.domain;
            let kernels = self.0.entry(format!("{} {domain:?}", O::OP)).or_default();
            *kernels += 1;
            for seed in [1, 2] {
                let kept = plans::plan(domain, &selection, &budget, seed);
                if *kernels == 1 {
                    let own = plans::whole(domain, &selection, &budget, seed);
                    assert_eq!(format!("{own:?}"), format!("{kept:?}"), "{} {} seed {seed}", O::OP, kernel.name);
                }
                let again = plans::plan(domain, &selection, &budget, seed);
                assert!(Arc::ptr_eq(&kept, &again), "{} {} seed {seed}: made twice", O::OP, kernel.name);
            }
        }
    }
}

#[test]
fn a_kept_plan_is_the_plan_of_each_kernel() {
    let mut compared = Compared::default();
    visit_tensors(&mut compared);
    let (kernels, domains) = (compared.0.values().sum::<usize>(), compared.0.len());
    println!("{kernels} kernels of {domains} domains");
    assert!(domains > 20 && kernels > domains + 30, "{kernels} kernels of {domains} domains");
}

/// Plan that may have been dropped.
type CaseLists = Weak<Vec<Arc<Spec<Params>>>>;

/// Requests the plans of one kernel of each operation, long and short ones.
#[derive(Default)]
struct AsLong(usize);

impl AsLong {
    /// Returns the plan as text, and a weak reference that shows if the plan is still kept.
    fn asked(domain: &Domain, effort: Effort) -> (String, CaseLists) {
        let kept = plans::plan(domain, &CaseSelection::default(), &effort.budget(), SEED);
        (format!("{kept:?}"), Arc::downgrade(&kept))
    }
}

/// Seed of no other test, which might keep the plan or drop it.
const SEED: u64 = 3;

impl Visitor for AsLong {
    fn visit<O: Fuzzed>(&mut self) {
        let kernel = op::<O>().kernels().iter().min_by_key(|kernel| kernel.name).expect("a kernel");
        let domain = &kernel.contract.domain;
        let own = format!("{:?}", plans::whole(domain, &CaseSelection::default(), &Effort::Standard.budget(), SEED));
        let (_, short) = Self::asked(domain, Effort::Quick);
        for _ in 0..2 {
            let begun = plans::LongPlanGuard::begin(op::<O>());
            let (text, long) = Self::asked(domain, Effort::Standard);
            assert!(own == text, "{} {}: another plan", O::OP, kernel.name);
            let (text, again) = Self::asked(domain, Effort::Standard);
            assert!(own == text && long.ptr_eq(&again), "{} {}: made twice", O::OP, kernel.name);
            assert!(long.upgrade().is_some(), "{} {}: not kept", O::OP, kernel.name);
            drop(begun);
            assert!(long.upgrade().is_none(), "{} {}: kept for good", O::OP, kernel.name);
            assert!(short.upgrade().is_some(), "{} {}: a short plan went, too", O::OP, kernel.name);
        }
        self.0 += 1;
    }
}

#[test]
fn a_long_plan_is_the_same_as_long_as_it_is_kept_and_goes_afterwards() {
    let mut asked = AsLong::default();
    visit_tensors(&mut asked);
    println!("one kernel of {} operations", asked.0);
    assert_eq!(asked.0, OPS.len());
}
