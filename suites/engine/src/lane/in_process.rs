//! The `host` lane: kernels called in this process.
//!
//! The lane runs the host's own vector instructions for kernels that use them (AVX2 on x86-64). On aarch64 it runs the
//! portable models, because another lane runs the instructions.

use super::{Failure, Input, Order, Session};
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use tiebreak_impls::Form;
use tiebreak_impls::frame;
use tiebreak_impls::job_error::JobError;
use tiebreak_worker::execute::{execute, fill, lengths};
use tiebreak_worker::protocol::{Hello, Job, Source};
use tiebreak_worker::serve::{self, Runner};

/// Form of the kernels: native instructions, except on aarch64, where a separate lane runs the real instructions.
pub const FORM: Form = if cfg!(target_arch = "aarch64") { Form::Portable } else { Form::Native };

/// Kernels of lane `host`, for another process.
struct Kernels;

impl Runner for Kernels {
    fn hello(&self) -> Hello {
        serve::hello(FORM)
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
        execute(job, FORM, input, output, misalign)
    }
}

/// Answers requests with the kernels of lane `host` until the input ends.
pub fn serve(reader: impl BufRead, writer: impl Write) -> io::Result<()> {
    serve::serve_with(&Kernels, reader, writer)
}

/// Session that runs each batch when it is collected.
#[derive(Default)]
pub(super) struct InProcess {
    waiting: VecDeque<Waiting>,
    /// Last job, which the next batch mostly shares.
    job: Option<Arc<Job>>,
    inputs: Vec<i32>,
}

struct Waiting {
    job: Arc<Job>,
    len: usize,
    results: usize,
    source: Source,
    values: Arc<Vec<i32>>,
    misalign: usize,
}

impl Session for InProcess {
    fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure> {
        let values = match order.input {
            Input::Values { values, .. } => Arc::clone(values),
            Input::Range { .. } => Arc::default(),
        };
        let job = self.job.take().filter(|job| **job == *order.job).unwrap_or_else(|| Arc::new(order.job.clone()));
        self.job = Some(Arc::clone(&job));
        self.waiting.push_back(Waiting {
            job,
            len: order.len(),
            results: order.results(),
            source: order.source(),
            values,
            misalign: order.misalign,
        });
        Ok(())
    }

    fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure> {
        let batch = self.waiting.pop_front().expect("collect follows submit");
        out.resize(batch.results, 0);
        let run = |input: &[i32], output: &mut [i32]| execute(&batch.job, FORM, input, output, batch.misalign);
        let ran = match batch.source {
            Source::Payload { .. } => frame::run(&batch.values, out, batch.misalign, run),
            Source::Range { start } => lengths(&batch.job, batch.len).and_then(|lengths| {
                self.inputs.resize(lengths.input, 0);
                fill(&batch.job, start, &mut self.inputs);
                frame::plain(|| run(&self.inputs, out))
            }),
        };
        Ok(ran?)
    }
}
