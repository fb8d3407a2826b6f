//! Builds with cargo, quiet unless a build fails or takes long. Cargo's messages give the paths of the programs.

use crate::built_from;
use crate::probe::Probe;
use crate::process;
use crate::say::note;
use crate::tools::Tool;
use crate::workspace::{AARCH64, Workspace};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A build that takes longer than this is announced, unless cargo itself shows progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Line of `cargo build --message-format=json` with an executable.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Programs of the workspace, each with its package.
pub(crate) const WORKER: (&str, &str) = ("tiebreak-worker", "tiebreak-worker");
/// Program that receives all forwarded commands.
pub(crate) const TIEBREAK: (&str, &str) = ("tiebreak", "tiebreak");

/// Runs `cargo build --release` of programs for the host.
pub(crate) fn build(workspace: &Workspace, programs: &[(&str, &str)]) -> Result<BTreeMap<String, PathBuf>> {
    let built = || {
        let mut command = workspace.cargo();
        command.args(["build", "--release"]).args(selection(programs));
        executables(&mut command, programs, "this host", std::io::stderr().is_terminal())
    };
    built_from::sure(workspace, built, |program| Command::new(program))
}

/// Runs `cargo build --release` of programs for aarch64, without progress, because the build for the host may run at the same time.
pub(crate) fn build_aarch64(
    workspace: &Workspace,
    probe: &Probe,
    programs: &[(&str, &str)],
) -> Result<BTreeMap<String, PathBuf>> {
    let built = || {
        let mut command = aarch64(workspace, probe, "build");
        command.arg("--release").args(selection(programs));
        executables(&mut command, programs, "aarch64", false)
    };
    // Without an emulator, no program can be started and checked.
    let Some(qemu) = probe.path(Tool::Qemu) else { return built() };
    built_from::sure(workspace, built, |program| {
        let mut words = emulator(probe, qemu);
        words.push(program.to_string_lossy().into_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    })
}

/// Returns a cargo subcommand for aarch64, with compiler, linker, link flags, emulator and a separate target directory. All programs have equal
/// link flags, so that shared code is compiled once.
pub(crate) fn aarch64(workspace: &Workspace, probe: &Probe, subcommand: &str) -> Command {
    let mut command = workspace.cargo();
    let linking = if probe.aarch64_libraries.is_some() { DYNAMIC } else { STATIC };
    command.arg(subcommand).args(["--target", AARCH64, "--target-dir"]).arg(workspace.aarch64_target());
    command.env(
        "CARGO_ENCODED_RUSTFLAGS",
        linking_flags(std::env::var_os("CARGO_ENCODED_RUSTFLAGS"), std::env::var_os("RUSTFLAGS"), linking),
    );
    if let Some(linker) = probe.path(Tool::Aarch64Cc) {
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", linker);
    }
    if let Some(qemu) = probe.path(Tool::Qemu) {
        // A path in a list may contain a space, unlike a word in a variable.
        let words: Vec<String> = emulator(probe, qemu).iter().map(|word| format!("{word:?}")).collect();
        let words = words.join(", ");
        command.arg("--config").arg(format!("target.{AARCH64}.runner=[{words}]"));
    }
    command
}

/// Emulated CPU: every extension but SVE. No kernel has SVE instructions, and the C library would copy with them, which slows down an emulator.
pub(crate) const CPU: &str = "max,sve=off";

/// Returns the emulator's command line, for use before a program for aarch64.
pub(crate) fn emulator(probe: &Probe, qemu: &Path) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let libraries = probe.aarch64_libraries.iter().flat_map(|libraries| ["-L".to_owned(), text(libraries)]);
    [text(qemu), "-cpu".to_owned(), CPU.to_owned()].into_iter().chain(libraries).collect()
}

/// Flag for a static program, which runs without aarch64 libraries.
const STATIC: &str = "-C\u{1f}target-feature=+crt-static";
/// Flag for a dynamic program, because only such a program can load objects.
const DYNAMIC: &str = "-C\u{1f}target-feature=-crt-static";

/// Joins the caller's flags and the link flags.
fn linking_flags(encoded: Option<OsString>, plain: Option<OsString>, ours: &str) -> String {
    let text = |flags: OsString| flags.to_string_lossy().into_owned();
    let plain = plain.map(|flags| text(flags).split_whitespace().collect::<Vec<_>>().join("\u{1f}"));
    let callers = encoded.map(text).or(plain).filter(|flags| !flags.is_empty());
    callers.map_or_else(|| ours.to_owned(), |callers| format!("{callers}\u{1f}{ours}"))
}

fn selection(programs: &[(&str, &str)]) -> Vec<String> {
    programs.iter().flat_map(|(package, program)| ["--package", package, "--bin", program].map(str::to_owned)).collect()
}

/// Runs a build and returns the paths of the programs.
fn executables(
    command: &mut Command,
    programs: &[(&str, &str)],
    machine: &str,
    shown: bool,
) -> Result<BTreeMap<String, PathBuf>> {
    command.arg("--message-format=json-render-diagnostics").stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(if shown { Stdio::inherit() } else { Stdio::piped() });
    let names: Vec<&str> = programs.iter().map(|(_, program)| *program).collect();
    let messages = finish(command, &format!("building {} for {machine}", names.join(" and ")), shown)?;
    let built = parse(&messages);
    match programs.iter().find(|(_, program)| !built.contains_key(*program)) {
        Some((package, program)) => bail!("cargo built package {package} and names no program {program}"),
        None => Ok(built),
    }
}

/// Waits for a build and returns its standard output. Its standard error is shown if the build failed.
fn finish(command: &mut Command, doing: &str, shown: bool) -> Result<String> {
    let line = process::line(command);
    let begun = Instant::now();
    let mut child = command.spawn().with_context(|| format!("`{line}` could not be started"))?;
    let complaints = collect(child.stderr.take());
    let messages = collect(child.stdout.take());
    let messages = messages.recv_timeout(PATIENCE).or_else(|_| {
        if !shown {
            note(format_args!("{doing} ..."));
        }
        messages.recv()
    })?;
    let status = child.wait()?;
    if !status.success() {
        // A failure to write to standard error is ignored.
        let _ = std::io::stderr().write_all(complaints.recv()?.as_bytes());
        bail!("{doing} failed, see above: `{line}`");
    }
    if !shown && begun.elapsed() > PATIENCE {
        note(format_args!("{doing} took {}", duration(begun.elapsed())));
    }
    Ok(messages)
}

/// Formats a duration: `45 s`, `3 min 17 s`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// Reads a pipe to its end in the background.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends the text; the exit code of the build reports the failure.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        // The receiver is gone only if the text is not needed.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn parse(messages: &str) -> BTreeMap<String, PathBuf> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    artifacts.filter_map(|artifact| Some((artifact.target.name, artifact.executable?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executables_are_kept() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"a\"},\"executable\":\"/t/a\"}\n\
                        {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"b\"},\"executable\":null}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\nnot json\n";
        assert_eq!(parse(messages), BTreeMap::from([("a".to_owned(), PathBuf::from("/t/a"))]));
    }

    #[test]
    fn the_callers_flags_are_kept() {
        let ours = "-C\u{1f}target-feature=+crt-static";
        assert_eq!(linking_flags(None, None, STATIC), ours);
        assert_eq!(linking_flags(None, Some("-D  warnings".into()), STATIC), format!("-D\u{1f}warnings\u{1f}{ours}"));
        assert_eq!(linking_flags(Some("-g".into()), Some("ignored".into()), STATIC), format!("-g\u{1f}{ours}"));
    }
}
