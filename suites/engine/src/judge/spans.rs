//! Spans of the parameters of a kernel's cases: sizes, channels, offsets and scales, by the names under which a worker reads them.

use super::numbers::Numbers;
use crate::operation::meaning::{Meaning, meaning};
use std::collections::BTreeMap;
use tiebreak_reports::ledger::{Range, Size};
use tiebreak_worker::protocol::Job;

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
    /// Adds the parameters of a job under the names by which a worker reads them: every number, every element of a list, and the length of a list as `len`.
    pub fn add(&mut self, job: &Job) {
        let mut name = String::new();
        job.serialize_params(Numbers { spans: self, name: &mut name })
            .expect("parameters are numbers, lists and fields");
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum B {
        D { c: Vec<f32> },
        Of(u8),
        Name,
    }

    #[derive(Serialize)]
    struct A {
        a: u32,
        b: B,
        e: &'static str,
        f: bool,
        g: Option<f64>,
    }

    #[test]
    fn numbers_are_noted_by_name_with_the_lengths_of_lists() {
        let mut spans = ParameterSpans::default();
        let of = |a, b, g| A { a, b, e: "x", f: true, g };
        let values = [
            of(3, B::D { c: vec![-1.0, 0.1] }, None),
            of(67, B::D { c: vec![] }, Some(f64::INFINITY)),
            of(3, B::Of(7), None),
        ];
        for value in values.into_iter().chain([of(3, B::Name, Some(0.5))]) {
            let mut name = String::new();
            value.serialize(Numbers { spans: &mut spans, name: &mut name }).expect("numbers");
            assert_eq!(name, "");
        }
        let expected =
            [("a", 3.0, 67.0), ("b.d.c", -1.0, 0.1), ("b.d.c.len", 0.0, 2.0), ("b.of", 7.0, 7.0), ("g", 0.5, 0.5)];
        let noted: Vec<_> = spans.0.iter().map(|(name, span)| (&name[..], span.least, span.greatest)).collect();
        assert_eq!(noted, expected, "0.1 is read from its shortest text, as by a worker");
        assert_eq!(spans.0["a"].remainders, 1 << 3, "67 is 3 modulo 64");
    }
}
