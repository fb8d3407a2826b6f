//! Schemes of any operation, by the names used in lists, contracts and requests.

use tiebreak_impls::contract::{Overflow, Promise};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::{Described, Registered, Scheme};

/// Mathematical definition with overflow policy.
pub trait NamedScheme: Clone + Send + Sync + 'static {
    /// Lists every scheme with a description.
    fn described() -> Vec<Described>;
    /// Parses the name of a scheme, `NAME` or `NAME:POLICY`.
    fn named(text: &str) -> Result<Self, UnknownName>;
    /// Returns name and policy.
    fn label(&self) -> String;
}

impl<D: Registered + Send + Sync> NamedScheme for Scheme<D> {
    fn described() -> Vec<Described> {
        Described::all::<D>()
    }

    fn named(text: &str) -> Result<Self, UnknownName> {
        Self::parse(text)
    }

    fn label(&self) -> String {
        Scheme::label(self)
    }
}

/// Returns the scheme of a promise.
pub fn promised<S: NamedScheme>(promise: Promise) -> Result<S, UnknownName> {
    S::named(&format!("{}:{}", promise.scheme, overflow(promise.overflow)))
}

/// Returns the name of a contract's overflow policy, as in the labels of schemes.
pub fn overflow(policy: Overflow) -> &'static str {
    match policy {
        Overflow::Wrap => "wrap",
        Overflow::Saturate => "saturate",
        Overflow::OutOfDomain => "out-of-domain",
    }
}
