//! Runs kernels for another process, by the protocol of [`crate::protocol`]. In process, [`crate::execute`] does it.

#[cfg(test)]
mod tests;

use crate::Form;
use crate::execute::{self, Lengths, execute_any, find_process, lengths};
use crate::kernel::Kernel;
use crate::mutants::{self, Fault, tensor};
use crate::protocol::{Answer, Batch, Hello, Job, Offer, Request, Source, VERSION};
use crate::{add, conv2d, dequantize, dot, fpm, instruction, matmul, quantize, requantize, transform};
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
    /// Runs one job, laid out as [`Job`] says, whose lengths have been checked; or says why not.
    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), String>;
}

/// The kernels of this crate, with real vector instructions where there are any.
struct Kernels;

impl Runner for Kernels {
    fn hello(&self) -> Hello {
        hello(Form::Native)
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), String> {
        execute_any(job, Form::Native, input, output, misalign)
    }
}

/// Answers requests until the input ends, with the kernels of this crate.
pub fn serve(reader: impl BufRead, writer: impl Write) -> io::Result<()> {
    serve_with(&Kernels, reader, writer)
}

/// Answers requests until the input ends. An error is one of the transport; everything else is an [`Answer::Failed`].
pub fn serve_with(runner: &impl Runner, mut reader: impl BufRead, mut writer: impl Write) -> io::Result<()> {
    let (mut line, mut input, mut output) = (Vec::new(), Buffer::default(), Buffer::default());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        match serde_json::from_slice(&line) {
            Ok(Request::Hello) => write_answer(&mut writer, &Answer::Hello(runner.hello()), &[])?,
            Ok(Request::Run(batch)) => match run_batch(runner, &batch, &mut reader, &mut input, &mut output)? {
                Ok(len) => {
                    let bytes: &[u8] = bytemuck::cast_slice(&output.elements()[..len]);
                    write_answer(&mut writer, &Answer::Done { bytes: bytes.len() }, bytes)?;
                }
                Err(reason) => write_answer(&mut writer, &Answer::Failed { reason }, &[])?,
            },
            Err(error) => {
                let reason = format!("not a request: {error}");
                write_answer(&mut writer, &Answer::Failed { reason }, &[])?;
            }
        }
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
) -> io::Result<Result<usize, String>> {
    let payload = match batch.source {
        Source::Payload { bytes } => bytes,
        Source::Range { .. } => 0,
    };
    let sizes = match check_batch(batch) {
        Ok(sizes) => sizes,
        Err(reason) => {
            io::copy(&mut reader.take(payload as u64), &mut io::sink())?;
            return Ok(Err(reason));
        }
    };
    let x = input.resize(sizes.input, batch.misalign);
    match batch.source {
        Source::Payload { .. } => read_elements(reader, x)?,
        Source::Range { start } => execute::fill(&batch.job, start, x),
    }
    let out = output.resize(sizes.output, batch.misalign);
    if let Err(reason) = runner.run(&batch.job, x, out, batch.misalign) {
        return Ok(Err(reason));
    }
    for value in out.iter_mut() {
        *value = value.to_le();
    }
    let short = matches!(&batch.job, Job::Fpm { kernel, .. }
        if find_process(kernel).is_some_and(|mutant| mutant.fault == Fault::Short));
    Ok(Ok(sizes.output.saturating_sub(usize::from(short))))
}

fn check_batch(batch: &Batch) -> Result<Lengths, String> {
    if batch.len > MAX_LEN {
        return Err(format!("a batch of {} elements; at most {MAX_LEN} are accepted", batch.len));
    }
    if batch.misalign >= LINE {
        return Err(format!("misaligned by {} elements; a cache line has {LINE}", batch.misalign));
    }
    let sizes = lengths(&batch.job, batch.len)?;
    match (&batch.job, batch.source) {
        (_, Source::Payload { bytes }) if bytes != sizes.input * size_of::<i32>() => {
            Err(format!("a payload of {bytes} bytes where the batch needs {}", sizes.input * size_of::<i32>()))
        }
        (Job::Fpm { .. }, Source::Range { .. }) | (_, Source::Payload { .. }) => Ok(sizes),
        (Job::Quantize { params, .. }, Source::Range { .. }) if params.quantized.expressed.words() == 1 => Ok(sizes),
        (Job::Dequantize { .. }, Source::Range { .. }) => Ok(sizes),
        (Job::Dot { kernel, .. }, Source::Range { .. }) if execute::has_pairs(kernel) => Ok(sizes),
        _ => Err("this operation takes a payload, not a range".to_owned()),
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
    let mut kernels = Vec::new();
    let mut offer = |op: &str, kernel: &str, isa_path: String| {
        kernels.push(Offer { op: op.to_owned(), kernel: kernel.to_owned(), isa_path });
    };
    let fpm = fpm::kernels().iter();
    let fpm = fpm.chain(mutants::fpm::mutants().iter().map(|mutant| &mutant.kernel));
    let fpm = fpm.chain(mutants::process().iter().map(|mutant| &mutant.kernel));
    fpm.for_each(|kernel| offer("fpm", kernel.name, kernel.isa_path(form)));
    instruction::kernels().iter().for_each(|kernel| offer("instruction", kernel.name, kernel.isa_path(form)));
    all(dot::kernels(), tensor::dot()).for_each(|k| offer("dot", k.name, k.isa_path(form)));
    all(matmul::kernels(), tensor::matmul()).for_each(|k| offer("matmul", k.name, k.isa_path(form)));
    all(conv2d::kernels(), tensor::conv2d()).for_each(|k| offer("conv2d", k.name, k.isa_path(form)));
    all(requantize::kernels(), tensor::requantize()).for_each(|k| offer("requantize", k.name, k.isa_path(form)));
    let here = |domain: &quantize::Domain| !domain.compiled;
    let quantize = all(quantize::kernels(), tensor::quantize()).filter(|k| here(&k.contract.domain));
    quantize.for_each(|k| offer("quantize", k.name, k.isa_path(form)));
    let dequantize = all(dequantize::kernels(), tensor::dequantize()).filter(|k| here(&k.contract.domain));
    dequantize.for_each(|k| offer("dequantize", k.name, k.isa_path(form)));
    all(add::kernels(), tensor::add()).for_each(|k| offer("add", k.name, k.isa_path(form)));
    all(transform::kernels(), tensor::transform()).for_each(|k| offer("transform", k.name, k.isa_path(form)));
    Hello { protocol: VERSION, arch: std::env::consts::ARCH.to_owned(), kernels }
}

/// Kernels and mutants of an operation.
fn all<R, D>(
    kernels: &'static [Kernel<R, D>],
    mutants: &'static [tensor::Mutant<R, D>],
) -> impl Iterator<Item = &'static Kernel<R, D>> {
    kernels.iter().chain(mutants.iter().map(|mutant| &mutant.kernel))
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
