//! The process of a program: lines are written to it while its answers are read, so that neither waits for the other for ever.
//!
//! A program that ends takes this worker with it, so that the run has a crash, with what the program said last. A program that hangs is found by the run.

use super::answers::quoted;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tiebreak_impls::job_error::JobError;

/// How long a program has for its first answer, its start included.
const FIRST: Duration = Duration::from_secs(10);

/// How long a second line of the first answer is waited for, which nobody asked for.
const MORE: Duration = Duration::from_millis(10);

/// For what a program that has ended wrote to its standard error, and for its exit status.
const GRACE: Duration = Duration::from_millis(200);

/// Bytes that are kept of a program that writes faster than it is read.
const MOST_UNREAD: usize = 1 << 26;

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// Exit code of this worker if its program has ended.
const ENDED: i32 = 1;

/// Takes a case and its answer.
type Take<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), JobError> + 'a;

/// A program that runs.
pub(super) struct Process {
    child: Child,
    command: Vec<String>,
    input: ChildStdin,
    inbox: Arc<Inbox>,
    last_words: Arc<Mutex<String>>,
    /// Answers that have been taken from the inbox, and how much of them has been read.
    taken: Vec<u8>,
    read: usize,
}

/// What the program wrote and nobody has taken.
#[derive(Default)]
struct Inbox {
    state: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads to the end.
    fn fill(&self, mut output: ChildStdout) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = output.read(&mut chunk).unwrap_or_default();
            let mut state = self.lock();
            while state.0.len() > MOST_UNREAD {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.0.extend_from_slice(&chunk[..count]);
            state.1 = count == 0;
            self.changed.notify_all();
            if count == 0 {
                return;
            }
        }
    }

    /// Moves everything that is there behind `to`, and waits for something until then. False if nothing came.
    fn take(&self, to: &mut Vec<u8>, until: Option<Instant>) -> bool {
        let mut state = self.lock();
        while state.0.is_empty() && !state.1 {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return false,
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        let came = !state.0.is_empty();
        to.append(&mut state.0);
        self.changed.notify_all();
        came
    }

    fn has_ended(&self) -> bool {
        self.lock().1
    }
}

impl Process {
    /// Starts a program, and asks it a line. Its answer must come, and no other; a program that ends over it is started again and not asked.
    pub(super) fn ready(command: &[String], first: &[u8]) -> Result<Self> {
        let mut process = Self::start(command)?;
        let shown = command.join(" ");
        // A program that has ended is found by its missing answer.
        let _ = process.input.write_all(first).and_then(|()| process.input.flush());
        let until = Instant::now() + FIRST;
        while !process.taken.contains(&b'\n') {
            if process.inbox.take(&mut process.taken, Some(until)) {
                continue;
            }
            if process.inbox.has_ended() {
                return process.without_first(command, first);
            }
            bail!(
                "`{shown}` did not answer its first line, {}, within {FIRST:?}; let it write one line for each line that it reads, and flush standard output \
                 after each",
                quoted(first)
            );
        }
        let _ = process.inbox.take(&mut process.taken, Some(Instant::now() + MORE));
        let end = process.taken.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (answer, more) = process.taken.split_at(end);
        let plausible = |word: &str| word == "outside-domain" || word.parse::<f64>().is_ok() || word == "-nan";
        let text = String::from_utf8_lossy(answer);
        if !text.split_whitespace().all(plausible) || text.trim().is_empty() {
            bail!(
                "`{shown}` answered {} to its first line, {}; write numbers alone to standard output, and debugging lines to standard error",
                quoted(answer),
                quoted(first)
            );
        }
        if !more.is_empty() {
            bail!(
                "`{shown}` wrote {} behind the answer to its first line, {}; write one line for each line that is read",
                quoted(more),
                quoted(first)
            );
        }
        process.taken.clear();
        Ok(process)
    }

    /// The kernel may not be meant for the first line: whether it ends over others too is for the run to find. A program that ends at once does not run.
    fn without_first(mut self, command: &[String], first: &[u8]) -> Result<Self> {
        let said = self.ended(first);
        let mut again = Self::start(command)?;
        std::thread::sleep(GRACE);
        if again.inbox.has_ended() || again.child.try_wait().is_ok_and(|status| status.is_some()) {
            bail!("{said}");
        }
        Ok(again)
    }

