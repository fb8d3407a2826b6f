//! Errors of cases: in the text of a case, or in the request to the oracle.

use std::fmt::Display;
use tiebreak_impls::shape::ShapeError;
use tiebreak_mlir::types::TypeError;
use tiebreak_oracle::names::UnknownName;

/// Error in the text of a case, in a value, or in a line of the catalogue, with the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", name.as_ref().map_or(String::new(), |name| format!("{name}: ")))]
pub struct CaseError {
    name: Option<String>,
    reason: String,
}

impl CaseError {
    /// Attributes the error to the value of `name`.
    pub fn of(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), reason: self.to_string() }
    }
}

impl From<String> for CaseError {
    fn from(reason: String) -> Self {
        Self { name: None, reason }
    }
}

impl From<&str> for CaseError {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

impl From<ShapeError> for CaseError {
    fn from(error: ShapeError) -> Self {
        Self { name: Some(error.argument.to_owned()), reason: error.rule }
    }
}

impl From<UnknownName> for CaseError {
    fn from(error: UnknownName) -> Self {
        error.to_string().into()
    }
}

impl From<TypeError> for CaseError {
    fn from(error: TypeError) -> Self {
        error.to_string().into()
    }
}

/// Reason for which the oracle gives no results: tensor sizes contradict the parameters, or the scheme does not have the parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unposable(String);

impl Unposable {
    /// Wraps the oracle's own reason.
    pub fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }
}

impl From<TypeError> for Unposable {
    fn from(error: TypeError) -> Self {
        Self::new(error)
    }
}
