//! What may be the cause of a difference in a multiplication.

use super::path::{Kind, Parts, narrowed, parts};
use super::{Mul, at, parameters};
use crate::elementwise::{Changed, offsets};
use crate::fpm::hypotheses::structural_class;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::{Case, Cause, Expected};
use tiebreak_impls::mul::Params;
use tiebreak_oracle::mul::{Definition, Operand, Parameters, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Registered;

/// Every cause, in the order of preference: another scheme that is one known change away comes before one that is not.
pub(super) fn causes(scheme: &Scheme) -> Vec<Cause<Mul>> {
    let scheme = *scheme;
    let changed = |(class, because, change): (Class, &'static str, Changed)| {
        Cause::predicts(class, because, move |case: &Case<Params>| {
            let p = parameters(&case.params);
            let [lhs, rhs, out] = change([p.lhs, p.rhs, p.out]);
            at(&scheme, &Parameters { lhs, rhs, out, ..p }, case).ok()
        })
    };
    let mut out: Vec<Cause<Mul>> = offsets().into_iter().chain([EXCHANGED]).map(changed).collect();
    let Some(own) = parts(scheme.definition) else { return out };
    if scheme.definition.factor.is_empty() {
        out.push(Cause::predicts(Class::Wrap16, "the product wraps in 16 bits", move |case: &Case<Params>| {
            at(&scheme, &Parameters { product_bits: 16, ..parameters(&case.params) }, case).ok()
        }));
    }
    out.push(Cause::predicts(Class::MissingSaturation, "a cast that wraps stands for the clamp", move |case| {
        wrapped(scheme, case)
    }));
    let others = <&Definition>::all().filter(|other| other.name != scheme.definition.name);
    let mut others: Vec<_> = others
        .map(|definition| {
            let class = parts(definition).map_or(Class::OtherScheme, |other| class(own, other));
            Cause::scheme(class, format!("the multiplication is {}", definition.name), Scheme { definition, ..scheme })
        })
        .collect();
    others.sort_by_key(|cause| cause.class == Class::OtherScheme);
    out.extend(others);
    out
}

const EXCHANGED: (Class, &str, Changed) =
    (Class::OperandOrder, "each operand has the other's zero point", |[a, b, out]| {
        [Operand { zero_point: b.zero_point, ..a }, Operand { zero_point: a.zero_point, ..b }, out]
    });

/// Class of a multiplication by another scheme.
fn class(own: Parts, other: Parts) -> Class {
    let same_order = own.zero_point_first == other.zero_point_first;
    match (own.kind, other.kind) {
        (Kind::Rescaled(own, a), Kind::Rescaled(other, b)) if a == b => structural_class(own, other),
        (Kind::Rescaled(own, _), Kind::Rescaled(other, _)) if own.name == other.name => Class::F32Step,
        (Kind::Exact, Kind::Rescaled(_, derivation)) => narrowed(derivation),
        (Kind::Floats(_), Kind::Exact) | (Kind::Exact, Kind::Floats(_)) => Class::F32Step,
        (Kind::Exact, Kind::Exact) if !same_order => Class::ZeroPointPlacement,
        (Kind::Exact, Kind::Exact) => Class::rounding(own.rule, other.rule),
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a == b && !same_order => Class::ZeroPointPlacement,
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a != b && same_order => Class::Reciprocal,
        _ => Class::OtherScheme,
    }
}

/// The low bits of what is not clamped, of 8 bits: an int32, which is clamped to nothing.
fn wrapped(scheme: Scheme, case: &Case<Params>) -> Option<Expected> {
    let p = parameters(&case.params);
    let wide = Storage { bits: 32, signed: true };
    let (min, max) = (wide.min() as i32, wide.max() as i32);
    let results =
        at(&scheme, &Parameters { storage: wide, min, max, ..p }, case).ok().filter(|_| p.storage.bits == 8)?;
    Some(results.into_iter().map(|v| v.map(|v| p.storage.wrap(v.into()) as i32)).collect())
}
