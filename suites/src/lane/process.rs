//! A worker process: requests on its standard input, answers on its standard output, a watchdog beside it.

use super::{Failure, Input, Order, Session};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use tiebreak_impls::protocol::{Answer, Hello, Request, VERSION};

/// Room in the pipes, so that a worker can answer while the next request is written.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Longest answer line that is read; a greeting takes a few thousand bytes.
const MAX_LINE: u64 = 1 << 20;

/// A running worker.
pub(super) struct Worker {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_words: LastWords,
    watchdog: Arc<Watchdog>,
    /// Results expected by each batch in flight.
    in_flight: VecDeque<usize>,
    timeout: Duration,
}

/// The last line a worker wrote to its standard error, for the finding about its death.
#[derive(Clone, Default)]
struct LastWords(Arc<Mutex<String>>);

/// A line of a worker's standard error is read up to this length.
const MAX_WORDS: u64 = 1 << 10;

impl LastWords {
    /// Reads to the end beside the worker, so that it never waits for a reader.
    fn of(errors: ChildStderr) -> Self {
        let words = Self::default();
        let kept = words.clone();
        std::thread::spawn(move || {
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            while (&mut errors).take(MAX_WORDS).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if !text.is_empty() {
                    *kept.0.lock().expect("last words") = text;
                }
                line.clear();
            }
        });
        words
    }

    /// `: WORDS`, or nothing.
    fn told(&self) -> String {
        let words = self.0.lock().expect("last words");
        if words.is_empty() { String::new() } else { format!(": {words}") }
    }
}

/// Kills the worker when an answer is overdue.
#[derive(Default)]
struct Watchdog {
    state: Mutex<WatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchState {
    deadline: Option<Instant>,
    killed: bool,
    over: bool,
}

impl Watchdog {
    fn set(&self, deadline: Option<Instant>) {
        self.state.lock().expect("watchdog").deadline = deadline;
        self.changed.notify_one();
    }

    fn watch(&self, child: &Mutex<Child>) {
        let mut state = self.state.lock().expect("watchdog");
        while !state.over {
            let left = state.deadline.map(|d| d.saturating_duration_since(Instant::now()));
            state = match left {
                None => self.changed.wait(state).expect("watchdog"),
                Some(Duration::ZERO) => {
                    state.killed = true;
                    state.deadline = None;
                    // The process may have ended by itself; then there is nothing to kill.
                    let _ = child.lock().expect("child").kill();
                    state
                }
                Some(left) => self.changed.wait_timeout(state, left).expect("watchdog").0,
            };
        }
    }
}

impl Worker {
    /// Start `command` and greet it.
    pub(super) fn start(command: &[String], timeout: Duration) -> Result<(Self, Hello), Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::Refused("the lane's command is empty".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| Failure::Refused(format!("cannot start `{}`: {e}", command.join(" "))))?;
        let input = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let last_words = LastWords::of(child.stderr.take().expect("piped"));
        #[cfg(target_os = "linux")]
        {
            // Smaller pipes work too, only slower.
            let _ = rustix::pipe::fcntl_setpipe_size(&input, PIPE_BYTES);
            let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
        }
        let child = Arc::new(Mutex::new(child));
        let watchdog = Arc::new(Watchdog::default());
        let (watching, watched) = (Arc::clone(&watchdog), Arc::clone(&child));
        std::thread::spawn(move || watching.watch(&watched));
        let output = BufReader::with_capacity(1 << 16, output);
        let mut worker = Self { child, input, output, last_words, watchdog, in_flight: VecDeque::new(), timeout };
        let hello = worker.hello()?;
        Ok((worker, hello))
    }

    /// The number of the process.
    pub(super) fn process(&self) -> u32 {
        self.child.lock().expect("child").id()
    }

    fn hello(&mut self) -> Result<Hello, Failure> {
        self.send(&Request::Hello, &[])?;
        match self.timed(Self::answer)? {
            Answer::Hello(hello) if hello.protocol == VERSION => Ok(hello),
            Answer::Hello(hello) => {
                Err(Failure::Refused(format!("the worker speaks protocol {}, this program {VERSION}", hello.protocol)))
            }
            other => Err(Failure::Refused(format!("the worker answered {other:?} to a greeting"))),
        }
    }

    fn send(&mut self, request: &Request, payload: &[i32]) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(request).expect("requests are JSON");
        line.push(b'\n');
        // A dead reader shows as a broken pipe; why it died is found when its answer is collected.
        let sent = self.input.write_all(&line).and_then(|()| self.input.write_all(bytemuck::cast_slice(payload)));
        sent.and_then(|()| self.input.flush()).map_err(|_| self.ended())
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let mut line = Vec::new();
        match (&mut self.output).take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(n) if line.ends_with(b"\n") || n as u64 == MAX_LINE => serde_json::from_slice(&line)
                .map_err(|e| Failure::Refused(format!("the worker's answer is not one of the protocol: {e}"))),
            _ => Err(self.ended()),
        }
    }

    fn results(&mut self, expected: usize, out: &mut Vec<i32>) -> Result<(), Failure> {
        match self.answer()? {
            Answer::Done { bytes } => {
                // Not read where it is not as long as it must be: this session is not used again.
                if bytes % size_of::<i32>() != 0 {
                    let reason = format!("the worker answered {bytes} bytes, which are no whole number of results");
                    return Err(Failure::Refused(reason));
                }
                if bytes != expected * size_of::<i32>() {
                    return Err(Failure::WrongLength { expected, got: bytes / size_of::<i32>() });
                }
                out.resize(expected, 0);
                self.output.read_exact(bytemuck::cast_slice_mut(out)).map_err(|_| self.ended())
            }
            Answer::Failed { reason } => Err(Failure::Refused(reason)),
            Answer::Hello(_) => Err(Failure::Refused("the worker greeted instead of answering".to_owned())),
        }
    }

    /// Runs `f` under the watchdog.
    fn timed<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        self.watchdog.set(Some(Instant::now() + self.timeout));
        let result = f(self);
        self.watchdog.set(None);
        result
    }

    /// Why the worker no longer answers.
    fn ended(&mut self) -> Failure {
        if self.watchdog.state.lock().expect("watchdog").killed {
            return Failure::Hung(self.timeout);
        }
        let mut child = self.child.lock().expect("child");
        // Its output is closed: it is ending, or has lost its mind.
        let status = match child.try_wait() {
            Ok(Some(status)) => Ok(status),
            _ => {
                std::thread::sleep(Duration::from_millis(50));
                let _ = child.kill();
                child.wait()
            }
        };
        // What it wrote last may still be on its way.
        std::thread::sleep(Duration::from_millis(20));
        let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
        Failure::Crashed(format!("{status}{}", self.last_words.told()))
    }
}

impl Session for Worker {
    fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure> {
        let payload = match order.input {
            Input::Values { values, .. } => values,
            Input::Range { .. } => &[],
        };
        let request = Request::Run(Box::new(order.header()));
        self.timed(|worker| worker.send(&request, payload))?;
        self.in_flight.push_back(order.results());
        Ok(())
    }

    fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure> {
        let expected = self.in_flight.pop_front().expect("collect follows submit");
        self.timed(|worker| worker.results(expected, out))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.watchdog.state.lock().expect("watchdog").over = true;
        self.watchdog.changed.notify_one();
        let mut child = self.child.lock().expect("child");
        let _ = child.kill();
        let _ = child.wait();
    }
}
