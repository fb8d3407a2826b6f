//! What may be the cause of a difference in a quantization.

use super::links::{Parts, RULES, parts, rule_class, step_class_of};
use super::{Quantize, each, each_of};
use crate::quantized::places::MISTAKES;
use crate::tensor::{Case, Cause, Expected};
use std::iter;
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::{Quantization, Scheme, Storage};

/// Elements of a vector behind which a tail may go another way.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];
/// Rules by which a tail may be rounded.
const TAILS: [&str; 4] = ["nearest-away", "nearest-even", "toward-zero", "nearest-up"];

/// Every cause, in the order of preference.
pub(super) fn causes(scheme: &Scheme) -> Vec<Cause<Quantize>> {
    let scheme = *scheme;
    let mut out = not_numbers(scheme);
    let Some(own) = parts(scheme.definition.name) else { return out };
    out.extend(narrowing(scheme, own));
    for rule in RULES.into_iter().filter(|rule| *rule != own.rule) {
        let because = format!("rounded by {rule}");
        out.push(variant(rule_class(rule), because, scheme, Parts { rule, ..own }));
    }
    let place = if own.after { "added before the rounding" } else { "added behind the rounding" };
    let placed = Parts { after: !own.after, ..own };
    out.push(variant("zero-point-placement", format!("the zero point is {place}"), scheme, placed));
    if own.steps {
        let how = if own.reciprocal { "divided by the scale" } else { "multiplied by the rounded 1/scale" };
        out.push(variant("reciprocal", how.to_owned(), scheme, Parts { reciprocal: !own.reciprocal, ..own }));
    }
    out.extend(steps(scheme, own));
    out.extend(others(scheme));
    out.extend(positions(scheme, own));
    // Two changes at once are told by the first.
    for rule in RULES.into_iter().filter(|rule| *rule != own.rule) {
        let because = format!("rounded by {rule}, and the zero point {place}");
        out.push(variant(rule_class(rule), because, scheme, Parts { rule, ..placed }));
    }
    out
}

fn is_nan(format: Format, x: u64) -> bool {
    format.decode(x) == Float::Nan
}

/// NaN becomes something else, and nothing else is wrong.
fn not_numbers(scheme: Scheme) -> Vec<Cause<Quantize>> {
    let to = |because: &'static str, value: fn(&Quantization) -> i64| {
        Cause::predicts("nan-policy", because, move |case| {
            let one = |q: &Quantization, x: u64| {
                if is_nan(q.format, x) { Some(value(q)) } else { scheme.expected(q, x).value() }
            };
            each(case, one).ok()
        })
    };
    vec![
        to("NaN becomes 0", |_| 0),
        to("NaN becomes the zero point", |q| q.zero_point),
        to("NaN becomes the smallest stored value", |q| q.min),
        to("NaN becomes the largest stored value", |q| q.max),
        to("NaN becomes 0, clamped", |q| 0.clamp(q.min, q.max)),
    ]
}

/// The result before the clamp, by its parts; nothing for NaN.
fn wide(own: Parts, q: &Quantization, x: u64) -> Option<i64> {
    let family = match own {
        Parts { steps: false, .. } => "",
        Parts { reciprocal: true, .. } => "reciprocal-",
        _ => "mlir-qcast-",
    };
    let scheme = Scheme::parse(&format!("{family}{}:saturate", own.rule)).ok()?;
    let zero_point = if own.after { 0 } else { q.zero_point };
    // What is narrower than a register is converted as an int32.
    let signed = q.storage.signed || q.storage.bits < 32;
    let storage = Storage { bits: 32, signed };
    let all = Quantization { zero_point, ..Quantization::whole(q.format, q.scale, zero_point, storage) };
    if is_nan(q.format, x) {
        return None;
    }
    scheme.expected(&all, x).value().map(|v| v + q.zero_point - zero_point)
}

/// The result of other parts where the scheme gives one; where it gives none (NaN, poison) the variant says nothing either.
fn varied(scheme: Scheme, other: Parts, q: &Quantization, x: u64) -> Option<i64> {
    let own = scheme.expected(q, x).value();
    own?;
    wide(other, q, x).map(|v| v.clamp(q.min, q.max)).or(own)
}

fn variant(class: &'static str, because: String, scheme: Scheme, other: Parts) -> Cause<Quantize> {
    Cause::predicts(class, because, move |case| each(case, |q, x| varied(scheme, other, q, x)).ok())
}

