//! Runs kernels for another process, by the protocol of [`crate::protocol`]; and in process, by [`execute`].

#[cfg(test)]
mod tests;

use crate::Form;
use crate::fpm::{self, Params};
use crate::instruction;
use crate::mutants::{self, Fault};
use crate::protocol::{Answer, Batch, Hello, Job, Offer, Request, Source, VERSION};
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest batch a worker accepts, in elements. Far above any block of a run; it keeps a garbled length from exhausting
/// memory.
pub const MAX_LEN: usize = 1 << 24;

/// Elements in the 64 bytes to which buffers are aligned before they are misaligned.
const LINE: usize = 64 / size_of::<i32>();

/// Input elements of a job over `len` elements.
pub fn input_len(job: &Job, len: usize) -> usize {
    match job {
        Job::Fpm { .. } => len,
        Job::Instruction { .. } => 2 * len,
    }
}

/// Output elements of a job over `len` elements.
pub fn output_len(job: &Job, len: usize) -> Result<usize, String> {
    match job {
        Job::Fpm { .. } => Ok(len),
        Job::Instruction { kernel } => Ok(len + find_instruction(kernel)?.flags(len)),
    }
}

/// Runs one job in this process. `input` and `output` are laid out as [`Job`] says.
///
/// A panic in the kernel is an error, like an unknown name or slices of the wrong length. Process mutants are refused:
/// they are meant for a process that may die.
pub fn execute(job: &Job, form: Form, input: &[i32], output: &mut [i32]) -> Result<(), String> {
    if let Job::Fpm { kernel, .. } = job
        && find_process(kernel).is_some()
    {
        return Err(format!("{kernel} runs in a worker process only"));
    }
    execute_any(job, form, input, output)
}

fn execute_any(job: &Job, form: Form, input: &[i32], output: &mut [i32]) -> Result<(), String> {
    match job {
        Job::Fpm { kernel, params } => {
            let kernel = find_fpm(kernel)?;
            check_params(kernel, params)?;
            check_len(input.len(), output.len())?;
            guard(kernel.name, || kernel.run(form)(params, input, output))
        }
        Job::Instruction { kernel } => {
            let kernel = find_instruction(kernel)?;
            let (a, b) = input.split_at(input.len() / 2);
            check_len(a.len(), b.len())?;
            check_len(a.len() + kernel.flags(a.len()), output.len())?;
            let (out, qc) = output.split_at_mut(a.len());
            guard(kernel.name, || kernel.run(form)(a, b, out, qc))
        }
    }
}

fn find_fpm(name: &str) -> Result<&'static fpm::Kernel, String> {
    fpm::find(name)
        .or_else(|| mutants::fpm::find(name).map(|mutant| &mutant.kernel))
        .or_else(|| find_process(name).map(|mutant| &mutant.kernel))
        .ok_or_else(|| format!("unknown fpm kernel {name}"))
}

fn find_process(name: &str) -> Option<&'static mutants::ProcessMutant> {
    mutants::process().iter().find(|mutant| mutant.kernel.name == name)
}

fn find_instruction(name: &str) -> Result<&'static instruction::Kernel, String> {
    instruction::find(name).ok_or_else(|| format!("unknown instruction {name}"))
}

fn check_params(kernel: &fpm::Kernel, params: &Params) -> Result<(), String> {
    match params.channels.len() {
        0 => Err("no channel".to_owned()),
        n if n > 1 && !kernel.per_channel => Err(format!("{} takes one channel, not {n}", kernel.name)),
        _ => Ok(()),
    }
}

fn check_len(expected: usize, got: usize) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("expected {expected} elements, got {got}")) }
}

fn guard(name: &str, run: impl FnOnce()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        format!("{name} panicked: {message}")
    })
}

/// Answers requests until the input ends. An error is one of the transport; everything else is an [`Answer::Failed`].
pub fn serve(mut reader: impl BufRead, mut writer: impl Write) -> io::Result<()> {
    let (mut line, mut input, mut output) = (Vec::new(), Buffer::default(), Buffer::default());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        match serde_json::from_slice(&line) {
            Ok(Request::Hello) => write_answer(&mut writer, &Answer::Hello(hello(Form::Native)), &[])?,
            Ok(Request::Run(batch)) => match run_batch(&batch, &mut reader, &mut input, &mut output)? {
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
        Source::Range { start } => fill_range(start, x),
    }
    let out = output.resize(sizes.output, batch.misalign);
    if let Err(reason) = execute_any(&batch.job, Form::Native, x, out) {
        return Ok(Err(reason));
    }
    for value in out.iter_mut() {
        *value = value.to_le();
    }
    let short = matches!(&batch.job, Job::Fpm { kernel, .. }
        if find_process(kernel).is_some_and(|mutant| mutant.fault == Fault::Short));
    Ok(Ok(sizes.output.saturating_sub(usize::from(short))))
}

/// Elements of a batch's buffers.
struct Sizes {
    input: usize,
    output: usize,
}

fn check_batch(batch: &Batch) -> Result<Sizes, String> {
    if batch.len > MAX_LEN {
        return Err(format!("a batch of {} elements; at most {MAX_LEN} are accepted", batch.len));
    }
    if batch.misalign >= LINE {
        return Err(format!("misaligned by {} elements; a cache line has {LINE}", batch.misalign));
    }
    let sizes = Sizes { input: input_len(&batch.job, batch.len), output: output_len(&batch.job, batch.len)? };
    match (&batch.job, batch.source) {
        (_, Source::Payload { bytes }) if bytes != sizes.input * size_of::<i32>() => {
            Err(format!("a payload of {bytes} bytes where the batch needs {}", sizes.input * size_of::<i32>()))
        }
        (Job::Instruction { .. }, Source::Range { .. }) => {
            Err("an instruction takes a payload, not a range".to_owned())
        }
        _ => Ok(sizes),
    }
}

fn read_elements(reader: &mut impl Read, elements: &mut [i32]) -> io::Result<()> {
    reader.read_exact(bytemuck::cast_slice_mut(elements))?;
    for value in elements {
        *value = i32::from_le(*value);
    }
    Ok(())
}

fn fill_range(start: i32, elements: &mut [i32]) {
    for (i, value) in elements.iter_mut().enumerate() {
        *value = start.wrapping_add(i as i32);
    }
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

/// What this build can run in `form`.
pub fn hello(form: Form) -> Hello {
    let fpm = fpm::kernels().iter();
    let fpm = fpm.chain(mutants::fpm::mutants().iter().map(|mutant| &mutant.kernel));
    let fpm = fpm.chain(mutants::process().iter().map(|mutant| &mutant.kernel));
    let fpm = fpm.map(|kernel| ("fpm", kernel.name, kernel.isa_path(form)));
    let instructions = instruction::kernels().iter();
    let instructions = instructions.map(|kernel| ("instruction", kernel.name, kernel.isa_path(form)));
    let offer =
        |(op, kernel, isa_path): (&str, &str, String)| Offer { op: op.to_owned(), kernel: kernel.to_owned(), isa_path };
    Hello {
        protocol: VERSION,
        arch: std::env::consts::ARCH.to_owned(),
        kernels: fpm.chain(instructions).map(offer).collect(),
    }
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
