//! Worker process: requests on standard input, answers on standard output, and a time limit on silence.

use super::group::Group;
use super::patience::{self, Silence};
use super::pipes::{Pipes, Stop};
use super::{Failure, Input, Order, Session};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tiebreak_reports::drawable::bounded;
use tiebreak_worker::protocol::{Answer, Hello, Offer, Request, VERSION};

/// Longest answer line; a greeting takes a few thousand bytes.
const MAX_LINE: usize = 1 << 20;

/// Longest text of a worker, and longest name or ISA path, in characters.
const MOST_TEXT: usize = 1 << 10;
const MOST_NAME: usize = 1 << 8;
/// Longest part of a line quoted in an error, in characters.
const MOST_QUOTED: usize = 160;

/// Time for a worker with closed pipes to end, so that the worker's own exit status is reported.
const GRACE: Duration = Duration::from_millis(200);

/// Running worker.
pub(super) struct Worker {
    group: Group,
    pipes: Pipes,
    last_words: LastWords,
    /// Batches in flight.
    in_flight: VecDeque<InFlightBatch>,
    patience: Duration,
    /// Failure after which nothing more can be sent; earlier answers can still be read.
    broken: Option<Failure>,
}

/// Batch in flight.
#[derive(Clone, Copy)]
struct InFlightBatch {
    results: usize,
    operations: u64,
}

/// Last line of a worker's standard error, for the finding about its death.
struct LastWords {
    line: Arc<Mutex<String>>,
    /// Closed after the last read.
    reading: Receiver<()>,
}

/// Longest line of a worker's standard error, in bytes.
const MAX_WORDS: u64 = 1 << 10;

impl LastWords {
    /// Reads to the end in a separate thread, so that the worker never waits for a reader.
    fn of(errors: ChildStderr) -> Self {
        let line = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&line);
        let (reads, reading) = channel();
        std::thread::spawn(move || {
            let _reads = reads;
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            while (&mut errors).take(MAX_WORDS).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line);
                if !text.trim().is_empty() {
                    *kept.lock().expect("last words") = bounded(text.trim(), MOST_TEXT);
                }
                line.clear();
            }
        });
        Self { line, reading }
    }

    /// Formats as `: LINE`, or empty. Output of an ended process may still be in the pipe.
    fn described(&self) -> String {
        // Always an error: the channel is closed, or the time is over.
        let _ = self.reading.recv_timeout(GRACE);
        let words = self.line.lock().expect("last words");
        if words.is_empty() { String::new() } else { format!(": {words}") }
    }
}

/// Quotes the beginning of a worker's line in an error.
fn quoted(line: &[u8]) -> String {
    bounded(String::from_utf8_lossy(line).trim_end(), MOST_QUOTED)
}

/// Bounds the texts of an offer for reports. The promise stays unchanged; a failing lookup bounds it in the message.
pub(super) fn drawn(mut offer: Offer) -> Offer {
    let Offer { op, kernel, isa_path, own: _ } = &mut offer;
    [op, kernel, isa_path].into_iter().for_each(|text| *text = bounded(text, MOST_NAME));
    offer
}

/// Bounds the texts of an answer for reports, because a foreign program wrote them.
fn drawable(answer: Answer) -> Answer {
    match answer {
        Answer::Hello(Hello { protocol, arch, kernels, sources }) => {
            let kernels = kernels.into_iter().map(drawn).collect();
            let sources = sources.map(|text| bounded(&text, MOST_NAME));
            Answer::Hello(Hello { protocol, arch: bounded(&arch, MOST_NAME), kernels, sources })
        }
        Answer::Failed { reason, kind } => Answer::Failed { reason: bounded(&reason, MOST_TEXT), kind },
        done @ Answer::Done { .. } => done,
    }
}

