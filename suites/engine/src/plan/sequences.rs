//! Sequences of calls that differ in one parameter, with the first parameters again in between: state of earlier calls must not reach the next call.

use crate::erased::{Domain, Params};
use crate::operation::case::Case;
use crate::operation::meaning::are_interchangeable;
use serde_json::Value;

/// Largest number of results of a changed case, unless the base has more than half as many.
const MOST: usize = 1000;

/// Numbers below the limit may also be multiplied.
const SMALL: i64 = 4;

/// Numbers beyond the limit are changed by a fraction of themselves.
const LARGE: i64 = 1 << 12;

/// Returns the calls around a base: A, one with a change, A, one with another change, and so on; then two calls with changes between two calls of A.
pub(crate) fn around(domain: &Domain, base: &Case<Params>) -> Vec<Case<Params>> {
    let neighbours = |params| neighbours(domain, params).into_iter().map(|(_, changed)| changed);
    let all: Vec<Params> = neighbours(&base.params).collect();
    let own = || base.params.clone();
    let each = all.iter().flat_map(|params| [own(), params.clone()]);
    // A change of a changed call gives a third parameter set.
    let again = all.first().and_then(|first| {
        let third = neighbours(first).find(|params| *params != base.params)?;
        Some([first.clone(), third])
    });
    let calls = each.chain([own()]).chain(again.into_iter().flatten()).chain([own()]);
    calls.enumerate().filter_map(|(at, params)| with(domain, base, params, at)).collect()
}

/// Makes a case from elements of the base: each tensor begins at another element than the first, and has the length that the parameters require.
fn with(domain: &Domain, base: &Case<Params>, params: Params, turn: usize) -> Option<Case<Params>> {
    let sizes = domain.sizes(&params).ok()?;
    let mut tensors = base.tensors.clone();
    for (t, (tensor, len)) in tensors.iter_mut().zip(sizes.inputs).enumerate() {
        let own = std::mem::take(tensor);
        // A narrower type has fewer values.
        let element = domain.element(&params, t);
        let fitting = |word: &i32| element.nearest(*word);
        let first = (turn + 1) * 7 * element.words() % own.len().max(1);
        *tensor = own.iter().cycle().skip(first).take(len).map(fitting).collect();
        if tensor.len() != len {
            return None;
        }
    }
    Some(Case { params, tensors, misalign: base.misalign })
}

/// Returns the parameters with a change of a parameter, or an exchange of two, if a kernel takes them, with the name of the change.
pub(crate) fn neighbours(domain: &Domain, params: &Params) -> Vec<(String, Params)> {
    let Ok(mut text) = params.json() else { return Vec::new() };
    let results = |params: &Params| domain.sizes(params).map_or(usize::MAX, |sizes| sizes.outputs);
    let most = MOST.max(2 * results(params));
    let mut out: Vec<(String, Params)> = Vec::new();
    for (name, alternatives) in changes("", &text).into_iter().chain(exchanges(&text)) {
        let mut taken = |mut edits: Vec<Edit>| {
            edited(&mut text, &mut edits);
            let changed = params.op().params(&text).ok();
            edits.reverse();
            edited(&mut text, &mut edits);
            changed.filter(|new| new != params && domain.covers(new) && results(new) <= most)
        };
        if let Some(changed) = alternatives.into_iter().find_map(&mut taken)
            && out.iter().all(|(_, known)| *known != changed)
        {
            out.push((name, changed));
        }
    }
    out
}

/// Edit: a JSON pointer into a value, and the new value at that place.
type Edit = (String, Value);

/// Named change, with alternative sets of edits; the first set that a kernel takes is used.
type Change = (String, Vec<Vec<Edit>>);

/// Applies edits, and stores the previous values in them: applying them again in reverse order undoes the change.
fn edited(value: &mut Value, edits: &mut [Edit]) {
    for (place, put) in edits {
        if let Some(at) = value.pointer_mut(place) {
            std::mem::swap(at, put);
        }
    }
}

/// Returns the name of the parameter at a JSON pointer.
fn name(place: &str) -> String {
    place.trim_start_matches('/').replace('/', ".")
}

/// Returns the exchanges of every two numbers of like meaning, and of every two objects of like meaning, outside of lists.
fn exchanges(value: &Value) -> Vec<Change> {
    let mut places = Vec::new();
    collect("", value, &mut places);
    let places: Vec<_> =
        places.into_iter().filter_map(|place| Some((name(&place), value.pointer(&place)?, place))).collect();
    let mut out = Vec::new();
    for (i, (one, first, from)) in places.iter().enumerate() {
        for (other, second, to) in &places[i + 1..] {
            if first == second || first.is_object() != second.is_object() || !are_interchangeable(one, other) {
                continue;
            }
            let edits = vec![(from.clone(), Value::clone(second)), (to.clone(), Value::clone(first))];
            out.push((format!("{one}, {other}"), vec![edits]));
        }
    }
    out
}

