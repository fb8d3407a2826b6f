//! A kernel with what it is judged against, and its cases with what is expected of them.

use crate::operation::case::{Case, Spec};
use crate::operation::change::PathStep;
use crate::operation::errors::Unposable;
use crate::operation::expected::Expected;
use crate::operation::request::Request;
use crate::operation::worked::{Steps, Worked};
use crate::operation::{Kernel, Operation, contract, label, path, scheme_named};
use anyhow::{Context, Result};
use std::sync::Arc;

/// A kernel with what it is judged against.
pub(crate) struct Subject<O: Operation> {
    pub(crate) kernel: &'static Kernel<O>,
    pub(crate) contract: O::Scheme,
    pub(crate) reference: Option<O::Scheme>,
    pub(crate) path: Vec<PathStep<O>>,
    /// What is expected by contract and reference, in a text that names both.
    sides: [String; 2],
}

impl<O: Operation> Subject<O> {
    pub(crate) fn new(request: &Request, kernel: &'static Kernel<O>) -> Result<Self> {
        let reference = O::reference(kernel, &request.wanted());
        let contract = contract::<O>(kernel)?;
        // Against its own scheme there is nothing to count, but for what it declares.
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

    /// The case of a spec, with what each side expects of it; nothing if it has no size.
    pub(crate) fn posed(&self, spec: &Spec<O::Params>, seed: u64) -> Option<Result<Posed<O::Params>>> {
        let case = spec.worked.case(|| spec.case::<O>(&self.kernel.contract.domain, seed).map(sized))?;
        Some(self.expecting(case, &spec.worked))
    }

    pub(crate) fn pose(&self, case: Case<O::Params>) -> Result<Posed<O::Params>> {
        self.expecting(Arc::new(case), &Worked::NOTHING)
    }

    fn expecting(&self, case: Arc<Case<O::Params>>, worked: &Worked<Case<O::Params>>) -> Result<Posed<O::Params>> {
        let described = || format!("{} {}", O::OP, self.kernel.name);
        let [own, beside] = &self.sides;
        let (contract, mut is_new) =
            worked.expected(own, || O::expected(&self.contract, &case)).with_context(described)?;
        let of_reference = |scheme| {
            let expected = || Ok::<_, Unposable>(held::<O>(&contract, O::expected(scheme, &case)?));
            worked.expected(beside, expected).with_context(described)
        };
        let reference = self.reference.as_ref().map(of_reference).transpose()?.map(|(reference, new)| {
            is_new |= new;
            reference
        });
        let steps = worked.steps(beside);
        Ok(Posed { case, contract, reference, is_new, steps })
    }
}

/// A case with the number of its elements.
pub(crate) fn sized<P>(case: Case<P>) -> (Case<P>, usize) {
    let elements = case.tensors.iter().map(Vec::len).sum();
    (case, elements)
}

/// What a kernel's contract expects, in a text that is the same for another kernel of the same promise.
pub(crate) fn identity<R, D>(kernel: &tiebreak_impls::kernel::Kernel<R, D>) -> String {
    format!("{:?} {:?}", kernel.contract.promise, kernel.contract.deviations)
}

/// A case with what each side expects of it.
pub struct Posed<P> {
    /// The case.
    pub case: Arc<Case<P>>,
    /// By the contract.
    pub contract: Arc<Expected>,
    /// By the reference.
    pub reference: Option<Arc<Expected>>,
    /// Whether a side was worked out for this kernel, and not for one before it.
    pub(crate) is_new: bool,
    /// What the steps from the reference to the contract give, as far as it was worked out.
    pub(crate) steps: Steps<Case<P>>,
}

impl<P> Clone for Posed<P> {
    fn clone(&self) -> Self {
        let Self { case, contract, reference, is_new, steps } = self;
        let (case, contract, reference) = (Arc::clone(case), Arc::clone(contract), reference.clone());
        Self { case, contract, reference, is_new: *is_new, steps: steps.clone() }
    }
}

impl<P> Posed<P> {
    /// A case with what contract and reference expect of it.
    pub fn new(case: Case<P>, contract: Expected, reference: Option<Expected>) -> Self {
        let reference = reference.map(Arc::new);
        Self {
            case: Arc::new(case),
            contract: Arc::new(contract),
            reference,
            is_new: true,
            steps: Worked::NOTHING.steps(""),
        }
    }

    /// What the step at a place of the path from the reference to the contract gives of the case.
    pub(crate) fn step(&self, at: usize, work_out: impl FnOnce() -> Option<Expected>) -> Option<Arc<Expected>> {
        self.steps.expected(at, work_out)
    }
}

/// What a scheme expects of a case. An operation may leave out what the contract gives no value to.
pub fn held_against<O: Operation>(
    contract: &O::Scheme,
    scheme: &O::Scheme,
    case: &Case<O::Params>,
) -> Result<Expected, Unposable> {
    let expected = O::expected(scheme, case)?;
    Ok(if O::CAPABILITIES.causes.open.is_none() {
        held::<O>(&O::expected(contract, case)?, expected)
    } else {
        expected
    })
}

/// What a reference expects beside a contract. An operation may leave out what the contract gives no value to.
pub fn held<O: Operation>(contract: &Expected, mut reference: Expected) -> Expected {
    if O::CAPABILITIES.causes.open.is_none() {
        reference.iter_mut().zip(contract).filter(|(_, own)| own.is_none()).for_each(|(value, _)| *value = None);
    }
    reference
}
