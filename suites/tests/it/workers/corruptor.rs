//! Faulty worker: `tiebreak-corruptor TABLE.json PROGRAM ARGUMENT...` passes all data on to a real worker, and changes the results that the table
//! names. A row is `{"kernel": NAME, KIND: ..}`:
//!
//! - `"results": {"INPUT": RESULT}`: for operations on single values, results for these inputs, as words of int32;
//! - `"ties": true`: for `fpm`, results are one higher if the exact value is halfway between two integers;
//! - `"from_index": N`: in each batch, the results from index N on are one higher;
//! - `"from_result": N`: the results after the first N of this process are one higher;
//! - `"channel": C`: the results of channel C, if the batch has this channel, are 0;
//! - `"dies_after": N`: the process ends without an answer to the batch after the first N;
//! - `"where": {"place": PLACE, "moved": N}`: results at a place, described in `engine/src/self_check/condition.rs`, are one higher, or the
//!   results N places before;
//! - `"reads": {"place": PLACE, "moved": N}`: likewise for the words of the first tensor that the kernel reads;
//! - `"refuses": PLACE`: batches at such a place are rejected.

use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use tiebreak_engine::operation::{Operation, kernels};
use tiebreak_engine::self_check::condition::{FaultCondition, Seen, Strike};
use tiebreak_engine::self_check::history::ParamChange;
use tiebreak_engine::self_check::slices::Operand;
use tiebreak_impls::conv2d;
use tiebreak_impls::job_error::FailureKind;
use tiebreak_ops::fuzzing::tensor::Fuzzed;
use tiebreak_ops::registry::{Visitor, visit_tensors};
use tiebreak_worker::execute::lengths;
use tiebreak_worker::protocol::{Answer, Batch, Job, Request, Source};

/// Fault of one kernel, and its state.
#[derive(Deserialize)]
struct Row {
    kernel: String,
    #[serde(flatten)]
    lie: Lie,
    /// Number of results given so far.
    #[serde(skip)]
    results: u64,
    /// Number of batches begun so far.
    #[serde(skip)]
    batches: u64,
    /// Parameters of the last two batches, the last first.
    #[serde(skip)]
    before: [Option<Value>; 2],
    /// Changed parameters of this batch.
    #[serde(skip)]
    change: ParamChange,
    /// Right results of the previous batch; empty if there are none.
    #[serde(skip)]
    last: Vec<i32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Lie {
    Results(HashMap<String, i32>),
    Ties(bool),
    FromIndex(usize),
    FromResult(u64),
    Channel(usize),
    DiesAfter(u64),
    Where(Strike),
    Reads(Strike),
    Refuses(FaultCondition),
}

fn main() -> ExitCode {
    match corrupt() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tiebreak-corruptor: {error}");
            ExitCode::from(2)
        }
    }
}

fn corrupt() -> io::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let table = arguments.next().ok_or_else(|| io::Error::other("no table"))?;
    let mut rows: Vec<Row> = serde_json::from_slice(&std::fs::read(table)?)?;
    let program = arguments.next().ok_or_else(|| io::Error::other("no worker"))?;
    let mut worker = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut requests = worker.stdin.take().expect("piped");
    let mut answers = BufReader::new(worker.stdout.take().expect("piped"));
    let (mut asked, mut answered) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while {
        line.clear();
        asked.read_line(&mut line)?
    } > 0
    {
        let request: Request = serde_json::from_str(&line)?;
        let mut payload = match &request {
            Request::Run(batch) => words(&mut asked, batch)?,
            Request::Hello => Vec::new(),
        };
        let described: Value = serde_json::from_str(&line)?;
        if let Request::Run(batch) = &request {
            rows.iter_mut().for_each(|row| row.begins(batch, &described));
        }
        if rows.iter().any(Row::dies) {
            worker.kill()?;
            return Ok(ExitCode::from(3));
        }
        if let Request::Run(batch) = &request {
            if rows.iter().any(|row| row.refuses(batch, &described)) {
                let reason = "this worker refuses that".to_owned();
                writeln!(
                    answered,
                    "{}",
                    serde_json::to_string(&Answer::Failed { reason, kind: FailureKind::Refused })?
                )?;
                answered.flush()?;
                continue;
            }
            rows.iter().for_each(|row| row.misread(batch, &described, &mut payload));
        }
        requests.write_all(line.as_bytes())?;
        requests.write_all(&bytes(&payload))?;
        requests.flush()?;
        line.clear();
        answers.read_line(&mut line)?;
        answered.write_all(line.as_bytes())?;
        if let (Request::Run(batch), Answer::Done { bytes: length }) = (&request, serde_json::from_str(&line)?) {
            let mut results = vec![0; length];
            answers.read_exact(&mut results)?;
            for row in &mut rows {
                row.lie(batch, &described, &payload, &mut results);
            }
            answered.write_all(&results)?;
        }
        answered.flush()?;
    }
    drop(requests);
    worker.wait().map(|_| ExitCode::SUCCESS)
}

