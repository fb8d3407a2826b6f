//! Printed form of an explanation, for all operations: each party with its steps as lines, and the comparisons.

use super::{Comparison, Explained, Party, words};
use serde_json::{Value as Json, json};
use tiebreak_common::fraction::{both, decimal, short};
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::{Effect, Traced};
use tiebreak_oracle::quantize::steps::Value;

/// Explanation of one input.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Exact value; `None` for NaN and infinities.
    pub exact: Option<Rational>,
    /// Notes on the reading of the input before the first step.
    pub notes: Vec<String>,
    /// Rows of schemes and kernels.
    pub rows: Vec<Row>,
    /// Comparisons, by indices of the rows.
    pub comparisons: Vec<Comparison>,
}

/// Row of a scheme or a kernel.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name.
    pub name: String,
    /// Result for programs; null if there is no value.
    pub result: Json,
    /// Result for readers, or the reason why there is no value.
    pub text: String,
    /// Difference of the result from the exact value.
    pub error: Option<Rational>,
    /// Description of the source of the steps: a scheme or a hypothesis.
    pub steps_of: Option<String>,
    /// Steps; `None` if they are unknown.
    pub steps: Option<Vec<Line>>,
}

/// Line of a step.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name of the step in its source.
    pub name: String,
    /// Exact value before the step.
    pub before: Value,
    /// Exact value after the step; `None` if the step has none.
    pub after: Option<Value>,
    /// Effect for programs; `exact` if the step lost nothing.
    pub effect: &'static str,
    /// Loss for readers.
    pub lost: String,
    /// Rounding of the step, if it rounded.
    pub rounding: Option<Rounding>,
}

/// Rounding that changed a value.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// Name of the rounding rule.
    pub rule: &'static str,
    /// Number of bits rounded away; only for a rounding at a bit.
    pub bit: Option<i32>,
    /// Name of the float format; only for a rounding to a format.
    pub to: Option<&'static str>,
    /// True if exactly one half was rounded.
    pub tie: bool,
}

impl Line {
    /// Returns the increase of the value; `None` unless both values are numbers.
    pub fn change(&self) -> Option<Rational> {
        match (&self.before, &self.after) {
            (Value::Number(before), Some(Value::Number(after))) => Some(Rational::from(after - before)),
            _ => None,
        }
    }
}

/// Formats a value for readers: a fraction with its decimals.
pub fn text(v: &Value) -> String {
    named(v, both)
}

/// Formats a value for a sentence.
pub fn brief(v: &Value) -> String {
    named(v, short)
}

/// Formats a value as a fraction only.
pub fn fraction(v: &Value) -> String {
    named(v, Rational::to_string)
}

fn named(v: &Value, number: impl Fn(&Rational) -> String) -> String {
    match v {
        Value::Number(v) => number(v),
        Value::Infinite { negative } => if *negative { "-infinity" } else { "infinity" }.to_owned(),
        Value::Nan => "NaN".to_owned(),
    }
}

/// Formats a value for programs.
pub fn json(v: &Value) -> Json {
    match v {
        Value::Number(v) => json!({"fraction": v.to_string(), "decimal": decimal(v)}),
        other => json!(text(other)),
    }
}

impl From<&Explained> for Sheet {
    fn from(explained: &Explained) -> Self {
        Self {
            exact: Some(explained.exact.clone()),
            notes: Vec::new(),
            rows: explained.parties.iter().map(Row::from).collect(),
            comparisons: explained.comparisons.clone(),
        }
    }
}

impl From<&Party> for Row {
    fn from(party: &Party) -> Self {
        Self {
            name: party.name.clone(),
            result: json!(party.value),
            text: party.value.map_or("out of domain".to_owned(), |v| v.to_string()),
            error: party.error(),
            steps_of: party.steps_of.clone(),
            steps: party.trace.as_ref().map(|t| t.steps.iter().map(Line::from).collect()),
        }
    }
}

impl From<&Traced> for Line {
    fn from(t: &Traced) -> Self {
        let rounding = match &t.effect {
            Effect::Rounded { rule, bit, tie } => {
                Some(Rounding { rule: rule.name(), bit: Some(*bit), to: None, tie: *tie })
            }
            _ => None,
        };
        Self {
            name: t.name.to_string(),
            before: Value::Number(t.before.clone()),
            after: t.after.clone().map(Value::Number),
            effect: words::effect_name(t),
            lost: words::effect(t),
            rounding,
        }
    }
}
