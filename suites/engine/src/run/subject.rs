//! Kernel with contract and reference, and cases with their expected results.

use crate::erased::{Kernel, Op, Params, PathStep, Scheme};
use crate::operation::case::{Case, Spec};
use crate::operation::case_cache::{CaseCache, Steps};
use crate::operation::errors::Unposable;
use crate::operation::expected::Expected;
use crate::operation::request::Request;
use anyhow::{Context, Result};
use std::sync::Arc;

/// Kernel with contract and reference.
pub(crate) struct Subject {
    pub(crate) kernel: &'static Kernel,
    pub(crate) contract: Scheme,
    pub(crate) reference: Option<Scheme>,
    pub(crate) path: Vec<PathStep>,
    /// Cache keys of the results expected by contract and by reference; the second names both schemes.
    sides: [String; 2],
}

impl Subject {
    pub(crate) fn new(request: &Request, kernel: &'static Kernel) -> Result<Self> {
        let reference = kernel.op().reference(kernel, &request.wanted());
        let contract = kernel.scheme()?;
        // A comparison with its own scheme counts nothing, unless the contract declares deviations.
        let same = |scheme: &Scheme| {
            scheme.label() == contract.label() && (contract.capabilities().deviations.declared)(&contract).is_empty()
        };
        let reference = reference.map(|name| kernel.op().scheme(&name)).transpose()?.filter(|scheme| !same(scheme));
        let domain = &kernel.contract.domain;
        let path = reference.as_ref().map_or(Vec::new(), |reference| contract.path_from(reference, domain));
        let own = identity(kernel);
        let sides = [own.clone(), format!("{} beside {own}", reference.as_ref().map_or(String::new(), Scheme::label))];
        Ok(Self { kernel, contract, reference, path, sides })
    }

    /// Makes the case of a spec, with the results that each side expects; `None` if the case has no size.
    pub(crate) fn expected_case(&self, spec: &Spec<Params>, seed: u64) -> Option<Result<ExpectedCase>> {
        let case = spec.cache.case(|| spec.case(&self.kernel.contract.domain, seed).map(sized))?;
        Some(self.expecting(case, &spec.cache))
    }

    pub(crate) fn expect_case(&self, case: Case<Params>) -> Result<ExpectedCase> {
        self.expecting(Arc::new(case), &CaseCache::NOTHING)
    }

    fn expecting(&self, case: Arc<Case<Params>>, cache: &CaseCache<Case<Params>>) -> Result<ExpectedCase> {
        let described = || format!("{} {}", self.kernel.op().name(), self.kernel.name);
        let [own, beside] = &self.sides;
        let (contract, mut is_new) = cache.expected(own, || self.contract.expected(&case)).with_context(described)?;
        let of_reference = |scheme: &Scheme| {
            let expected = || Ok::<_, Unposable>(mask_undefined(case.params.op(), &contract, scheme.expected(&case)?));
            cache.expected(beside, expected).with_context(described)
        };
        let reference = self.reference.as_ref().map(of_reference).transpose()?.map(|(reference, new)| {
            is_new |= new;
            reference
        });
        let steps = cache.steps(beside);
        Ok(ExpectedCase { case, contract, reference, is_new, steps })
    }
}

/// Returns a case with the number of elements.
pub(crate) fn sized(case: Case<Params>) -> (Case<Params>, usize) {
    let elements = case.tensors.iter().map(Vec::len).sum();
    (case, elements)
}

/// Returns a text that identifies the expectations of a contract, equal for all kernels of the same promise and deviations.
pub(crate) fn identity(kernel: &Kernel) -> String {
    format!("{:?} {:?}", kernel.contract.promise, kernel.contract.deviations)
}

/// Case with the results that each side expects.
#[derive(Clone)]
pub struct ExpectedCase {
    /// Case to run.
    pub case: Arc<Case<Params>>,
    /// Results expected by the contract.
    pub contract: Arc<Expected>,
    /// Results expected by the reference.
    pub reference: Option<Arc<Expected>>,
    /// True if a side was computed for this kernel, rather than for an earlier kernel.
    pub(crate) is_new: bool,
    /// Cached results of the steps from the reference to the contract.
    pub(crate) steps: Steps<Case<Params>>,
}

impl ExpectedCase {
    /// Creates a case with the results that contract and reference expect.
    pub fn new(case: Case<Params>, contract: Expected, reference: Option<Expected>) -> Self {
        let reference = reference.map(Arc::new);
        Self {
            case: Arc::new(case),
            contract: Arc::new(contract),
            reference,
            is_new: true,
            steps: CaseCache::NOTHING.steps(""),
        }
    }

    /// Returns the results of step `at` on the path from the reference to the contract.
    pub(crate) fn step(&self, at: usize, work_out: impl FnOnce() -> Option<Expected>) -> Option<Arc<Expected>> {
        self.steps.expected(at, work_out)
    }
}

/// Computes the results that a scheme expects. An operation may leave out words for which the contract gives no value.
pub fn expected_masked(contract: &Scheme, scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
    let expected = scheme.expected(case)?;
    Ok(if scheme.capabilities().causes.undefined_class.is_none() {
        mask_undefined(scheme.op(), &contract.expected(case)?, expected)
    } else {
        expected
    })
}

/// Restricts the results of a reference. An operation may leave out words for which the contract gives no value.
pub fn mask_undefined(op: Op, contract: &Expected, mut reference: Expected) -> Expected {
    if op.capabilities().causes.undefined_class.is_none() {
        reference.iter_mut().zip(contract).filter(|(_, own)| own.is_none()).for_each(|(value, _)| *value = None);
    }
    reference
}
