//! Explanation of a dequantization: schemes and kernels for one stored value.

use super::cast::{self, Entry, compare};
use super::sheet::{Line, Row, Sheet};
use super::{Comparison, ExplainError};
use crate::dequantize::Dequantize;
use crate::quantized::quantizations;
use serde_json::json;
use tiebreak_common::floats::shortest;
use tiebreak_engine::operation::element::bits;
use tiebreak_engine::operation::{Element, promise};
use tiebreak_impls::dequantize::Kernel;
use tiebreak_impls::quantized::Quantized;
use tiebreak_oracle::Rational;
use tiebreak_oracle::dequantize::{DEFINITIONS, Scheme, Step};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_oracle::quantize::steps::Value;

/// Explains schemes and kernels for one stored value. All are compared with the first scheme. A kernel that breaks its contract is also compared
/// with its contract's scheme. The type must have one scale.
pub fn explain(
    quantized: &Quantized,
    stored: i64,
    schemes: &[Scheme],
    kernels: &[&Kernel],
) -> Result<Sheet, ExplainError> {
    let q = *quantizations(quantized)?.first().ok_or(ExplainError::NoScale)?;
    let case = cast::one(quantized, vec![stored as i32]);
    let mut entries: Vec<Entry<Dequantize>> = Vec::new();
    let mut comparisons: Vec<Comparison> = Vec::new();
    let mut wanted: Vec<Scheme> = schemes.to_vec();
    let promises: Vec<Scheme> = kernels.iter().map(|k| promise::<Dequantize>(k)).collect::<Result<_, _>>()?;
    if schemes.is_empty() {
        wanted.extend(promises.iter().copied());
    }
    for scheme in wanted {
        let name = scheme.definition.name;
        if !entries.iter().any(|entry| entry.row.name == name) {
            entries.push(entry(name.to_owned(), scheme.exact(&q, stored), (&scheme, &q, stored), None, true));
        }
    }
    comparisons.extend((1..entries.len()).map(|right| compare(&entries, 0, right, &case)));
    for (kernel, promised) in kernels.iter().zip(promises) {
        let expected = promised.exact(&q, stored);
        let both = cast::in_process::<Dequantize>(kernel, quantized, &[stored as i32])?.map(|words| bits(&words));
        let places: &[&str] = if both[0] == both[1] { &[""] } else { &[" (body)", " (tail)"] };
        for (place, got) in places.iter().zip(both) {
            let keeps = got == expected;
            let promised_name = promised.definition.name;
            let described = if keeps { "gives what it promises here" } else { "breaks its promise here" };
            let name = cast::kernel_name(kernel.name, place, DEFINITIONS.iter().map(|d| d.name));
            let steps_of = Some(format!("{described}, {promised_name}"));
            entries.push(entry(name, got, (&promised, &q, stored), steps_of, keeps));
            let right = entries.len() - 1;
            let own = entries.iter().position(|entry| entry.row.name == promised_name);
            comparisons.extend(own.map(|left| compare(&entries, left, right, &case)));
            comparisons.extend((own != Some(0)).then(|| compare(&entries, 0, right, &case)));
        }
    }
    let exact = Some(exact(&q, stored));
    Ok(Sheet { exact, notes: Vec::new(), rows: entries.into_iter().map(|e| e.row).collect(), comparisons })
}

fn exact(q: &Quantization, stored: i64) -> Rational {
    Rational::from(stored - q.zero_point) * q.exact_scale()
}

/// Scheme, quantization and stored value.
type At<'a> = (&'a Scheme, &'a Quantization, i64);

fn entry(name: String, result: u64, at: At<'_>, steps_of: Option<String>, keeps: bool) -> Entry<Dequantize> {
    let (scheme, q, stored) = at;
    let error = q.format.decode(result).finite().map(|v| v - exact(q, stored));
    let text = shortest(q.format, result);
    let steps = keeps.then(|| lines(at));
    let number = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|_| json!(text));
    let row = Row { name, result: number, text, error, steps_of, steps };
    let outs = Element::Float(q.format).of(result);
    Entry { row, scheme: *scheme, steps: scheme.definition.steps.len(), outs }
}

/// Returns every step with its loss.
fn lines((scheme, q, stored): At<'_>) -> Vec<Line> {
    let mut value = Value::Number(stored.into());
    let rounded = |v: &Rational| match q.format.decode(q.format.nearest(v)) {
        Float::Finite { value, .. } => value,
        _ => Rational::new(),
    };
    let zero_point = Rational::from(q.zero_point);
    let near = rounded(&zero_point);
    let mut out = Vec::new();
    for (name, step) in scheme.definition.steps {
        let before = value.clone();
        let after = step.apply(before.clone(), q);
        out.push(match step {
            Step::Subtract | Step::Multiply => cast::exact(name, &before, &after),
            Step::Round => cast::to_format(name, &before, &after, q.format),
            Step::RoundToDouble => cast::to_format(name, &before, &after, Format::F64),
            Step::RoundToSingle => cast::to_format(name, &before, &after, Format::F32),
            Step::SubtractRounded => {
                cast::operand(name, [&before, &after], "the zero point", &Rational::from(&near - &zero_point))
            }
            Step::SubtractProduct => {
                let product = Rational::from(&zero_point * &q.exact_scale());
                let used = rounded(&Rational::from(&near * &q.exact_scale()));
                cast::operand(name, [&before, &after], "the zero point's product", &(used - product))
            }
        });
        value = after;
    }
    out
}
