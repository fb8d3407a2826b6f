//! Parser of `!quant.uniform<...>`.

use super::cursor::Cursor;
use super::error::{Fault, INTEGER_TOO_LARGE, expected, not_supported};
use super::parse::Parsed;
use super::scales::Scales;
use super::spans::{Parts, Span};
use super::{Expressed, Granularity, Quantized, Storage};
use std::ops::RangeInclusive;
use tiebreak_oracle::names::unknown;

/// Message for floating-point types of MLIR that are not supported as expressed types.
pub(super) const EXPRESSED: &str = "the expressed type is one of f16, bf16, f32, f64";

/// True if a floating-point type of MLIR that is not supported has this name, or a name that begins this way.
pub(super) fn is_other_float(word: &str) -> bool {
    ["tf32", "f80", "f128", "f8E", "f6E", "f4E"].iter().any(|other| word.starts_with(other))
}

/// `!quant.uniform<...>`
pub(super) fn quantized(cursor: &mut Cursor<'_>) -> Parsed<(Quantized, Parts)> {
    let start = cursor.here();
    cursor.eat_here("!");
    let name = cursor.word_here();
    let span = cursor.since(start);
    match name {
        "quant.uniform" if cursor.eat_here("<") => uniform(cursor),
        "quant.uniform" => Err(cursor.fault(expected("'<' right after !quant.uniform"))),
        "quant.any" | "quant.calibrated" => {
            let instead = "it has no scale; only !quant.uniform<...> says what a stored value stands for";
            Err(Fault::new(not_supported(format_args!("!{name}"), instead), span))
        }
        _ => match name.strip_prefix("quant.").filter(|name| !name.is_empty()) {
            Some(name) => {
                let known = ["uniform", "any", "calibrated"];
                Err(Fault::new(unknown("quantized type", name, known).to_string(), span.start + 7..span.end))
            }
            None => Err(Fault::new(expected("!quant.uniform<...>"), span)),
        },
    }
}

/// Parses the rest after the `<`, including the `>`.
fn uniform(cursor: &mut Cursor<'_>) -> Parsed<(Quantized, Parts)> {
    let (storage, storage_span) = storage(cursor)?;
    let bounds = bounds(cursor, storage)?;
    cursor.expect(":", "':' and the expressed type")?;
    let (expressed, expressed_span) = expressed(cursor)?;
    let mut parts = Parts { storage: storage_span, expressed: expressed_span, ..Parts::default() };
    let mut list = Scales::new(storage, bounds.clone(), expressed);
    let granularity = if !cursor.eat(":") {
        cursor.expect(",", "',' and the scale")?;
        list.one(cursor)?;
        Granularity::Layer
    } else if cursor.eat("{") {
        let sizes = blocks(cursor, &mut parts.axes)?;
        let counts = list.tensor(cursor, &mut parts.scales)?;
        Granularity::Blocks { sizes, counts }
    } else {
        let (axis, span) = axis(cursor)?;
        parts.axes.push(span);
        list.list(cursor, &mut parts.scales)?;
        Granularity::Channel { axis }
    };
    cursor.expect(">", "'>' at the end of the quantized type")?;
    let Scales { scales, zero_points, .. } = list;
    let (min, max) = bounds.into_inner();
    Ok((Quantized { storage, min, max, expressed, granularity, scales, zero_points }, parts))
}

