//! Spans of the parameters of a kernel's cases: sizes, channels, offsets and scales, by the names under which a worker reads them.

use crate::operation::meaning::{Meaning, meaning};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
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
    /// Adds the parameters of a job, as a worker reads them: every number by name, every element of a list, and the length of a list as `len`. A
    /// job that cannot be serialized adds nothing.
    pub fn add(&mut self, job: &Job) {
        #[derive(Deserialize)]
        struct Sent<'a> {
            #[serde(borrow)]
            params: &'a RawValue,
        }
        let Ok(text) = serde_json::to_string(job) else { return };
        let Ok(Sent { params }) = serde_json::from_str(&text) else { return };
        // Text that the serializer wrote has no errors.
        let _ = Numbers { spans: self, name: "" }.deserialize(&mut serde_json::Deserializer::from_str(params.get()));
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

/// Numbers in JSON, noted under a name. Every case of a run passes here, so that no value of the JSON is built.
struct Numbers<'a> {
    spans: &'a mut ParameterSpans,
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.spans.note(self.name, number as f64);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.spans.note(self.name, number as f64);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.spans.note(self.name, number);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (spans, mut len) = (self.spans, 0);
        while list.next_element_seed(Numbers { spans: &mut *spans, name: self.name })?.is_some() {
            len += 1;
        }
        spans.note(&format!("{}.len", self.name), f64::from(len));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<&str>()? {
            let name = if self.name.is_empty() { Cow::Borrowed(key) } else { format!("{}.{key}", self.name).into() };
            fields.next_value_seed(Numbers { spans: &mut *self.spans, name: &name })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_noted_by_name_with_the_lengths_of_lists() {
        let mut spans = ParameterSpans::default();
        for json in
            [r#"{"a": 3, "b": {"c": [-1, 2.5], "d": null}, "e": "x", "f": true}"#, r#"{"a": 67, "b": {"c": []}}"#]
        {
            let numbers = Numbers { spans: &mut spans, name: "" };
            numbers.deserialize(&mut serde_json::Deserializer::from_str(json)).expect("JSON");
        }
        let expected = [("a", 3.0, 67.0), ("b.c", -1.0, 2.5), ("b.c.len", 0.0, 2.0)];
        let noted: Vec<_> = spans.0.iter().map(|(name, span)| (&name[..], span.least, span.greatest)).collect();
        assert_eq!(noted, expected);
        assert_eq!(spans.0["a"].remainders, 1 << 3, "67 is 3 modulo 64");
    }
}
