//! Comparison of runs of outputs with expected results, by the vectors of this processor.

use super::sweep::{Differences, Stepper};
use fearless_simd::{Level, Simd, dispatch};

/// Comparer with the widest vectors of this processor.
#[derive(Clone, Copy, Debug)]
pub struct Comparer(Level);

impl Default for Comparer {
    fn default() -> Self {
        Self(Level::new())
    }
}

impl Comparer {
    /// Computes [`Stepper::equals`].
    #[inline(never)]
    pub fn equal(self, stepper: &Stepper, outs: &[i32]) -> bool {
        dispatch!(self.0, simd => simd.vectorize(#[inline(always)] || stepper.equals(outs)))
    }

    /// Computes [`Stepper::differences`].
    #[inline(never)]
    pub fn differences(self, stepper: &Stepper, outs: &[i32]) -> Option<Differences> {
        dispatch!(self.0, simd => simd.vectorize(#[inline(always)] || stepper.differences(outs)))
    }

    /// Computes [`Stepper::far_differences`].
    #[inline(never)]
    pub fn far_differences(self, stepper: &Stepper, outs: &[i32], small: u32) -> Option<(Differences, u64)> {
        dispatch!(self.0, simd => simd.vectorize(#[inline(always)] || stepper.far_differences(outs, small)))
    }
}
