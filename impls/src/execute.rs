//! Call of a kernel on tensors in words: checks lengths, lays out the operands for the kernel, and catches panics.

use crate::element::Element;
use crate::frame;
use crate::job_error::JobError;
use crate::shape::Sizes;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Input and output lengths of a job over `len` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Elements of the payload.
    pub input: usize,
    /// Results of the job.
    pub output: usize,
}

/// Splits a payload into its tensors.
pub(crate) fn split_tensors<'a>(sizes: &Sizes, input: &'a [i32]) -> Result<[&'a [i32]; 3], JobError> {
    check_len(sizes.input(), input.len())?;
    let (first, rest) = input.split_at(sizes.inputs[0]);
    let (second, third) = rest.split_at(sizes.inputs[1]);
    Ok([first, second, third])
}

/// Tensor in the layout of its element type, at a chosen distance from a 64-byte boundary, with a pattern on both sides.
struct Packed {
    storage: Vec<u8>,
    /// Copy of the storage from before the call.
    before: Vec<u8>,
    place: Range<usize>,
}

impl Packed {
    fn new(name: &str, element: Element, values: &[i32], misalign: usize) -> Result<Self, JobError> {
        let range = element.range();
        // Looks at every value without an early exit, because vector instructions do that fast, also under emulation.
        if values.iter().fold(false, |other, value| other | !range.contains(value)) {
            let other = values.iter().find(|value| !range.contains(value)).expect("there is one");
            return Err(JobError::Element { operand: name.to_owned(), value: *other, element: element.name() });
        }
        let len = element.size(values.len());
        let mut storage = vec![frame::BYTE; len + 4 * 64];
        // Alignment changes coverage, not results: if an allocator cannot tell a boundary, the operand is left at its place.
        let boundary = storage.as_ptr().align_offset(64);
        let start = 64 + if boundary < 64 { boundary + misalign % 16 } else { misalign % 16 };
        let place = start..start + len;
        element.pack(values, &mut storage[place.clone()]);
        Ok(Self { before: storage.clone(), storage, place })
    }

    fn bytes(&self) -> &[u8] {
        &self.storage[self.place.clone()]
    }

    /// Checks that a call changed neither the operand nor its surroundings.
    fn check(&self, name: &str) -> Result<(), JobError> {
        // Without `black_box` the compiler may assume that shared bytes are unchanged, and remove the check.
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

/// Operand: name for errors, element type, values.
pub(crate) type Operand<'a> = (&'a str, Element, &'a [i32]);

/// Calls a kernel with two operands in the layout of their element types, `misalign` elements past a 64-byte boundary. An error names a value that
/// does not fit its type, or a write of the kernel to an operand or near it.
pub(crate) fn packed(
    operands: [Operand<'_>; 2],
    misalign: usize,
    call: impl FnOnce(&[u8], &[u8]),
) -> Result<(), JobError> {
    let pack =
        |(name, element, values): Operand<'_>, at| Packed::new(name, element, values, frame::apart(misalign, at));
    let [first, second] = operands;
    let (lhs, rhs) = (pack(first, 0)?, pack(second, 1)?);
    call(lhs.bytes(), rhs.bytes());
    lhs.check(first.0)?;
    rhs.check(second.0)
}

pub(crate) fn check_len(expected: usize, got: usize) -> Result<(), JobError> {
    if expected == got { Ok(()) } else { Err(JobError::Length { expected, got }) }
}

/// Returns the result of `run`, or an error if it panics.
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
