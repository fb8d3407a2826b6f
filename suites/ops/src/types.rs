//! Element types, as named in a line of a file of cases.

use tiebreak_engine::operation::{Arguments, CaseError, arguments};
use tiebreak_impls::element::Element;
use tiebreak_oracle::names::unknown;
use tiebreak_oracle::quantize::Storage;
use tiebreak_reports::ledger::Value;

const NAMES: [&str; 11] = ["int8", "uint8", "int16", "i8", "u8", "i16", "u1", "u2", "u3", "u4", "i4"];

const OF_BYTES: [Element; 3] = [Element::I8, Element::U8, Element::I16];

/// Parses the name of a type; the default is int8.
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

/// Returns the element type of an open domain: the named type, or the type of the case. The case's arguments get that type.
pub(crate) fn opened(name: Option<&str>, arguments: &mut Arguments) -> Result<Element, CaseError> {
    let of_case = arguments.get("type").map(Value::to_string);
    let element = element(name.or(of_case.as_deref()))?;
    arguments.insert("type".to_owned(), Value::Text(element.name().to_owned()));
    Ok(element)
}

/// Takes a type of whole bytes from a case; the default is int8.
pub(crate) fn take(left: &mut Arguments) -> Result<Element, CaseError> {
    let name = arguments::take_text(left, "type").unwrap_or_else(|| Element::I8.name().to_owned());
    let element = OF_BYTES.into_iter().find(|element| element.name() == name);
    Ok(element.ok_or_else(|| unknown("type", &name, OF_BYTES.map(Element::name)).to_string())?)
}

/// Returns the argument that names a type; `None` for int8.
pub(crate) fn argument(element: Element) -> Option<(String, Value)> {
    (element != Element::I8).then(|| ("type".to_owned(), Value::Text(element.name().to_owned())))
}

/// Converts a type to the oracle's storage type.
pub(crate) fn storage(element: Element) -> Storage {
    Storage { bits: element.bits(), signed: *element.range().start() < 0 }
}

/// Parses the types of both operands: `uint8`, or `uint8,int8`.
pub(crate) fn operands(names: Option<&str>) -> Result<[Element; 2], CaseError> {
    match names.and_then(|names| names.split_once(',')) {
        Some((lhs, rhs)) => Ok([element(Some(lhs.trim()))?, element(Some(rhs.trim()))?]),
        None => element(names).map(|both| [both; 2]),
    }
}

/// Parses the types of both operands and of the results: `uint8,int8,uint8`. Without a third type, results have the first.
pub(crate) fn with_output(names: Option<&str>) -> Result<([Element; 2], Element), CaseError> {
    let third = names.and_then(|names| names.match_indices(',').nth(1).map(|(at, _)| names.split_at(at)));
    let (both, output) = third.map_or((names, None), |(both, output)| (Some(both), Some(output[1..].trim())));
    let [lhs, rhs] = operands(both)?;
    Ok(([lhs, rhs], if output.is_some() { element(output)? } else { lhs }))
}

/// Checks that no type is named for an operation without a choice of types; int32 is accepted.
pub(crate) fn none(op: &str, name: Option<&str>) -> Result<(), CaseError> {
    match name {
        None | Some("int32" | "i32") => Ok(()),
        Some(other) => Err(CaseError::from(format!("`{other}`: {op} has no type to choose")).of("type")),
    }
}
