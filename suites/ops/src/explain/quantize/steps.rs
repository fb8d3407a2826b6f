//! Steps of quantize schemes for one float, and their losses.

use crate::explain::cast;
use crate::explain::sheet::{Line, fraction};
use tiebreak_common::fraction::signed;
use tiebreak_oracle::Rational;
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::steps::{Addend, Nan, Step, Value, reciprocal};
use tiebreak_oracle::quantize::{Quantization, Scheme, Storage, Stored};

/// Formats a result for readers.
pub(super) fn described(stored: Stored) -> String {
    match stored {
        Stored::Value(v) => v.to_string(),
        Stored::Poison => "poison".to_owned(),
        Stored::Unspecified => "unspecified".to_owned(),
    }
}

/// Returns every step with its loss.
pub(super) fn lines(scheme: &Scheme, q: &Quantization, x: u64) -> Vec<Line> {
    let mut value = match q.format.decode(x) {
        Float::Nan => Value::Nan,
        Float::Infinite { negative } => Value::Infinite { negative },
        Float::Finite { value, .. } => Value::Number(value),
    };
    let mut out = Vec::new();
    for (name, step) in scheme.definition.steps {
        let before = value.clone();
        match step.apply(before.clone(), scheme.overflow, q) {
            Ok(after) => {
                line(name, *step, &before, &after, q, &mut out);
                value = after;
            }
            Err(_) => {
                if let (Step::Convert(rule), Value::Number(v)) = (step, &before) {
                    let whole = Value::Number(rule.round(v).into());
                    out.extend((whole != before).then(|| cast::to_integer(name, &before, &whole, *rule)));
                    value = whole;
                }
                let word = if let Step::RequireBits(bits) = *step { Storage { bits, signed: true } } else { q.storage };
                let storage = format!("{}, which has {} to {}", word.name(), word.min(), word.max());
                let lost = format!("{} is no {storage}", fraction(&value));
                out.push(Line { effect: "poison", lost, after: None, ..cast::exact(name, &value, &value) });
                return out;
            }
        }
    }
    out
}

fn line(name: &str, step: Step, before: &Value, after: &Value, q: &Quantization, out: &mut Vec<Line>) {
    let moved = |effect, what: &str| match (before == after, before, after) {
        (true, ..) => cast::exact(name, before, after),
        (_, Value::Number(b), Value::Number(a)) => {
            cast::lossy(name, before, after, effect, format!("{what} by {}", signed(&Rational::from(a - b))))
        }
        _ => cast::lossy(name, before, after, effect, what.to_owned()),
    };
    let rounded = |exact: &Rational| match q.format.decode(q.format.nearest(exact)) {
        Float::Finite { value, .. } => value - exact,
        _ => Rational::new(),
    };
    out.push(match step {
        Step::Divide | Step::Add(Addend::ZeroPoint | Addend::Constant(_)) => cast::exact(name, before, after),
        Step::Add(Addend::ZeroPointRounded) => {
            cast::operand(name, [before, after], "the zero point", &rounded(&q.zero_point.into()))
        }
        Step::MultiplyByReciprocal => {
            let exact = q.exact_scale().recip();
            let by = match q.format.decode(reciprocal(q)) {
                Float::Finite { value, .. } => value - exact,
                _ => Rational::new(),
            };
            cast::operand(name, [before, after], "1/scale", &by)
        }
        Step::RoundToFormat => cast::to_format(name, before, after, q.format),
        Step::RoundTo(format) => cast::to_format(name, before, after, format),
        Step::RoundToInteger(rule) => cast::to_integer(name, before, after, rule),
        Step::Convert(rule) => {
            let whole = match before {
                Value::Number(v) => Value::Number(rule.round(v).into()),
                other => other.clone(),
            };
            out.push(cast::to_integer(name, before, &whole, rule));
            if whole != *after {
                let lost = "does not fit the storage type".to_owned();
                out.push(cast::lossy("the conversion is fitted", &whole, after, "fitted", lost));
            }
            return;
        }
        Step::Nan(Nan::Poison | Nan::Zero | Nan::Lowest | Nan::Greatest) => moved("replaced", "replaced"),
        Step::Saturate(_) | Step::ClampBeforeZeroPoint | Step::Clamp => moved("saturated", "clamped"),
        Step::Wrap(_) => moved("wrapped", "wrapped"),
        Step::RequireBits(_) => cast::exact(name, before, after),
    });
}
