//! Parser of `!quant.uniform<...>`.

use super::cursor::Cursor;
use super::error::Fault;
use super::parse::Parsed;
use super::rule::Rule;
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
        "quant.uniform" => Err(cursor.fault(Rule::Expected("'<' right after !quant.uniform"))),
        "quant.any" | "quant.calibrated" => {
            let instead = "it has no scale; only !quant.uniform<...> says what a stored value stands for";
            Err(Fault::new(Rule::NotSupported { name: format!("!{name}"), instead }, span))
        }
        _ => match name.strip_prefix("quant.").filter(|name| !name.is_empty()) {
            Some(name) => {
                let known = ["uniform", "any", "calibrated"];
                Err(Fault::new(Rule::Unknown(unknown("quantized type", name, known)), span.start + 7..span.end))
            }
            None => Err(Fault::new(Rule::Expected("!quant.uniform<...>"), span)),
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
    let fault = |rule| Err(Fault::new(rule, span.clone()));
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = &word[letters.len()..];
    match letters {
        "" if width.is_empty() => Err(cursor.fault(Rule::Expected("a storage type, such as i8 or u8"))),
        "i" | "u" if width.is_empty() => fault(Rule::StorageWidth),
        "i" | "u" => match width.parse() {
            Ok(bits @ 1..=32) => Ok((Storage { bits, signed: letters == "i" }, span)),
            _ => fault(Rule::StorageSize(width.to_owned())),
        },
        "si" | "ui" if !width.is_empty() => {
            fault(Rule::Signless(word.to_owned(), format!("{}{width}", if letters == "si" { 'i' } else { 'u' })))
        }
        _ => fault(Rule::StoragePrefix),
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
        return Err(Fault::new(Rule::Minimum { min, storage: storage.name(), least }, min_span));
    }
    cursor.expect(":", "':' between the storage bounds")?;
    let (max, max_span) = cursor.integer()?;
    if max > most {
        return Err(Fault::new(Rule::Maximum { max, storage: storage.name(), most }, max_span));
    }
    if min >= max {
        return Err(Fault::new(Rule::Bounds(min, max), min_span.start..max_span.end));
    }
    cursor.expect(">", "'>' after the storage bounds")?;
    Ok(min..=max)
}

fn expressed(cursor: &mut Cursor<'_>) -> Parsed<(Expressed, Span)> {
    let (word, span) = cursor.word();
    if word.is_empty() {
        return Err(cursor.fault(Rule::Expected("an expressed type: f16, bf16, f32 or f64")));
    }
    if let Some(format) = Expressed::ALL.into_iter().find(|format| format.name() == word) {
        return Ok((format, span));
    }
    let rule = match is_other_float(word) {
        true => Rule::NotSupported { name: word.to_owned(), instead: EXPRESSED },
        false => Rule::NotFloat(word.to_owned()),
    };
    Err(Fault::new(rule, span))
}

fn axis(cursor: &mut Cursor<'_>) -> Parsed<(usize, Span)> {
    let (axis, span) = cursor.integer()?;
    if axis < 0 {
        return Err(Fault::new(Rule::Axis(axis), span));
    }
    match i32::try_from(axis).ok().and_then(|axis| usize::try_from(axis).ok()) {
        Some(axis) => Ok((axis, span)),
        None => Err(Fault::new(Rule::IntegerTooLarge, span)),
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
            return Err(Fault::new(Rule::AxisTwice(axis), span));
        }
        cursor.expect(":", "':' and the size of a block")?;
        let (size, size_span) = cursor.integer()?;
        match usize::try_from(size) {
            Ok(size @ 1..) => sizes.push((axis, size)),
            _ => return Err(Fault::new(Rule::BlockSize(size), size_span)),
        }
        spans.push(span);
        if !cursor.eat(",") {
            cursor.expect("}", "'}' after the block sizes")?;
            return Ok(sizes);
        }
    }
}
