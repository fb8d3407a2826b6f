//! Types of elements, as a line of a file of cases names them.

use tiebreak_engine::operation::CaseError;
use tiebreak_impls::element::Element;
use tiebreak_oracle::names::unknown;

const NAMES: [&str; 11] = ["int8", "uint8", "int16", "i8", "u8", "i16", "u1", "u2", "u3", "u4", "i4"];

/// The type of that name; int8 where none is named.
pub(crate) fn element(name: Option<&str>) -> Result<Element, CaseError> {
    Ok(match name {
        None | Some("int8" | "i8") => Element::I8,
        Some("uint8" | "u8") => Element::U8,
        Some("int16" | "i16") => Element::I16,
        Some("u1") => Element::U1,
        Some("u2") => Element::U2,
        Some("u3") => Element::U3,
        Some("u4") => Element::U4,
        Some("i4") => Element::I4,
        Some(other) => return Err(CaseError::from(unknown("type", other, NAMES)).of("type")),
    })
}

/// The types of both operands: `uint8`, or `uint8,int8`.
pub(crate) fn operands(names: Option<&str>) -> Result<[Element; 2], CaseError> {
    match names.and_then(|names| names.split_once(',')) {
        Some((lhs, rhs)) => Ok([element(Some(lhs.trim()))?, element(Some(rhs.trim()))?]),
        None => element(names).map(|both| [both; 2]),
    }
}

/// The types of both operands and of the results: `uint8,int8,uint8`. Without a third type, results are of the first.
pub(crate) fn with_output(names: Option<&str>) -> Result<([Element; 2], Element), CaseError> {
    let third = names.and_then(|names| names.match_indices(',').nth(1).map(|(at, _)| names.split_at(at)));
    let (both, output) = third.map_or((names, None), |(both, output)| (Some(both), Some(output[1..].trim())));
    let [lhs, rhs] = operands(both)?;
    Ok(([lhs, rhs], if output.is_some() { element(output)? } else { lhs }))
}

/// An error for a type that is named where the operation has one.
pub(crate) fn none(op: &str, name: Option<&str>) -> Result<(), CaseError> {
    match name {
        None | Some("int32" | "i32") => Ok(()),
        Some(other) => Err(CaseError::from(format!("`{other}`: {op} has no type to choose")).of("type")),
    }
}
