//! What may be done otherwise in an operation on two quantized tensors: another zero point, a cast for the clamp, another scheme.

use tiebreak_common::class::Class;
use tiebreak_engine::tensor::{Case, Change, Expected, Lead, Operation};
use tiebreak_impls::elementwise::Params;
use tiebreak_oracle::elementwise as oracle;
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::{Registered, Scheme};

/// The operands and the result with something changed.
pub(crate) type Changed = fn([oracle::Operand; 3]) -> [oracle::Operand; 3];

/// What may be wrong with a zero point, and what else an operation names of its operands, each with the results that it gives.
pub(crate) fn operands<O: Operation<Params = Params>>(
    others: &[(Class, &'static str, Changed)],
    given: impl Fn(&Case<Params>, Changed) -> Option<Expected> + Copy + Send + Sync + 'static,
) -> Vec<Change<O>> {
    let with = |(class, because, changed): (Class, &'static str, Changed)| {
        Change::predicts(class, because, move |case| given(case, changed))
    };
    offsets().into_iter().chain(others.iter().copied()).map(with).collect()
}

fn offsets() -> [(Class, &'static str, Changed); 6] {
    let with_sign = Class::OffsetSign;
    let without = Class::OffsetTerm;
    [
        (with_sign, "the zero points of both operands are added", |[a, b, out]| [negated(a), negated(b), out]),
        (with_sign, "the zero point of the left operand is added", |[a, b, out]| [negated(a), b, out]),
        (with_sign, "the zero point of the right operand is added", |[a, b, out]| [a, negated(b), out]),
        (without, "the zero point of the result is left out", |[a, b, out]| [a, b, unplaced(out)]),
        (without, "the zero point of the left operand is left out", |[a, b, out]| [unplaced(a), b, out]),
        (without, "the zero point of the right operand is left out", |[a, b, out]| [a, unplaced(b), out]),
    ]
}

fn negated(operand: oracle::Operand) -> oracle::Operand {
    oracle::Operand { zero_point: -operand.zero_point, ..operand }
}

fn unplaced(operand: oracle::Operand) -> oracle::Operand {
    oracle::Operand { zero_point: 0, ..operand }
}

/// The low bits of what is not clamped, of 8 bits. `given` has the results of a stored type, clamped to these bounds: an int32 is clamped to nothing.
pub(crate) fn wrapped<O: Operation<Params = Params>>(
    given: impl Fn(&Case<Params>, Storage, [i32; 2]) -> Option<Expected> + Send + Sync + 'static,
) -> Change<O> {
    Change::predicts(Class::MissingSaturation, "a cast that wraps stands for the clamp", move |case: &Case<Params>| {
        let (storage, _) = super::oracle(&case.params);
        let wide = Storage { bits: 32, signed: true };
        let results = given(case, wide, [wide.min() as i32, wide.max() as i32]).filter(|_| storage.bits == 8)?;
        Some(results.into_iter().map(|v| v.map(|v| storage.wrap(v.into()) as i32)).collect())
    })
}

/// Every other scheme, with the class of what separates it from this one. `next` is the next scheme on the way from one to another.
pub(crate) fn others<D, O>(
    scheme: Scheme<D>,
    operation: &str,
    class: impl Fn(D) -> Class,
    next: fn(&Scheme<D>, &Scheme<D>) -> Option<Scheme<D>>,
) -> Vec<Change<O>>
where
    D: Registered + Send + Sync,
    O: Operation<Scheme = Scheme<D>>,
{
    let change = |definition: D| {
        let because = format!("the {operation} is {}", definition.name());
        let change = Change::scheme(class(definition), because, Scheme { definition, ..scheme });
        change.leading(move |target| match next(&scheme, target) {
            Some(next) if next.definition.name() == definition.name() => Lead::To(next),
            _ => Lead::Away,
        })
    };
    let mut out: Vec<_> = D::all().filter(|other| other.name() != scheme.definition.name()).map(change).collect();
    // On little evidence schemes of several systems give the same: what tells more comes first.
    out.sort_by_key(|change: &Change<O>| change.class == Class::OtherScheme);
    out
}
