//! `check-worker`: what is wrong with a worker, by asking it a few questions of the protocol, in five seconds at most.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tiebreak_impls::protocol::{Answer, Batch, Hello, Job, Offer, Request, Source, VERSION};
use tiebreak_impls::{fpm, requantize};
use tiebreak_reports::drawable::bounded;

/// Time for all questions, and time for the worker to end behind them.
const QUESTIONS: Duration = Duration::from_millis(3500);
const END: Duration = Duration::from_secs(1);
/// Time between two looks at whether the worker has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Longest part of a line that is quoted, in characters, and longest line, in bytes.
const MOST_QUOTED: usize = 160;
const MOST_LINE: usize = 1 << 20;

/// The accumulators of a question; another question has the first three.
const INPUTS: [i32; 5] = [-1000, -1, 0, 1, 1000];
const FEW: usize = 3;

/// Arguments of `check-worker`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Program of the worker, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<String>,
}

/// True if the worker has no problem. Otherwise the first problem is printed, with what to do.
pub(super) fn run(args: &Args) -> Result<bool> {
    let mut asked = Asked::start(&args.command)?;
    let found = asked.questions();
    let text = match &found {
        Ok(said) => format!("no problem found: {said}\n"),
        Err(problem) => format!("problem: {problem}\n"),
    };
    drop(asked);
    super::print(&text)?;
    Ok(found.is_ok())
}

/// A worker that is asked.
struct Asked {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    /// What the worker wrote and nobody has taken.
    unread: Vec<u8>,
    until: Instant,
}

/// What the worker did wrong, and what to do.
type Problem = String;

/// Why nothing more comes.
enum Missing {
    Late,
    Ended,
}

