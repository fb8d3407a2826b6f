//! [`Vector`] over the models of the instructions, for any target.

use super::{LANES, Vector};
use crate::instruction::model;

/// Four int32 lanes in plain Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portable(pub(super) [i32; LANES]);

/// Applies one model lane by lane. The saturation flag is dropped, since no kernel reads it.
#[inline(always)]
fn lanes(a: Portable, b: Portable, model: impl Fn(i64, i64) -> (i64, bool)) -> Portable {
    Portable(std::array::from_fn(|i| model(i64::from(a.0[i]), i64::from(b.0[i])).0 as i32))
}

impl Vector for Portable {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn load(from: &[i32; LANES]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [i32; LANES]) {
        *to = self.0;
    }

    methods! {
        sqrdmulh(self, other) => lanes(self, other, model::sqrdmulh::<32>);
        sqdmulh(self, other) => lanes(self, other, model::sqdmulh::<32>);
        srshl(self, shift) => lanes(self, shift, model::srshl::<32>);
        sqshl(self, shift) => lanes(self, shift, model::sqshl::<32>);
        sshl(self, shift) => lanes(self, shift, model::sshl::<32>);
        sqadd(self, other) => lanes(self, other, model::sqadd::<32>);
        add(self, other) => lanes(self, other, model::add::<32>);
        mul(self, other) => lanes(self, other, model::mul::<32>);
        and(self, other) => lanes(self, other, model::and::<32>);
        sshr31(self) => lanes(self, self, model::sshr::<32, 31>);
    }

    #[inline(always)]
    fn keep(self) {}
}
