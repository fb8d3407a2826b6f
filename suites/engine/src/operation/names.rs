//! Parameters by name: `k`, `lhs.zero_point`, `channels.0.shift`, `channels.len`.

use serde_json::Value;
use std::collections::BTreeMap;

/// Collects all values by name, except objects and lists; a list adds the elements and the length.
pub fn all(params: &Value) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    walk("", params, &mut out);
    out
}

fn walk(name: &str, value: &Value, out: &mut BTreeMap<String, Value>) {
    let inside = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| walk(&inside(key), value, out)),
        Value::Array(list) => {
            out.insert(inside("len"), list.len().into());
            list.iter().enumerate().for_each(|(i, value)| walk(&inside(&i.to_string()), value, out));
        }
        value => drop(out.insert(name.to_owned(), value.clone())),
    }
}

/// Returns the number of a name.
pub fn number(params: &Value, name: &str) -> Option<f64> {
    let mut value = params;
    for key in name.split('.') {
        value = match value {
            Value::Array(all) if key == "len" => return Some(all.len() as f64),
            Value::Array(all) => all.get(key.parse::<usize>().ok()?)?,
            value => value.get(key)?,
        };
    }
    value.as_f64()
}
