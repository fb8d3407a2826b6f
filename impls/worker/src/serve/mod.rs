//! Execution of kernels for another process, by the protocol of [`crate::protocol`]. [`crate::execute`] runs them in process.

#[cfg(test)]
mod tests;

use crate::execute::{self, lengths};
use crate::protocol::{Answer, Batch, Hello, Job, Request, Source, offers};
use serde::de::Error;
use serde_json::Value;
use std::io::{self, BufRead, IoSlice, Read, Write};
use tiebreak_impls::Form;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::fpm::Fpm;
use tiebreak_impls::frame;
use tiebreak_impls::job_error::{FailureKind, JobError};
use tiebreak_impls::mutants::{self, Fault};
use tiebreak_impls::operation::Operation;

/// Longest batch that a worker accepts, in elements. The bound is far above any block of a run, and keeps a garbled length from exhausting memory.
pub const MAX_LEN: usize = 1 << 24;

/// Elements in 64 bytes, the alignment of buffers before `misalign` is added.
const LINE: usize = 64 / size_of::<i32>();

/// Runner of the batches that a worker reads.
pub trait Runner {
    /// Returns the kernels that this worker offers.
    fn hello(&self) -> Hello;
    /// Returns the number of elements that a job over `len` elements reads and writes.
    fn lengths(&self, job: &Job, len: usize) -> Result<Lengths, JobError> {
        lengths(job, len)
    }
    /// Writes the inputs of a batch of consecutive inputs.
    fn range(&self, job: &Job, start: i32, elements: &mut [i32]) -> Result<(), JobError> {
        if !job.takes_ranges() {
            return Err(JobError::NoRanges);
        }
        execute::fill(job, start, elements);
        Ok(())
    }
    /// Runs one job, with tensors laid out as described at [`Job`]. The lengths have been checked. An error gives the reason for a failure.
    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError>;
}

/// Kernels of this crate, with real vector instructions if this build has them.
pub struct Kernels;

impl Runner for Kernels {
    fn hello(&self) -> Hello {
        hello(Form::Native)
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
        job.execute(Form::Native, input, output, misalign)
    }
}

/// Answers requests until the input ends, with the kernels of this crate.
pub fn serve(reader: impl BufRead, writer: impl Write) -> io::Result<()> {
    serve_with(&Kernels, reader, writer)
}

/// Answers requests until the input ends. Only errors of the transport are returned; every other error is an [`Answer::Failed`].
pub fn serve_with(runner: &impl Runner, mut reader: impl BufRead, mut writer: impl Write) -> io::Result<()> {
    answer_all(runner, &mut reader, &mut writer)
}

/// Answers requests until the input ends. Without type parameters, so that this crate has the only copy.
fn answer_all(runner: &dyn Runner, reader: &mut dyn BufRead, writer: &mut dyn Write) -> io::Result<()> {
    let (mut requests, mut input, mut output) = (Requests::default(), Buffer::default(), Buffer::default());
    loop {
        let Some(request) = requests.next(reader)? else { return Ok(()) };
        match request {
            Ok(Request::Hello) => write_answer(writer, &Answer::Hello(runner.hello()), &[])?,
            Ok(Request::Run(batch)) => match run_batch(runner, batch, reader, &mut input, &mut output)? {
                Ok(len) => {
                    let bytes: &[u8] = bytemuck::cast_slice(&output.elements()[..len]);
                    write_answer(writer, &Answer::Done { bytes: bytes.len() }, bytes)?;
                }
                Err(error) => {
                    let failed = Answer::Failed { reason: error.to_string(), kind: error.kind() };
                    write_answer(writer, &failed, &[])?;
                }
            },
            Err(error) => {
                let reason = format!("not a request: {error}");
                write_answer(writer, &Answer::Failed { reason, kind: FailureKind::Refused }, &[])?;
            }
        }
    }
}

/// Reader of requests. A line equal to the previous line is not parsed again. Half of the lines of an fpm run are equal to the previous line, because
/// a kernel gets several batches with the same parameters.
#[derive(Default)]
struct Requests {
    line: Vec<u8>,
    latest: Vec<u8>,
    request: Option<serde_json::Result<Request>>,
}

impl Requests {
    /// Returns the next request; `None` at the end of the input.
    fn next(&mut self, reader: &mut dyn BufRead) -> io::Result<Option<&serde_json::Result<Request>>> {
        self.line.clear();
        if reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.request.is_none() || self.line != self.latest {
            self.request = Some(parsed(&self.line));
            std::mem::swap(&mut self.line, &mut self.latest);
        }
        Ok(self.request.as_ref())
    }
}

