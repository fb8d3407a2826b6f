//! A kernel with what it is judged against, and its cases with what is expected of them.

use crate::operation::case::Case;
use crate::operation::change::PathStep;
use crate::operation::errors::Unposable;
use crate::operation::expected::Expected;
use crate::operation::request::Request;
use crate::operation::{Kernel, Operation, contract, label, path, scheme_named};
use anyhow::{Context, Result};

/// A kernel with what it is judged against.
pub(crate) struct Subject<O: Operation> {
    pub(crate) kernel: &'static Kernel<O>,
    pub(crate) contract: O::Scheme,
    pub(crate) reference: Option<O::Scheme>,
    pub(crate) path: Vec<PathStep<O>>,
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
        Ok(Self { kernel, contract, reference, path })
    }

    pub(crate) fn pose(&self, case: Case<O::Params>) -> Result<Posed<O::Params>> {
        let described = || format!("{} {}", O::OP, self.kernel.name);
        let contract = O::expected(&self.contract, &case).with_context(described)?;
        let reference =
            self.reference.as_ref().map(|scheme| O::expected(scheme, &case).with_context(described)).transpose()?;
        let reference = reference.map(|reference| held::<O>(&contract, reference));
        Ok(Posed { case, contract, reference })
    }
}

/// A case with what each side expects of it.
pub struct Posed<P> {
    /// The case.
    pub case: Case<P>,
    /// By the contract.
    pub contract: Expected,
    /// By the reference.
    pub reference: Option<Expected>,
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
