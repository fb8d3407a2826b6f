//! Runs kernels for another process, by the protocol of [`crate::protocol`]. In process, [`crate::execute`] does it.

#[cfg(test)]
mod tests;

use crate::Form;
use crate::execute::{self, Lengths, lengths};
use crate::fpm::Fpm;
use crate::frame;
use crate::job_error::{FailureKind, JobError};
use crate::mutants::{self, Fault};
use crate::operation::Operation;
use crate::protocol::{Answer, Batch, Hello, Job, Request, Source, offers};
use std::io::{self, BufRead, IoSlice, Read, Write};

/// Longest batch a worker accepts, in elements. Far above any block of a run; it keeps a garbled length from exhausting
/// memory.
pub const MAX_LEN: usize = 1 << 24;

/// Elements in the 64 bytes to which buffers are aligned before they are misaligned.
const LINE: usize = 64 / size_of::<i32>();

/// Who runs the batches that a worker reads.
pub trait Runner {
    /// The kernels that this worker offers.
    fn hello(&self) -> Hello;
    /// How many elements a job over `len` elements reads and writes.
    fn lengths(&self, job: &Job, len: usize) -> Result<Lengths, JobError> {
        lengths(job, len)
    }
    /// The inputs of a batch of consecutive ones.
    fn range(&self, job: &Job, start: i32, elements: &mut [i32]) -> Result<(), JobError> {
        if !job.takes_ranges() {
            return Err(JobError::NoRanges);
        }
        execute::fill(job, start, elements);
        Ok(())
    }
    /// Runs one job, laid out as [`Job`] says, whose lengths have been checked; or says why not.
    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError>;
}

/// The kernels of this crate, with real vector instructions where there are any.
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

/// Answers requests until the input ends. An error is one of the transport; everything else is an [`Answer::Failed`].
pub fn serve_with(runner: &impl Runner, mut reader: impl BufRead, mut writer: impl Write) -> io::Result<()> {
    let (mut requests, mut input, mut output) = (Requests::default(), Buffer::default(), Buffer::default());
    loop {
        let Some(request) = requests.next(&mut reader)? else { return Ok(()) };
        match request {
            Ok(Request::Hello) => write_answer(&mut writer, &Answer::Hello(runner.hello()), &[])?,
            Ok(Request::Run(batch)) => match run_batch(runner, batch, &mut reader, &mut input, &mut output)? {
                Ok(len) => {
                    let bytes: &[u8] = bytemuck::cast_slice(&output.elements()[..len]);
                    write_answer(&mut writer, &Answer::Done { bytes: bytes.len() }, bytes)?;
                }
                Err(error) => {
                    let failed = Answer::Failed { reason: error.to_string(), kind: error.kind() };
                    write_answer(&mut writer, &failed, &[])?;
                }
            },
            Err(error) => {
                let reason = format!("not a request: {error}");
                write_answer(&mut writer, &Answer::Failed { reason, kind: FailureKind::Refused }, &[])?;
            }
        }
    }
}

/// Requests as they come. A line that is the same as the one before is not read again: half of those of a run of fpm are, because a kernel gets
/// several batches with the same parameters.
#[derive(Default)]
struct Requests {
    line: Vec<u8>,
    latest: Vec<u8>,
    request: Option<serde_json::Result<Request>>,
}

impl Requests {
    /// The next request; `None` at the end of the input.
    fn next(&mut self, reader: &mut impl BufRead) -> io::Result<Option<&serde_json::Result<Request>>> {
        self.line.clear();
        if reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.request.is_none() || self.line != self.latest {
            // As text at once: of bytes, each string would be looked at by itself.
            self.request = Some(match std::str::from_utf8(&self.line) {
                Ok(line) => serde_json::from_str(line),
                Err(_) => serde_json::from_slice(&self.line),
            });
            std::mem::swap(&mut self.line, &mut self.latest);
        }
        Ok(self.request.as_ref())
    }
}

/// Reads the payload, runs the batch, and says how many elements of `output` to send.
///
/// The payload is consumed whatever happens, so that the next request is found where it begins.
fn run_batch(
    runner: &impl Runner,
    batch: &Batch,
    reader: &mut impl Read,
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

fn check_batch(runner: &impl Runner, batch: &Batch) -> Result<Lengths, JobError> {
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

fn read_elements(reader: &mut impl Read, elements: &mut [i32]) -> io::Result<()> {
    reader.read_exact(bytemuck::cast_slice_mut(elements))?;
    for value in elements {
        *value = i32::from_le(*value);
    }
    Ok(())
}

/// Header line and payload in one gathered write, so that a small answer is one system call and a large one is not
/// copied.
fn write_answer(writer: &mut impl Write, answer: &Answer, payload: &[u8]) -> io::Result<()> {
    let mut header = serde_json::to_vec(answer)?;
    header.push(b'\n');
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

/// The kernels that this build can run in `form`.
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
        // The storage may have moved, so the boundary is looked for each time. An allocator that cannot say leaves the
        // buffer where it is: alignment changes speed and coverage, not results.
        let boundary = self.storage.as_ptr().align_offset(64);
        self.start = if boundary < LINE { boundary + misalign } else { misalign };
        self.len = len;
        &mut self.storage[self.start..self.start + len]
    }

    fn elements(&self) -> &[i32] {
        &self.storage[self.start..self.start + self.len]
    }
}
