//! Text of types and ops, in the spelling of the RFC: `3.0`, not `3.000000e+00`. Parsing the text returns the same type or op.

use super::{Element, Granularity, Item, Op, Quantized, Type};
use crate::quant_type::op::Form;
use std::fmt::{Display, Formatter, Result, Write};

/// Returns the shortest decimal that parses to the same double, with the dot that MLIR requires.
pub(super) fn literal(value: f64) -> String {
    let shortest = format!("{value:?}");
    match shortest.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => shortest,
    }
}

/// Returns a double as in mlir-opt's messages, with six digits.
pub(super) fn six_digits(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "INF"
        } else {
            "-INF"
        }
        .to_owned();
    }
    let text = format!("{value:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Type(ty) => ty.fmt(f),
            Self::Op(op) => op.fmt(f),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(result) = &self.result_name {
            write!(f, "%{result} = ")?;
        }
        let (name, operand, input, result) = (self.cast.name(), &self.operand_name, &self.input, &self.result);
        match self.form {
            Form::Custom => write!(f, "{name} %{operand} : {input} to {result}"),
            Form::Generic => write!(f, "\"{name}\"(%{operand}) : ({input}) -> {result}"),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Scalar(element) => element.fmt(f),
            Self::Unranked(element) => write!(f, "tensor<*x{element}>"),
            Self::Ranked { dims, element } => {
                f.write_str("tensor<")?;
                for dim in dims {
                    match dim {
                        Some(size) => write!(f, "{size}x")?,
                        None => f.write_str("?x")?,
                    }
                }
                write!(f, "{element}>")
            }
        }
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Uniform(uniform) => Spelled(uniform).fmt(f),
            Self::Float(expressed) => f.write_str(expressed.name()),
            Self::Integer(bits) => write!(f, "i{bits}"),
        }
    }
}

/// Displays a quantized type as MLIR text.
#[derive(Clone, Copy, Debug)]
pub struct Spelled<'a>(pub &'a Quantized);

impl Display for Spelled<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Quantized { storage, min, max, expressed, granularity, scales, .. } = self.0;
        write!(f, "!quant.uniform<{}", storage.name())?;
        if (*min..=*max) != storage.range() {
            write!(f, "<{min}:{max}>")?;
        }
        write!(f, ":{}", expressed.name())?;
        let counts = match granularity {
            Granularity::Layer => &[][..],
            Granularity::Channel { axis } => {
                write!(f, ":{axis}")?;
                &[scales.len()]
            }
            Granularity::Blocks { sizes, counts } => {
                let sizes: Vec<String> = sizes.iter().map(|(axis, size)| format!("{axis}:{size}")).collect();
                write!(f, ":{{{}}}", sizes.join(", "))?;
                counts
            }
        };
        f.write_str(", ")?;
        self.scales(f, counts, &mut 0)?;
        f.write_char('>')
    }
}

impl Spelled<'_> {
    /// Writes the scales from `next` on, in braces as deep as there are counts.
    fn scales(&self, f: &mut Formatter<'_>, counts: &[usize], next: &mut usize) -> Result {
        let Some((count, inner)) = counts.split_first() else {
            let at = *next;
            *next += 1;
            f.write_str(&literal(self.0.scales[at].0))?;
            return if self.0.zero_points[at] == 0 { Ok(()) } else { write!(f, ":{}", self.0.zero_points[at]) };
        };
        f.write_char('{')?;
        for i in 0..*count {
            f.write_str(if i == 0 { "" } else { ", " })?;
            self.scales(f, inner, next)?;
        }
        f.write_char('}')
    }
}
