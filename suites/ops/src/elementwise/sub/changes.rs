//! Changes to a scheme that only a subtraction may make.

use super::{Scheme, Sub};
use tiebreak_common::Class;
use tiebreak_engine::operation::Change;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::sub::Parameters;
use tiebreak_oracle::quantize::Storage;

/// Storage type that holds every stored value and its neighbours.
const WIDE: Storage = Storage { bits: 32, signed: true };

/// Predicts exchanged operands: right minus left.
pub(super) fn exchanged(scheme: Scheme) -> Change<Sub> {
    Change::predicts(Class::OperandOrder, "the left operand is subtracted from the right one", move |case| {
        let p = Sub::parameters(&case.params);
        let mut other = case.clone();
        other.tensors.swap(0, 1);
        Sub::at(&scheme, &other, &Parameters { lhs: p.rhs, rhs: p.lhs, ..p })
    })
}

/// Predicts that the right operand is added.
pub(super) fn added(scheme: Scheme) -> Change<Sub> {
    Change::predicts(Class::OperandSign, "the right operand is added", move |case| {
        let p = Sub::parameters(&case.params);
        let mut other = case.clone();
        other.tensors[1].iter_mut().for_each(|stored| *stored = -*stored);
        let rhs = Operand { zero_point: -p.rhs.zero_point, ..p.rhs };
        Sub::at(&scheme, &other, &Parameters { rhs, storage: WIDE, ..p })
    })
}

/// Predicts that the right operand is negated in its own type, in which the least value is its own negative.
pub(super) fn negated_in_the_type(scheme: Scheme) -> Change<Sub> {
    let because = "the right operand is negated in its type, whose least value is its own negative";
    Change::predicts(Class::OperandSign, because, move |case| {
        let p = Sub::parameters(&case.params);
        let least = p.storage.min() as i32;
        let mut other = case.clone();
        let negatives = other.tensors[1].iter_mut().filter(|stored| **stored == least);
        negatives.for_each(|stored| *stored = -least);
        if p.storage.signed { Sub::at(&scheme, &other, &Parameters { storage: WIDE, ..p }) } else { None }
    })
}
