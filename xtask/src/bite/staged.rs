//! Runs the tests of one binary in stages, the most telling first, and ends with the first test that fails: what cargo runs tests by in a copy
//! of the oracle.

use super::outcome::RAN_TOO_LONG;
use crate::say::print;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that holds the stages, as JSON.
pub(crate) const STAGES: &str = "TIEBREAK_BITE_STAGES";

/// Tests that run together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Stage {
    /// Which, as arguments of the binary.
    pub(crate) arguments: Vec<String>,
    /// How long they may take.
    pub(crate) seconds: u64,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Passed,
    Failed,
    Late,
}

/// Runs `command`, a binary of tests and its arguments, once for each stage.
pub(crate) fn run(command: &[OsString]) -> Result<ExitCode> {
    let text = std::env::var(STAGES).with_context(|| format!("{STAGES} is set by `cargo xtask bite --oracle`"))?;
    let stages: Vec<Stage> = serde_json::from_str(&text).with_context(|| format!("{STAGES} lists no stages"))?;
    let (program, arguments) = command.split_first().context("there is a program to run")?;
    for stage in &stages {
        let mut command = Command::new(program);
        command.args(arguments).args(&stage.arguments);
        let show = |line: &str| print(format_args!("{line}\n"));
        match ended(&mut command, Duration::from_secs(stage.seconds), show)? {
            Ending::Passed => {}
            Ending::Failed => return Ok(ExitCode::FAILURE),
            Ending::Late => {
                print(format_args!("{RAN_TOO_LONG}\n"))?;
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs tests until one fails, and shows what they print.
fn ended(command: &mut Command, limit: Duration, show: impl Fn(&str) -> Result<()>) -> Result<Ending> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("the tests do not start")?;
    let lines = lines(&mut child)?;
    loop {
        match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => {
                show(&line)?;
                if is_failure(&line) {
                    return end(&mut child, Ending::Failed);
                }
            }
            Err(RecvTimeoutError::Timeout) => return end(&mut child, Ending::Late),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(if child.wait()?.success() { Ending::Passed } else { Ending::Failed })
}

/// What the tests print, as it comes.
fn lines(child: &mut Child) -> Result<mpsc::Receiver<String>> {
    let output = child.stdout.take().context("the output is piped")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

fn end(child: &mut Child, ending: Ending) -> Result<Ending> {
    child.kill()?;
    child.wait()?;
    Ok(ending)
}

/// Whether a line of libtest says that a test failed.
fn is_failure(line: &str) -> bool {
    line.starts_with("test ") && line.ends_with(" ... FAILED")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: u64) -> Ending {
        let silent = |_: &str| Ok(());
        ended(Command::new("sh").args(["-c", script]), Duration::from_secs(seconds), silent).expect("it starts")
    }

    #[test]
    fn the_first_test_that_fails_ends_the_others() {
        let start = Instant::now();
        assert_eq!(shell("echo 'test a::b ... FAILED'; exec sleep 60", 60), Ending::Failed);
        assert!(start.elapsed() < Duration::from_secs(30));
        assert_eq!(shell("echo 'test a::b ... ok'", 60), Ending::Passed);
        assert_eq!(shell("echo 'test a::b ... ok'; exit 101", 60), Ending::Failed);
    }

    #[test]
    fn tests_without_an_end_are_ended() {
        assert_eq!(shell("exec sleep 60", 1), Ending::Late);
    }
}
