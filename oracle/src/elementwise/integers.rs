//! Common parts of the machine-integer forms.

use super::{Arithmetic, Parameters};
use crate::float::Format::F32;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::*;
use crate::word::Overflow;
use std::fmt::Debug;

/// Computation of a scheme's results in machine integers.
pub trait Fast<A: Arithmetic>: Copy + Debug + Send + Sync {
    /// Computes each result; `None` if a step is out of domain.
    fn each(self, overflow: Overflow, p: &Parameters<A>, lhs: &[i32], rhs: &[i32]) -> Vec<Option<i32>>;
}

impl<A: Arithmetic> Parameters<A> {
    /// Clamps `v`.
    pub(super) fn clamped(&self, v: i128) -> Option<i32> {
        Some(v.clamp(self.min.into(), self.max.into()) as i32)
    }

    /// Adds the output's zero point to `v`, and clamps.
    pub(super) fn placed(&self, v: i128) -> Option<i32> {
        self.clamped(v + i128::from(self.out.zero_point))
    }

    /// Computes ONNX Runtime's last steps: clamp before the zero point, add the zero point in f32, round to nearest even.
    pub(super) fn placed_in_f32(&self, scaled: Soft) -> Option<i32> {
        let [lo, hi] = [self.min, self.max].map(|end| i64::from(end) - i64::from(self.out.zero_point));
        // The ceiling of a number is at most an integer if the number is; the floor is at least an integer if the number is.
        let bounded = if scaled.to_integer(TowardPositive).number() <= i128::from(lo) {
            Soft::integer(lo)
        } else if scaled.to_integer(TowardNegative).number() >= i128::from(hi) {
            Soft::integer(hi)
        } else {
            scaled
        };
        let placed = bounded.plus(Soft::integer(self.out.zero_point.into())).rounded(F32);
        self.clamped(placed.to_integer(TiesEven).number())
    }
}
