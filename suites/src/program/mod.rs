//! Programs of the caller that read one case per line and write one result per line. A worker starts the program once, sends the cases of a
//! batch as lines, and answers by the usual protocol, so a run sees only a worker.
//!
//! `docs/src/lanes.md` has the lines of each operation. A test compares that page with the code.

mod answers;
mod lines;
mod process;

use crate::presented::fitting::Fitting;
use crate::presented::sample;
use anyhow::{Result, anyhow};
use process::Process;
use std::sync::{Mutex, PoisonError};
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::job_error::JobError;
use tiebreak_worker::library::Promise;
use tiebreak_worker::protocol::{Hello, Job, Offer};
use tiebreak_worker::serve::Runner;

pub use lines::{OPS, lines};

/// Running program.
pub struct Program {
    offer: Offer,
    process: Mutex<Process>,
}

impl Program {
    /// Starts a program and sends it one case, so that mistakes in its lines show before a run. `promise` has one operation and may name the kernel.
    pub fn start(command: &[String], promise: &Promise) -> Result<Self> {
        let [op] = &promise.ops[..] else { return Err(anyhow!("a program has one operation")) };
        let kernel = promise.name.clone().unwrap_or_else(|| name(command, op));
        let first = sample(op, &kernel, Fitting::PLAIN).and_then(|sample| {
            let mut text = Vec::new();
            lines(&sample.job, &sample.input, &mut text).ok()?;
            let end = text.iter().position(|byte| *byte == b'\n')?;
            Some(text[..=end].to_vec())
        });
        let first = first.ok_or_else(|| anyhow!("{op} has no lines; operations that have are {}", OPS.join(", ")))?;
        let process = Process::ready(command, &first)?;
        let isa_path = format!("lines of {}", command.join(" "));
        let offer = Offer { op: op.clone(), kernel, isa_path, own: promise.own.clone() };
        Ok(Self { offer, process: Mutex::new(process) })
    }
}

/// Extensions of files that a program reads.
const DATA: [&str; 10] = ["bin", "csv", "dat", "json", "jsonl", "npy", "npz", "onnx", "tflite", "txt"];

/// Returns the name of a program's kernel: the stem of the program or script, and the operation. An interpreter or emulator comes before the program,
/// so that the program is the last word that is neither an option nor a data file.
pub fn name(command: &[String], op: &str) -> String {
    let extension =
        |word: &String| std::path::Path::new(word).extension().map(|end| end.to_string_lossy().into_owned());
    let is_data = |word: &String| extension(word).is_some_and(|end| DATA.contains(&end.as_str()));
    let mut words = command.iter().rev().filter(|word| !word.starts_with('-'));
    let file = words.find(|word| !is_data(word));
    let stem = file.and_then(|file| std::path::Path::new(file).file_stem());
    let stem = stem.map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned());
    format!("{stem}-{op}")
}

impl Runner for Program {
    fn hello(&self) -> Hello {
        // The sources of this worker do not identify the program.
        Hello { sources: None, ..Hello::of(vec![self.offer.clone()]) }
    }

    fn lengths(&self, job: &Job, len: usize) -> Result<Lengths, JobError> {
        lines::lengths(job, len)
    }

    fn range(&self, job: &Job, start: i32, elements: &mut [i32]) -> Result<(), JobError> {
        if !matches!(job, Job::Fpm { .. } | Job::Requantize { .. } | Job::Quantize { .. } | Job::Dequantize { .. }) {
            return Err(JobError::NoRanges);
        }
        elements.iter_mut().enumerate().for_each(|(i, value)| *value = start.wrapping_add(i as i32));
        Ok(())
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], _: usize) -> Result<(), JobError> {
        let mut text = Vec::new();
        let form = lines(job, input, &mut text)?;
        let mut answers = answers::Answers::new(form, output);
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.ask(&text, &mut |case, line| answers.take(case, line))?;
        answers.end()
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    /// A data file after the program gave the kernel its name.
    #[test]
    fn a_kernel_has_the_name_of_its_program() {
        let named = |line: &str| name(&shlex::split(line).expect("words"), "add");
        assert_eq!(named("python3 docs/k.py weights.npy"), "k-add");
        assert_eq!(named("qemu-aarch64 -L /usr/aarch64-linux-gnu ./mine"), "mine-add");
        assert_eq!(named("./mine --table table.bin"), "mine-add");
        assert_eq!(named("./run.sh"), "run-add");
        assert_eq!(named("table.bin"), "program-add");
    }
}
