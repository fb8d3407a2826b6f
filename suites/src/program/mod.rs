//! Programs of the caller's that read one case a line and write one result a line. A worker starts the program once, writes the cases of a batch to it as
//! lines, and answers by the protocol of every worker; so a run needs to know nothing of it.
//!
//! The lines of each operation are in `docs/src/lanes.md`; a test holds them.

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
use tiebreak_impls::library::Promise;
use tiebreak_impls::protocol::{Hello, Job, Offer};
use tiebreak_impls::worker::Runner;

pub use lines::{OPS, lines};

/// A program that runs.
pub struct Program {
    offer: Offer,
    process: Mutex<Process>,
}

impl Program {
    /// Starts a program, and asks it one case, so that what is wrong with its lines is known before a run begins. `promise` names one operation and a kernel.
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

/// The name of a program's kernel: its file, or that of the script that it runs, and the operation.
pub fn name(command: &[String], op: &str) -> String {
    let file = command.iter().rev().find(|word| !word.starts_with('-'));
    let stem = file.and_then(|file| std::path::Path::new(file).file_stem());
    let stem = stem.map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned());
    format!("{stem}-{op}")
}

impl Runner for Program {
    fn hello(&self) -> Hello {
        // It is no worker of this project's kernels: what it was built from says nothing of the program.
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
