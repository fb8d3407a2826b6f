//! Execution of one job in this process: finds the kernel, checks parameters and lengths, and calls the kernel.

use crate::protocol::Job;
use tiebreak_impls::Form;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::shape::{ShapeError, Sizes};

/// Returns the lengths of a job over `len` elements. For a tensor operation `len` is the number of results.
pub fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    job.lengths(len)
}

/// Returns the lengths from the job's parameters alone, for any kernel name. `None` if the sizes depend on the kernel's instruction or layout.
pub fn lengths_of_any(job: &Job, len: usize) -> Option<Result<Lengths, JobError>> {
    let of =
        |sizes: Result<Sizes, ShapeError>| sizes.map(|sizes| Lengths { input: sizes.input(), output: sizes.outputs });
    let same = |elements| Lengths { input: elements, output: elements };
    let found = match job {
        Job::Fpm { .. } => Ok(same(len)),
        Job::Requantize { params, .. } => Ok(same(params.len)),
        Job::Quantize { params, .. } => of(params.quantize_sizes()),
        Job::Dequantize { params, .. } => of(params.dequantize_sizes()),
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => {
            Ok(Lengths { input: 2 * params.len, output: params.len })
        }
        Job::Matmul { params, .. } => of(params.sizes()),
        Job::Conv2d { params, .. } => of(params.sizes()),
        Job::Pool { params, .. } => of(params.sizes()),
        Job::Qconv2d { params, .. } => of(params.shape.sizes()),
        Job::Qmatmul { params, .. } => of(params.shape.sizes()),
        Job::Concat { params, .. } => params.elements().map(same),
        Job::Softmax { params, .. } => params.elements().map(same),
        _ => return None,
    };
    Some(found.map_err(JobError::from).and_then(|found| {
        let given = found.output;
        if given == len { Ok(found) } else { Err(JobError::Results { requested: len, expected: given }) }
    }))
}

/// Runs one job in this process. `input` and `output` are laid out as [`Job`] says; operands of 8 or 16 bits are placed
/// `misalign` elements past a 64-byte boundary.
///
/// Errors: a panic in the kernel, an unknown name, slices of the wrong length. Process mutants are refused, because they may end their process.
///
/// The buffers are the caller's. [`tiebreak_impls::frame::run`] makes buffers that show stray writes and unwritten results.
pub fn execute(job: &Job, form: Form, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
    if job.ends_its_process() {
        return Err(JobError::Elsewhere { kernel: job.names().1.to_owned(), place: "a worker process only" });
    }
    job.execute(form, input, output, misalign)
}

/// Writes the inputs of a range that begins at `start`.
pub fn fill(job: &Job, start: i32, elements: &mut [i32]) {
    job.fill(start, elements);
}