/// What happens between the integer and the stored value, in another order or not at all.
fn narrowing(scheme: Scheme, own: Parts) -> Vec<Cause<Quantize>> {
    type Narrow = fn(&Quantization, i64) -> i64;
    let orders: [(&'static str, &'static str, Narrow); 7] = [
        ("clamp-order", "the low bits are taken, then clamped", |q, v| q.storage.wrap(v).clamp(q.min, q.max)),
        ("saturation", "the low bits are taken, without a clamp", |q, v| q.storage.wrap(v)),
        ("saturation", "clamped to the storage and not to the bounds", |q, v| {
            v.clamp(q.storage.min(), q.storage.max())
        }),
        ("clamp-order", "the low bits are taken before the zero point is added", |q, v| {
            (q.storage.wrap(v - q.zero_point) + q.zero_point).clamp(q.min, q.max)
        }),
        ("clamp-order", "the low bits are taken before and behind the zero point", |q, v| {
            q.storage.wrap(q.storage.wrap(v - q.zero_point) + q.zero_point).clamp(q.min, q.max)
        }),
        ("clamp-order", "clamped before the zero point is added, and again", |q, v| {
            ((v - q.zero_point).clamp(q.min, q.max) + q.zero_point).clamp(q.min, q.max)
        }),
        ("clamp-order", "clamped before the zero point is added, and the low bits taken", |q, v| {
            q.storage.wrap((v - q.zero_point).clamp(q.min, q.max) + q.zero_point)
        }),
    ];
    let cause = |(class, because, narrow): (&'static str, &'static str, Narrow)| {
        Cause::predicts(class, because, move |case| {
            let one = |q: &Quantization, x: u64| {
                let kept = scheme.expected(q, x).value()?;
                Some(wide(own, q, x).map_or(kept, |v| narrow(q, v)))
            };
            each(case, one).ok()
        })
    };
    orders.into_iter().map(cause).collect()
}

/// Steps rounded in the expressed type where they must not be, or exact where they must be rounded; a class for each type.
fn steps(scheme: Scheme, own: Parts) -> Vec<Cause<Quantize>> {
    let other = Parts { steps: !own.steps, reciprocal: false, ..own };
    let because = if own.steps { "no step is rounded in" } else { "every step is rounded in" };
    let one = |expressed: Expressed| {
        let class = step_class_of(expressed);
        Cause::predicts(class, format!("{because} {}", expressed.name()), move |case: &Case<Params>| {
            let same = case.params.quantized.expressed == expressed;
            same.then(|| each(case, |q, x| varied(scheme, other, q, x)).ok()).flatten()
        })
    };
    Expressed::ALL.into_iter().map(one).collect()
}

/// Other parameters than the element's, or another type.
fn others(scheme: Scheme) -> Vec<Cause<Quantize>> {
    let sign = Cause::predicts("signedness", "the zero point is read with a sign", move |case| {
        let one = |q: &Quantization, x: u64| {
            let unused = 64 - q.storage.bits;
            // A zero point below an unsigned type is one of the signed type with a bit more, which schemes take.
            let storage = tiebreak_oracle::quantize::Storage { bits: (q.storage.bits + 1).min(32), signed: true };
            let read = Quantization { zero_point: q.zero_point << unused >> unused, ..*q };
            let read = if read.zero_point < q.storage.min() { Quantization { storage, ..read } } else { read };
            scheme.expected(&read, x).value()
        };
        each(case, one).ok()
    });
    let mistaken = MISTAKES.iter().map(|mistake| {
        Cause::predicts(mistake.class, mistake.because, move |case: &Case<Params>| {
            each_of(case, &(mistake.scales)(&case.params), |q, x| scheme.expected(q, x).value()).ok()
        })
    });
    let float =
        Cause::predicts("f32-step", "f64 is rounded to f32, and every step in f32", move |case: &Case<Params>| {
            let one = |q: &Quantization, x: u64| {
                let [scale, x] = [q.scale, x].map(|bits| narrowed(q.format, bits));
                scheme.expected(&Quantization { format: Format::F32, scale, ..*q }, x).value()
            };
            (case.params.quantized.expressed == Expressed::F64).then(|| each(case, one).ok()).flatten()
        });
    iter::once(sign).chain(mistaken).chain([float]).collect()
}

/// A pattern rounded to f32.
fn narrowed(format: Format, bits: u64) -> u64 {
    match format.decode(bits) {
        Float::Nan => Format::F32.nan(),
        Float::Infinite { negative } => Format::F32.infinity() | if negative { Format::F32.sign() } else { 0 },
        Float::Finite { value, .. } => Format::F32.nearest(&value),
    }
}

/// A tail that is rounded by another rule than the body.
fn positions(scheme: Scheme, own: Parts) -> Vec<Cause<Quantize>> {
    let mut out = Vec::new();
    for vector in VECTORS {
        for rule in TAILS.into_iter().filter(|rule| *rule != own.rule) {
            let because = format!("elements behind the last whole vector of {vector} are rounded by {rule}");
            out.push(Cause::predicts("position", because, move |case: &Case<Params>| {
                let body = each(case, |q, x| scheme.expected(q, x).value()).ok()?;
                let tail = each(case, |q, x| varied(scheme, Parts { rule, ..own }, q, x)).ok()?;
                Some(joined(body, &tail, vector))
            }));
        }
    }
    out
}

fn joined(mut body: Expected, tail: &Expected, vector: usize) -> Expected {
    let from = body.len() - body.len() % vector;
    body[from..].copy_from_slice(&tail[from..]);
    body
}