impl Worker {
    /// Starts `command` and exchanges greetings.
    pub(super) fn start(command: &[String], patience: Duration) -> Result<(Self, Hello), Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::refused("the lane's command is empty"))?;
        let line = bounded(&command.join(" "), MOST_TEXT);
        let failed = |e: std::io::Error| Failure::refused(format!("cannot start `{line}`: {e}"));
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(&mut command).map_err(failed)?;
        let child = group.child();
        let input = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let last_words = LastWords::of(child.stderr.take().expect("piped"));
        let pipes = Pipes::new(input, output).map_err(failed)?;
        let mut worker = Self { group, pipes, last_words, in_flight: VecDeque::new(), patience, broken: None };
        let hello = worker.hello()?;
        Ok((worker, hello))
    }

    /// Sets another patience.
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the number of the process.
    pub(super) fn process(&self) -> u32 {
        self.group.id()
    }

    fn hello(&mut self) -> Result<Hello, Failure> {
        self.send(&Request::Hello, &[])?;
        match self.answer(&mut Silence::new(self.patience))? {
            Answer::Hello(hello) if hello.protocol == VERSION => Ok(hello),
            Answer::Hello(hello) => {
                Err(Failure::refused(format!("the worker speaks protocol {}, this program {VERSION}", hello.protocol)))
            }
            other => {
                let answer = bounded(&format!("{other:?}"), MOST_TEXT);
                Err(Failure::refused(format!("the worker answered {answer} to a greeting")))
            }
        }
    }

    /// Returns the longest silence for the batches in flight.
    fn limit(&self) -> Duration {
        patience::limit(self.patience, self.in_flight.iter().map(|batch| batch.operations).fold(0, u64::saturating_add))
    }

    /// Returns the number of bytes that the answers in flight may take.
    fn room(&self) -> usize {
        let answers = self.in_flight.iter().map(|batch| batch.results.saturating_mul(size_of::<i32>()) + MAX_LINE);
        answers.fold(MAX_LINE, usize::saturating_add)
    }

    fn send(&mut self, request: &Request, payload: &[i32]) -> Result<(), Failure> {
        let mut bytes = serde_json::to_vec(request).expect("requests are JSON");
        bytes.push(b'\n');
        // One write: a worker woken by the line alone would have to wait for the payload.
        bytes.extend_from_slice(bytemuck::cast_slice(payload));
        let (room, limit) = (self.room(), self.limit());
        let sent = self.pipes.write(&bytes, room, &self.group, &mut Silence::new(limit));
        sent.map_err(|stop| self.stopped(stop, limit))
    }

    fn answer(&mut self, silence: &mut Silence) -> Result<Answer, Failure> {
        let line = self.pipes.line(MAX_LINE, &self.group, silence);
        let line = line.map_err(|stop| self.stopped(stop, silence.limit()))?;
        let refused = |e: serde_json::Error| {
            let (why, line) = (bounded(&e.to_string(), MOST_TEXT), quoted(&line));
            Failure::refused(format!("the worker's answer is not one of the protocol: `{line}`: {why}"))
        };
        serde_json::from_slice(&line).map(drawable).map_err(refused)
    }

    fn results(&mut self, expected: usize, silence: &mut Silence, out: &mut Vec<i32>) -> Result<(), Failure> {
        match self.answer(silence)? {
            Answer::Done { bytes } => {
                // A wrong length is not read, because this session is not used again.
                if bytes % size_of::<i32>() != 0 {
                    let reason = format!("the worker answered {bytes} bytes, which are no whole number of results");
                    return Err(Failure::refused(reason));
                }
                if bytes != expected * size_of::<i32>() {
                    return Err(Failure::WrongLength { expected, got: bytes / size_of::<i32>() });
                }
                out.resize(expected, 0);
                let read = self.pipes.read(bytemuck::cast_slice_mut(out), &self.group, silence);
                read.map_err(|stop| self.stopped(stop, silence.limit()))
            }
            Answer::Failed { reason, kind } => Err(Failure::Failed(kind, reason)),
            Answer::Hello(_) => Err(Failure::refused("the worker greeted instead of answering")),
        }
    }

    /// Returns the failure that stopped the worker.
    fn stopped(&mut self, stop: Stop, limit: Duration) -> Failure {
        if let Some(failure) = &self.broken {
            return failure.clone();
        }
        let failure = self.ended(stop, limit);
        self.broken = Some(failure.clone());
        failure
    }

    /// Ends the worker, and returns the failure.
    fn ended(&mut self, stop: Stop, limit: Duration) -> Failure {
        let status = match stop {
            Stop::Silent => {
                // Output of a killed worker is not needed.
                let _ = self.group.end(Duration::ZERO);
                return Failure::Hung(limit);
            }
            Stop::Closed | Stop::Left => self.group.end(GRACE),
        };
        let status = status.map_or_else(|e| e.to_string(), |status| status.to_string());
        let left = if stop == Stop::Left { ", while a process that it started held its pipes" } else { "" };
        Failure::Crashed(format!("{status}{left}{}", self.last_words.described()))
    }
}

impl Session for Worker {
    fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure> {
        let payload = match order.input {
            Input::Values { values, .. } => values.as_slice(),
            Input::Range { .. } => &[],
        };
        let request = Request::Run(Box::new(order.header()));
        let is_first = self.in_flight.is_empty();
        self.in_flight.push_back(InFlightBatch { results: order.results(), operations: patience::operations(order) });
        // A worker that has died belongs to an earlier batch, found at the end of the answers.
        self.send(&request, payload).or_else(|failure| if is_first { Err(failure) } else { Ok(()) })
    }

    fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure> {
        let mut silence = Silence::new(self.limit());
        let batch = self.in_flight.pop_front().expect("collect follows submit");
        self.results(batch.results, &mut silence, out)
    }
}
