//! Changes to a scheme that only an addition or a subtraction may make.

use super::super::operation::{Definition, Parameters};
use super::super::{Arithmetic, Elementwise};
use super::parts::{Kind, parts};
use tiebreak_common::Class;
use tiebreak_engine::operation::Change;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{LeftShift, Sum};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Scheme;

/// Returns changes to a scheme of a sum, selected by the scheme's scaling method.
pub(in super::super) fn of_sums<A: Arithmetic<Oracle: Sum>>(
    scheme: Scheme<Definition<A>>,
) -> Vec<Change<Elementwise<A>>> {
    match parts(scheme.definition).map(|own| own.kind) {
        Some(Kind::Operands(_)) => vec![saturated(scheme), sum_first(scheme)],
        Some(Kind::Rescaled(_) | Kind::Negated(_)) => [15, 16, 12, 10, 8, 4, 0].map(|bits| lifted(scheme, bits)).into(),
        _ => Vec::new(),
    }
}

/// Predicts operands that are shifted left by fewer bits.
fn lifted<A: Arithmetic<Oracle: Sum>>(scheme: Scheme<Definition<A>>, bits: u32) -> Change<Elementwise<A>> {
    let because = format!("operands are shifted left by {bits} bits");
    Change::predicts(Class::LeftShift, because, move |case| {
        let p = Elementwise::<A>::parameters(&case.params);
        let narrow = Parameters::<A> { own: LeftShift(bits), ..p };
        (bits < p.own.0).then(|| Elementwise::<A>::at(&scheme, case, &narrow)).flatten()
    })
}

/// Predicts operands that saturate to the type, in the output's scale, before the sum.
fn saturated<A: Arithmetic<Oracle: Sum>>(scheme: Scheme<Definition<A>>) -> Change<Elementwise<A>> {
    let because = "each operand saturates to the type before the sum";
    Change::predicts(Class::OperandSaturation, because, move |case| {
        let p = Elementwise::<A>::parameters(&case.params);
        let [lhs, rhs] = [0, 1].map(|kept| {
            // The other operand equals its zero point, which is the neutral element.
            let mut one = case.clone();
            let other = if kept == 0 { p.rhs.zero_point } else { p.lhs.zero_point };
            one.tensors[1 - kept].fill(other);
            Elementwise::<A>::at(&scheme, &one, &p)
        });
        let sum = |(lhs, rhs): (Option<i32>, Option<i32>)| Some((lhs? + rhs? - p.out.zero_point).clamp(p.min, p.max));
        Some(lhs?.into_iter().zip(rhs?).map(sum).collect())
    })
}

/// Predicts operands of equal scale that are added before a single requantization of the sum.
fn sum_first<A: Arithmetic<Oracle: Sum>>(scheme: Scheme<Definition<A>>) -> Change<Elementwise<A>> {
    let because = "operands of one scale are added before the sum is requantized";
    Change::predicts(Class::DoubleRounding, because, move |case| {
        let p = Elementwise::<A>::parameters(&case.params);
        if p.lhs.scale != p.rhs.scale {
            return Elementwise::<A>::at(&scheme, case, &p);
        }
        let mut one = case.clone();
        let [lhs, rhs, _] = &*case.tensors;
        let differences =
            |(lhs, rhs): (&i32, &i32)| lhs - p.lhs.zero_point + <A::Oracle as Sum>::SIGN * (rhs - p.rhs.zero_point);
        one.tensors[0] = lhs.iter().zip(rhs).map(differences).collect();
        one.tensors[1].fill(0);
        let [lhs, rhs] = [p.lhs, p.rhs].map(|operand| Operand { zero_point: 0, ..operand });
        Elementwise::<A>::at(
            &scheme,
            &one,
            &Parameters::<A> { lhs, rhs, storage: Storage { bits: 32, signed: true }, ..p },
        )
    })
}
