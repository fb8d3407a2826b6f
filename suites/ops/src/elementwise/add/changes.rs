//! Changes to a scheme that only an addition may make.

use super::Add;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::Change;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{LeftShift, Parameters, Scheme};
use tiebreak_oracle::quantize::Storage;

/// Operands lifted by fewer bits.
pub(super) fn lifted(scheme: Scheme, bits: u32) -> Change<Add> {
    let because = format!("operands are shifted left by {bits} bits");
    Change::predicts(Class::LeftShift, because, move |case| {
        let p = Add::parameters(&case.params);
        let narrow = Parameters { own: LeftShift(bits), ..p };
        (bits < p.own.0).then(|| Add::at(&scheme, case, &narrow)).flatten()
    })
}

/// Operands that saturate to the type, each in the output's scale, before they are added.
pub(super) fn saturated(scheme: Scheme) -> Change<Add> {
    let because = "each operand saturates to the type before the sum";
    Change::predicts(Class::OperandSaturation, because, move |case| {
        let p = Add::parameters(&case.params);
        let [lhs, rhs] = [0, 1].map(|kept| {
            // The other operand is its zero point, which adds nothing.
            let mut one = case.clone();
            let other = if kept == 0 { p.rhs.zero_point } else { p.lhs.zero_point };
            one.tensors[1 - kept].fill(other);
            Add::at(&scheme, &one, &p)
        });
        let sum = |(lhs, rhs): (Option<i32>, Option<i32>)| Some((lhs? + rhs? - p.out.zero_point).clamp(p.min, p.max));
        Some(lhs?.into_iter().zip(rhs?).map(sum).collect())
    })
}

/// Operands of one scale that are added before the sum is requantized, once.
pub(super) fn sum_first(scheme: Scheme) -> Change<Add> {
    let because = "operands of one scale are added before the sum is requantized";
    Change::predicts(Class::DoubleRounding, because, move |case| {
        let p = Add::parameters(&case.params);
        if p.lhs.scale != p.rhs.scale {
            return Add::at(&scheme, case, &p);
        }
        let mut one = case.clone();
        let [lhs, rhs, _] = &case.tensors;
        let differences = |(lhs, rhs): (&i32, &i32)| lhs - p.lhs.zero_point + rhs - p.rhs.zero_point;
        one.tensors[0] = lhs.iter().zip(rhs).map(differences).collect();
        one.tensors[1].fill(0);
        let [lhs, rhs] = [p.lhs, p.rhs].map(|operand| Operand { zero_point: 0, ..operand });
        Add::at(&scheme, &one, &Parameters { lhs, rhs, storage: Storage { bits: 32, signed: true }, ..p })
    })
}
