//! What operations on two quantized tensors have in common that go element by element: operands, and which batches can be.

use crate::derivation::dyadic::Dyadic;
use crate::float::Float;
use crate::float::Format::F32;
use crate::quantize::Storage;
use crate::shape::{self, ShapeError, broken};
use rug::Rational;
use std::ops::RangeInclusive;

/// Scale and zero point of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The scale, a pattern of f32.
    pub scale: u32,
    /// The stored value of 0.
    pub zero_point: i32,
}

impl Operand {
    /// The scale as an exact number.
    ///
    /// # Panics
    /// Where it is an infinity or NaN, which the operations refuse.
    pub fn exact_scale(&self) -> Rational {
        match F32.decode(self.scale.into()) {
            Float::Finite { value, .. } => value,
            other => panic!("the scale is {other:?}"),
        }
    }

    /// The power of two below the scale.
    pub(crate) fn exponent(&self) -> i32 {
        (self.scale >> 23) as i32 - 127
    }

    /// The scale in machine integers.
    pub(crate) fn dyadic(self) -> Dyadic {
        let (n, e) = F32.significand(self.scale.into());
        Dyadic::new(n.into(), e)
    }
}

/// Whether a scale is a positive number from 2 to the first of these to 2 to the last.
pub(crate) fn in_binades(operand: &Operand, exponents: &RangeInclusive<i32>) -> bool {
    let whole = operand.scale & 0x7f_ffff == 0;
    operand.scale >> 31 == 0
        && exponents.contains(&operand.exponent())
        && (operand.exponent() < *exponents.end() || whole)
}

/// A batch: both operands and the result, the type of all stored values, the smallest and the largest result, and what is stored.
pub(crate) struct Batch<'a> {
    pub(crate) operands: [Operand; 3],
    pub(crate) storage: Storage,
    pub(crate) ends: [i32; 2],
    pub(crate) stored: [&'a [i32]; 2],
}

impl Batch<'_> {
    /// Whether it can be with scales of these exponents, or the argument that cannot.
    pub(crate) fn check(&self, exponents: &RangeInclusive<i32>) -> Result<(), ShapeError> {
        let [lhs, rhs] = self.stored;
        shape::length("rhs", rhs.len(), shape::elements("lhs", &[lhs.len()])?)?;
        // Of 32 bits is what a kernel has before it narrows the result.
        if ![8, 16, 32].contains(&self.storage.bits) {
            return Err(broken("storage", format!("{} bits; it has 8, 16 or 32", self.storage.bits)));
        }
        let stored = self.storage.min()..=self.storage.max();
        for (argument, operand) in ["lhs", "rhs", "out"].into_iter().zip(self.operands) {
            if operand.scale >> 31 != 0 || !exponents.contains(&operand.exponent()) {
                let (least, most) = (exponents.start(), exponents.end() + 1);
                return Err(broken(argument, format!("its scale must be in 2^{least} to 2^{most}")));
            }
            // Of 8 bits the negative of a zero point, too, which may be one beyond the type.
            let negative = i64::from(-operand.zero_point);
            let known = stored.contains(&i64::from(operand.zero_point))
                || (self.storage.bits == 8 && stored.contains(&negative));
            if !known {
                let (zero_point, name) = (operand.zero_point, self.storage.name());
                return Err(broken(argument, format!("zero point {zero_point} is no {name}")));
            }
        }
        let [min, max] = self.ends;
        if min > max {
            return Err(broken("min", format!("{min} is above max, {max}")));
        }
        let value = lhs.iter().chain(rhs).chain(&self.ends).find(|v| !stored.contains(&i64::from(**v)));
        value.map_or(Ok(()), |v| Err(broken("lhs", format!("{v} is no {}", self.storage.name()))))
    }

    /// The largest distance of each operand's stored values from its zero point.
    pub(crate) fn furthest(&self) -> [u32; 2] {
        [0, 1].map(|side| {
            let zero_point = self.operands[side].zero_point;
            self.stored[side].iter().map(|v| v.abs_diff(zero_point)).max().unwrap_or(0)
        })
    }
}
