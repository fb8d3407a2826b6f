//! Runs one job in this process: finds the kernel, checks parameters and lengths, and lays out the operands for the kernel.

use crate::Form;
use crate::element::Element;
use crate::frame;
use crate::job_error::JobError;
use crate::protocol::Job;
use crate::shape::{ShapeError, Sizes};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Input and output elements of a job over `len` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Elements of the payload.
    pub input: usize,
    /// Results.
    pub output: usize,
}

/// How many elements a job over `len` elements reads and writes; for a tensor operation `len` is the number of results.
pub fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    job.lengths(len)
}

/// The same by the parameters of the job alone, whatever kernel it names; none for an operation whose sizes are those of a kernel's instruction or layout.
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
        if given == len { Ok(found) } else { Err(JobError::Results { asked: len, given }) }
    }))
}

/// Runs one job in this process. `input` and `output` are laid out as [`Job`] says; operands of 8 or 16 bits are placed
/// `misalign` elements past a 64-byte boundary.
///
/// A panic in the kernel is an error, like an unknown name or slices of the wrong length. Process mutants are refused:
/// they are meant for a process that may die.
///
/// What the kernel finds around its buffers, and in its results, is the caller's; [`frame::run`] makes buffers that show what it does to them.
pub fn execute(job: &Job, form: Form, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
    if job.ends_its_process() {
        return Err(JobError::Elsewhere { kernel: job.names().1.to_owned(), place: "a worker process only" });
    }
    job.execute(form, input, output, misalign)
}

/// The inputs that a range stands for.
pub fn fill(job: &Job, start: i32, elements: &mut [i32]) {
    job.fill(start, elements);
}

/// The tensors of a payload.
pub(crate) fn parts<'a>(sizes: &Sizes, input: &'a [i32]) -> Result<[&'a [i32]; 3], JobError> {
    check_len(sizes.input(), input.len())?;
    let (first, rest) = input.split_at(sizes.inputs[0]);
    let (second, third) = rest.split_at(sizes.inputs[1]);
    Ok([first, second, third])
}

/// A tensor as its element type lays it out, at a chosen distance from a 64-byte boundary, with a pattern around it.
struct Packed {
    storage: Vec<u8>,
    /// The storage as it was made.
    before: Vec<u8>,
    place: Range<usize>,
}

impl Packed {
    fn new(name: &str, element: Element, values: &[i32], misalign: usize) -> Result<Self, JobError> {
        let range = element.range();
        // All of them, with no end at the first: vector instructions do that, also where they are emulated.
        if values.iter().fold(false, |other, value| other | !range.contains(value)) {
            let other = values.iter().find(|value| !range.contains(value)).expect("there is one");
            return Err(JobError::Element { operand: name.to_owned(), value: *other, element: element.name() });
        }
        let len = element.size(values.len());
        let mut storage = vec![frame::BYTE; len + 4 * 64];
        // Alignment changes coverage, not results: where an allocator cannot say, the operand lies where it lies.
        let boundary = storage.as_ptr().align_offset(64);
        let start = 64 + if boundary < 64 { boundary + misalign % 16 } else { misalign % 16 };
        let place = start..start + len;
        element.pack(values, &mut storage[place.clone()]);
        Ok(Self { before: storage.clone(), storage, place })
    }

    fn bytes(&self) -> &[u8] {
        &self.storage[self.place.clone()]
    }

    /// Whether a call left the operand, and what lies around it, as they were.
    fn check(&self, name: &str) -> Result<(), JobError> {
        // The compiler may take shared bytes for unchanged, which is what is in question.
        let this = std::hint::black_box(self);
        if frame::are_equal(&this.storage, &this.before) {
            return Ok(());
        }
        if this.bytes() != &this.before[this.place.clone()] {
            return Err(JobError::ChangedOperand { operand: name.to_owned() });
        }
        let changed = this.storage.iter().zip(&this.before).filter(|(now, before)| now != before).count();
        Err(JobError::StrayWrite { changed, unit: "bytes", place: format!("around its input {name}") })
    }
}

/// A name for errors, an element type, and values.
pub(crate) type Operand<'a> = (&'a str, Element, &'a [i32]);

/// Calls a kernel of two operands as their element types lay them out, `misalign` elements past a 64-byte boundary. An error says which value
/// does not fit its type, or that the kernel wrote to an operand or near it.
pub(crate) fn packed(
    operands: [Operand<'_>; 2],
    misalign: usize,
    call: impl FnOnce(&[u8], &[u8]),
) -> Result<(), JobError> {
    let pack = |(name, element, values): Operand<'_>| Packed::new(name, element, values, misalign);
    let [first, second] = operands;
    let (lhs, rhs) = (pack(first)?, pack(second)?);
    call(lhs.bytes(), rhs.bytes());
    lhs.check(first.0)?;
    rhs.check(second.0)
}

pub(crate) fn check_len(expected: usize, got: usize) -> Result<(), JobError> {
    if expected == got { Ok(()) } else { Err(JobError::Length { expected, got }) }
}

/// What a call returns; a panic in it is an error.
pub(crate) fn guard<T>(kernel: &'static str, run: impl FnOnce() -> T) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        JobError::Panicked { kernel, message }
    })
}
