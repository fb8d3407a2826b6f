//! Parser of ops: `%result = quant.qcast %input : f32 to !quant.uniform<i8:f32, 2.0>`.

use super::cursor::Cursor;
use super::error::{Fault, expected, not_supported};
use super::parse::{self, Parsed};
use super::spans::Located;
use super::{Element, Type, verify};
use tiebreak_oracle::names::unknown;

/// Op with matching types.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Direction of the cast.
    pub cast: Cast,
    /// Spelling of the op.
    pub form: Form,
    /// Name of the result, without `%`; `None` if the text has no result name.
    pub result_name: Option<String>,
    /// Name of the operand, without `%`.
    pub operand_name: String,
    /// Type of the operand.
    pub input: Type,
    /// Type of the result.
    pub result: Type,
}

/// Spelling of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `quant.qcast %0 : f32 to T`
    Custom,
    /// `"quant.qcast"(%0) : (f32) -> T`
    Generic,
}

/// Kind of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// Quantizes.
    Qcast,
    /// Dequantizes.
    Dcast,
    /// Reinterprets stored values as integers of the same width, or the reverse.
    Scast,
}

/// Required type of a side of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Float,
    Quantized,
    Stored,
}

impl Cast {
    /// All ops of the dialect.
    pub const ALL: [Self; 3] = [Self::Qcast, Self::Dcast, Self::Scast];

    /// Returns the name of the op, such as `quant.qcast`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qcast => "quant.qcast",
            Self::Dcast => "quant.dcast",
            Self::Scast => "quant.scast",
        }
    }

    pub(super) fn operand(self) -> Side {
        match self {
            Self::Qcast => Side::Float,
            Self::Dcast => Side::Quantized,
            Self::Scast => Side::Stored,
        }
    }

    pub(super) fn result(self) -> Side {
        match self {
            Self::Qcast => Side::Quantized,
            Self::Dcast => Side::Float,
            Self::Scast => Side::Stored,
        }
    }
}

impl Side {
    pub(super) fn takes(self, element: &Element) -> bool {
        match (self, element) {
            (Self::Float, Element::Float(_)) | (Self::Quantized, Element::Uniform(_)) => true,
            (Self::Stored, Element::Uniform(_) | Element::Integer(_)) => true,
            (Self::Float | Self::Quantized | Self::Stored, _) => false,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Float => "floating-point",
            Self::Quantized => "quantized type",
            Self::Stored => "signless integer or quantized type",
        }
    }
}

/// True if an op begins here; false for a type.
pub(super) fn begins(cursor: &mut Cursor<'_>) -> bool {
    cursor.here();
    cursor.next_is(|c| matches!(c, '%' | '"')) || cursor.word().0.contains('.')
}

/// Parses an op and checks that its types fit.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Parsed<Op> {
    let mut ahead = *cursor;
    let result_name = if ahead.eat("%") {
        *cursor = ahead;
        let name = name(cursor)?;
        cursor.expect("=", "'=' after the result")?;
        Some(name)
    } else {
        None
    };
    let form = if cursor.eat("\"") { Form::Generic } else { Form::Custom };
    let cast = cast(cursor)?;
    let (operand_name, input, result) = match form {
        Form::Custom => custom(cursor)?,
        Form::Generic => generic(cursor)?,
    };
    verify::op(cast, &input, &result)?;
    Ok(Op { cast, form, result_name, operand_name, input: input.ty, result: result.ty })
}

fn cast(cursor: &mut Cursor<'_>) -> Parsed<Cast> {
    let (word, span) = cursor.word();
    let names = Cast::ALL.map(Cast::name);
    match Cast::ALL.into_iter().find(|cast| cast.name() == word) {
        Some(cast) => Ok(cast),
        None if word.starts_with("quant.uniform") => Err(Fault::new(expected("'!' in front of quant.uniform"), span)),
        None if word.is_empty() => Err(cursor.fault(expected("an op: quant.qcast, quant.dcast or quant.scast"))),
        None => Err(Fault::new(unknown("op", word, names).to_string(), span)),
    }
}

/// Parses a name after a `%`.
fn name(cursor: &mut Cursor<'_>) -> Parsed<String> {
    match cursor.word_here() {
        "" => Err(cursor.fault(expected("the name of a value after '%'"))),
        name => Ok(name.to_owned()),
    }
}

/// ` %0 : f32 to T`
fn custom(cursor: &mut Cursor<'_>) -> Parsed<(String, Located, Located)> {
    cursor.expect("%", "'%' and the operand")?;
    let operand = name(cursor)?;
    cursor.here();
    if cursor.next_is(|c| c == '{') {
        return Err(cursor.fault(not_supported("an attribute", "write the op without attributes")));
    }
    cursor.expect(":", "':' and the type of the operand")?;
    let input = parse::located(cursor)?;
    let mut ahead = *cursor;
    if ahead.word().0 != "to" {
        return Err(cursor.fault(expected("'to' and the type of the result")));
    }
    *cursor = ahead;
    Ok((operand, input, parse::located(cursor)?))
}

/// `"(%0) : (f32) -> T`
fn generic(cursor: &mut Cursor<'_>) -> Parsed<(String, Located, Located)> {
    cursor.expect("\"", "'\"' after the op's name")?;
    cursor.expect("(", "'(' and the operand")?;
    cursor.expect("%", "'%' and the operand")?;
    let operand = name(cursor)?;
    cursor.expect(")", "')' after the operand")?;
    cursor.expect(":", "':' and the op's type")?;
    cursor.expect("(", "'(' and the type of the operand")?;
    let input = parse::located(cursor)?;
    cursor.expect(")", "')' after the type of the operand")?;
    cursor.expect("->", "'->' and the type of the result")?;
    Ok((operand, input, parse::located(cursor)?))
}
