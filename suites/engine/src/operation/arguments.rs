//! Parameters by name, as a case in words has them.

use crate::operation::errors::CaseError;
use indexmap::IndexMap;
use std::ops::RangeInclusive;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::Value;

/// Names with their values, in the order given.
pub type Arguments = IndexMap<String, Value>;

/// The value of `name`, or what is usual; out of the arguments, so that what is left over is unknown.
pub fn take(arguments: &mut Arguments, name: &str, usual: i64, least: i64, most: i64) -> Result<i64, CaseError> {
    let wrong = |reason: String| Err(CaseError::from(reason).of(name));
    let value = match arguments.shift_remove(name) {
        None => usual,
        Some(Value::Integer(value)) => value,
        Some(Value::Text(text)) => return wrong(format!("`{text}` is not an integer")),
    };
    if (least..=most).contains(&value) { Ok(value) } else { wrong(format!("{value} is not in {least}..={most}")) }
}

/// The text of `name`, where it is given.
pub fn take_text(arguments: &mut Arguments, name: &str) -> Option<String> {
    arguments.shift_remove(name).map(|value| value.to_string())
}

/// A size: any number that is not negative; the shape says what it must be.
pub fn take_size(arguments: &mut Arguments, name: &str, usual: usize) -> Result<usize, CaseError> {
    Ok(take(arguments, name, usual as i64, 0, i64::from(u32::MAX))? as usize)
}

/// An int32.
pub fn take_int32(arguments: &mut Arguments, name: &str, usual: i32) -> Result<i32, CaseError> {
    Ok(take(arguments, name, usual.into(), i32::MIN.into(), i32::MAX.into())? as i32)
}

/// Whether something is so: 1 or 0.
pub fn take_flag(arguments: &mut Arguments, name: &str, usual: bool) -> Result<bool, CaseError> {
    Ok(take(arguments, name, usual.into(), 0, 1)? == 1)
}

/// Several int32 of a range, separated by commas: one a channel, or one for all; where nothing is given, what is usual.
pub fn take_list(
    arguments: &mut Arguments,
    name: &str,
    usual: i32,
    range: RangeInclusive<i32>,
) -> Result<Vec<i32>, CaseError> {
    let Some(text) = take_text(arguments, name) else { return Ok(vec![usual]) };
    let (least, most) = (i64::from(*range.start()), i64::from(*range.end()));
    let wrong = |reason: String| Err(CaseError::from(reason).of(name));
    let one = |text: &str| match text.parse::<i64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value as i32),
        Ok(value) => wrong(format!("{value} is not in {least}..={most}")),
        Err(_) => wrong(format!("`{text}` is not an integer; several are separated by commas, such as {name}=1,2")),
    };
    text.split(',').map(one).collect()
}

/// Several int64, separated by commas; none if nothing is given.
pub fn take_wide_list(arguments: &mut Arguments, name: &str) -> Result<Vec<i64>, CaseError> {
    let Some(text) = take_text(arguments, name) else { return Ok(Vec::new()) };
    let one = |text: &str| {
        let wrong = || format!("`{text}` is not an int64; several are separated by commas, such as {name}=1,2");
        text.parse().map_err(|_| CaseError::from(wrong()).of(name))
    };
    text.split(',').map(one).collect()
}

/// The values of a list, one a channel: a single one stands for all.
pub fn repeated(name: &str, values: Vec<i32>, channels: usize) -> Result<Vec<i32>, CaseError> {
    match values[..] {
        [one] => Ok(vec![one; channels]),
        _ if values.len() == channels => Ok(values),
        _ => Err(CaseError::from(format!("{} values for {channels} channels", values.len())).of(name)),
    }
}

/// Values one a channel as [`take_list`] reads them.
pub fn list_value<T: Copy + ToString + Into<Value>>(values: &[T]) -> Value {
    match values {
        [one] => (*one).into(),
        _ => Value::Text(values.iter().map(T::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// An error for arguments that nothing took.
pub fn nothing_left(arguments: &Arguments, known: &[&str]) -> Result<(), CaseError> {
    match arguments.keys().next() {
        None => Ok(()),
        Some(name) => {
            // An element is looked up by its tensor.
            let name = name.split('[').next().unwrap_or(name);
            Err(unknown("argument", name, known.iter().copied()).into())
        }
    }
}
