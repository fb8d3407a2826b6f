//! Steps of one result of a product with output stages: the raw products, the terms of the offsets, and every stage.

use super::sheet::Line;
use super::steps::{fit, plain};
use crate::qmatmul::{Qmatmul, quantized};
use tiebreak_common::fraction::signed;
use tiebreak_engine::operation::{Case, Operation};
use tiebreak_impls::matmul;
use tiebreak_impls::qmatmul::{Along, Layer64, Params, Stage};
use tiebreak_oracle::matmul::Product;
use tiebreak_oracle::qmatmul::{Scheme, dividing, scaling, walk};
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::requantize::Parameters;
use tiebreak_oracle::{Integer, Rational};

/// Returns the steps of one result of a product with output stages.
pub fn qmatmul(
    scheme: &<Qmatmul as Operation>::Scheme,
    case: &Case<<Qmatmul as Operation>::Params>,
    at: usize,
) -> Option<Vec<Line>> {
    let p = quantized(&case.params);
    let scheme = scheme.at_result(at, p.product.n);
    let [lhs, rhs, _] = &*case.tensors;
    let sum = p.product.sums(lhs, rhs).ok()?.into_iter().nth(at)?;
    let mut out = terms(&p.product, lhs, rhs, at)?;
    if !p.is_wide() {
        out.extend(fit(&Rational::from(&sum), scheme.overflow));
    }
    let values = walk(&scheme, &p, at, &sum);
    let place = [at / p.product.n, at % p.product.n];
    out.extend(each(&case.params.stages, place, &scheme, &values));
    Some(out)
}

/// Returns the steps of a 64-bit sum in one column of a layer.
pub(super) fn of_layer64(layer: &Layer64<'_>, column: usize, scheme: &Scheme, sum: Integer) -> Vec<Line> {
    let channels = [layer.channel(column)];
    let one = Layer64 { bias: &[layer.bias(column)], channels: &channels, ..*layer };
    let shape = matmul::Params { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 };
    let params = Params { shape, stages: one.stages() };
    let values = walk(scheme, &quantized(&params), 0, &sum);
    each(&params.stages, [0, 0], scheme, &values)
}

/// Returns the lines of the stages between consecutive values.
fn each(stages: &[Stage], place: [usize; 2], scheme: &Scheme, values: &[Option<Integer>]) -> Vec<Line> {
    let known = |v: &Option<Integer>| v.as_ref().and_then(|v| v.to_i64());
    let steps =
        stages.iter().zip(values.windows(2)).map_while(|(stage, around)| Some((stage, known(&around[0])?, &around[1])));
    steps
        .flat_map(|(stage, before, after)| staged(stage, place, scheme, before, after.clone().map(Rational::from)))
        .collect()
}

/// Returns the lines of the raw products and of the terms that the offsets add to their sum.
fn terms(product: &Product, lhs: &[i32], rhs: &[i32], at: usize) -> Option<Vec<Line>> {
    let name = format!("add {}", tiebreak_reports::text::plural(product.k, "product"));
    let named = [
        (name, [0, 0]),
        ("add rhs_offset times the sum of the row".to_owned(), [0, product.rhs_offset]),
        (
            "add lhs_offset times the sum of the column, and K * lhs_offset * rhs_offset".to_owned(),
            [product.lhs_offset, product.rhs_offset],
        ),
    ];
    let mut before = Rational::new();
    let mut out = Vec::new();
    for (at_term, (name, [lhs_offset, rhs_offset])) in named.into_iter().enumerate() {
        let partial = Product { lhs_offset, rhs_offset, ..*product };
        let after = Rational::from(partial.sums(lhs, rhs).ok()?.into_iter().nth(at)?);
        let is_none = [false, product.rhs_offset == 0, product.lhs_offset == 0][at_term];
        if !is_none {
            out.push(plain(name, before, after.clone()));
        }
        before = after;
    }
    Some(out)
}

/// Returns the lines of one stage between two values.
fn staged(stage: &Stage, place: [usize; 2], scheme: &Scheme, before: i64, after: Option<Rational>) -> Vec<Line> {
    let pick = |along: Along, count: usize| match along {
        _ if count == 1 => 0,
        Along::Rows => place[0],
        Along::Columns => place[1],
    };
    let parameters = |channel: (i32, i32), bias: i32, zero_point: i32| Parameters {
        channels: vec![channel],
        bias: vec![bias],
        zero_point,
        min: i32::MIN,
        max: i32::MAX,
    };
    match stage {
        Stage::Bias { along, values } => {
            let value = values[pick(*along, values.len())];
            let exact = Rational::from(before) + value;
            let name = format!("add the bias {value}");
            let line = plain(name, before.into(), exact.clone());
            std::iter::once(line).chain(fit(&exact, scheme.overflow)).collect()
        }
        Stage::Bias64 { along, values } => {
            let value = values[pick(*along, values.len())];
            let line = plain(format!("add the bias {value}"), before.into(), Rational::from(before) + value);
            match after {
                Some(_) => vec![line],
                None => vec![Line { after: None, effect: "refused", lost: "beyond 48 bits".to_owned(), ..line }],
            }
        }
        Stage::Scale { along, channels, zero_point } => {
            let channel = channels[pick(*along, channels.len())];
            let p = parameters((channel.multiplier, channel.shift), 0, *zero_point);
            scaling(scheme).trace_scaled(&p, 0, before).steps.iter().map(Line::from).collect()
        }
        Stage::Down { offset, multiplier, shift } => {
            let trace = dividing(scheme).trace(&parameters((*multiplier, *shift), *offset, 0), 0, before as i32);
            // The last three steps are left out: the zero point, its word, and the clamp.
            let count = trace.steps.len().saturating_sub(3);
            trace.steps.iter().take(count).map(Line::from).collect()
        }
        Stage::Clamp { min, max } => vec![ended(format!("clamp to {min}..{max}"), before, after)],
        Stage::Cast { to } => vec![ended(format!("saturating cast to {}", to.name()), before, after)],
        Stage::Tanh { zero_point, amplitude } => {
            let name = format!("{zero_point} + {amplitude} * tanh((v - {zero_point}) / {amplitude}), in fixed point");
            let line = plain(name, before.into(), before.into());
            let (effect, lost) = if after.is_some() { ("exact", "") } else { ("refused", "refused") };
            vec![Line { after: after.map(Value::Number), effect, lost: lost.to_owned(), ..line }]
        }
    }
}

/// Builds the line of a stage that limits a value to a range.
fn ended(name: String, before: i64, after: Option<Rational>) -> Line {
    let line = plain(name, before.into(), before.into());
    let Some(after) = after.filter(|after| *after != before) else { return line };
    let lost = format!("saturated by {}", signed(&(after.clone() - before)));
    Line { after: Some(Value::Number(after)), effect: "saturated", lost, ..line }
}