/// Returns the payload that follows a request.
fn words(asked: &mut impl Read, batch: &Batch) -> io::Result<Vec<i32>> {
    let Source::Payload { bytes } = batch.source else { return Ok(Vec::new()) };
    let mut payload = vec![0; bytes];
    asked.read_exact(&mut payload)?;
    Ok(payload.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

fn bytes(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the word at an index of a batch's input.
fn input(batch: &Batch, payload: &[i32], index: usize) -> Option<i32> {
    match batch.source {
        Source::Range { start } => Some(start.wrapping_add(index as i32)),
        Source::Payload { .. } => payload.get(index).copied(),
    }
}

/// True if `x * m * 2^(s-q)` is halfway between two integers.
fn is_tie(batch: &Batch, x: i32, index: usize) -> bool {
    let Job::Fpm { params, .. } = &batch.job else { return false };
    let channel = params.channels[index % params.channels.len()];
    let places = i64::from(params.q) - i64::from(channel.shift);
    let product = i128::from(x) * i128::from(channel.multiplier);
    places > 0 && product.rem_euclid(1 << places) == 1 << (places - 1)
}

/// Returns the number of channels of a batch, the last axis of its results.
fn channels(job: &Job) -> usize {
    match job {
        Job::Fpm { params, .. } => params.channels.len(),
        Job::Requantize { params, .. } => params.channels.len(),
        Job::Conv2d { params, .. } => params.out_channels,
        Job::Qconv2d { params, .. } => params.shape.out_channels,
        Job::Matmul { params, .. } => params.n,
        Job::Pool { params, .. } => params.channels,
        Job::Softmax { params, .. } => params.depth,
        _ => 1,
    }
}

/// Returns channels and elements of the input of a convolution.
fn image(params: &conv2d::Params) -> (usize, usize) {
    (params.channels, params.batches * params.height * params.width * params.channels)
}

/// Returns the last axis of the first tensor that a batch reads, and its number of elements.
fn first_tensor(job: &Job, words: usize) -> (usize, usize) {
    match job {
        Job::Matmul { params, .. } => (params.k, params.m * params.k),
        Job::Conv2d { params, .. } => image(params),
        Job::Qconv2d { params, .. } => image(&params.shape),
        Job::Pool { params, .. } => (params.channels, params.batches * params.height * params.width * params.channels),
        Job::Softmax { params, .. } => (params.depth, params.rows * params.depth),
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => (params.len, params.len),
        Job::Dot { params, .. } => (params.len, params.len),
        _ => (words, words),
    }
}

/// Returns the dimensions of each operand; empty if the worker's parameters differ from those of the operation.
fn dimensions(batch: &Batch, request: &Value) -> Vec<Vec<usize>> {
    struct Of<'a> {
        names: (&'static str, &'a str),
        params: &'a Value,
        out: Vec<Vec<usize>>,
    }
    impl Visitor for Of<'_> {
        fn visit<O: Fuzzed>(&mut self) {
            let (op, name) = self.names;
            let params = || serde_json::from_value::<O::Params>(self.params.clone()).ok();
            if op == <O as Operation>::OP
                && let Some(kernel) = kernels::<O>().iter().find(|kernel| kernel.name == name)
                && let Some(params) = params()
            {
                let of = |t| O::dimensions(&kernel.contract.domain, &params, t);
                self.out = (0..O::TENSORS.len()).map(of).collect();
            }
        }
    }
    let mut of = Of { names: batch.job.names(), params: &request["params"], out: Vec::new() };
    visit_tensors(&mut of);
    of.out
}

/// Splits the payload into operands.
fn operands<'a>(payload: &'a [i32], dimensions: &'a [Vec<usize>]) -> Vec<Operand<'a>> {
    let mut rest = payload;
    let one = |dimensions: &'a Vec<usize>| {
        let (words, after) = rest.split_at_checked(dimensions.iter().product())?;
        rest = after;
        Some(Operand { words, dimensions })
    };
    dimensions.iter().map_while(one).collect()
}

