//! Parameters, domains, schemes, kernels and known bugs of any operation.

use super::operation::{Erased, Op};
use crate::operation::{self, Capabilities, Operation};
use std::any::Any;
use std::sync::Arc;
use tiebreak_impls::contract::Contract;
use tiebreak_impls::mutants::Witness;

/// Defines a type whose values are those of a type of an operation.
macro_rules! erased {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone)]
        pub struct $name {
            pub(super) op: Op,
            pub(super) value: Arc<dyn Any + Send + Sync>,
        }

        impl $name {
            pub(super) fn new(op: Op, value: impl Any + Send + Sync) -> Self {
                Self { op, value: Arc::new(value) }
            }

            /// Returns the value of the operation. Panics if the value is one of another operation.
            pub fn typed<O: Operation>(&self) -> &O::$name {
                self.value.downcast_ref().unwrap_or_else(|| panic!("{} is no operation of this value", O::OP))
            }

            /// Returns the operation.
            pub fn op(&self) -> Op {
                self.op
            }

            /// Returns the items that only some operations have.
            pub fn capabilities(&self) -> &'static Capabilities<Erased> {
                self.op.capabilities()
            }
        }
    };
}

erased! {
    /// Parameters of any operation: shape, offsets, ...
    Params
}
erased! {
    /// Domain of a contract of any operation.
    Domain
}
erased! {
    /// Mathematical definition of any operation, with overflow policy.
    Scheme
}

/// Kernel of any operation.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name on the command line and in every report.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Contract of the kernel.
    pub contract: Contract<Domain>,
    pub(super) typed: Arc<dyn Any + Send + Sync>,
}

/// Known bug of any operation.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Buggy code, with the contract that it claims.
    pub kernel: Kernel,
    /// Class that the judge must name.
    pub class: &'static str,
    /// Origin of the bug.
    pub origin: &'static str,
    /// Published inputs on which the mutant is wrong.
    pub witnesses: &'static [Witness],
}

/// Kernels and known bugs of an operation.
#[derive(Debug)]
pub struct Lists {
    /// Every kernel, in the order of reports.
    pub kernels: Vec<Kernel>,
    /// The known bugs.
    pub mutants: Vec<Mutant>,
    /// The known bugs that end their process.
    pub process_mutants: Vec<Kernel>,
}

impl Kernel {
    /// Returns the kernel of the operation. Panics if the kernel is one of another operation.
    pub fn typed<O: Operation>(&self) -> &operation::Kernel<O> {
        self.typed.downcast_ref().unwrap_or_else(|| panic!("{} is no kernel of {}", self.name, O::OP))
    }
}
