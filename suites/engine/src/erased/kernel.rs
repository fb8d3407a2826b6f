//! Kernels and known bugs of any operation.

use super::{Domain, Op, Params, Scheme};
use crate::operation::{Operation, overflow};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tiebreak_impls::contract::Contract;
use tiebreak_impls::mutants::Witness;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_oracle::names::UnknownName;

/// Kernel of any operation.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name on the command line and in every report.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Contract of the kernel.
    pub contract: Contract<Domain>,
    typed: Arc<dyn Any + Send + Sync>,
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
    /// Wraps a kernel of an operation.
    pub fn of<O: Operation>(kernel: &crate::operation::Kernel<O>) -> Self {
        let Contract { promise, ref domain, deviations, source } = kernel.contract;
        let domain = Domain::of::<O>(domain.clone());
        let contract = Contract { promise, domain, deviations, source };
        Self { name: kernel.name, summary: kernel.summary, contract, typed: Arc::new(kernel.clone()) }
    }

    /// Returns the kernel of the operation. Panics if the kernel is one of another operation.
    pub fn typed<O: Operation>(&self) -> &crate::operation::Kernel<O> {
        self.typed.downcast_ref().unwrap_or_else(|| panic!("{} is no kernel of {}", self.name, O::OP))
    }

    /// Returns the operation.
    pub fn op(&self) -> Op {
        self.contract.domain.op()
    }

    /// Returns the scheme of the contract, without deviations.
    pub fn promise(&self) -> Result<Scheme, UnknownName> {
        let promise = self.contract.promise;
        self.op().scheme(&format!("{}:{}", promise.scheme, overflow(promise.overflow)))
    }

    /// Returns the scheme of the contract, with the declared deviations.
    pub fn scheme(&self) -> Result<Scheme, UnknownName> {
        (self.op().capabilities().deviations.contract)(self)
    }

    /// True if the kernel is a caller's: only lanes that offer the kernel can run it.
    pub fn is_elsewhere(&self) -> bool {
        self.op().lists().find(self.name).is_none()
    }

    /// True if the contract covers the parameters.
    pub fn covers(&self, params: &Params) -> bool {
        self.contract.domain.covers(params)
    }
}

impl Lists {
    /// Returns kernels and known bugs, those that end their process last.
    pub fn every(&self) -> impl Iterator<Item = &Kernel> {
        let mutants = self.mutants.iter().map(|mutant| &mutant.kernel);
        self.kernels.iter().chain(mutants).chain(&self.process_mutants)
    }

    /// Returns the kernel or known bug of a name.
    pub fn find(&self, name: &str) -> Option<&Kernel> {
        self.every().find(|known| known.name == name)
    }

    /// Returns the lists of an operation, made at the first call.
    pub(super) fn of<O: Operation>() -> &'static Self {
        static MADE: LazyLock<Mutex<HashMap<TypeId, &'static Lists>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(TypeId::of::<O>()).or_insert_with(|| Box::leak(Box::new(Self::new::<O>())))
    }

    fn new<O: Operation>() -> Self {
        let mutant = |mutant: &crate::operation::Mutant<O>| Mutant {
            kernel: Kernel::of::<O>(&mutant.kernel),
            class: mutant.class,
            origin: mutant.origin,
            witnesses: mutant.witnesses,
        };
        Self {
            kernels: O::Impl::kernels().iter().map(Kernel::of::<O>).collect(),
            mutants: O::Impl::mutants().iter().map(mutant).collect(),
            process_mutants: <O::Impl as TensorOperation>::process_mutants().iter().map(Kernel::of::<O>).collect(),
        }
    }

    /// Returns a caller's kernel, made at the first call.
    pub(super) fn elsewhere<O: Operation>(kernel: &'static crate::operation::Kernel<O>) -> &'static Kernel {
        static MADE: LazyLock<Mutex<HashMap<usize, &'static Kernel>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller's kernel is kept until the process ends, so that its address is its own.
        made.entry(std::ptr::from_ref(kernel).addr()).or_insert_with(|| Box::leak(Box::new(Kernel::of::<O>(kernel))))
    }
}

impl dyn super::AnyOperation {
    /// Returns every kernel, in the order of reports.
    pub fn kernels(&self) -> &'static [Kernel] {
        &self.lists().kernels
    }

    /// Returns the known bugs.
    pub fn mutants(&self) -> &'static [Mutant] {
        &self.lists().mutants
    }

    /// Returns the kernel or known bug of a name, or the caller's kernel.
    pub fn find(&self, name: &str) -> Option<&'static Kernel> {
        self.lists().find(name).or_else(|| self.elsewhere(name))
    }

    /// Returns the names of all kernels and known bugs, without those that end their process.
    pub fn every(&self) -> Vec<&'static str> {
        let mutants = self.mutants().iter().map(|mutant| mutant.kernel.name);
        self.kernels().iter().map(|kernel| kernel.name).chain(mutants).collect()
    }
}
