//! Cases, their values, and inputs that show a difference.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Value of an argument or a result: an integer, or a text for other values (types, floats).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// Integer.
    Integer(i64),
    /// Any other value, without spaces.
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Arguments by name, in the order in which the operation takes them.
pub type Case = IndexMap<String, Value>;

/// Smallest input that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Witness {
    /// Arguments of the case, such as `x`, `m`, `s`.
    pub case: Case,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme; absent if the kernel gave no result to compare (a crash).
    pub expected: Option<Value>,
    /// Scheme that gives `expected`: the scheme of the row, or of the declared deviation that applies to this input.
    pub scheme: String,
    /// Class of the difference.
    pub class: String,
    /// Cause that reproduces the kernel's output, as text.
    pub because: String,
    /// Command that reproduces this case.
    pub command: String,
}

/// Differing input of a further class, in addition to the witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Example {
    /// Class of the difference.
    pub class: String,
    /// Case, as in `mismatches.csv`.
    pub case: String,
    /// Result of the kernel.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
    /// Command that reproduces this case.
    pub command: String,
}
