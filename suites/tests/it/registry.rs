//! Kernels of the tensor operations, whatever their types: the whole registry.

use tiebreak_impls::kernel::Native;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::operation::{self, mutants};
use tiebreak_suites::verify::{Visitor, visit_tensors};

/// Kernel without its code.
pub(crate) struct Described {
    pub(crate) op: &'static str,
    pub(crate) name: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) native: Option<Form>,
}

/// Native form without its code.
pub(crate) struct Form {
    pub(crate) isa: &'static str,
    pub(crate) arch: &'static str,
    pub(crate) instructions: &'static [&'static str],
    pub(crate) symbol: &'static str,
    pub(crate) available: fn() -> bool,
}

/// Mutant without its code.
pub(crate) struct Bug {
    pub(crate) op: &'static str,
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
}

#[derive(Default)]
struct Registry {
    kernels: Vec<Described>,
    bugs: Vec<Bug>,
}

impl Visitor for Registry {
    fn visit<O: Fuzzed>(&mut self) {
        let form = |native: &Native<O::Run>| Form {
            isa: native.isa,
            arch: native.arch,
            instructions: native.instructions,
            symbol: native.symbol,
            available: native.available,
        };
        self.kernels.extend(operation::kernels::<O>().iter().map(|kernel| Described {
            op: O::OP,
            name: kernel.name,
            scheme: kernel.contract.promise.scheme,
            native: kernel.native.as_ref().map(form),
        }));
        let bug = |mutant: &tiebreak_impls::mutants::tensor::Mutant<_, _>| Bug {
            op: O::OP,
            name: mutant.kernel.name,
            class: mutant.class,
        };
        self.bugs.extend(mutants::<O>().iter().map(bug));
    }
}

fn registry() -> Registry {
    let mut all = Registry::default();
    visit_tensors(&mut all);
    all
}

/// Returns every kernel of every tensor operation.
pub(crate) fn kernels() -> Vec<Described> {
    registry().kernels
}

/// Returns every mutant of every tensor operation.
pub(crate) fn bugs() -> Vec<Bug> {
    registry().bugs
}