fn storage(cursor: &mut Cursor<'_>) -> Parsed<(Storage, Span)> {
    let (word, span) = cursor.word();
    let fault = |rule: String| Err(Fault::new(rule, span.clone()));
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = &word[letters.len()..];
    match letters {
        "" if width.is_empty() => Err(cursor.fault(expected("a storage type, such as i8 or u8"))),
        "i" | "u" if width.is_empty() => fault(expected("storage type width, such as i8 or u8")),
        "i" | "u" => match width.parse() {
            Ok(bits @ 1..=32) => Ok((Storage { bits, signed: letters == "i" }, span)),
            _ => fault(format!("illegal storage type size: {width}; it is 1 to 32")),
        },
        "si" | "ui" if !width.is_empty() => {
            let signless = if letters == "si" { 'i' } else { 'u' };
            fault(format!(
                "{word} is not signless: write {signless}{width} (mlir-opt accepts it as a storage type and prints \
                 {signless}{width}; no scast takes such a type)"
            ))
        }
        _ => fault(
            "illegal storage type prefix: a storage type is `i` or `u` and its width, such as i8 or u8".to_owned(),
        ),
    }
}

/// Parses `<-8:7>`; without bounds, returns the range of the storage type.
fn bounds(cursor: &mut Cursor<'_>, storage: Storage) -> Parsed<RangeInclusive<i64>> {
    let (least, most) = storage.range().into_inner();
    if !cursor.eat("<") {
        return Ok(least..=most);
    }
    let (min, min_span) = cursor.integer()?;
    if min < least {
        let rule = format!("illegal storage type minimum: {min}; {} begins at {least}", storage.name());
        return Err(Fault::new(rule, min_span));
    }
    cursor.expect(":", "':' between the storage bounds")?;
    let (max, max_span) = cursor.integer()?;
    if max > most {
        let rule = format!("illegal storage type maximum: {max}; {} ends at {most}", storage.name());
        return Err(Fault::new(rule, max_span));
    }
    if min >= max {
        let rule = format!("illegal storage min and storage max: ({min}:{max}); the minimum must be below the maximum");
        return Err(Fault::new(rule, min_span.start..max_span.end));
    }
    cursor.expect(">", "'>' after the storage bounds")?;
    Ok(min..=max)
}

fn expressed(cursor: &mut Cursor<'_>) -> Parsed<(Expressed, Span)> {
    let (word, span) = cursor.word();
    if word.is_empty() {
        return Err(cursor.fault(expected("an expressed type: f16, bf16, f32 or f64")));
    }
    if let Some(format) = Expressed::ALL.into_iter().find(|format| format.name() == word) {
        return Ok((format, span));
    }
    let rule = match is_other_float(word) {
        true => not_supported(word, EXPRESSED),
        false => format!("invalid kind of type specified: {EXPRESSED}, not {word}"),
    };
    Err(Fault::new(rule, span))
}

fn axis(cursor: &mut Cursor<'_>) -> Parsed<(usize, Span)> {
    let (axis, span) = cursor.integer()?;
    if axis < 0 {
        return Err(Fault::new(format!("illegal quantized dimension: {axis}; an axis is 0 or more"), span));
    }
    match i32::try_from(axis).ok().and_then(|axis| usize::try_from(axis).ok()) {
        Some(axis) => Ok((axis, span)),
        None => Err(Fault::new(INTEGER_TOO_LARGE, span)),
    }
}

/// Parses `0:2, 1:4}`, after the `{`.
fn blocks(cursor: &mut Cursor<'_>, spans: &mut Vec<Span>) -> Parsed<Vec<(usize, usize)>> {
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    if cursor.eat("}") {
        return Ok(sizes);
    }
    loop {
        let (axis, span) = axis(cursor)?;
        if sizes.iter().any(|(other, _)| *other == axis) {
            let rule = format!("quantized dimension {axis} given twice (mlir-opt accepts it)");
            return Err(Fault::new(rule, span));
        }
        cursor.expect(":", "':' and the size of a block")?;
        let (size, size_span) = cursor.integer()?;
        match usize::try_from(size) {
            Ok(size @ 1..) => sizes.push((axis, size)),
            _ => return Err(Fault::new(format!("illegal block size: {size}; it is 1 or more"), size_span)),
        }
        spans.push(span);
        if !cursor.eat(",") {
            cursor.expect("}", "'}' after the block sizes")?;
            return Ok(sizes);
        }
    }
}
