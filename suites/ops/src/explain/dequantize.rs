//! Dequantization explained: schemes and kernels at one stored value.

use super::Comparison;
use super::cast::{self, Change, Entry, Way, compare};
use super::sheet::{Line, Row, Sheet};
use crate::dequantize::Dequantize;
use crate::quantized::quantizations;
use serde_json::json;
use tiebreak_common::class::Class;
use tiebreak_common::floats::shortest;
use tiebreak_engine::tensor::element::bits;
use tiebreak_engine::tensor::promise;
use tiebreak_impls::dequantize::Kernel;
use tiebreak_impls::quantized::Quantized;
use tiebreak_oracle::Rational;
use tiebreak_oracle::dequantize::{DEFINITIONS, Scheme, Step};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_oracle::quantize::steps::Value;

type Named = (&'static str, Step);

#[derive(Clone)]
struct Steps {
    list: Vec<Named>,
    q: Quantization,
    stored: i64,
    step_class: Class,
}

/// Schemes and kernels at one stored value; all are compared with the first scheme, a kernel also with what it promises where it gives
/// something else. The type has one scale.
pub fn explain(quantized: &Quantized, stored: i64, schemes: &[Scheme], kernels: &[&Kernel]) -> Result<Sheet, String> {
    let q = *quantizations(quantized)?.first().ok_or("the type has no scale")?;
    let mut entries: Vec<Entry<Steps>> = Vec::new();
    let mut comparisons: Vec<Comparison> = Vec::new();
    let class = Class::step(quantized.expressed);
    let way = |scheme: &Scheme| Steps { list: scheme.definition.steps.to_vec(), q, stored, step_class: class };
    let mut wanted: Vec<Scheme> = schemes.to_vec();
    let promises: Vec<Scheme> =
        kernels.iter().map(|k| promise::<Dequantize>(k).map_err(|e| e.to_string())).collect::<Result<_, _>>()?;
    if schemes.is_empty() {
        wanted.extend(promises.iter().copied());
    }
    for scheme in wanted {
        let name = scheme.definition.name;
        if !entries.iter().any(|entry| entry.row.name == name) {
            let steps = way(&scheme);
            entries.push(entry(name.to_owned(), scheme.exact(&q, stored), steps, None, true));
        }
    }
    comparisons.extend((1..entries.len()).map(|right| compare(&entries, 0, right)));
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
            entries.push(entry(name, got, way(&promised), steps_of, keeps));
            let right = entries.len() - 1;
            let own = entries.iter().position(|entry| entry.row.name == promised_name);
            comparisons.extend(own.map(|left| compare(&entries, left, right)));
            comparisons.extend((own != Some(0)).then(|| compare(&entries, 0, right)));
        }
    }
    let exact = Some(exact(&q, stored));
    Ok(Sheet { exact, notes: Vec::new(), rows: entries.into_iter().map(|e| e.row).collect(), comparisons })
}

fn exact(q: &Quantization, stored: i64) -> Rational {
    Rational::from(stored - q.zero_point) * q.exact_scale()
}

fn entry(name: String, result: u64, way: Steps, steps_of: Option<String>, keeps: bool) -> Entry<Steps> {
    let q = way.q;
    let error = q.format.decode(result).finite().map(|v| v - exact(&q, way.stored));
    let text = shortest(q.format, result);
    let steps = keeps.then(|| lines(&way));
    let number = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|_| json!(text));
    Entry { row: Row { name, result: number, text, error, steps_of, steps }, way }
}

/// Every step with what it lost.
fn lines(way: &Steps) -> Vec<Line> {
    let q = &way.q;
    let mut value = Value::Number(way.stored.into());
    let rounded = |v: &Rational| match q.format.decode(q.format.nearest(v)) {
        Float::Finite { value, .. } => value,
        _ => Rational::new(),
    };
    let zero_point = Rational::from(q.zero_point);
    let near = rounded(&zero_point);
    let mut out = Vec::new();
    for (name, step) in &way.list {
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

impl Way for Steps {
    fn towards(&self, other: &Self) -> Vec<Change<Self>> {
        let mut out: Vec<Change<Self>> = Vec::new();
        let mut change = |class: Class, what: String, apply: Box<dyn Fn(&mut Self)>| {
            out.push(Change { class, what, apply });
        };
        let has = |way: &Self, step: Step| way.list.iter().any(|(_, other)| *other == step);
        if has(self, Step::SubtractProduct) && !has(other, Step::SubtractProduct) {
            let together = |way: &mut Self| {
                let dcast = DEFINITIONS.iter().find(|d| d.name == "mlir-dcast");
                way.list = dcast.map_or_else(Vec::new, |d| d.steps.to_vec());
            };
            let what = "the difference multiplied in place of each term".to_owned();
            change(Class::Distributed, what, Box::new(together));
        }
        for (name, step) in &self.list {
            let class = match step {
                Step::Round => self.step_class,
                Step::RoundToDouble => Class::F64Step,
                Step::RoundToSingle => Class::F32Step,
                _ => continue,
            };
            let name = *name;
            if !other.list.iter().any(|(other, _)| *other == name) {
                let drop = move |way: &mut Self| way.list.retain(|(own, _)| *own != name);
                change(class, format!("\"{name}\" left out"), Box::new(drop));
            }
        }
        if has(self, Step::SubtractRounded) && !has(other, Step::SubtractRounded) {
            let exact = |way: &mut Self| {
                for (_, step) in &mut way.list {
                    if *step == Step::SubtractRounded {
                        *step = Step::Subtract;
                    }
                }
            };
            change(self.step_class, "the zero point unrounded".to_owned(), Box::new(exact));
        }
        out
    }

    fn result(&self) -> String {
        let start = Value::Number(self.stored.into());
        let value = self.list.iter().fold(start, |value, (_, step)| step.apply(value, &self.q));
        let format = self.q.format;
        shortest(
            format,
            match value {
                Value::Number(v) => format.nearest(&v),
                Value::Infinite { negative } => format.infinity() | if negative { format.sign() } else { 0 },
                Value::Nan => format.nan(),
            },
        )
    }
}
