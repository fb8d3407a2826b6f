//! The functions of `tiebreak.h`: for each operation its parameters as C has them, and the calls.

mod calls;
mod convolutions;
mod functions;
mod layers;
mod params;

use super::tensor::{Input, Memory, Type};
use crate::element::Element;
use crate::elementwise::Operand;
use crate::execute::Lengths;
use crate::fpm::Channel;
use crate::job_error::JobError;
use crate::protocol::Job;
use crate::shape::Sizes;
use functions::named;
use libloading::Library;
use params::Scaled;
use std::ffi::{c_int, c_void};

pub(super) use functions::{FUNCTIONS, Function};

/// A function of one tensor.
type Unary = unsafe extern "C" fn(*const c_void, *const u8, *mut u8) -> c_int;
/// A function of two tensors.
type Binary = unsafe extern "C" fn(*const c_void, *const u8, *const u8, *mut u8) -> c_int;

/// Code of a call that the function was not meant for.
const OUTSIDE_DOMAIN: i32 = 1;

/// Words that a job over `len` results reads and writes.
pub(super) fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    let of = |sizes: Sizes| Lengths { input: sizes.input(), output: sizes.outputs };
    let same = |elements| Lengths { input: elements, output: elements };
    let found = match job {
        Job::Fpm { .. } => same(len),
        Job::Requantize { params, .. } => same(params.len),
        Job::Quantize { params, .. } => of(params.quantize_sizes()?),
        Job::Dequantize { params, .. } => of(params.dequantize_sizes()?),
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => {
            Lengths { input: 2 * params.len, output: params.len }
        }
        Job::Matmul { params, .. } => of(params.sizes()?),
        Job::Conv2d { params, .. } => of(params.sizes()?),
        Job::Pool { params, .. } => of(params.sizes()?),
        Job::Qconv2d { params, .. } => of(params.shape.sizes()?),
        Job::Qmatmul { params, .. } => of(params.shape.sizes()?),
        Job::Concat { params, .. } => same(params.elements()?),
        Job::Softmax { params, .. } => same(params.elements()?),
        other => return Err(missing(other.names().0)),
    };
    if found.output == len { Ok(found) } else { Err(JobError::Results { asked: len, given: found.output }) }
}

fn missing(op: &str) -> JobError {
    JobError::Module(format!("tiebreak.h has no function of {op}"))
}

/// What a call works with.
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

    /// A function of parameters with arrays, which are inputs too, and of the last input.
    fn one<P>(
        self,
        inputs: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        params: impl Fn(&[*const u8]) -> P,
    ) -> Result<(), JobError> {
        let symbol = self.function.symbol();
        // SAFETY: the header gives a function of this name these arguments.
        let function = unsafe { self.library.get::<Unary>(&symbol) };
        let function = function.map_err(|error| JobError::Module(error.to_string()))?;
        let code = self.memory.call(inputs, result, output, self.misalign, &|at, out| {
            let params = params(at);
            // SAFETY: the parameters are those of the header, and the tensors are as long as they say.
            unsafe { function((&raw const params).cast(), at[at.len() - 1], out) }
        })?;
        judged(&symbol, code)
    }

    /// The same of the last two inputs.
    fn two<P>(
        self,
        inputs: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        params: impl Fn(&[*const u8]) -> P,
    ) -> Result<(), JobError> {
        let symbol = self.function.symbol();
        // SAFETY: the header gives a function of this name these arguments.
        let function = unsafe { self.library.get::<Binary>(&symbol) };
        let function = function.map_err(|error| JobError::Module(error.to_string()))?;
        let code = self.memory.call(inputs, result, output, self.misalign, &|at, out| {
            let params = params(at);
            // SAFETY: the parameters are those of the header, and the tensors are as long as they say.
            unsafe { function((&raw const params).cast(), at[at.len() - 2], at[at.len() - 1], out) }
        })?;
        judged(&symbol, code)
    }

    /// Type of the `at`th tensor, which is that of the parameters.
    fn typed(&self, at: usize, asked: Element) -> Result<Type, JobError> {
        let own = self.function.element(at);
        if own == named(asked.name()) {
            return Ok(own);
        }
        Err(JobError::OutsideDomain(format!("{} is not of {}", self.function.symbol(), asked.name())))
    }
}

/// Scale and zero point as C has them.
fn scaled(operand: Operand) -> Scaled {
    Scaled { scale: operand.single(), zero_point: operand.zero_point }
}

/// Multipliers and shifts.
pub(super) fn columns(channels: &[Channel]) -> [Vec<i32>; 2] {
    [
        channels.iter().map(|channel| channel.multiplier).collect(),
        channels.iter().map(|channel| channel.shift).collect(),
    ]
}

/// What a function's code means.
fn judged(symbol: &str, code: i32) -> Result<(), JobError> {
    match code {
        0 => Ok(()),
        OUTSIDE_DOMAIN => Err(JobError::OutsideDomain(format!("{symbol} is not meant for these parameters"))),
        code => Err(JobError::Module(format!("{symbol} returned {code}"))),
    }
}