impl Asked {
    fn start(command: &[String]) -> Result<Self> {
        let (program, arguments) = command.split_first().context("name the program of the worker")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child =
            command.spawn().with_context(|| format!("cannot start `{program}`; name a program that runs"))?;
        let input = child.stdin.take();
        let mut stdout = child.stdout.take().context("the worker has no standard output")?;
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

    /// All questions, and what was asked.
    fn questions(&mut self) -> Result<String, Problem> {
        let hello = self.hello()?;
        let kernels = hello.kernels.len();
        let asked = match hello.kernels.iter().find_map(Question::of) {
            Some(question) => {
                self.kernel(&question)?;
                format!("{} was asked four batches", question.kernel)
            }
            None => "no kernel of fpm or requantize is offered, so no batch was asked".to_owned(),
        };
        self.end()?;
        Ok(format!("{kernels} kernels offered; {asked}; the worker ended with its input"))
    }

    fn hello(&mut self) -> Result<Hello, Problem> {
        self.send(&Request::Hello, &[]);
        let hello = match self.answer("`hello`")? {
            Answer::Hello(hello) => hello,
            other => {
                return Err(format!("`hello` was answered by {}; answer it by \"answer\":\"hello\"", shown(&other)));
            }
        };
        if hello.protocol != VERSION {
            return Err(format!("the worker speaks protocol {}; this program speaks {VERSION}", hello.protocol));
        }
        if hello.kernels.is_empty() {
            return Err(
                "the answer to `hello` offers no kernel; list operation and name of each in \"kernels\"".to_owned()
            );
        }
        Ok(hello)
    }

    /// One batch, the same again, and two of different lengths in flight together.
    fn kernel(&mut self, question: &Question) -> Result<(), Problem> {
        let name = &question.kernel;
        self.ask(question, INPUTS.len());
        let first = self.results(&format!("the first batch of {name}"), INPUTS.len())?;
        self.ask(question, INPUTS.len());
        let again = self.results(&format!("the second batch of {name}"), INPUTS.len())?;
        self.same(name, &first, &again)?;
        self.ask(question, FEW);
        self.ask(question, INPUTS.len());
        let few =
            self.results(&format!("{name}, the first of two batches sent together (answers are in order)"), FEW)?;
        let all = self.results(&format!("{name}, the second of two batches sent together"), INPUTS.len())?;
        self.same(name, &first, &all)?;
        match (&few, first) {
            (Some(few), Some(first)) if few[..] != first[..few.len()] => {
                Err(format!("{name} gave other results when it was asked fewer inputs; results depend on inputs alone"))
            }
            _ => Ok(()),
        }
    }

    fn same(&self, name: &str, one: &Option<Vec<u8>>, other: &Option<Vec<u8>>) -> Result<(), Problem> {
        if one == other {
            Ok(())
        } else {
            Err(format!("{name} was asked twice and gave two answers; results depend on inputs alone"))
        }
    }

    fn ask(&mut self, question: &Question, len: usize) {
        let payload: Vec<u8> = INPUTS[..len].iter().flat_map(|x| x.to_le_bytes()).collect();
        self.send(&question.request(len), &payload);
    }

    /// The bytes of `count` results; `None` if the worker answered that it could not run them.
    fn results(&mut self, what: &str, count: usize) -> Result<Option<Vec<u8>>, Problem> {
        match self.answer(what)? {
            Answer::Failed { .. } => Ok(None),
            Answer::Hello(_) => Err(format!("{what} was answered by a greeting; answer it by \"answer\":\"done\"")),
            Answer::Done { bytes } if bytes != 4 * count => Err(format!(
                "{what}: {bytes} bytes were announced, and {count} results are {} bytes; write an int32 for each result",
                4 * count
            )),
            Answer::Done { bytes } => {
                let enough = |unread: &[u8]| (unread.len() >= bytes).then_some(bytes);
                let missing = |had: usize| {
                    format!(
                        "{what}: {bytes} bytes were announced, and {had} came; write all of them, and flush standard output"
                    )
                };
                self.take(enough).map(Some).map_err(|_| missing(self.unread.len()))
            }
        }
    }

    fn answer(&mut self, what: &str) -> Result<Answer, Problem> {
        let end = |unread: &[u8]| match unread.iter().position(|byte| *byte == b'\n') {
            Some(at) => Some(at + 1),
            None => (unread.len() > MOST_LINE).then_some(unread.len()),
        };
        let line = self.take(end).map_err(|missing| match missing {
            Missing::Late if self.unread.is_empty() => {
                format!("no answer to {what} within {QUESTIONS:?} of the start; write one line of JSON, and flush standard output")
            }
            Missing::Late => format!("the answer to {what} has no end of its line: {}; end it by a newline", quoted(&self.unread)),
            Missing::Ended => format!("the worker ended before it answered {what}; read requests until the end of the input"),
        })?;
        serde_json::from_slice(&line).map_err(|error| {
            let does = "print nothing else to standard output, and debugging lines to standard error";
            format!("the answer to {what} is not one of the protocol: {} ({error}); {does}", quoted(&line))
        })
    }

    /// The end of the input ends the worker, which has nothing more to say.
    fn end(&mut self) -> Result<(), Problem> {
        self.input = None;
        self.until = Instant::now() + END;
        let status = self.ended().ok_or("the worker does not end at the end of its input; leave the loop there")?;
        if !status.success() {
            return Err(format!("the worker ended at the end of its input with {status}; end with exit code 0"));
        }
        // Everything that it wrote, or the end.
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

    /// A worker that has ended is found by its missing answer.
    fn send(&mut self, request: &Request, payload: &[u8]) {
        let mut bytes = serde_json::to_vec(request).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(payload);
        if let Some(input) = &mut self.input {
            let _ = input.write_all(&bytes).and_then(|()| input.flush());
        }
    }

    /// What the worker wrote, up to the place that `end` finds.
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

impl Drop for Asked {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        // The group may have ended by itself.
        let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        let _ = self.child.wait();
    }
}

/// Batches of one kernel.
struct Question {
    op: &'static str,
    kernel: String,
}

impl Question {
    /// Of an operation whose batches every kernel can read.
    fn of(offer: &Offer) -> Option<Self> {
        let op = ["fpm", "requantize"].into_iter().find(|op| *op == offer.op)?;
        Some(Self { op, kernel: offer.kernel.clone() })
    }

    fn request(&self, len: usize) -> Request {
        let kernel = self.kernel.clone();
        let params = fpm::Params::single(1 << 30, -1);
        let job = if self.op == "fpm" {
            Job::Fpm { kernel, params }
        } else {
            let (channels, bias) = (params.channels, vec![0]);
            let params = requantize::Params { len, channels, bias, zero_point: 0, min: 0, max: 127 };
            Job::Requantize { kernel, params }
        };
        Request::Run(Box::new(Batch { job, len, source: Source::Payload { bytes: 4 * len }, misalign: 0 }))
    }
}

fn quoted(line: &[u8]) -> String {
    format!("`{}`", bounded(String::from_utf8_lossy(line).trim_end(), MOST_QUOTED))
}

fn shown(answer: &Answer) -> String {
    quoted(&serde_json::to_vec(answer).unwrap_or_default())
}
