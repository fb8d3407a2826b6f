//! Process of a program. Lines are written while answers are read, so that neither side waits for the other forever.
//!
//! If a program ends, this worker ends as well, and the run reports a crash with the program's last message. The run detects a program that hangs.

use super::answers::quoted;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tiebreak_impls::job_error::JobError;

/// Time limit of a program's first answer, start included.
const FIRST: Duration = Duration::from_secs(10);

/// Time to wait for a superfluous second line after the first answer.
const MORE: Duration = Duration::from_millis(10);

/// Time to wait for the exit status of a program that has closed its output.
const GRACE: Duration = Duration::from_millis(200);

/// Maximum number of unread bytes before reading pauses.
const MOST_UNREAD: usize = 1 << 26;

/// Maximum number of bytes for each read.
const CHUNK: usize = 1 << 16;

/// Exit code of this worker if its program has ended.
const ENDED: i32 = 1;

/// Receives a case and its answer.
type Take<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), JobError> + 'a;

/// Running program.
pub(super) struct Process {
    child: Child,
    command: Vec<String>,
    input: ChildStdin,
    inbox: Arc<Inbox>,
    last_words: Arc<Mutex<String>>,
    /// Answers taken from the inbox, and the number of their bytes that have been read.
    taken: Vec<u8>,
    read: usize,
}

/// Output of the program that has not been taken, and true at its end.
#[derive(Default)]
struct Inbox {
    state: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the output to its end.
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

    /// Appends all available output to `to`. Waits for output until `until`, or without limit. Returns false if no output came.
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
    /// Starts a program and sends it a line, which must get exactly one answer. A program that ends instead is started again without the line.
    pub(super) fn ready(command: &[String], first: &[u8]) -> Result<Self> {
        let mut process = Self::start(command)?;
        let shown = command.join(" ");
        // A missing answer shows that the program has ended.
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

    /// Restarts a program that ended over its first line, because that line may be outside its domain. Fails if the program ends again at once.
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

    /// Writes the lines of a batch and passes each line with its answer to `take`. If the program ends, this process ends. If an answer is
    /// refused, the program is started again, because its further output belongs to no line.
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

    /// Fails if the program wrote output without a request.
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

    /// Returns the end of the next answer line. `None` at the end of the output.
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

    /// Ends this process after the end of its program.
    fn crashed(&mut self, case: &[u8]) -> ! {
        let said = self.ended(case);
        // The run shows the last line of standard error.
        let _ = writeln!(std::io::stderr(), "{said}");
        std::process::exit(ENDED)
    }

    /// Describes how the program ended, with its last message.
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

/// Forwards a standard error and keeps its last line.
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
