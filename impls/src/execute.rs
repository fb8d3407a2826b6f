//! Runs one job in this process: finds the kernel, checks parameters and lengths, and lays out the operands for the kernel.

use crate::Form;
use crate::element::Element;
use crate::protocol::Job;
use crate::shape::Sizes;
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
pub fn lengths(job: &Job, len: usize) -> Result<Lengths, String> {
    job.lengths(len)
}

/// Runs one job in this process. `input` and `output` are laid out as [`Job`] says; operands of 8 or 16 bits are placed
/// `misalign` elements past a 64-byte boundary.
///
/// A panic in the kernel is an error, like an unknown name or slices of the wrong length. Process mutants are refused:
/// they are meant for a process that may die.
pub fn execute(job: &Job, form: Form, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), String> {
    if job.ends_its_process() {
        return Err(format!("{} runs in a worker process only", job.names().1));
    }
    job.execute(form, input, output, misalign)
}

/// The inputs that a range stands for.
pub fn fill(job: &Job, start: i32, elements: &mut [i32]) {
    job.fill(start, elements);
}

/// The tensors of a payload.
pub(crate) fn parts<'a>(sizes: &Sizes, input: &'a [i32]) -> Result<[&'a [i32]; 3], String> {
    check_len(sizes.input(), input.len())?;
    let (first, rest) = input.split_at(sizes.inputs[0]);
    let (second, third) = rest.split_at(sizes.inputs[1]);
    Ok([first, second, third])
}

/// A tensor as its element type lays it out, at a chosen distance from a 64-byte boundary.
pub(crate) struct Packed {
    storage: Vec<u8>,
    start: usize,
    len: usize,
}

impl Packed {
    pub(crate) fn new(name: &str, element: Element, values: &[i32], misalign: usize) -> Result<Self, String> {
        if let Some(value) = values.iter().find(|value| !element.range().contains(value)) {
            return Err(format!("{name}: {value} is no {}", element.name()));
        }
        let len = values.len() * element.bytes();
        let mut storage = vec![0; len + 128];
        // Alignment changes coverage, not results: where an allocator cannot say, the operand lies where it lies.
        let boundary = storage.as_ptr().align_offset(64);
        let start = if boundary < 64 { boundary + misalign % 16 } else { misalign % 16 };
        element.pack(values, &mut storage[start..start + len]);
        Ok(Self { storage, start, len })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.len]
    }
}

pub(crate) fn check_len(expected: usize, got: usize) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("expected {expected} elements, got {got}")) }
}

/// What a call returns; a panic in it is an error.
pub(crate) fn guard<T>(name: &str, run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        format!("{name} panicked: {message}")
    })
}
