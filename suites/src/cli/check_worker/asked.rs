//! Session with a worker: process, pipes, and a time limit for all questions.

use super::question::{Question, length, misread};
use super::quoted;
use crate::presented::sample::Sample;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tiebreak_impls::job_error::FailureKind;
use tiebreak_reports::drawable::bounded;
use tiebreak_worker::protocol::{Answer, Hello, Request, VERSION};

/// Time limit of all questions, and time limit of the exit after them.
const QUESTIONS: Duration = Duration::from_millis(3500);
const END: Duration = Duration::from_secs(1);
/// Interval between checks for the worker's exit.
const LOOK: Duration = Duration::from_millis(10);

/// Maximum bytes of a line, and maximum characters of a reason that is shown.
const MOST_LINE: usize = 1 << 20;
const MOST_REASON: usize = 300;

/// Mistake of the worker, with the remedy.
pub(super) type Problem = String;

/// Reason for missing output.
enum Missing {
    Late,
    Ended,
}

/// Answer of a worker to a batch.
#[derive(PartialEq, Eq)]
enum Answered {
    Results(Vec<u8>),
    Outside(String),
}

/// Session with a worker.
pub(super) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    /// Bytes that the worker wrote and nothing has read yet.
    unread: Vec<u8>,
    until: Instant,
}

