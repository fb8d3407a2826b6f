//! A plan that is made once is that of every kernel that is given it.

use std::collections::BTreeSet;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::tensor::{Asked, Spec, plans};
use tiebreak_suites::verify::{Visitor, visit_tensors};

#[derive(Default)]
struct Compared {
    kernels: usize,
    domains: BTreeSet<String>,
}

impl Visitor for Compared {
    fn visit<O: Fuzzed>(&mut self) {
        let asked = Asked::default();
        for (kernel, seed) in O::kernels().iter().flat_map(|kernel| [(kernel, 1), (kernel, 2)]) {
            let (domain, budget) = (&kernel.contract.domain, Effort::Quick.budget());
            let own = O::plan(domain, &asked, &budget, seed);
            let kept = plans::plan::<O>(domain, &asked, &budget, seed);
            assert_eq!(format!("{own:?}"), format!("{kept:?}"), "{} {} seed {seed}", O::OP, kernel.name);
            self.kernels += 1;
            self.domains.insert(format!("{} {domain:?}", O::OP));
        }
    }
}

#[test]
fn a_kept_plan_is_the_plan_of_each_kernel() {
    let mut compared = Compared::default();
    visit_tensors(&mut compared);
    let (kernels, domains) = (compared.kernels / 2, compared.domains.len());
    println!("{kernels} kernels of {domains} domains");
    assert!(domains > 20 && kernels > domains + 30, "{kernels} kernels of {domains} domains");
}

/// Compares the long plan of one kernel of each operation, which is kept only for a while.
struct Long;

impl Visitor for Long {
    fn visit<O: Fuzzed>(&mut self) {
        let kernel = O::kernels().iter().min_by_key(|kernel| kernel.name).expect("a kernel");
        let (domain, budget) = (&kernel.contract.domain, Effort::Standard.budget());
        let text = |specs: Vec<Spec<O::Params>>| format!("{specs:?}");
        let own = text(O::plan(domain, &Asked::default(), &budget, 1));
        for _ in 0..2 {
            let _begun = plans::Long::<O>::BEGUN;
            for _ in 0..2 {
                let kept = text(plans::plan::<O>(domain, &Asked::default(), &budget, 1));
                assert!(own == kept, "{} {}", O::OP, kernel.name);
            }
        }
    }
}

#[test]
fn a_long_plan_is_the_same_as_long_as_it_is_kept() {
    visit_tensors(&mut Long);
}
