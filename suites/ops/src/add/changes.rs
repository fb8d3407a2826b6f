//! What may be done otherwise in an addition.

use super::parts::{Kind, Parts, next, parts};
use super::{Add, at, parameters};
use crate::elementwise::changes::{Changed, operands, others, wrapped};
use crate::fpm::hypotheses::structural_class;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::Change;
use tiebreak_oracle::add::{Operand, Parameters, Scheme};

/// Every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme) -> Vec<Change<Add>> {
    let scheme = *scheme;
    let mut out = operands(&EXCHANGES, move |case, changed| {
        let p = parameters(&case.params);
        let [lhs, rhs, out] = changed([p.lhs, p.rhs, p.out]);
        at(&scheme, &Parameters { lhs, rhs, out, ..p }, case).ok()
    });
    let Some(own) = parts(scheme.definition) else { return out };
    if matches!(own.kind, Kind::Rescaled(_)) {
        out.extend([15, 16, 12, 10, 8, 4, 0].map(|bits| lifted(scheme, bits)));
    }
    out.push(wrapped(move |case, storage, [min, max]| {
        at(&scheme, &Parameters { storage, min, max, ..parameters(&case.params) }, case).ok()
    }));
    let class = |definition| parts(definition).map_or(Class::OtherScheme, |other| class(own, other));
    out.extend(others(scheme, "addition", class, next));
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
        (Kind::Narrowed, Kind::Rescaled(_)) => Class::DoubleRounding,
        _ => Class::OtherScheme,
    }
}

const EXCHANGES: [(Class, &str, Changed); 2] = [
    (Class::OperandOrder, "each operand has the other's scale", |[a, b, out]| {
        [Operand { scale: b.scale, ..a }, Operand { scale: a.scale, ..b }, out]
    }),
    (Class::OperandOrder, "each operand has the other's scale and zero point", |[a, b, out]| [b, a, out]),
];

/// Operands lifted by fewer bits.
fn lifted(scheme: Scheme, bits: u32) -> Change<Add> {
    let because = format!("operands are shifted left by {bits} bits");
    Change::predicts(Class::LeftShift, because, move |case| {
        let p = parameters(&case.params);
        let narrow = Parameters { left_shift: bits, ..p };
        (bits < p.left_shift).then(|| at(&scheme, &narrow, case).ok()).flatten()
    })
}
