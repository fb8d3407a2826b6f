//! Functions of an operation on values without its types.

use super::values::{Domain, Kernel, Lists, Params, Scheme};
use crate::operation;
use crate::operation::arguments::Arguments;
use crate::operation::case::{Case, Spec};
use crate::operation::errors::{CaseError, Unposable};
use crate::operation::expected::Expected;
use crate::operation::selection::{CaseSelection, Wanted};
use crate::operation::types::Types;
use serde_json::Value as Json;
use std::any::TypeId;
use std::fmt;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_impls::Form;
use tiebreak_impls::contract::Contract;
use tiebreak_oracle::Rational;
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::Value;
use tiebreak_worker::protocol::Job;

/// Types of any operation.
pub struct Erased;

/// Change to a scheme of any operation.
pub type Change = operation::Change<Erased>;
/// Step on the path to a scheme of any operation.
pub type PathStep = operation::PathStep<Erased>;
/// Negative control of any operation.
pub type Control = operation::Control<Erased>;
/// Case of any operation.
pub type AnyCase = Case<Params>;

/// An operation, without its types.
pub type Op = &'static dyn AnyOperation;

impl Types for Erased {
    type Params = Params;
    type Domain = Domain;
    type Scheme = Scheme;
    type Kernel = Kernel;

    fn label(scheme: &Scheme) -> String {
        scheme.label()
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        scheme.expected(case)
    }

    fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change> {
        scheme.changes(domain)
    }

    fn matches_undefined(params: &Params, outs: &[i32], index: usize) -> Option<bool> {
        params.matches_undefined(outs, index)
    }
}

/// Functions of an operation on values without its types; see [`crate::operation::Operation`] for each. A value of another operation is a panic.
pub trait AnyOperation: Send + Sync {
    /// Identifies the operation: two operations of a test may have one name.
    fn id(&self) -> TypeId;
    /// Returns the name of the operation.
    fn name(&self) -> &'static str;
    /// Returns the names of the input tensors.
    fn tensors(&self) -> &'static [&'static str];
    /// Returns the corner catalogue, as text.
    fn catalogue(&self) -> &'static str;
    /// Returns the items that only some operations have.
    fn capabilities(&self) -> &'static operation::Capabilities<Erased>;
    /// Returns the kernels and known bugs.
    fn lists(&self) -> &'static Lists;
    /// Returns a kernel that a caller offers under this name.
    fn elsewhere(&self, name: &str) -> Option<&'static Kernel>;
    /// Adds a kernel of a caller, which has a contract and no code.
    fn adopt(&self, name: &'static str, summary: &'static str, contract: &Contract<Domain>);

    /// Describes the schemes.
    fn schemes(&self) -> Vec<Described>;
    /// Parses the name of a scheme, `NAME` or `NAME:POLICY`.
    fn scheme(&self, text: &str) -> Result<Scheme, UnknownName>;
    /// Reads parameters.
    fn params(&self, json: &Json) -> serde_json::Result<Params>;
    /// Reads a domain.
    fn domain(&self, json: &Json) -> serde_json::Result<Domain>;
    /// Parses parameters from names and values; a missing value means the default.
    fn params_of(&self, arguments: &Arguments) -> Result<Params, CaseError>;

    /// Describes what executes of a kernel under a form.
    fn isa_path(&self, kernel: &Kernel, form: Form) -> String;
    /// Returns the vector instructions of a kernel.
    fn instructions(&self, kernel: &Kernel) -> Option<&'static [&'static str]>;
    /// Returns the name of the reference of a kernel.
    fn reference(&self, kernel: &Kernel, wanted: &Wanted) -> Option<String>;

    /// Returns name and policy of a scheme.
    fn label(&self, scheme: &Scheme) -> String;
    /// Computes the results by machine integers.
    fn expected(&self, scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable>;
    /// Computes the results by big integers.
    fn exact(&self, scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable>;
    /// Returns the exact value of each result.
    fn rational(&self, scheme: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>>;
    /// Lists every change to a scheme that a kernel may make.
    fn changes(&self, scheme: &Scheme, domain: &Domain) -> Vec<Change>;
    /// Returns the domain of all cases to which a scheme gives values.
    fn widest_domain(&self, scheme: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError>;

    /// Returns the dimensions of tensor `t`, or of the result.
    fn dimensions(&self, domain: &Domain, params: &Params, t: usize) -> Vec<usize>;
    /// Returns the values that a case may hold in tensor `t`.
    fn range(&self, domain: &Domain, t: usize) -> RangeInclusive<i32>;
    /// True if the contract covers the parameters.
    fn covers(&self, domain: &Domain, params: &Params) -> bool;
    /// Describes a domain as text.
    fn domain_text(&self, domain: &Domain) -> String;
    /// Returns a domain as JSON.
    fn domain_json(&self, domain: &Domain) -> serde_json::Result<Json>;
    /// Writes a domain for debugging.
    fn write_domain(&self, domain: &Domain, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Returns the operation's own cases of a plan.
    fn own_plan(&self, domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>>;
    /// Returns smaller cases of the same kind, the smallest first.
    fn shrink_candidates(&self, case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>>;

    /// Builds the job of a kernel.
    fn job(&self, kernel: &str, params: &Params) -> Job;
    /// Returns the neutral element of tensor `t`.
    fn neutral_element(&self, params: &Params, t: usize) -> i32;
    /// Returns the parameters by name.
    fn arguments(&self, params: &Params) -> Vec<(String, Value)>;
    /// Returns parameters as JSON.
    fn params_json(&self, params: &Params) -> serde_json::Result<Json>;
    /// True if the parameters are equal.
    fn are_equal(&self, one: &Params, other: &Params) -> bool;
    /// Writes parameters for debugging.
    fn write_params(&self, params: &Params, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl PartialEq for dyn AnyOperation {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for dyn AnyOperation {}

impl fmt::Debug for dyn AnyOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
