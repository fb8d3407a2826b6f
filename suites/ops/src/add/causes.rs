//! What may be the cause of a difference in an addition.

use super::path::{Kind, Parts, parts};
use super::{Add, at, parameters};
use crate::elementwise::{Changed, offsets};
use crate::fpm::hypotheses::structural_class;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::{Case, Cause, Expected};
use tiebreak_impls::add::Params;
use tiebreak_oracle::add::{Operand, Parameters, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Registered;

/// Every cause, in the order of preference.
pub(super) fn causes(scheme: &Scheme) -> Vec<Cause<Add>> {
    let scheme = *scheme;
    let changed = |(class, because, change): (Class, &'static str, Changed)| {
        Cause::predicts(class, because, move |case: &Case<Params>| {
            let p = parameters(&case.params);
            let [lhs, rhs, out] = change([p.lhs, p.rhs, p.out]);
            at(&scheme, &Parameters { lhs, rhs, out, ..p }, case).ok()
        })
    };
    let mut out: Vec<Cause<Add>> = offsets().into_iter().chain(exchanges()).map(changed).collect();
    let Some(own) = parts(scheme.definition) else { return out };
    if matches!(own.kind, Kind::Rescaled(_)) {
        out.extend([15, 16, 12, 10, 8, 4, 0].map(|bits| lifted(scheme, bits)));
    }
    out.push(Cause::predicts(Class::MissingSaturation, "a cast that wraps stands for the clamp", move |case| {
        wrapped(scheme, case)
    }));
    let others = <&tiebreak_oracle::add::Definition>::all().filter(|other| other.name != scheme.definition.name);
    let mut others: Vec<_> = others
        .map(|definition| {
            let class = parts(definition).map_or(Class::OtherScheme, |other| class(own, other));
            Cause::scheme(class, format!("the addition is {}", definition.name), Scheme { definition, ..scheme })
        })
        .collect();
    // On little evidence schemes of several systems give the same: what tells more comes first.
    others.sort_by_key(|cause| cause.class == Class::OtherScheme);
    out.extend(others);
    out
}

/// Class of an addition by another scheme.
fn class(own: Parts, other: Parts) -> Class {
    match (own.kind, other.kind) {
        (Kind::Rescaled(own), Kind::Rescaled(other)) => structural_class(own, other),
        (Kind::Floats, Kind::Exact) | (Kind::Exact, Kind::Floats) => Class::F32Step,
        (Kind::Exact, Kind::Exact) if own.zero_point_first != other.zero_point_first => Class::ZeroPointPlacement,
        (Kind::Exact, Kind::Exact) | (Kind::Narrowed, Kind::Narrowed) => Class::rounding(own.rule, other.rule),
        (Kind::Exact, Kind::Narrowed | Kind::Fixed) => Class::MultiplierNarrowed,
        _ => Class::OtherScheme,
    }
}

fn exchanges() -> [(Class, &'static str, Changed); 2] {
    [
        (Class::OperandOrder, "each operand has the other's scale", |[a, b, out]| {
            [Operand { scale: b.scale, ..a }, Operand { scale: a.scale, ..b }, out]
        }),
        (Class::OperandOrder, "each operand has the other's scale and zero point", |[a, b, out]| [b, a, out]),
    ]
}

/// Operands lifted by fewer bits.
fn lifted(scheme: Scheme, bits: u32) -> Cause<Add> {
    let because = format!("operands are shifted left by {bits} bits");
    Cause::predicts(Class::LeftShift, because, move |case| {
        let p = parameters(&case.params);
        let narrow = Parameters { left_shift: bits, ..p };
        (bits < p.left_shift).then(|| at(&scheme, &narrow, case).ok()).flatten()
    })
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
