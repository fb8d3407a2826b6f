//! Spans of the parameters of a kernel's cases: sizes, channels, offsets and scales, by the names under which a worker reads them.

use crate::operation::meaning::{Meaning, meaning};
use serde_json::Value;
use std::collections::BTreeMap;
use tiebreak_reports::ledger::{Range, Size};

/// Modulus for the remainders of sizes; no vector of a machine with kernels is longer.
pub const REMAINDERS: u64 = 64;

/// Span of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    least: f64,
    greatest: f64,
    /// Bit set of the remainders of whole numbers modulo [`REMAINDERS`].
    remainders: u64,
}

/// Spans of parameters, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterSpans(BTreeMap<String, Span>);

impl ParameterSpans {
    /// Adds the parameters of a case: every number by name, every element of a list, and the length of a list as `len`.
    pub fn add(&mut self, params: &Value) {
        self.walk("", params);
    }

    /// Adds a number under a name.
    pub fn note(&mut self, name: &str, value: f64) {
        let whole = value >= 0.0 && value.fract() == 0.0;
        let remainders = if whole { 1 << (value as u64 % REMAINDERS) } else { 0 };
        self.widen(name, Span { least: value, greatest: value, remainders });
    }

    /// Adds other spans.
    pub fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(name, span)| self.widen(&name, span));
    }

    fn widen(&mut self, name: &str, by: Span) {
        match self.0.get_mut(name) {
            Some(span) => {
                *span = Span {
                    least: span.least.min(by.least),
                    greatest: span.greatest.max(by.greatest),
                    remainders: span.remainders | by.remainders,
                };
            }
            None => drop(self.0.insert(name.to_owned(), by)),
        }
    }

    fn walk(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.walk(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, value);
                }
            }
            Value::Array(all) => {
                self.note(&format!("{name}.len"), all.len() as f64);
                all.iter().for_each(|value| self.walk(name, value));
            }
            value => value.as_f64().into_iter().for_each(|number| self.note(name, number)),
        }
    }

    /// Returns the sizes, for a ledger.
    pub fn sizes(&self) -> BTreeMap<String, Size> {
        let size = |span: &Span| Size {
            least: span.least as u64,
            greatest: span.greatest as u64,
            remainders: span.remainders.count_ones(),
        };
        let sizes = self.0.iter().filter(|(name, span)| meaning(name, span.least) == Meaning::Size);
        sizes.map(|(name, span)| (name.clone(), size(span))).collect()
    }

    /// Returns all other parameters, for a ledger.
    pub fn ranges(&self) -> BTreeMap<String, Range> {
        let others = self.0.iter().filter(|(name, span)| meaning(name, span.least) != Meaning::Size);
        others.map(|(name, span)| (name.clone(), Range { least: span.least, greatest: span.greatest })).collect()
    }
}
