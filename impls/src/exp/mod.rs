//! Fixed-point exponential of numbers that are not positive, as in shipped softmax: `x * 2^(integer_bits - 31)` in, `e^x * 2^31` out.

pub(crate) mod cmsis_nn;
pub(crate) mod gemmlowp;
#[cfg(test)]
mod tests;
pub(crate) mod vector;

use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes, broken, positive};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Parameters of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Number of inputs.
    pub len: usize,
    /// Integer bits of the input. All other bits except the sign are fractional.
    pub integer_bits: i32,
}

/// The inputs that a kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Accepted numbers of integer bits.
    pub integer_bits: RangeInclusive<i32>,
}

impl Domain {
    /// Sizes of input and output, in elements. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let len = shape::elements("len", &[positive("len", params.len)?])?;
        if !self.integer_bits.contains(&params.integer_bits) {
            let (least, most) = (self.integer_bits.start(), self.integer_bits.end());
            return Err(broken("integer_bits", format!("{} is not in {least} to {most}", params.integer_bits)));
        }
        Ok(Sizes { inputs: [len, 0, 0], outputs: len })
    }
}

/// `run(params, x, out)` for `x` that are not positive. Callers have checked `params` and the lengths.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// An exponential under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Fixed-point exponential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exp {}

impl TensorOperation for Exp {
    common_items!(exp);

    fn takes_ranges(_: &Domain, _: &Params) -> bool {
        true
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let x = call.tensors[0];
        if let Some(positive) = x.iter().find(|x| **x > 0) {
            return Err(JobError::OutsideDomain(format!("x: {positive} is positive")));
        }
        (call.code)(call.params, x, call.output);
        Ok(())
    }
}

lookups! {
    gemmlowp: SCALAR NEON;
    cmsis_nn: SCALAR MVE;
}

/// Applies `f` to every element.
#[inline(always)]
pub(crate) fn each(x: &[i32], out: &mut [i32], f: impl Fn(i32) -> i32) {
    x.iter().zip(out).for_each(|(x, out)| *out = f(*x));
}
