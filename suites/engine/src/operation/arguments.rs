//! Parameters by name, as in the text of a case.

use crate::operation::errors::CaseError;
use indexmap::IndexMap;
use std::ops::RangeInclusive;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::Value;

/// Values by name, in the order given.
pub type Arguments = IndexMap<String, Value>;

/// Takes the value of `name` out of the arguments, or the default; arguments left over are unknown. Fails for values outside `least..=most`.
pub fn take(arguments: &mut Arguments, name: &str, usual: i64, least: i64, most: i64) -> Result<i64, CaseError> {
    let wrong = |reason: String| Err(CaseError::from(reason).of(name));
    let value = match arguments.shift_remove(name) {
        None => usual,
        Some(Value::Integer(value)) => value,
        Some(Value::Text(text)) => return wrong(format!("`{text}` is not an integer")),
    };
    if (least..=most).contains(&value) { Ok(value) } else { wrong(format!("{value} is not in {least}..={most}")) }
}

/// Takes the text of `name`, if it is given.
pub fn take_text(arguments: &mut Arguments, name: &str) -> Option<String> {
    arguments.shift_remove(name).map(|value| value.to_string())
}

/// Takes a size: any number from 0 to `u32::MAX`; the shape adds restrictions.
pub fn take_size(arguments: &mut Arguments, name: &str, usual: usize) -> Result<usize, CaseError> {
    Ok(take(arguments, name, usual as i64, 0, i64::from(u32::MAX))? as usize)
}

/// Takes an int32.
pub fn take_int32(arguments: &mut Arguments, name: &str, usual: i32) -> Result<i32, CaseError> {
    Ok(take(arguments, name, usual.into(), i32::MIN.into(), i32::MAX.into())? as i32)
}

/// Takes a flag: 1 or 0.
pub fn take_flag(arguments: &mut Arguments, name: &str, usual: bool) -> Result<bool, CaseError> {
    Ok(take(arguments, name, usual.into(), 0, 1)? == 1)
}

/// Takes a list of int32 in a range, separated by commas: a value for each channel, or a single value for all. The default has a single value.
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

/// Takes a list of int64, separated by commas; empty if the argument is absent.
pub fn take_wide_list(arguments: &mut Arguments, name: &str) -> Result<Vec<i64>, CaseError> {
    let Some(text) = take_text(arguments, name) else { return Ok(Vec::new()) };
    let one = |text: &str| {
        let wrong = || format!("`{text}` is not an int64; several are separated by commas, such as {name}=1,2");
        text.parse().map_err(|_| CaseError::from(wrong()).of(name))
    };
    text.split(',').map(one).collect()
}

/// Expands a list to a value for each channel: a single value is repeated.
pub fn repeated(name: &str, values: Vec<i32>, channels: usize) -> Result<Vec<i32>, CaseError> {
    match values[..] {
        [one] => Ok(vec![one; channels]),
        _ if values.len() == channels => Ok(values),
        _ => Err(CaseError::from(format!("{} values for {channels} channels", values.len())).of(name)),
    }
}

/// Formats values of channels for [`take_list`].
pub fn list_value<T: Copy + ToString + Into<Value>>(values: &[T]) -> Value {
    match values {
        [one] => (*one).into(),
        _ => Value::Text(values.iter().map(T::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// Returns an error if arguments are left over.
pub fn nothing_left(arguments: &Arguments, known: &[&str]) -> Result<(), CaseError> {
    match arguments.keys().next() {
        None => Ok(()),
        Some(name) => {
            // An argument such as `tensor[0]` is looked up by the name of its tensor.
            let name = name.split('[').next().unwrap_or(name);
            Err(unknown("argument", name, known.iter().copied()).into())
        }
    }
}
