//! Types of an operation, and what a change to a scheme needs of them: the same for an operation with types of its own, and for [`Erased`].
//!
//! [`Erased`]: crate::erased::Erased

use crate::operation::case::Case;
use crate::operation::change::Change;
use crate::operation::errors::Unposable;
use crate::operation::expected::Expected;
use crate::operation::{Kernel, NamedScheme, Operation};

/// Types of an operation.
pub trait Types: Sized + 'static {
    /// Parameters: shape, offsets, ...
    type Params: Clone + Send + Sync + 'static;
    /// Domain of a contract.
    type Domain: 'static;
    /// Mathematical definition with overflow policy.
    type Scheme: Clone + Send + Sync + 'static;
    /// Kernel with its contract.
    type Kernel: 'static;

    /// Returns name and policy of a scheme.
    fn label(scheme: &Self::Scheme) -> String;
    /// Computes the results by machine integers.
    fn expected(scheme: &Self::Scheme, case: &Case<Self::Params>) -> Result<Expected, Unposable>;
    /// Lists every change to a scheme that a kernel may make.
    fn changes(scheme: &Self::Scheme, domain: &Self::Domain) -> Vec<Change<Self>>;
    /// True if a prediction without a value matches a word; see [`Causes::matches_undefined`](super::Causes::matches_undefined).
    fn matches_undefined(params: &Self::Params, outs: &[i32], index: usize) -> Option<bool>;
}

impl<O: Operation> Types for O {
    type Params = O::Params;
    type Domain = O::Domain;
    type Scheme = O::Scheme;
    type Kernel = Kernel<O>;

    fn label(scheme: &O::Scheme) -> String {
        scheme.label()
    }

    fn expected(scheme: &O::Scheme, case: &Case<O::Params>) -> Result<Expected, Unposable> {
        O::expected(scheme, case)
    }

    fn changes(scheme: &O::Scheme, domain: &O::Domain) -> Vec<Change<O>> {
        O::changes(scheme, domain)
    }

    fn matches_undefined(params: &O::Params, outs: &[i32], index: usize) -> Option<bool> {
        (O::CAPABILITIES.causes.matches_undefined)(params, outs, index)
    }
}