impl Session {
    pub(super) fn start(command: &[String]) -> Result<Self, Problem> {
        let (program, arguments) =
            command.split_first().ok_or("no program is named; name the program of the worker")?;
        let failed = |error: std::io::Error| {
            format!("`{program}` does not start: {error}; name a program that runs, with its directory or in PATH")
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let input = child.stdin.take();
        let mut stdout = child.stdout.take().ok_or("the worker has no standard output")?;
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 12];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, output, unread: Vec::new(), until: Instant::now() + QUESTIONS })
    }

    pub(super) fn hello(&mut self) -> Result<Hello, Problem> {
        self.send(&Request::Hello, &[]);
        let hello = match self.answer("`hello`")? {
            Answer::Hello(hello) => hello,
            other => {
                let shown = quoted(&serde_json::to_vec(&other).unwrap_or_default());
                return Err(format!("`hello` was answered by {shown}; answer it by \"answer\":\"hello\""));
            }
        };
        if hello.protocol != VERSION {
            return Err(format!(
                "the worker speaks protocol {}, and this program speaks {VERSION}; write \"protocol\":{VERSION}",
                hello.protocol
            ));
        }
        if hello.kernels.is_empty() {
            return Err(
                "the answer to `hello` offers no kernel; list operation and name of each in \"kernels\"".to_owned()
            );
        }
        Ok(hello)
    }

    /// Sends a batch twice. If batches can have any length, sends two batches of different lengths at once after that. Describes the answers.
    pub(super) fn kernel(&mut self, question: &Question) -> Result<String, Problem> {
        let (sample, name) = (&question.sample, format!("{} {}", question.op, question.kernel));
        self.ask(sample);
        let first = self.results(&format!("the first batch of {name}"), sample)?;
        self.ask(sample);
        let again = self.results(&format!("the second batch of {name}"), sample)?;
        let twice =
            || format!("{name} was asked the same twice and gave two answers; results depend on the batch alone");
        if first != again {
            return Err(twice());
        }
        let results = match first {
            Answered::Outside(reason) => return Ok(format!("left out as outside its domain: {reason}")),
            Answered::Results(results) => results,
        };
        let Some(shorter) = question.shorter() else {
            return Ok(format!("{} results, twice", sample.len));
        };
        self.ask(&shorter);
        self.ask(sample);
        let few = self.results(&format!("the first of two batches of {name} sent together"), &shorter)?;
        let all = self.results(&format!("the second of two batches of {name} sent together"), sample)?;
        if all != Answered::Results(results.clone()) {
            return Err(twice());
        }
        match few {
            Answered::Results(few) if few[..] != results[..few.len()] => Err(format!(
                "{name} gave other results when it was asked fewer inputs; results depend on the batch alone"
            )),
            _ => Ok(format!("{} results, in four batches", sample.len)),
        }
    }

    fn ask(&mut self, sample: &Sample) {
        let payload: Vec<u8> = sample.input.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.send(&Request::Run(Box::new(sample.batch())), &payload);
    }

    fn results(&mut self, what: &str, sample: &Sample) -> Result<Answered, Problem> {
        let count = sample.len;
        match self.answer(what)? {
            Answer::Failed { reason, kind: FailureKind::OutsideDomain } => {
                Ok(Answered::Outside(bounded(&reason, MOST_REASON)))
            }
            Answer::Failed { reason, .. } => Err(format!(
                "{what} was answered by a failure: {}; answer what is offered, and a batch that the kernel is not meant for with \"kind\":\"outside-domain\"",
                bounded(&reason, MOST_REASON)
            )),
            Answer::Hello(_) => Err(format!("{what} was answered by a greeting; answer it by \"answer\":\"done\"")),
            Answer::Done { bytes } if bytes != 4 * count => Err(format!("{what}: {}", length(bytes, count))),
            Answer::Done { bytes } => {
                let enough = |unread: &[u8]| (unread.len() >= bytes).then_some(bytes);
                let Ok(results) = self.take(enough) else {
                    let had = self.unread.len();
                    return Err(format!(
                        "{what}: {bytes} bytes were announced, and {had} came; write all of them, and flush standard output"
                    ));
                };
                match misread(sample, &results) {
                    Some(problem) => Err(format!("{what}: {problem}")),
                    None => Ok(Answered::Results(results)),
                }
            }
        }
    }

    fn answer(&mut self, what: &str) -> Result<Answer, Problem> {
        let end = |unread: &[u8]| match unread.iter().position(|byte| *byte == b'\n') {
            Some(at) => Some(at + 1),
            None => (unread.len() > MOST_LINE).then_some(unread.len()),
        };
        let line = self.take(end).map_err(|missing| match missing {
            Missing::Late if self.unread.is_empty() => format!(
                "no answer to {what} within {QUESTIONS:?} of the start; write one line of JSON and its bytes, and flush standard output"
            ),
            Missing::Late => {
                format!("the answer to {what} has no end of its line: {}; end it by a newline", quoted(&self.unread))
            }
            Missing::Ended => {
                let how = self.ended().map_or_else(|| "ended".to_owned(), |status| format!("ended ({status})"));
                format!("the worker {how} before it answered {what}; read requests until the end of the input")
            }
        })?;
        serde_json::from_slice(&line).map_err(|error| {
            let does = "print nothing else to standard output, and debugging lines to standard error";
            format!("the answer to {what} is not one of the protocol: {} ({error}); {does}", quoted(&line))
        })
    }

    /// Closes the input, which must end the worker without further output.
    pub(super) fn end(&mut self) -> Result<(), Problem> {
        self.input = None;
        self.until = Instant::now() + END;
        let status = self.ended().ok_or("the worker does not end at the end of its input; leave the loop there")?;
        if !status.success() {
            return Err(format!("the worker ended at the end of its input with {status}; end with exit code 0"));
        }
        // Read everything that the worker still writes.
        let _ = self.take(|_| None);
        match &self.unread[..] {
            [] => Ok(()),
            more => {
                Err(format!("behind the last answer came {}; write what was announced and nothing else", quoted(more)))
            }
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < self.until => std::thread::sleep(LOOK),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }

    /// Sends a request. Errors are ignored: the missing answer shows that the worker has ended.
    fn send(&mut self, request: &Request, payload: &[u8]) {
        let mut bytes = serde_json::to_vec(request).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(payload);
        if let Some(input) = &mut self.input {
            let _ = input.write_all(&bytes).and_then(|()| input.flush());
        }
    }

    /// Returns the output of the worker up to the position that `end` finds.
    fn take(&mut self, end: impl Fn(&[u8]) -> Option<usize>) -> Result<Vec<u8>, Missing> {
        loop {
            if let Some(end) = end(&self.unread) {
                return Ok(self.unread.drain(..end).collect());
            }
            let left = self.until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.unread.extend(bytes),
                Err(RecvTimeoutError::Timeout) => return Err(Missing::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(Missing::Ended),
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        // The group may have ended already.
        let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        let _ = self.child.wait();
    }
}
