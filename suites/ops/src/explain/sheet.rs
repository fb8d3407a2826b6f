//! What is printed of an explanation, whatever the operation: each party with its steps as lines, and what separates two of them.

use super::{Comparison, Explained, Party, words};
use serde_json::{Value as Json, json};
use tiebreak_common::fraction::{both, decimal, short};
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::{Effect, Traced};
use tiebreak_oracle::quantize::steps::Value;

/// One input explained.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The exact value; nothing for NaN and infinities.
    pub exact: Option<Rational>,
    /// What became of the input before the first step.
    pub notes: Vec<String>,
    /// Schemes and kernels.
    pub rows: Vec<Row>,
    /// What separates them, by their places among the rows.
    pub comparisons: Vec<Comparison>,
}

/// A scheme or a kernel.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name.
    pub name: String,
    /// The result for programs; null where there is none.
    pub result: Json,
    /// The result for readers, or why there is none.
    pub text: String,
    /// How far it is from the exact value.
    pub error: Option<Rational>,
    /// Whose steps these are, in words.
    pub steps_of: Option<String>,
    /// The steps; `None` if they are not known.
    pub steps: Option<Vec<Line>>,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Line {
    /// What its source calls it.
    pub name: String,
    /// The exact value before.
    pub before: Value,
    /// The exact value after, or `None` if the step has none.
    pub after: Option<Value>,
    /// What was lost, as a word for programs: `exact` where nothing was.
    pub effect: &'static str,
    /// What was lost, for readers.
    pub lost: String,
    /// How it rounds, where it did.
    pub rounding: Option<Rounding>,
}

/// A rounding that changed a value.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// Which way.
    pub rule: &'static str,
    /// Bits rounded away, for a rounding at a bit.
    pub bit: Option<i32>,
    /// The float format, for a rounding to one.
    pub to: Option<&'static str>,
    /// Whether exactly one half was.
    pub tie: bool,
}

impl Line {
    /// How much larger the step made the value, where both are numbers.
    pub fn change(&self) -> Option<Rational> {
        match (&self.before, &self.after) {
            (Value::Number(before), Some(Value::Number(after))) => Some(Rational::from(after - before)),
            _ => None,
        }
    }
}

/// A value for readers: a fraction with its decimals.
pub fn text(v: &Value) -> String {
    named(v, both)
}

/// A value in a sentence.
pub fn brief(v: &Value) -> String {
    named(v, short)
}

/// A value as a fraction alone.
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

/// A value for programs.
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
