//! Functions of `tiebreak.h`: the C structure of each operation's parameters, and the calls.

mod calls;
mod convolutions;
mod functions;
mod layers;
mod params;

use super::tensor::{Input, Memory, Type};
use crate::execute::lengths_of_any;
use crate::protocol::Job;
use functions::named;
use libloading::Library;
use params::{Scaled, Scaling};
use std::ffi::{c_int, c_void};
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::Operand;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::requantize;

pub(super) use functions::{FUNCTIONS, Function};

/// Function of one tensor.
type Unary = unsafe extern "C" fn(*const c_void, *const u8, *mut u8) -> c_int;
/// Function of two tensors.
type Binary = unsafe extern "C" fn(*const c_void, *const u8, *const u8, *mut u8) -> c_int;

/// Return code for parameters outside the function's domain.
const OUTSIDE_DOMAIN: i32 = 1;

/// Returns the numbers of words that a job over `len` results reads and writes.
pub(super) fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    lengths_of_any(job, len).unwrap_or_else(|| Err(missing(job.names().0)))
}

fn missing(op: &str) -> JobError {
    JobError::Module(format!("tiebreak.h has no function of {op}"))
}

/// Library, function and memory of one call.
pub(super) struct Call<'a> {
    pub(super) library: &'a Library,
    pub(super) function: &'a Function,
    pub(super) memory: &'a mut Memory,
    pub(super) misalign: usize,
}

impl Call<'_> {
    /// Runs a job.
    pub(super) fn run(self, job: &Job, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        match job {
            Job::Fpm { params, .. } => self.fpm(params, input, output),
            Job::Requantize { params, .. } => self.requantize(params, input, output),
            Job::Quantize { params, .. } | Job::Dequantize { params, .. } => self.cast(params, input, output),
            Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => {
                self.elementwise(params, input, output)
            }
            Job::Matmul { params, .. } => self.matmul(params, input, output),
            Job::Conv2d { params, .. } => self.conv2d(params, input, output),
            Job::Pool { params, .. } => self.pool(params, input, output),
            Job::Qconv2d { params, .. } => self.qconv2d(params, input, output),
            Job::Qmatmul { params, .. } => self.qmatmul(params, input, output),
            Job::Concat { params, .. } => self.concat(params, input, output),
            Job::Softmax { params, .. } => self.softmax(params, input, output),
            other => Err(missing(other.names().0)),
        }
    }

    /// Calls the function with one or two tensors. The parameters point to `arrays`, which are inputs too.
    fn call<P>(
        self,
        arrays: &[Input<'_>],
        tensors: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        params: impl Fn(&[*const u8]) -> P,
    ) -> Result<(), JobError> {
        let symbol = self.function.symbol();
        // SAFETY: by the header, a function of one tensor is a `Unary`, and a function of two tensors a `Binary`. The other type is not called.
        let (unary, binary) = unsafe { (self.library.get::<Unary>(&symbol), self.library.get::<Binary>(&symbol)) };
        let missing = |error: libloading::Error| JobError::Module(error.to_string());
        let (unary, binary) = (unary.map_err(missing)?, binary.map_err(missing)?);
        let code = self.memory.call(&[arrays, tensors].concat(), result, output, self.misalign, &|at, out| {
            let params = params(at);
            let params = (&raw const params).cast();
            match at[arrays.len()..] {
                // SAFETY: the parameters have the layout of the header, and the tensor has the length that they state.
                [tensor] => unsafe { unary(params, tensor, out) },
                // SAFETY: as above, for both tensors.
                [lhs, rhs] => unsafe { binary(params, lhs, rhs, out) },
                _ => unreachable!("a function has one tensor or two"),
            }
        })?;
        judged(&symbol, code)
    }

    /// Calls a function that scales sums, with the arrays of the scaling.
    fn scale<P>(
        self,
        whole: &requantize::Params,
        tensors: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        params: impl Fn(Scaling) -> P,
    ) -> Result<(), JobError> {
        let [multiplier, shift] = columns(&whole.channels);
        let arrays = [("multiplier", &multiplier), ("shift", &shift), ("bias", &whole.bias)];
        let arrays = arrays.map(|(name, values)| (name, Type::Word, &values[..]));
        self.call(&arrays, tensors, result, output, |at| {
            params(Scaling {
                multiplier: at[0].cast(),
                shift: at[1].cast(),
                bias: at[2].cast(),
                zero_point: whole.zero_point,
                min: whole.min,
                max: whole.max,
            })
        })
    }

    /// Returns the type of the `at`th tensor. An error reports a different type in the parameters.
    fn typed(&self, at: usize, asked: Element) -> Result<Type, JobError> {
        let own = self.function.element(at);
        if own == named(asked.name()) {
            return Ok(own);
        }
        Err(JobError::OutsideDomain(format!("{} is not of {}", self.function.symbol(), asked.name())))
    }
}

/// Converts scale and zero point to the C structure.
fn scaled(operand: Operand) -> Scaled {
    Scaled { scale: operand.single(), zero_point: operand.zero_point }
}

/// Splits channels into multipliers and shifts.
pub(super) fn columns(channels: &[Channel]) -> [Vec<i32>; 2] {
    [
        channels.iter().map(|channel| channel.multiplier).collect(),
        channels.iter().map(|channel| channel.shift).collect(),
    ]
}

/// Converts a function's return code to a result.
fn judged(symbol: &str, code: i32) -> Result<(), JobError> {
    match code {
        0 => Ok(()),
        OUTSIDE_DOMAIN => Err(JobError::OutsideDomain(format!("{symbol} is not meant for these parameters"))),
        code => Err(JobError::Module(format!("{symbol} returned {code}"))),
    }
}
