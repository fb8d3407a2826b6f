//! Changes that a kernel may make to a dequantization.

mod single;

use super::{Dequantize, each, each_of};
use crate::quantized::places::SCALE_CONFUSIONS;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Lead};
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::dequantize::{DEFINITIONS, Scheme, Step};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::Quantization;
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::rounding::RoundingRule;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme) -> Vec<Change<Dequantize>> {
    let scheme = *scheme;
    let others = DEFINITIONS.iter().filter(|other| other.name != scheme.definition.name);
    let others = others.map(|definition| Scheme { definition, ..scheme });
    let (by_terms, mut whole): (Vec<_>, Vec<_>) = others.partition(multiplies_terms);
    whole.sort_by_key(|other| other.definition.steps.len());
    // Changes of a single step come first.
    let mut out = single::changes(scheme);
    out.extend(whole.into_iter().flat_map(|other| rounded_as(scheme, other)));
    out.extend(by_terms.iter().map(|other| distributed(scheme, *other)));
    out.extend(by_terms.into_iter().flat_map(|other| VECTORS.map(|vector| in_vectors(scheme, other, vector))));
    out.extend(zero_points(scheme));
    out.extend(mistaken(scheme));
    out.push(narrow(scheme));
    out.extend(last_roundings(scheme));
    out
}

/// True if each term is multiplied by the scale, and rounded, separately.
fn multiplies_terms(scheme: &Scheme) -> bool {
    scheme.definition.steps.iter().any(|(_, step)| *step == Step::SubtractProduct)
}

/// True if only the result is rounded.
fn rounds_once(scheme: &Scheme) -> bool {
    let rounds = |step: &Step| !matches!(step, Step::Subtract | Step::Multiply);
    scheme.definition.steps.iter().filter(|(_, step)| rounds(step)).count() == 1
}

/// Returns the next scheme on the way to `target`: first the steps are rounded, then each term is multiplied separately; or in reverse.
fn next(from: &Scheme, target: &Scheme) -> Option<Scheme> {
    if from.definition.name == target.definition.name {
        return None;
    }
    if multiplies_terms(from) != multiplies_terms(target) && (rounds_once(from) || multiplies_terms(from)) {
        return Scheme::parse("mlir-dcast").ok();
    }
    match (rounds_once(from), multiplies_terms(target)) {
        (true, _) => Some(*target).filter(|target| !rounds_once(target)),
        (false, true) => Some(*target).filter(|_| from.definition.name == "mlir-dcast"),
        (false, false) => None,
    }
}

/// Returns the lead of a change to `other`. Undoing the steps of a scheme leads nearer to every target without them.
fn leading(scheme: Scheme, other: Scheme) -> impl Fn(&Scheme) -> Lead<Scheme> {
    move |target| match next(&scheme, target) {
        Some(next) if next.definition.name == other.definition.name => Lead::To(next),
        None if other.definition.name == target.definition.name => Lead::Nearer,
        _ => Lead::Away,
    }
}

/// Returns changes that round the steps as another scheme does, for each expressed type.
fn rounded_as(scheme: Scheme, other: Scheme) -> Vec<Change<Dequantize>> {
    let name = other.definition.name;
    if multiplies_terms(&scheme) && name == "mlir-dcast" {
        let because = "the difference is multiplied in place of each term";
        return vec![Change::scheme(Class::Distributed, because, other).leading(leading(scheme, other))];
    }
    let at = |expressed: Expressed| {
        let because = format!("rounded in {} as {name} does", expressed.name());
        Change::scheme(Class::step(expressed), because, other)
            .at(move |params: &Params| params.quantized.expressed == expressed)
            .leading(leading(scheme, other))
    };
    Expressed::ALL.map(at).into()
}

fn distributed(scheme: Scheme, other: Scheme) -> Change<Dequantize> {
    let because = "each term is multiplied by the scale, and rounded, by itself";
    Change::scheme(Class::Distributed, because, other).leading(leading(scheme, other))
}

/// Vector lengths in elements; elements after the last whole vector may have other results.
const VECTORS: [usize; 4] = [4, 8, 16, 32];

/// Predicts [`distributed`] in whole vectors only, as in LiteRT's AVX2 code of DEQUANTIZE.
fn in_vectors(scheme: Scheme, other: Scheme, vector: usize) -> Change<Dequantize> {
    let because = format!("in whole vectors of {vector} each term is multiplied by the scale, and rounded, by itself");
    Change::predicts(Class::Distributed, because, move |case: &Case<Params>| {
        let body = each(case, |q, stored| other.expected(q, stored)).ok()?;
        let mut out = each(case, |q, stored| scheme.expected(q, stored)).ok()?;
        let elements = case.tensors[0].len();
        let words = out.len() / elements.max(1) * (elements - elements % vector);
        out[..words].copy_from_slice(&body[..words]);
        Some(out)
    })
}

/// Returns changes of the last rounding to the expressed type: each other rounding rule.
fn last_roundings(scheme: Scheme) -> Vec<Change<Dequantize>> {
    let Some(((_, Step::Round), steps)) = scheme.definition.steps.split_last() else { return Vec::new() };
    let rules = RoundingRule::ALL.into_iter().filter(|rule| *rule != RoundingRule::TiesEven);
    let cause = |rule: RoundingRule| {
        let because = format!("the result is rounded {}", rule.name());
        Change::predicts(Class::rounding(RoundingRule::TiesEven, rule), because, move |case: &Case<Params>| {
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

/// Returns changes that use the parameters of another channel or block.
fn mistaken(scheme: Scheme) -> impl Iterator<Item = Change<Dequantize>> {
    SCALE_CONFUSIONS.iter().map(move |confusion| {
        Change::predicts(confusion.class, confusion.because, move |case: &Case<Params>| {
            each_of(case, &(confusion.scales)(&case.params), |q, stored| scheme.expected(q, stored)).ok()
        })
    })
}

/// Predicts f64 results that are computed in f32.
fn narrow(scheme: Scheme) -> Change<Dequantize> {
    Change::predicts(Class::F32Step, "f64 is computed in f32", move |case: &Case<Params>| {
        let one = |q: &Quantization, stored: i64| in_f32(&scheme, q, stored);
        (case.params.quantized.expressed == Expressed::F64).then(|| each(case, one).ok()).flatten()
    })
}

/// Returns the result in f32, as an f64. If the scale is 0 or infinite in f32, the sign of the difference decides the result.
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

/// Returns changes to the stored value or to the zero point, with the same steps.
fn zero_points(scheme: Scheme) -> Vec<Change<Dequantize>> {
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
        Change::predicts(class, because, move |case| {
            let one = |q: &Quantization, stored: i64| {
                let (stored, zero_point) = changed(q, stored);
                scheme.expected(&Quantization { zero_point, ..*q }, stored)
            };
            each(case, one).ok()
        })
    };
    changes.into_iter().map(cause).collect()
}

/// Rounds an integer to f32; the result is an integer.
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
