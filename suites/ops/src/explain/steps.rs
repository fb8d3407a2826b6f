//! Steps of one result of a tensor operation: the sum over its window or depth, and the scheme's steps from the sum to the result.

use super::sheet::{Line, Rounding};
use crate::concat::{self, Concat};
use crate::conv2d::geometry::{column, places, row};
use crate::conv2d::{Conv2d, convolution};
use crate::matmul::Matmul;
use crate::pool::{Pool, pooling};
use crate::qconv2d::Qconv2d;
use tiebreak_common::fraction::signed;
use tiebreak_engine::operation::{Case, Operation};
use tiebreak_impls::conv2d::Params as Shape;
use tiebreak_oracle::Rational;
use tiebreak_oracle::concat::steps::Step as Rescaling;
use tiebreak_oracle::matmul::Scheme as Products;
use tiebreak_oracle::pool::steps::Step;
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::requantize::Parameters;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::{INT32, Overflow};

/// Function that returns the steps of a scheme for one result of a case; `None` if the steps of the operation are not modelled.
pub type Steps<O> = fn(&<O as Operation>::Scheme, &Case<<O as Operation>::Params>, usize) -> Option<Vec<Line>>;

/// Returns `None`, for operations whose steps are not modelled.
pub fn none<O: Operation>(_: &O::Scheme, _: &Case<O::Params>, _: usize) -> Option<Vec<Line>> {
    None
}

/// Returns the steps of a quantized convolution: the sum over the window, the bias, the multiplication, the zero point and the clamp.
pub fn qconv2d(
    scheme: &<Qconv2d as Operation>::Scheme,
    case: &Case<<Qconv2d as Operation>::Params>,
    at: usize,
) -> Option<Vec<Line>> {
    let p = &case.params;
    let scheme = scheme.at_result(at, p.shape.out_channels);
    let sum = exact(&case.tensors, &p.shape, at)?;
    let mut out = vec![summed(&p.shape, at, &sum)?];
    if let Some(layer) = p.layer64() {
        let o = at % p.shape.out_channels;
        out.extend(super::stages::of_layer64(&layer, o, &scheme, sum.numer().clone()));
        return Some(out);
    }
    let fitted = scheme.overflow.fit_exact(INT32, sum.numer());
    out.extend(fit(&sum, scheme.overflow));
    let Some(acc) = fitted.and_then(|sum| sum.to_i32()) else { return Some(out) };
    let o = at % p.shape.out_channels;
    let channel = p.channel(o);
    let parameters = Parameters {
        channels: vec![(channel.multiplier, channel.shift)],
        bias: vec![p.bias(o)],
        zero_point: p.zero_point,
        min: p.min,
        max: p.max,
    };
    out.extend(scheme.trace(&parameters, 0, acc).steps.iter().map(Line::from));
    Some(out)
}

/// Returns the steps of a convolution: the sum over the window, and the word of the result.
pub fn conv2d(scheme: &Products, case: &Case<Shape>, at: usize) -> Option<Vec<Line>> {
    let sum = exact(&case.tensors, &case.params, at)?;
    let result = Conv2d::exact(scheme, case).ok()?.get(at).copied().flatten();
    Some(products(scheme, summed(&case.params, at, &sum)?, sum, result))
}

/// Returns the steps of a matrix product: the sum over the depth, and the word of the result.
pub fn matmul(scheme: &Products, case: &Case<<Matmul as Operation>::Params>, at: usize) -> Option<Vec<Line>> {
    let sum = Matmul::rational(scheme, case)?.into_iter().nth(at)??;
    let result = Matmul::exact(scheme, case).ok()?.get(at).copied().flatten();
    let name = format!("add {}", tiebreak_reports::text::plural(case.params.k, "product"));
    Some(products(scheme, plain(name, Rational::new(), sum.clone()), sum, result))
}

/// Returns the steps of a pooling: gathering the elements of the window, and the following steps.
pub fn pool(
    scheme: &<Pool as Operation>::Scheme,
    case: &Case<<Pool as Operation>::Params>,
    at: usize,
) -> Option<Vec<Line>> {
    let trace = scheme.trace(&pooling(&case.params), &case.tensors[0], at).ok()??;
    let (name, first) = trace.gathered;
    let elements = tiebreak_reports::text::plural(trace.elements, "element");
    let mut out = vec![plain(format!("{name}: {elements} of the image"), Rational::new(), first.clone())];
    let mut before = first;
    for (name, step, after) in trace.steps {
        let name = if step == Step::DivideByCount { format!("{name}, {}", trace.count) } else { name.to_owned() };
        let line = Line { after: after.clone().map(Value::Number), ..plain(name, before.clone(), Rational::new()) };
        let loss = match step {
            Step::Round(rule) => Loss::Rounded(rule),
            Step::RoundToSingle => Loss::Single,
            Step::Clamp => Loss::Clamped,
            _ => Loss::None,
        };
        out.push(with_effect(line, loss, &before, after.as_ref()));
        let Some(after) = after else { break };
        before = after;
    }
    Some(out)
}