    fn start(command: &[String]) -> Result<Self> {
        let (program, arguments) = command.split_first().context("the command of the program is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{program}` does not start"))?;
        let input = child.stdin.take().context("a program without standard input")?;
        let output = child.stdout.take().context("a program without standard output")?;
        let errors = child.stderr.take().context("a program without standard error")?;
        let (inbox, last_words) = (Arc::new(Inbox::default()), Arc::new(Mutex::default()));
        let (to, kept) = (Arc::clone(&inbox), Arc::clone(&last_words));
        std::thread::spawn(move || to.fill(output));
        std::thread::spawn(move || listen(errors, &kept));
        Ok(Self { child, command: command.to_vec(), input, inbox, last_words, taken: Vec::new(), read: 0 })
    }

    /// Writes the lines of a batch, and gives each with its answer to `take`. A program that ends ends this process; one whose answer is refused is started
    /// again, since what else it writes belongs to no line.
    pub(super) fn ask(&mut self, lines: &[u8], take: &mut Take<'_>) -> Result<(), JobError> {
        let asked = self.asked(lines, take);
        if asked.is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            *self = Self::start(&self.command).map_err(|error| JobError::Module(format!("{error:#}")))?;
        }
        asked
    }

    fn asked(&mut self, lines: &[u8], take: &mut Take<'_>) -> Result<(), JobError> {
        self.unasked(lines)?;
        let written = self.input.write_all(lines).and_then(|()| self.input.flush());
        for case in lines.split_inclusive(|byte| *byte == b'\n') {
            let Some(end) = self.line() else { self.crashed(case) };
            let answer = self.read..end;
            self.read = end + 1;
            take(case, &self.taken[answer])?;
        }
        if written.is_err() {
            self.crashed(lines);
        }
        self.unasked(lines)
    }

    /// Nothing may be there that was not asked for.
    fn unasked(&mut self, lines: &[u8]) -> Result<(), JobError> {
        self.taken.drain(..std::mem::take(&mut self.read));
        self.inbox.take(&mut self.taken, Some(Instant::now()));
        if self.taken.is_empty() {
            return Ok(());
        }
        let first = |text: &[u8]| quoted(text.split(|byte| *byte == b'\n').next().unwrap_or_default());
        let (more, near) = (first(&self.taken), first(lines));
        Err(JobError::Module(format!(
            "the program wrote {more}, which nobody asked for, near the batch that begins with {near}; write one line for each line that is read"
        )))
    }

    /// The end of the next line of the answers; `None` at their end.
    fn line(&mut self) -> Option<usize> {
        let mut searched = self.read;
        loop {
            if let Some(at) = self.taken[searched..].iter().position(|byte| *byte == b'\n') {
                return Some(searched + at);
            }
            self.taken.drain(..std::mem::take(&mut self.read));
            searched = self.taken.len();
            if !self.inbox.take(&mut self.taken, None) {
                return None;
            }
        }
    }

    /// Ends this process, as its program has ended.
    fn crashed(&mut self, case: &[u8]) -> ! {
        let said = self.ended(case);
        // The run shows the last line.
        let _ = writeln!(std::io::stderr(), "{said}");
        std::process::exit(ENDED)
    }

    /// How the program ended, and what it said.
    fn ended(&mut self, case: &[u8]) -> String {
        let begun = Instant::now();
        let status: Option<ExitStatus> = loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(5)),
                status => break status.ok().flatten(),
            }
        };
        std::thread::sleep(Duration::from_millis(20));
        let status =
            status.map_or_else(|| "closed its standard output".to_owned(), |status| format!("ended ({status})"));
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = if words.is_empty() { String::new() } else { format!(": {words}") };
        format!("`{}` {status} before it answered {}{words}", self.command.join(" "), quoted(case))
    }
}

/// Passes a standard error on, and keeps its last line.
fn listen(errors: ChildStderr, last: &Mutex<String>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while errors.by_ref().take(CHUNK as u64).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        let _ = std::io::stderr().write_all(&line);
        if !text.is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
        line.clear();
    }
}
