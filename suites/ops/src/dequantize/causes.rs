//! What may be the cause of a difference in a dequantization.

use super::{Dequantize, each, each_of};
use crate::quantized::places::MISTAKES;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::{Case, Cause, PathStep};
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::dequantize::{Scheme, Step};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::rounding::RoundingRule;

/// The path from the ideal scheme to that of a contract.
pub(super) fn path(contract: &Scheme) -> Vec<PathStep<Dequantize>> {
    let rounds = |step: &Step| !matches!(step, Step::Subtract | Step::Multiply);
    let steps = || contract.definition.steps.iter().map(|(_, step)| step);
    if steps().filter(|step| rounds(step)).count() == 1 {
        return Vec::new();
    }
    let step = |scheme| PathStep::new(|p: &Params| Class::step(p.quantized.expressed), scheme);
    if !steps().any(|step| *step == Step::SubtractProduct) {
        return vec![step(*contract)];
    }
    let between = Scheme::parse("mlir-dcast").ok().map(step);
    between.into_iter().chain([PathStep::of(Class::Distributed, *contract)]).collect()
}

/// Every cause, in the order of preference.
pub(super) fn causes(scheme: &Scheme) -> Vec<Cause<Dequantize>> {
    let mut out = Vec::new();
    let scheme = *scheme;
    for name in ["ideal", "integer-difference", "mlir-dcast"] {
        let Ok(other) = Scheme::parse(name) else { continue };
        if name == scheme.definition.name {
            continue;
        }
        out.extend(Expressed::ALL.map(|expressed| {
            let because = format!("rounded in {} as {name} does", expressed.name());
            Cause::predicts(Class::step(expressed), because, move |case: &Case<Params>| {
                let same = case.params.quantized.expressed == expressed;
                same.then(|| each(case, |q, stored| other.expected(q, stored)).ok()).flatten()
            })
        }));
    }
    if let Ok(other) = Scheme::parse("distributed") {
        out.push(Cause::scheme(
            Class::Distributed,
            "each term is multiplied by the scale, and rounded, by itself",
            other,
        ));
    }
    out.extend(zero_points(scheme));
    out.extend(mistaken(scheme));
    out.push(narrow(scheme));
    out.extend(last_roundings(scheme));
    out
}

/// The last step rounds to the expressed type by another rule.
fn last_roundings(scheme: Scheme) -> Vec<Cause<Dequantize>> {
    let Some(((_, Step::Round), steps)) = scheme.definition.steps.split_last() else { return Vec::new() };
    let rules = RoundingRule::ALL.into_iter().filter(|rule| *rule != RoundingRule::TiesEven);
    let cause = |rule: RoundingRule| {
        let because = format!("the result is rounded {}", rule.name());
        Cause::predicts(Class::rounding(RoundingRule::TiesEven, rule), because, move |case: &Case<Params>| {
            let one = |q: &Quantization, stored: i64| {
                let start = Value::Number(stored.into());
                match steps.iter().fold(start, |value, (_, step)| step.apply(value, q)) {
                    Value::Number(v) => q.format.round(&v, rule),
                    _ => scheme.expected(q, stored),
                }
            };
            each(case, one).ok()
        })
    };
    rules.map(cause).collect()
}

/// Parameters of another channel or block.
fn mistaken(scheme: Scheme) -> impl Iterator<Item = Cause<Dequantize>> {
    MISTAKES.iter().map(move |mistake| {
        Cause::predicts(mistake.class, mistake.because, move |case: &Case<Params>| {
            each_of(case, &(mistake.scales)(&case.params), |q, stored| scheme.expected(q, stored)).ok()
        })
    })
}

/// f64 by way of f32.
fn narrow(scheme: Scheme) -> Cause<Dequantize> {
    Cause::predicts(Class::F32Step, "f64 is computed in f32", move |case: &Case<Params>| {
        let one = |q: &Quantization, stored: i64| in_f32(&scheme, q, stored);
        (case.params.quantized.expressed == Expressed::F64).then(|| each(case, one).ok()).flatten()
    })
}

/// The result in f32, as an f64. The scale may be 0 or infinite there, which schemes do not take: the sign is that of the difference.
fn in_f32(scheme: &Scheme, q: &Quantization, stored: i64) -> u64 {
    let narrow = Quantization { format: Format::F32, scale: Format::F32.nearest(&q.exact_scale()), ..*q };
    let (zero, infinite) = (narrow.scale == 0, narrow.scale == Format::F32.infinity());
    let scale = if zero || infinite { Format::F32.nearest(&1.into()) } else { narrow.scale };
    let signed = |negative: bool| if negative { Format::F64.sign() } else { 0 };
    match Format::F32.decode(scheme.expected(&Quantization { scale, ..narrow }, stored)) {
        Float::Finite { value, .. } if infinite && value == 0 => Format::F64.nan(),
        Float::Finite { value, .. } if infinite => Format::F64.infinity() | signed(value < 0),
        Float::Finite { value, .. } if zero => signed(value < 0),
        Float::Finite { value, .. } => Format::F64.nearest(&value),
        Float::Infinite { negative } => Format::F64.infinity() | signed(negative),
        Float::Nan => Format::F64.nan(),
    }
}

/// Another stored value, or another zero point, in the same steps.
fn zero_points(scheme: Scheme) -> Vec<Cause<Dequantize>> {
    type Changed = fn(&Quantization, i64) -> (i64, i64);
    let changes: [(Class, &'static str, Changed); 6] = [
        (Class::OffsetTerm, "the zero point is left out", |_, stored| (stored, 0)),
        (Class::OffsetSign, "the zero point is added", |q, stored| (stored, -q.zero_point)),
        (Class::Signedness, "the stored value is read with a sign", |q, stored| {
            (sign_extended(q, stored), q.zero_point)
        }),
        (Class::Signedness, "the zero point is read with a sign", |q, stored| (stored, sign_extended(q, q.zero_point))),
        (Class::Wrap, "the difference is taken in the storage's width", |q, stored| {
            (q.storage.wrap(stored - q.zero_point), 0)
        }),
        (Class::DoubleRounding, "the stored value is rounded to f32 before the expressed type", |q, stored| {
            (by_way_of_f32(stored), q.zero_point)
        }),
    ];
    let cause = |(class, because, changed): (Class, &'static str, Changed)| {
        Cause::predicts(class, because, move |case| {
            let one = |q: &Quantization, stored: i64| {
                let (stored, zero_point) = changed(q, stored);
                scheme.expected(&Quantization { zero_point, ..*q }, stored)
            };
            each(case, one).ok()
        })
    };
    changes.into_iter().map(cause).collect()
}

/// An integer rounded to f32, where it is an integer still.
fn by_way_of_f32(v: i64) -> i64 {
    match Format::F32.decode(Format::F32.nearest(&v.into())) {
        Float::Finite { value, .. } => value.numer().to_i64().unwrap_or(v),
        _ => v,
    }
}

fn sign_extended(q: &Quantization, v: i64) -> i64 {
    let unused = 64 - q.storage.bits;
    v << unused >> unused
}