/// Parses a request. Without type parameters, so that this crate has the only copy of the parser.
fn parsed(line: &[u8]) -> serde_json::Result<Request> {
    // UTF-8 is checked once for the whole line; from bytes, serde checks each string separately.
    match std::str::from_utf8(line) {
        Ok(line) => serde_json::from_str(line),
        // The error of JSON names the place of the wrong byte.
        Err(wrong) => Err(serde_json::from_slice::<Value>(line).map_or_else(|error| error, |_| Error::custom(wrong))),
    }
}

/// Formats the header line of an answer.
fn header(answer: &Answer) -> serde_json::Result<Vec<u8>> {
    let mut header = serde_json::to_vec(answer)?;
    header.push(b'\n');
    Ok(header)
}

/// Reads the payload, runs the batch, and returns the number of elements of `output` to send.
///
/// The payload is always consumed, so that the next request is read from its first byte.
fn run_batch(
    runner: &dyn Runner,
    batch: &Batch,
    reader: &mut dyn BufRead,
    input: &mut Buffer,
    output: &mut Buffer,
) -> io::Result<Result<usize, JobError>> {
    let payload = match batch.source {
        Source::Payload { bytes } => bytes,
        Source::Range { .. } => 0,
    };
    let sizes = match check_batch(runner, batch) {
        Ok(sizes) => sizes,
        Err(error) => {
            io::copy(&mut reader.take(payload as u64), &mut io::sink())?;
            return Ok(Err(error));
        }
    };
    let x = input.resize(sizes.input, batch.misalign);
    let out = output.resize(sizes.output, batch.misalign);
    let run = |input: &[i32], output: &mut [i32]| runner.run(&batch.job, input, output, batch.misalign);
    let ran = match batch.source {
        Source::Payload { .. } => {
            read_elements(reader, x)?;
            frame::run(x, out, batch.misalign, run)
        }
        Source::Range { start } => runner.range(&batch.job, start, x).and_then(|()| frame::plain(|| run(x, out))),
    };
    if let Err(error) = ran {
        return Ok(Err(error));
    }
    for value in out.iter_mut() {
        *value = value.to_le();
    }
    let (op, kernel) = batch.job.names();
    let short = op == Fpm::NAME && mutants::fault(kernel) == Some(Fault::Short);
    Ok(Ok(sizes.output.saturating_sub(usize::from(short))))
}

fn check_batch(runner: &dyn Runner, batch: &Batch) -> Result<Lengths, JobError> {
    if batch.len > MAX_LEN {
        return Err(JobError::TooLong { len: batch.len, most: MAX_LEN });
    }
    if batch.misalign >= LINE {
        return Err(JobError::Misaligned { misalign: batch.misalign, line: LINE });
    }
    let sizes = runner.lengths(&batch.job, batch.len)?;
    match batch.source {
        Source::Payload { bytes } if bytes != sizes.input * size_of::<i32>() => {
            Err(JobError::Payload { bytes, needed: sizes.input * size_of::<i32>() })
        }
        Source::Payload { .. } | Source::Range { .. } => Ok(sizes),
    }
}

fn read_elements(reader: &mut dyn BufRead, elements: &mut [i32]) -> io::Result<()> {
    reader.read_exact(bytemuck::cast_slice_mut(elements))?;
    for value in elements {
        *value = i32::from_le(*value);
    }
    Ok(())
}

/// Writes header line and payload in one gathered write, so that a small answer is one system call and a large payload is not copied.
fn write_answer(writer: &mut dyn Write, answer: &Answer, payload: &[u8]) -> io::Result<()> {
    let header = header(answer)?;
    let written = loop {
        match writer.write_vectored(&[IoSlice::new(&header), IoSlice::new(payload)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => break written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    writer.write_all(&header[written.min(header.len())..])?;
    writer.write_all(&payload[written.saturating_sub(header.len())..])?;
    writer.flush()
}

/// Returns the kernels that this build can run in `form`.
pub fn hello(form: Form) -> Hello {
    Hello::of(offers(form))
}

/// Elements at a chosen distance from a 64-byte boundary; the storage is reused.
#[derive(Default)]
struct Buffer {
    storage: Vec<i32>,
    start: usize,
    len: usize,
}

impl Buffer {
    fn resize(&mut self, len: usize, misalign: usize) -> &mut [i32] {
        let needed = len + 2 * LINE;
        if self.storage.len() < needed {
            self.storage.resize(needed, 0);
        }
        // The storage may have moved, so the boundary is computed each time. If an allocator cannot tell a boundary, the buffer stays at its place:
        // alignment changes speed and coverage, not results.
        let boundary = self.storage.as_ptr().align_offset(64);
        self.start = if boundary < LINE { boundary + misalign } else { misalign };
        self.len = len;
        &mut self.storage[self.start..self.start + len]
    }

    fn elements(&self) -> &[i32] {
        &self.storage[self.start..self.start + self.len]
    }
}