/// Collects the places of numbers and objects outside of lists.
fn collect(place: &str, value: &Value, out: &mut Vec<String>) {
    if let Value::Object(fields) = value {
        for (name, value) in fields {
            let place = format!("{place}/{name}");
            if value.is_number() || value.is_object() {
                out.push(place.clone());
            }
            collect(&place, value, out);
        }
    }
}

/// Returns the changes of the value at a place.
fn changes(place: &str, value: &Value) -> Vec<Change> {
    let inside = |key: &str| format!("{place}/{key}");
    let to = |values: Vec<Value>| values.into_iter().map(|value| vec![(place.to_owned(), value)]).collect();
    match value {
        Value::Number(number) => vec![(name(place), to(near(number)))],
        Value::Bool(bit) => vec![(name(place), to(vec![Value::Bool(!bit)]))],
        Value::Array(list) => {
            let mut ends = vec![0, list.len().saturating_sub(1)];
            ends.dedup();
            ends.truncate(list.len());
            let of = |at: usize| changes(&inside(&at.to_string()), &list[at]);
            let mut out: Vec<Change> = ends.into_iter().flat_map(of).collect();
            out.push((name(place), to(vec![Value::Array(list.iter().rev().cloned().collect())])));
            let shorter = list.split_last().map(|(_, rest)| Value::Array(rest.to_vec()));
            out.push((name(&inside("len")), to(shorter.into_iter().collect())));
            out
        }
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| changes(&inside(key), value)).collect(),
        Value::Null | Value::String(_) => Vec::new(),
    }
}

fn near(number: &serde_json::Number) -> Vec<Value> {
    match number.as_i64() {
        // Plus or minus one of a multiplier hardly changes a result.
        Some(whole) if whole.abs() > LARGE => vec![(whole - whole / 4).into(), (whole + whole / 4).into()],
        Some(whole) => {
            let mut forms = vec![whole + 1, whole - 1];
            // Some parameters must divide others.
            if (1..SMALL).contains(&whole) {
                forms.extend([2 * whole, 3 * whole]);
            }
            forms.into_iter().map(Value::from).collect()
        }
        // Scales are read as they are written, and many have single precision.
        None => number.as_f64().map_or(Vec::new(), |real| {
            [1.5, 0.75].map(|factor| Value::from(f64::from((real * factor) as f32))).to_vec()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_changes_and_every_two_are_exchanged() {
        let params: Value =
            serde_json::from_str(r#"{"m":3,"n":4,"of":{"scale":0.5},"list":[7,8,9],"as":"u8"}"#).expect("JSON");
        let first = |changes: Vec<Change>| -> Vec<String> {
            let whole = |mut edits: Vec<Edit>| {
                let mut changed = params.clone();
                edited(&mut changed, &mut edits);
                let put = changed.clone();
                edits.reverse();
                edited(&mut changed, &mut edits);
                assert_eq!(changed, params, "undone");
                put
            };
            changes.into_iter().map(|(name, mut forms)| format!("{name}: {}", whole(forms.remove(0)))).collect()
        };
        let expected = [
            r#"list.0: {"as":"u8","list":[8,8,9],"m":3,"n":4,"of":{"scale":0.5}}"#,
            r#"list.2: {"as":"u8","list":[7,8,10],"m":3,"n":4,"of":{"scale":0.5}}"#,
            r#"list: {"as":"u8","list":[9,8,7],"m":3,"n":4,"of":{"scale":0.5}}"#,
            r#"list.len: {"as":"u8","list":[7,8],"m":3,"n":4,"of":{"scale":0.5}}"#,
            r#"m: {"as":"u8","list":[7,8,9],"m":4,"n":4,"of":{"scale":0.5}}"#,
            r#"n: {"as":"u8","list":[7,8,9],"m":3,"n":5,"of":{"scale":0.5}}"#,
            r#"of.scale: {"as":"u8","list":[7,8,9],"m":3,"n":4,"of":{"scale":0.75}}"#,
        ];
        assert_eq!(first(changes("", &params)), expected);
        assert_eq!(first(exchanges(&params)), [r#"m, n: {"as":"u8","list":[7,8,9],"m":4,"n":3,"of":{"scale":0.5}}"#]);
    }
}
