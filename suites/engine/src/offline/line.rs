//! One line of a file of cases, before its operation reads it.

use crate::operation::arguments::Arguments;
use crate::operation::errors::CaseError;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use tiebreak_reports::ledger::Value;

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Name of the operation.
    pub op: String,
    /// Scheme, `NAME` or `NAME:POLICY`. No kernel restricts its parameters.
    pub scheme: Option<String>,
    /// Kernel, in place of a scheme: what it promises, on its domain.
    pub kernel: Option<String>,
    /// Type of the elements, as the operation has it.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    /// The case: a text, or an object of the same names.
    pub case: Json,
    /// The results to be judged, row by row, as lists in lists or as one list; null is not compared.
    #[serde(default, alias = "results", deserialize_with = "results")]
    pub expected: Option<Vec<Json>>,
    /// The caller's name of the line, which is printed with it.
    pub id: Option<Json>,
}

/// Results: one value, or lists in lists.
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

/// Names and values of a case that is an object: a list is that of a tensor's elements, or of one value a channel.
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

/// The elements of a list, which may be nested, row by row.
fn flat(json: &Json, out: &mut Vec<Value>) -> Result<(), CaseError> {
    match json {
        Json::Array(all) => all.iter().try_for_each(|json| flat(json, out)),
        json => element(json).map(|value| out.push(value)),
    }
}

/// A number, or a text such as `inf`.
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

/// Elements of a list such as `[1,2,0*6]`; nothing where the text is no list.
pub(crate) fn listed(value: &Value) -> Option<usize> {
    let Value::Text(text) = value else { return None };
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    let times = |item: &str| item.split_once('*').map_or(Some(1), |(_, times)| times.parse::<usize>().ok());
    list.split(',').try_fold(0usize, |all, item| all.checked_add(times(item)?))
}
