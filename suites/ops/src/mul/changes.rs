//! What may be done otherwise in a multiplication.

use super::parts::{Kind, Parts, next, parts};
use super::{Mul, at, parameters};
use crate::elementwise::changes::{Changed, operands, others, wrapped};
use crate::fpm::hypotheses::structural_class;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::{Case, Change};
use tiebreak_impls::mul::Params;
use tiebreak_oracle::mul::{Operand, Parameters, Scheme};

/// Every change, in the order of preference: another scheme that is one known change away comes before one that is not.
pub(super) fn changes(scheme: &Scheme) -> Vec<Change<Mul>> {
    let scheme = *scheme;
    let mut out = operands(&EXCHANGES, move |case, changed| {
        let p = parameters(&case.params);
        let [lhs, rhs, out] = changed([p.lhs, p.rhs, p.out]);
        at(&scheme, &Parameters { lhs, rhs, out, ..p }, case).ok()
    });
    let Some(own) = parts(scheme.definition) else { return out };
    if scheme.definition.factor.is_empty() {
        out.push(Change::predicts(Class::Wrap16, "the product wraps in 16 bits", move |case: &Case<Params>| {
            at(&scheme, &Parameters { product_bits: 16, ..parameters(&case.params) }, case).ok()
        }));
    }
    out.push(wrapped(move |case, storage, [min, max]| {
        at(&scheme, &Parameters { storage, min, max, ..parameters(&case.params) }, case).ok()
    }));
    let class = |definition| parts(definition).map_or(Class::OtherScheme, |other| class(own, other));
    out.extend(others(scheme, "multiplication", class, next));
    out
}

const EXCHANGES: [(Class, &str, Changed); 1] =
    [(Class::OperandOrder, "each operand has the other's zero point", |[a, b, out]| {
        [Operand { zero_point: b.zero_point, ..a }, Operand { zero_point: a.zero_point, ..b }, out]
    })];

/// Class of a multiplication by another scheme.
fn class(own: Parts, other: Parts) -> Class {
    let same_order = own.zero_point_first == other.zero_point_first;
    match (own.kind, other.kind) {
        (Kind::Rescaled(own, a), Kind::Rescaled(other, b)) if a == b => structural_class(own, other),
        (Kind::Rescaled(own, _), Kind::Rescaled(other, _)) if own.name == other.name => Class::F32Step,
        (Kind::Exact, Kind::Rescaled(_, "f32")) => Class::F32Step,
        (Kind::Exact, Kind::Rescaled(..)) => Class::MultiplierNarrowed,
        (Kind::Floats(_), Kind::Exact) | (Kind::Exact, Kind::Floats(_)) => Class::F32Step,
        (Kind::Exact, Kind::Exact) if !same_order => Class::ZeroPointPlacement,
        (Kind::Exact, Kind::Exact) => Class::rounding(own.rule, other.rule),
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a == b && !same_order => Class::ZeroPointPlacement,
        (Kind::Floats(Some(a)), Kind::Floats(Some(b))) if a != b && same_order => Class::Reciprocal,
        _ => Class::OtherScheme,
    }
}
