//! Kernel with contract and reference, and cases with their expected results.

use crate::operation::case::{Case, Spec};
use crate::operation::case_cache::{CaseCache, Steps};
use crate::operation::change::PathStep;
use crate::operation::errors::Unposable;
use crate::operation::expected::Expected;
use crate::operation::request::Request;
use crate::operation::{Kernel, Operation, contract, label, path, scheme_named};
use anyhow::{Context, Result};
use std::sync::Arc;

/// Kernel with contract and reference.
pub(crate) struct Subject<O: Operation> {
    pub(crate) kernel: &'static Kernel<O>,
    pub(crate) contract: O::Scheme,
    pub(crate) reference: Option<O::Scheme>,
    pub(crate) path: Vec<PathStep<O>>,
    /// Cache keys of the results expected by contract and by reference; the second names both schemes.
    sides: [String; 2],
}

impl<O: Operation> Subject<O> {
    pub(crate) fn new(request: &Request, kernel: &'static Kernel<O>) -> Result<Self> {
        let reference = O::reference(kernel, &request.wanted());
        let contract = contract::<O>(kernel)?;
        // A comparison with its own scheme counts nothing, unless the contract declares deviations.
        let same = |scheme: &O::Scheme| {
            label::<O>(scheme) == label::<O>(&contract) && (O::CAPABILITIES.deviations.declared)(&contract).is_empty()
        };
        let reference = reference.map(|name| scheme_named::<O>(&name)).transpose()?.filter(|scheme| !same(scheme));
        let domain = &kernel.contract.domain;
        let path = reference.as_ref().map_or(Vec::new(), |reference| path::<O>(&contract, reference, domain));
        let own = identity(kernel);
        let sides = [own.clone(), format!("{} beside {own}", reference.as_ref().map_or(String::new(), label::<O>))];
        Ok(Self { kernel, contract, reference, path, sides })
    }

    /// Makes the case of a spec, with the results that each side expects; `None` if the case has no size.
    pub(crate) fn expected_case(&self, spec: &Spec<O::Params>, seed: u64) -> Option<Result<ExpectedCase<O::Params>>> {
        let case = spec.cache.case(|| spec.case::<O>(&self.kernel.contract.domain, seed).map(sized))?;
        Some(self.expecting(case, &spec.cache))
    }

    pub(crate) fn expect_case(&self, case: Case<O::Params>) -> Result<ExpectedCase<O::Params>> {
        self.expecting(Arc::new(case), &CaseCache::NOTHING)
    }

    fn expecting(
        &self,
        case: Arc<Case<O::Params>>,
        cache: &CaseCache<Case<O::Params>>,
    ) -> Result<ExpectedCase<O::Params>> {
        let described = || format!("{} {}", O::OP, self.kernel.name);
        let [own, beside] = &self.sides;
        let (contract, mut is_new) =
            cache.expected(own, || O::expected(&self.contract, &case)).with_context(described)?;
        let of_reference = |scheme| {
            let expected = || Ok::<_, Unposable>(mask_undefined::<O>(&contract, O::expected(scheme, &case)?));
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
pub(crate) fn sized<P>(case: Case<P>) -> (Case<P>, usize) {
    let elements = case.tensors.iter().map(Vec::len).sum();
    (case, elements)
}

/// Returns a text that identifies the expectations of a contract, equal for all kernels of the same promise and deviations.
pub(crate) fn identity<R, D>(kernel: &tiebreak_impls::kernel::Kernel<R, D>) -> String {
    format!("{:?} {:?}", kernel.contract.promise, kernel.contract.deviations)
}

/// Case with the results that each side expects.
pub struct ExpectedCase<P> {
    /// Case to run.
    pub case: Arc<Case<P>>,
    /// Results expected by the contract.
    pub contract: Arc<Expected>,
    /// Results expected by the reference.
    pub reference: Option<Arc<Expected>>,
    /// True if a side was computed for this kernel, rather than for an earlier kernel.
    pub(crate) is_new: bool,
    /// Cached results of the steps from the reference to the contract.
    pub(crate) steps: Steps<Case<P>>,
}

impl<P> Clone for ExpectedCase<P> {
    fn clone(&self) -> Self {
        let Self { case, contract, reference, is_new, steps } = self;
        let (case, contract, reference) = (Arc::clone(case), Arc::clone(contract), reference.clone());
        Self { case, contract, reference, is_new: *is_new, steps: steps.clone() }
    }
}

impl<P> ExpectedCase<P> {
    /// Creates a case with the results that contract and reference expect.
    pub fn new(case: Case<P>, contract: Expected, reference: Option<Expected>) -> Self {
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
pub fn expected_masked<O: Operation>(
    contract: &O::Scheme,
    scheme: &O::Scheme,
    case: &Case<O::Params>,
) -> Result<Expected, Unposable> {
    let expected = O::expected(scheme, case)?;
    Ok(if O::CAPABILITIES.causes.undefined_class.is_none() {
        mask_undefined::<O>(&O::expected(contract, case)?, expected)
    } else {
        expected
    })
}

/// Restricts the results of a reference. An operation may leave out words for which the contract gives no value.
pub fn mask_undefined<O: Operation>(contract: &Expected, mut reference: Expected) -> Expected {
    if O::CAPABILITIES.causes.undefined_class.is_none() {
        reference.iter_mut().zip(contract).filter(|(_, own)| own.is_none()).for_each(|(value, _)| *value = None);
    }
    reference
}
