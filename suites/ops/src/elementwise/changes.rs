//! Changes that a kernel of two quantized tensors may make to a scheme: another zero point, a wrapping cast in place of the clamp, another scheme.

use super::operation::{Definition, Parameters};
use super::{Arithmetic, Elementwise, Parts};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::elementwise::Params;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::{Registered, Scheme};

/// Exchange of operand parameters: class, description, and the mapping of operand and result parameters to the kernel's.
pub(crate) type Exchange = (Class, &'static str, fn([Operand; 3]) -> [Operand; 3]);

/// Returns every change, in the order of preference. A scheme that is a single known change away comes before other schemes.
pub(super) fn changes<A: Arithmetic>(scheme: Scheme<Definition<A>>) -> Vec<Change<Elementwise<A>>> {
    let with = |(class, because, changed): Exchange| {
        Change::predicts(class, because, move |case: &Case<Params>| {
            let p = Elementwise::<A>::parameters(&case.params);
            let [lhs, rhs, out] = changed([p.lhs, p.rhs, p.out]);
            Elementwise::<A>::at(&scheme, case, &Parameters::<A> { lhs, rhs, out, ..p })
        })
    };
    let mut out: Vec<_> = offsets().into_iter().chain(A::EXCHANGES.iter().copied()).map(with).collect();
    if let Some(own) = (A::SCHEMES.parts)(scheme.definition) {
        out.extend(A::changes(scheme));
        out.push(wrapped(scheme));
        out.extend(VECTORS.into_iter().flat_map(|vector| narrowed(scheme, vector)));
        out.extend(others(scheme, own));
    }
    out
}

fn offsets() -> [Exchange; 7] {
    let with_sign = Class::OffsetSign;
    let without = Class::OffsetTerm;
    [
        (with_sign, "the zero points of both operands are added", |[a, b, out]| [negated(a), negated(b), out]),
        (with_sign, "the zero point of the left operand is added", |[a, b, out]| [negated(a), b, out]),
        (with_sign, "the zero point of the right operand is added", |[a, b, out]| [a, negated(b), out]),
        (with_sign, "the zero point of the result is subtracted", |[a, b, out]| [a, b, negated(out)]),
        (without, "the zero point of the result is left out", |[a, b, out]| [a, b, unplaced(out)]),
        (without, "the zero point of the left operand is left out", |[a, b, out]| [unplaced(a), b, out]),
        (without, "the zero point of the right operand is left out", |[a, b, out]| [a, unplaced(b), out]),
    ]
}

fn negated(operand: Operand) -> Operand {
    Operand { zero_point: -operand.zero_point, ..operand }
}

fn unplaced(operand: Operand) -> Operand {
    Operand { zero_point: 0, ..operand }
}

/// Predicts the low 8 bits of the result before the clamp. With 32-bit storage the oracle's clamp changes nothing.
fn wrapped<A: Arithmetic>(scheme: Scheme<Definition<A>>) -> Change<Elementwise<A>> {
    Change::predicts(Class::MissingSaturation, "a cast that wraps stands for the clamp", move |case: &Case<Params>| {
        let p = Elementwise::<A>::parameters(&case.params);
        let storage = Storage { bits: 32, signed: true };
        let wide = Parameters::<A> { storage, min: storage.min() as i32, max: storage.max() as i32, ..p };
        let results = Elementwise::<A>::at(&scheme, case, &wide).filter(|_| p.storage.bits == 8)?;
        Some(results.into_iter().map(|v| v.map(|v| p.storage.wrap(v.into()) as i32)).collect())
    })
}

/// Vector lengths in elements for which results may pass through a narrow register.
const VECTORS: [usize; 4] = [1, 8, 16, 32];

/// Mapping from the result without zero point, and the zero point, to the int16 result.
type Narrow = fn(i32, i32) -> i16;

/// Returns changes in which results pass through int16 before the clamp, in whole vectors: LiteRT's AVX2 code of ADD and of MUL.
fn narrowed<A: Arithmetic>(scheme: Scheme<Definition<A>>, vector: usize) -> Vec<Change<Elementwise<A>>> {
    let ways: [(&'static str, Narrow); 2] = [
        ("results wrap to int16 before the clamp", |v, zero_point| v.wrapping_add(zero_point) as i16),
        ("results saturate to int16, and the zero point is added with wrap", |v, zero_point| {
            (v.clamp(i16::MIN.into(), i16::MAX.into()) + zero_point) as i16
        }),
    ];
    let cause = |(because, narrow): (&'static str, Narrow)| {
        let because = if vector == 1 { because.to_owned() } else { format!("{because}, in whole vectors of {vector}") };
        Change::predicts(Class::Wrap16, because, move |case: &Case<Params>| {
            let p = Elementwise::<A>::parameters(&case.params);
            let storage = Storage { bits: 32, signed: true };
            let wide = Parameters::<A> { storage, min: storage.min() as i32, max: storage.max() as i32, ..p };
            let (own, whole) = (Elementwise::<A>::at(&scheme, case, &p)?, Elementwise::<A>::at(&scheme, case, &wide)?);
            let zero_point = p.out.zero_point;
            let narrow = |v: i32| i32::from(narrow(v.wrapping_sub(zero_point), zero_point)).clamp(p.min, p.max);
            let body = own.len() - own.len() % vector;
            let wraps = |(i, (own, v)): (usize, (Option<i32>, Option<i32>))| if i < body { v.map(narrow) } else { own };
            (p.storage.bits == 8).then(|| own.into_iter().zip(whole).enumerate().map(wraps).collect())
        })
    };
    ways.map(cause).into()
}

/// Returns changes to every other scheme, each with the class of the difference.
fn others<A: Arithmetic>(scheme: Scheme<Definition<A>>, own: Parts<A::Kind>) -> Vec<Change<Elementwise<A>>> {
    let class = |other| (A::SCHEMES.parts)(other).map_or(Class::OtherScheme, |other| (A::SCHEMES.class)(own, other));
    Change::others(A::NOUN, scheme, Definition::<A>::all(), class, A::SCHEMES.next)
}
