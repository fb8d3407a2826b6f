//! Line of a file of cases, before the operation parses it.

use crate::operation::arguments::Arguments;
use crate::operation::errors::CaseError;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use tiebreak_reports::ledger::Value;

/// Line of a file of cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Name of the operation.
    pub op: String,
    /// Scheme, `NAME` or `NAME:POLICY`; the parameters are not restricted by a kernel.
    pub scheme: Option<String>,
    /// Kernel, in place of a scheme: the promise, on the kernel's domain.
    pub kernel: Option<String>,
    /// Element type, in the operation's notation.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    /// Case: a text, or an object with the same names.
    pub case: Json,
    /// Results to judge, row by row, as nested lists or as a flat list; null is not compared.
    #[serde(default, alias = "results", deserialize_with = "results")]
    pub expected: Option<Vec<Json>>,
    /// Name of the line given by the caller, printed with the line.
    pub id: Option<Json>,
}

/// Parses results: a single value, or nested lists.
fn results<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Json>>, D::Error> {
    fn flat(json: Json, out: &mut Vec<Json>) {
        match json {
            Json::Array(all) => all.into_iter().for_each(|json| flat(json, out)),
            value => out.push(value),
        }
    }
    let given = Option::<Json>::deserialize(from)?;
    Ok(given.map(|json| {
        let mut out = Vec::new();
        flat(json, &mut out);
        out
    }))
}

/// Converts a case given as an object: a list has the elements of a tensor, or a value for each channel.
pub(crate) fn arguments(case: &serde_json::Map<String, Json>, tensors: &[&str]) -> Result<Arguments, CaseError> {
    let value = |name: &str, json: &Json| match json {
        Json::Array(_) => {
            let mut elements = Vec::new();
            flat(json, &mut elements).map_err(|error| error.of(name))?;
            let list = elements.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
            Ok(text(&if tensors.contains(&name) { format!("[{list}]") } else { list }))
        }
        json => element(json).map_err(|error| error.of(name)),
    };
    case.iter().map(|(name, json)| Ok((name.clone(), value(name, json)?))).collect()
}

/// Flattens a list, which may be nested, row by row.
fn flat(json: &Json, out: &mut Vec<Value>) -> Result<(), CaseError> {
    match json {
        Json::Array(all) => all.iter().try_for_each(|json| flat(json, out)),
        json => element(json).map(|value| out.push(value)),
    }
}

/// Parses a number, or a text (`inf`).
pub(crate) fn element(json: &Json) -> Result<Value, CaseError> {
    match json {
        Json::Number(number) => Ok(text(&number.to_string())),
        Json::String(written) => Ok(text(written)),
        other => Err(format!("{other} is neither a number nor a text").into()),
    }
}

fn text(written: &str) -> Value {
    written.parse().map_or_else(|_| Value::Text(written.to_owned()), Value::Integer)
}

/// Counts the elements in a list such as `[1,2,0*6]`; `None` if the text is no list.
pub(crate) fn listed(value: &Value) -> Option<usize> {
    let Value::Text(text) = value else { return None };
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    let times = |item: &str| item.split_once('*').map_or(Some(1), |(_, times)| times.parse::<usize>().ok());
    list.split(',').try_fold(0usize, |all, item| all.checked_add(times(item)?))
}
