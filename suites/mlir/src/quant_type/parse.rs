//! Parser of types.

use super::cursor::Cursor;
use super::error::{Fault, expected, not_supported};
use super::spans::{Located, Parts, Span};
use super::uniform::{EXPRESSED, is_other_float, quantized};
use super::verify;
use super::{Element, Expressed, Type};
use tiebreak_oracle::names::unknown;

/// Parsed value, or the error.
pub(super) type Parsed<T> = Result<T, Fault>;

/// First words of types, for suggestions.
const TYPES: [&str; 8] = ["tensor", "f16", "bf16", "f32", "f64", "i8", "i16", "i32"];

/// Parses a type with the places of its parts. Scales must fit the dimensions of the tensor.
pub(super) fn located(cursor: &mut Cursor<'_>) -> Parsed<Located> {
    let start = cursor.here();
    let mut ahead = *cursor;
    if ahead.word().0 != "tensor" {
        let (element, parts) = element(cursor)?;
        verify::bare(&element, &parts)?;
        return Ok(Located { ty: Type::Scalar(element), span: cursor.since(start), dims: Vec::new(), parts });
    }
    *cursor = ahead;
    let (ty, dims, parts) = tensor(cursor)?;
    let located = Located { ty, span: cursor.since(start), dims, parts };
    verify::container(&located)?;
    Ok(located)
}

fn tensor(cursor: &mut Cursor<'_>) -> Parsed<(Type, Vec<Span>, Parts)> {
    cursor.expect("<", "'<' in tensor type")?;
    let unranked = cursor.eat("*");
    let (mut dims, mut spans) = (Vec::new(), Vec::new());
    if unranked {
        cursor.expect("x", "'x' in dimension list")?;
    } else {
        while let Some((dim, span)) = dimension(cursor)? {
            dims.push(dim);
            spans.push(span);
        }
    }
    cursor.here();
    let mut ahead = *cursor;
    let (word, span) = ahead.word();
    if ["tensor", "vector", "memref"].contains(&word) {
        let rule = "invalid tensor element type: it is a quantized type, a floating-point type or a signless integer";
        return Err(Fault::new(rule, span));
    }
    let (element, parts) = element(cursor)?;
    cursor.here();
    if cursor.next_is(|c| c == ',') {
        return Err(cursor.fault(not_supported("a tensor's encoding", "end the tensor with '>'")));
    }
    cursor.expect(">", "'>' in tensor type")?;
    let ty = if unranked { Type::Unranked(element) } else { Type::Ranked { dims, element } };
    Ok((ty, spans, parts))
}

/// Parses `2x` or `?x`; `None` at the beginning of the element.
fn dimension(cursor: &mut Cursor<'_>) -> Parsed<Option<(Option<u64>, Span)>> {
    let start = cursor.here();
    let size = if cursor.eat("?") {
        None
    } else {
        let (digits, span) = cursor.digits();
        if digits.is_empty() {
            return Ok(None);
        }
        let size = digits.parse().ok().filter(|size| i64::try_from(*size).is_ok());
        Some(size.ok_or_else(|| Fault::new("invalid dimension: it is at most 9223372036854775807", span))?)
    };
    let span = cursor.since(start);
    cursor.expect("x", "'x' in dimension list")?;
    Ok(Some((size, span)))
}

fn element(cursor: &mut Cursor<'_>) -> Parsed<(Element, Parts)> {
    cursor.here();
    if cursor.next_is(|c| c == '!') {
        let (uniform, parts) = quantized(cursor)?;
        return Ok((Element::Uniform(uniform), parts));
    }
    let (word, span) = cursor.word();
    if word.is_empty() {
        return Err(cursor.fault(expected("a type: !quant.uniform<...>, tensor<...>, f32, i8, ...")));
    }
    if let Some(format) = Expressed::ALL.into_iter().find(|format| format.name() == word) {
        return Ok((Element::Float(format), Parts::default()));
    }
    let number = |prefix: &str| word.strip_prefix(prefix).filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    match number("i").filter(|n| !n.is_empty()).map(str::parse::<u32>) {
        Some(Ok(bits @ 1..=MAX_INTEGER)) => Ok((Element::Integer(bits), Parts::default())),
        Some(_) => Err(Fault::new(not_supported(word, "an integer has 1 to 16777215 bits"), span)),
        None => Err(Fault::new(no_element(word, number("si").or(number("ui"))), span)),
    }
}

/// Limit of MLIR (mlir/include/mlir/IR/BuiltinTypes.td, `IntegerType`).
const MAX_INTEGER: u32 = (1 << 24) - 1;

/// Returns the rule that an unsupported element type breaks; `signed` is the width of an `siN` or `uiN`.
fn no_element(word: &str, signed: Option<&str>) -> String {
    match signed.filter(|width| !width.is_empty()) {
        Some(_) => not_supported(word, "an integer is signless, such as i8"),
        None if is_other_float(word) => not_supported(word, EXPRESSED),
        None if ["vector", "memref", "index", "none", "complex", "tuple"].contains(&word) => {
            let instead = "a value is a scalar or a tensor, of a quantized, floating-point or signless integer type";
            not_supported(word, instead)
        }
        None => unknown("type", word, TYPES).to_string(),
    }
}
