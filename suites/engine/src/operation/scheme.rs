//! A scheme of any operation, as lists, contracts and callers name it.

use tiebreak_impls::contract::{Overflow, Promise};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::{Described, Registered, Scheme};

/// A mathematical definition with its overflow policy.
pub trait NamedScheme: Clone + Send + Sync {
    /// Every scheme, for lists.
    fn described() -> Vec<Described>;
    /// The scheme of that name, `NAME` or `NAME:POLICY`.
    fn named(text: &str) -> Result<Self, UnknownName>;
    /// Name and policy.
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

/// The scheme of a promise.
pub fn promised<S: NamedScheme>(promise: Promise) -> Result<S, UnknownName> {
    S::named(&format!("{}:{}", promise.scheme, overflow(promise.overflow)))
}

/// Name of a contract's policy, as schemes name theirs.
pub fn overflow(policy: Overflow) -> &'static str {
    match policy {
        Overflow::Wrap => "wrap",
        Overflow::Saturate => "saturate",
        Overflow::OutOfDomain => "out-of-domain",
    }
}
