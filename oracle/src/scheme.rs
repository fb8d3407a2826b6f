//! Scheme of any operation: a definition, and the policy for results that do not fit. Written `NAME` or `NAME:POLICY`.

use crate::names::{UnknownName, unknown};
use crate::word::Overflow;

/// Definition in a registry.
pub trait Registered: Copy + 'static {
    /// Returns every definition of the operation.
    fn all() -> impl Iterator<Item = Self>;
    /// Returns the name used everywhere.
    fn name(self) -> &'static str;
    /// Returns the description in a list.
    fn described(self) -> Described;
}

/// Implements [`Registered`] for `&'static Definition` of a module with a list `DEFINITIONS`; the steps of a definition `d` follow `|d|`.
macro_rules! registered {
    (|$definition:ident| $steps:expr) => {
        impl $crate::scheme::Registered for &'static Definition {
            fn all() -> impl Iterator<Item = Self> {
                DEFINITIONS.iter()
            }

            fn name(self) -> &'static str {
                self.name
            }

            fn described(self) -> $crate::scheme::Described {
                let $definition = self;
                let Definition { name, summary, source, .. } = *self;
                $crate::scheme::Described { name, summary, source, steps: $steps }
            }
        }
    };
}
pub(crate) use registered;

/// Returns the names of the steps of a definition.
pub(crate) fn step_names<S>(steps: &[(&'static str, S)]) -> Vec<&'static str> {
    steps.iter().map(|(name, _)| *name).collect()
}

/// Description of a definition in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Name of each step in its source; empty if the definition is not a list of steps.
    pub steps: Vec<&'static str>,
}

impl Described {
    /// Describes every definition of an operation.
    pub fn all<D: Registered>() -> Vec<Self> {
        D::all().map(D::described).collect()
    }
}

/// Definition with the policy for results beyond the word.
#[derive(Clone, Copy, Debug)]
pub struct Scheme<D> {
    /// Mathematical definition.
    pub definition: D,
    /// Policy for results beyond the word.
    pub overflow: Overflow,
}

impl<D: Registered> Scheme<D> {
    /// Parses `NAME` or `NAME:POLICY`; the default policy is out-of-domain.
    pub fn parse(text: &str) -> Result<Self, UnknownName> {
        let (name, policy) = text.split_once(':').unwrap_or((text, Overflow::OutOfDomain.name()));
        let overflow = Overflow::ALL
            .into_iter()
            .find(|o| o.name() == policy)
            .ok_or_else(|| unknown("overflow policy", policy, Overflow::ALL.map(Overflow::name)))?;
        Self::find(name, overflow).ok_or_else(|| unknown("scheme", name, D::all().map(D::name)))
    }

    /// Finds the definition with that name, under this policy.
    pub(crate) fn find(name: &str, overflow: Overflow) -> Option<Self> {
        D::all().find(|d| d.name() == name).map(|definition| Self { definition, overflow })
    }

    /// Returns the definition of a registered name, under the default policy.
    pub(crate) fn named(name: &str) -> Self {
        Self::find(name, Overflow::OutOfDomain).expect("every rule has its schemes")
    }

    /// Returns `NAME:POLICY`, or only `NAME` if results that do not fit are out of domain.
    pub fn label(&self) -> String {
        match self.overflow {
            Overflow::OutOfDomain => self.definition.name().to_owned(),
            policy => format!("{}:{}", self.definition.name(), policy.name()),
        }
    }

    /// Returns every definition under every policy.
    pub fn every() -> impl Iterator<Item = Self> {
        D::all().flat_map(|definition| Overflow::ALL.map(|overflow| Self { definition, overflow }))
    }
}
