//! Methods of parameters, domains and schemes of any operation.

use super::operation::{Change, PathStep};
use super::values::{Domain, Params, Scheme};
use crate::operation::arguments::Arguments;
use crate::operation::case::Case;
use crate::operation::element::Element;
use crate::operation::errors::{CaseError, Unposable};
use crate::operation::expected::Expected;
use serde_json::Value as Json;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_reports::ledger::Value;
use tiebreak_worker::protocol::Job;

impl Params {
    /// Builds the job of a kernel.
    pub fn job(&self, kernel: &str) -> Job {
        self.op.job(kernel, self)
    }

    /// Returns the neutral element of tensor `t`: the zero point, which adds nothing to a result.
    pub fn neutral_element(&self, t: usize) -> i32 {
        self.op.neutral_element(self, t)
    }

    /// Returns the parameters by name, in the order for readers.
    pub fn arguments(&self) -> Vec<(String, Value)> {
        self.op.arguments(self)
    }

    /// Returns the parameters as JSON.
    pub fn json(&self) -> serde_json::Result<Json> {
        self.op.params_json(self)
    }

    /// True if a prediction without a value matches a word; see [`Causes::matches_undefined`](crate::operation::Causes::matches_undefined).
    pub fn matches_undefined(&self, outs: &[i32], index: usize) -> Option<bool> {
        (self.capabilities().causes.matches_undefined)(self, outs, index)
    }

    /// Returns multipliers and shifts, with their fractional bits.
    pub fn pairs(&self) -> Vec<(Channel, u32)> {
        (self.capabilities().counted.pairs)(self)
    }

    /// Returns the number of multiply-accumulates of a call.
    pub fn products(&self) -> u64 {
        (self.capabilities().counted.products)(self)
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.value, &other.value) || self.op.are_equal(self, other)
    }
}

impl Eq for Params {}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.op.write_params(self, f)
    }
}

impl Domain {
    /// Returns the dimensions of tensor `t` (or of the result, for `t` equal to the number of tensors), row-major.
    pub fn dimensions(&self, params: &Params, t: usize) -> Vec<usize> {
        self.op.dimensions(self, params, t)
    }

    /// Returns the values that a case may hold in tensor `t`.
    pub fn range(&self, t: usize) -> RangeInclusive<i32> {
        self.op.range(self, t)
    }

    /// True if the contract covers the parameters.
    pub fn covers(&self, params: &Params) -> bool {
        self.op.covers(self, params)
    }

    /// Describes the domain as text.
    pub fn text(&self) -> String {
        self.op.domain_text(self)
    }

    /// Returns the domain as JSON.
    pub fn json(&self) -> serde_json::Result<Json> {
        self.op.domain_json(self)
    }

    /// Returns the number of words that a case reads and writes. Fails if no case has the parameters.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        (self.capabilities().tensors.sizes)(self, params)
    }

    /// Returns the element type of tensor `t`, or of the result.
    pub fn element(&self, params: &Params, t: usize) -> Element {
        (self.capabilities().tensors.element)(self, params, t)
    }

    /// Returns the element type of the result.
    pub fn result_element(&self, params: &Params) -> Element {
        self.element(params, self.op.tensors().len())
    }

    /// Returns smaller cases of the same kind, the smallest first.
    pub fn shrink_candidates(&self, case: &Case<Params>) -> Vec<Case<Params>> {
        self.op.shrink_candidates(case, self)
    }

    /// Returns cases reduced to a single result; see [`Witnesses::isolate_result`](crate::operation::Witnesses::isolate_result).
    pub fn isolate_result(&self, case: &Case<Params>, index: usize) -> Vec<(Case<Params>, usize)> {
        (self.capabilities().witnesses.isolate_result)(case, self, index)
    }

    /// True if only lanes of compiled modules have kernels of the domain.
    pub fn is_compiled(&self) -> bool {
        (self.capabilities().compiled.is)(self)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.op.write_domain(self, f)
    }
}

impl Scheme {
    /// Returns name and policy.
    pub fn label(&self) -> String {
        self.op.label(self)
    }

    /// Computes the results by machine integers.
    pub fn expected(&self, case: &Case<Params>) -> Result<Expected, Unposable> {
        self.op.expected(self, case)
    }

    /// Computes the results by big integers.
    pub fn exact(&self, case: &Case<Params>) -> Result<Expected, Unposable> {
        self.op.exact(self, case)
    }

    /// Returns the exact value of each result, before any rounding, wrapping or clamping.
    pub fn rational(&self, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        self.op.rational(self, case)
    }

    /// Lists every change that a kernel may make to the scheme, in the order of preference.
    pub fn changes(&self, domain: &Domain) -> Vec<Change> {
        self.op.changes(self, domain)
    }

    /// Returns the causes of differences from a scheme, for a kernel with this contract; see
    /// [`Causes::in_group`](crate::operation::Causes::in_group).
    pub fn causes(&self, group: usize, scheme: &Self, domain: &Domain, kept: bool) -> Vec<Change> {
        (self.capabilities().causes.in_group)(group, self, scheme, domain, kept)
    }

    /// Returns the path from a reference to this scheme of a contract; see [`Causes::path`](crate::operation::Causes::path).
    pub fn path_from(&self, reference: &Self, domain: &Domain) -> Vec<PathStep> {
        (self.capabilities().causes.path)(self, reference, domain)
    }

    /// Returns the domain of all cases to which the scheme gives values.
    pub fn widest_domain(&self, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        self.op.widest_domain(self, ty, arguments)
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}
