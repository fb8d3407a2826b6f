//! Methods of kernels, and lists of kernels and known bugs.

use super::operation::{AnyOperation, Op};
use super::values::{Kernel, Lists, Mutant, Params, Scheme};
use crate::operation::scheme::overflow;
use tiebreak_oracle::names::UnknownName;

impl Kernel {
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
}

impl dyn AnyOperation {
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
