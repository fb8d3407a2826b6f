//! Scale and zero point of a tensor.

use crate::derivation::dyadic::Dyadic;
use crate::float::Float;
use crate::float::Format::F32;
use crate::quantize::Storage;
use crate::shape::{ShapeError, broken};
use rug::Rational;
use std::ops::RangeInclusive;

/// Scale and zero point of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Scale, a pattern of f32.
    pub scale: u32,
    /// Stored value of real 0.
    pub zero_point: i32,
}

/// Left or right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Left operand.
    Lhs,
    /// Right operand.
    Rhs,
}

impl Operand {
    /// Returns the scale as an exact number.
    ///
    /// # Panics
    /// Panics if the scale is an infinity or NaN, which the operations reject.
    pub fn exact_scale(&self) -> Rational {
        match F32.decode(self.scale.into()) {
            Float::Finite { value, .. } => value,
            other => panic!("the scale is {other:?}"),
        }
    }

    /// Returns the exponent of the largest power of two that is at most the scale.
    pub(super) fn exponent(&self) -> i32 {
        (self.scale >> 23) as i32 - 127
    }

    /// Returns the scale in machine integers.
    pub(crate) fn dyadic(self) -> Dyadic {
        let (n, e) = F32.significand(self.scale.into());
        Dyadic::new(n.into(), e)
    }

    /// True if the scale is a positive number from 2 to the first exponent up to 2 to the last exponent.
    pub(super) fn in_binades(&self, exponents: &RangeInclusive<i32>) -> bool {
        let whole = self.scale & 0x7f_ffff == 0;
        self.scale >> 31 == 0 && exponents.contains(&self.exponent()) && (self.exponent() < *exponents.end() || whole)
    }

    /// Checks scale and zero point of a tensor of this type. The error names the argument.
    pub(crate) fn check(
        &self,
        argument: &'static str,
        storage: Storage,
        exponents: &RangeInclusive<i32>,
    ) -> Result<(), ShapeError> {
        if self.scale >> 31 != 0 || !exponents.contains(&self.exponent()) {
            let (least, most) = (exponents.start(), exponents.end() + 1);
            return Err(broken(argument, format!("its scale must be in 2^{least} to 2^{most}")));
        }
        let stored = storage.min()..=storage.max();
        // The negative of an 8-bit zero point may exceed the type by one.
        let negative = -i64::from(self.zero_point);
        let known = stored.contains(&i64::from(self.zero_point)) || (storage.bits == 8 && stored.contains(&negative));
        if !known {
            return Err(broken(argument, format!("zero point {} is no {}", self.zero_point, storage.name())));
        }
        Ok(())
    }

    /// Returns the largest distance of stored values from the zero point.
    pub(crate) fn furthest(&self, stored: &[i32]) -> u32 {
        stored.iter().map(|v| v.abs_diff(self.zero_point)).max().unwrap_or(0)
    }
}