impl Row {
    /// Describes a batch by its parameters only.
    fn seen<'a>(&'a self, request: &'a Value, len: usize) -> Seen<'a> {
        let (number, change, last) = (self.batches, &self.change, &self.last[..]);
        Seen { request, number, change, last, operands: &[], payload: &[], columns: 1, len }
    }

    fn is_of(&self, batch: &Batch) -> bool {
        batch.job.names().1 == self.kernel
    }

    /// Counts the batches of the kernel, and compares each with the previous ones.
    fn begins(&mut self, batch: &Batch, request: &Value) {
        if self.is_of(batch) {
            self.batches += 1;
            let params = &request["params"];
            let results = Some(self.last.len()).filter(|len| *len > 0);
            let now = lengths(&batch.job, batch.len).map_or(0, |lengths| lengths.output);
            self.change = ParamChange::of(params, self.before.each_ref().map(Option::as_ref)).sized(results, now);
            self.before = [Some(params.clone()), self.before[0].take()];
        }
    }

    /// True if the process ends instead of running this batch.
    fn dies(&self) -> bool {
        matches!(self.lie, Lie::DiesAfter(last) if self.batches > last)
    }

    fn refuses(&self, batch: &Batch, request: &Value) -> bool {
        let seen = self.seen(request, batch.len);
        matches!(&self.lie, Lie::Refuses(place) if self.is_of(batch) && place.of_batch(&seen))
    }

    /// Replaces the words of the first tensor that the kernel misreads.
    fn misread(&self, batch: &Batch, request: &Value, payload: &mut [i32]) {
        let Lie::Reads(fault) = &self.lie else { return };
        let (columns, len) = first_tensor(&batch.job, payload.len());
        let seen = Seen { columns, ..self.seen(request, len) };
        if self.is_of(batch) {
            fault.apply(&seen, &mut payload[..len]);
        }
    }

    fn lie(&mut self, batch: &Batch, request: &Value, payload: &[i32], results: &mut [u8]) {
        if !self.is_of(batch) {
            return;
        }
        if let Lie::Where(fault) = &self.lie {
            let mut words: Vec<i32> =
                results.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            let dimensions = dimensions(batch, request);
            let operands = operands(payload, &dimensions);
            let seen =
                Seen { payload, operands: &operands, columns: channels(&batch.job), ..self.seen(request, words.len()) };
            let right = words.clone();
            fault.apply(&seen, &mut words);
            if !right.is_empty() {
                self.last = right;
            }
            results.copy_from_slice(&bytes(&words));
            return;
        }
        let channels = channels(&batch.job);
        for (index, bytes) in results.chunks_exact_mut(4).enumerate() {
            let right = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let x = || input(batch, payload, index);
            let higher = |wrong: bool| if wrong { right.wrapping_add(1) } else { right };
            let given = match &self.lie {
                Lie::Results(lies) => x().and_then(|x| lies.get(&x.to_string()).copied()).unwrap_or(right),
                Lie::Ties(yes) => higher(*yes && x().is_some_and(|x| is_tie(batch, x, index))),
                Lie::FromIndex(first) => higher(index >= *first),
                Lie::FromResult(first) => higher(self.results >= *first),
                Lie::Channel(channel) if channels > *channel && index % channels == *channel => 0,
                Lie::Channel(_) | Lie::DiesAfter(_) | Lie::Where(_) | Lie::Reads(_) | Lie::Refuses(_) => right,
            };
            bytes.copy_from_slice(&given.to_le_bytes());
            self.results += 1;
        }
    }
}