/// Returns the steps of a concatenation, beginning with the stored value of the result.
pub fn concat(
    scheme: &<Concat as Operation>::Scheme,
    case: &Case<<Concat as Operation>::Params>,
    at: usize,
) -> Option<Vec<Line>> {
    let trace = scheme.trace(&concat::to_oracle(&case.params), &case.tensors[0], at).ok()??;
    let stored = Rational::from(trace.stored);
    let mut out = vec![plain("take the stored value".to_owned(), stored.clone(), stored.clone())];
    let mut before = stored;
    for (name, step, after) in trace.steps {
        let loss = match step {
            Rescaling::Round(rule) => Loss::Rounded(rule),
            Rescaling::RoundToSingle => Loss::Single,
            Rescaling::Clamp => Loss::Clamped,
            _ => Loss::None,
        };
        out.push(with_effect(plain(name.to_owned(), before.clone(), after.clone()), loss, &before, Some(&after)));
        before = after;
    }
    Some(out)
}

/// Kind of loss that a step may have.
#[derive(Clone, Copy)]
enum Loss {
    None,
    Rounded(RoundingRule),
    Single,
    Clamped,
}

/// Adds a step's actual loss to its line.
fn with_effect(line: Line, loss: Loss, before: &Rational, after: Option<&Rational>) -> Line {
    let Some(after) = after else { return Line { effect: "refused", lost: "refused".to_owned(), ..line } };
    let change = Rational::from(after - before);
    if change == 0 {
        return line;
    }
    let by = signed(&change);
    let half = Rational::from((1, 2));
    let is_tie = Rational::from(change.abs_ref()) == half;
    match loss {
        Loss::Rounded(rule) => {
            let tie = is_tie && rule.is_nearest();
            let rounding = Some(Rounding { rule: rule.name(), bit: None, to: None, tie });
            let lost = format!("rounded by {by}{}", if tie { ", a tie" } else { "" });
            Line { effect: "rounded", lost, rounding, ..line }
        }
        Loss::Single => {
            let rounding = Some(Rounding { rule: "ties-even", bit: None, to: Some("f32"), tie: false });
            Line { effect: "rounded", lost: format!("rounded by {by} to f32"), rounding, ..line }
        }
        Loss::Clamped => Line { effect: "saturated", lost: format!("saturated by {by}"), ..line },
        Loss::None => line,
    }
}

/// Builds the line of a step without a loss.
pub(super) fn plain(name: String, before: Rational, after: Rational) -> Line {
    let (before, after) = (Value::Number(before), Some(Value::Number(after)));
    Line { name, before, after, effect: "exact", lost: String::new(), rounding: None }
}

/// Returns the exact sum of one result.
fn exact(tensors: &[Vec<i32>; 3], shape: &Shape, at: usize) -> Option<Rational> {
    let sums = convolution(shape).sums(&tensors[0], &tensors[1]).ok()?;
    sums.into_iter().nth(at).map(Rational::from)
}

/// Builds the line of the sum over the window of one result, with the number of its products.
fn summed(shape: &Shape, at: usize, sum: &Rational) -> Option<Line> {
    let (rows, columns) = shape.output().ok()?;
    let pixel = at / shape.out_channels;
    let (y, x) = (pixel / columns % rows, pixel % columns);
    let is_inside = |(_, i, j): &(usize, usize, usize)| row(shape, y, *i).and(column(shape, x, *j)).is_some();
    let each = shape.channels / shape.groups;
    let taps = places([1, shape.kernel_h, shape.kernel_w]);
    let seen = taps.filter(is_inside).count() * each;
    let outside = shape.kernel_h * shape.kernel_w * each - seen;
    let products = tiebreak_reports::text::plural(seen, "product");
    let whose = if shape.transposed { "that meet no element" } else { "in the padding" };
    let padding = if outside == 0 { String::new() } else { format!("; {outside} {whose} are 0") };
    Some(plain(format!("add {products}{padding}"), Rational::new(), sum.clone()))
}

/// Builds the line of the conversion of a sum to int32; `None` if the sum fits.
pub(super) fn fit(sum: &Rational, overflow: Overflow) -> Option<Line> {
    let fitted = overflow.fit_exact(INT32, sum.numer()).map(Rational::from);
    if fitted.as_ref() == Some(sum) {
        return None;
    }
    let by = fitted.as_ref().map(|fitted| signed(&Rational::from(fitted - sum)));
    let (effect, lost) = match (overflow, by) {
        (Overflow::Wrap, Some(by)) => ("wrapped", format!("wrapped by {by}")),
        (_, Some(by)) => ("saturated", format!("saturated by {by}")),
        (_, None) => ("refused", "refused".to_owned()),
    };
    let line = plain("the sum in int32".to_owned(), sum.clone(), sum.clone());
    Some(Line { after: fitted.map(Value::Number), effect, lost, ..line })
}

/// Returns the lines of a sum of products: narrow lanes as one step, and the conversion to int32.
fn products(scheme: &Products, first: Line, sum: Rational, result: Option<i32>) -> Vec<Line> {
    if scheme.definition.narrow.is_none() {
        return std::iter::once(first).chain(fit(&sum, scheme.overflow)).collect();
    }
    let name = format!("through lanes: {}", scheme.definition.summary);
    let after = result.map(Rational::from);
    let changed = after.as_ref() != Some(&sum);
    let by = after.as_ref().map(|after| signed(&Rational::from(after - &sum)));
    let lane = Line {
        after: after.map(Value::Number),
        effect: if changed { "moved" } else { "exact" },
        lost: by.filter(|_| changed).map_or(String::new(), |by| format!("moved by {by}")),
        ..plain(name, sum.clone(), sum)
    };
    vec![first, lane]
}
