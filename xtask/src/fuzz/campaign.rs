//! One target for some time or some inputs: its seeds, the fuzzer, and what became of it.

use crate::process;
use crate::say::{note, print};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

/// What is fuzzed, and how.
pub(super) struct Campaign<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) target: &'a str,
    pub(super) until: Until,
    pub(super) kernel: Option<&'a str>,
    pub(super) arguments: &'a [OsString],
}

/// When a campaign ends that finds nothing.
#[derive(Clone, Copy)]
pub(super) enum Until {
    Seconds(u64),
    /// After so many inputs, from a fixed seed, whatever the speed of the machine. They still follow what code is reached, which the seeds of hash
    /// tables change a little.
    Runs(u64),
}

/// An input that takes long on a busy machine is no find; one that does not end is.
const NOT_SLOW: &str = "-report_slow_units=1200";

impl Until {
    fn arguments(self) -> Vec<String> {
        match self {
            Self::Seconds(seconds) => vec![format!("-max_total_time={seconds}")],
            Self::Runs(runs) => vec![format!("-runs={runs}"), "-seed=1".to_owned()],
        }
    }
}

/// What became of it.
pub(super) struct Ended {
    /// The input that shows what was found.
    pub(super) artifact: Option<PathBuf>,
    pub(super) seconds: u64,
    executions: u64,
    rate: u64,
    kept: usize,
}

impl Campaign<'_> {
    /// Fuzzes until the end or until something is found.
    pub(super) fn run(&self) -> Result<Ended> {
        let directory = self.workspace.target.join("tiebreak/fuzz").join(self.target);
        self.seeds(&directory)?;
        let found = directory.join("found");
        emptied(&found)?;
        let artifacts = self.workspace.root.join("fuzz/artifacts").join(self.target);
        fs::create_dir_all(&artifacts).with_context(|| format!("cannot make {}", artifacts.display()))?;
        let before = files(&artifacts)?;
        let mut command = Command::new(self.binary()?);
        command.arg(&found).arg(directory.join("seeds")).args(self.kernel.map(|kernel| format!("--kernel={kernel}")));
        command.arg(joined("-dict=", &directory.join("words.dict")));
        command.arg(joined("-artifact_prefix=", &artifacts.join("")));
        command.args(self.until.arguments()).arg("-print_final_stats=1").arg(NOT_SLOW).args(self.arguments);
        note(process::line(&command));
        let begun = Instant::now();
        let (success, stats) = watched(&mut command)?;
        let artifact = files(&artifacts)?.difference(&before).next().map(|(path, _)| path.clone());
        if !success && artifact.is_none() {
            bail!("the fuzz target {} failed and left no input", self.target);
        }
        let (seconds, [executions, rate]) = (begun.elapsed().as_secs(), stats);
        let kept = if self.kernel.is_none() { self.keep(&found)? } else { 0 };
        Ok(Ended { artifact, seconds, executions, rate, kept })
    }

    /// Inputs that campaigns kept, an input a line.
    fn kept(&self) -> PathBuf {
        self.workspace.root.join("fuzz/corpus").join(self.target).with_extension("txt")
    }

    /// What the campaign begins with, and its words.
    fn seeds(&self, directory: &Path) -> Result<()> {
        let (kept, mut command) = (self.kept(), harness(self.workspace));
        command.args(["seeds", self.target]).arg(directory).args(Some(&kept).filter(|kept| kept.is_file()));
        process::output(&mut command).map(drop).with_context(|| format!("the target {} has no seeds", self.target))
    }

    /// Adds what reached new code to the inputs that are kept; how many lines there are.
    fn keep(&self, found: &Path) -> Result<usize> {
        let kept = self.kept();
        process::output(harness(self.workspace).args(["keep", self.target]).arg(found).arg(&kept))?;
        Ok(fs::read_to_string(&kept).with_context(|| format!("cannot read {}", kept.display()))?.lines().count())
    }

    /// The program of the target.
    fn binary(&self) -> Result<PathBuf> {
        let targets = self.workspace.root.join("fuzz/target");
        let version = process::output(Command::new(crate::workspace::rustc_program()).arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
        Ok(targets.join(host).join("release").join(self.target))
    }

    /// The campaign in a line.
    pub(super) fn row(&self, ended: &Ended) -> String {
        let Ended { artifact, seconds, executions, rate, kept } = ended;
        let end = if artifact.is_some() { "with a find" } else { "without a find" };
        format!("{:<12} {seconds:>7} {executions:>12} {rate:>12} {kept:>6}  {end}\n", self.target)
    }

    /// Prints a find: the line for the catalogue and the commands that show it again. Whether there is one.
    pub(super) fn report(&self, ended: &Ended) -> Result<bool> {
        let Some(artifact) = &ended.artifact else { return Ok(false) };
        let mut command = harness(self.workspace);
        command.args(["show", self.target]).arg(artifact);
        command.args(self.kernel.map(|kernel| format!("--kernel={kernel}")));
        if process::status(&mut command)?.success() {
            print(format_args!(
                "{}: {} is right when it is judged alone: too slow or too large for the fuzzer, or not the same each time\n",
                self.target,
                artifact.display()
            ))?;
        }
        Ok(true)
    }
}

/// The program that knows seeds, lines and judges.
pub(super) fn harness(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--release", "--package", "tiebreak", "--example", "fuzzing", "--"]);
    command
}

/// Cargo as cargo-fuzz takes it, which has a target directory of its own.
pub(super) fn cargo(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.env_remove("CARGO_TARGET_DIR").env("RUSTC_BOOTSTRAP", "1");
    command
}

/// Runs the fuzzer and passes on what it says; whether it found nothing, how many executions, and how many a second.
fn watched(command: &mut Command) -> Result<(bool, [u64; 2])> {
    let line = process::line(command);
    let mut child = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` could not be started"))?;
    let said = BufReader::new(child.stderr.take().context("a pipe was asked for")?);
    let (mut stats, shows_progress) = ([0; 2], std::io::stderr().is_terminal());
    for bytes in said.split(b'\n') {
        let bytes = bytes.with_context(|| format!("what `{line}` says cannot be read"))?;
        let text = String::from_utf8_lossy(&bytes);
        read_stat(&text, &mut stats);
        if shows_progress || !is_progress(&text) {
            // A standard error that cannot be written is ignored.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }
    Ok((child.wait()?.success(), stats))
}

/// What libFuzzer says while it goes on, and the words that it recommends: thousands of lines, which are for a terminal.
fn is_progress(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("INFO:") || (line.starts_with('"') && line.contains("\" # Uses: "))
}

/// Takes a line of libFuzzer's last words.
fn read_stat(line: &str, stats: &mut [u64; 2]) {
    for (name, stat) in ["stat::number_of_executed_units:", "stat::average_exec_per_sec:"].iter().zip(stats) {
        if let Some(value) = line.strip_prefix(name).and_then(|value| value.trim().parse().ok()) {
            *stat = value;
        }
    }
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut out = OsString::from(option);
    out.push(path);
    out
}

fn emptied(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))
}

/// The files of a directory, each with the time at which it was written: an input that was found before, and is found again, is written again.
fn files(directory: &Path) -> Result<BTreeSet<(PathBuf, SystemTime)>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.metadata()?.modified()?))
    };
    entries.map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A known bug that was found in a campaign before could not be found in the same tree again.
    #[test]
    fn an_input_that_is_found_again_is_a_find() {
        let directory = std::env::temp_dir().join(format!("tiebreak-fuzz-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let (found, other) = (directory.join("crash-1"), directory.join("crash-2"));
        let earlier = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
        for path in [&found, &other] {
            let file = fs::File::create(path).expect("a file");
            file.set_modified(earlier).expect("a time");
        }
        let before = files(&directory).expect("two files");
        assert_eq!(files(&directory).expect("two files"), before);
        fs::write(&found, "again").expect("a file");
        let after = files(&directory).expect("two files");
        let new: Vec<&PathBuf> = after.difference(&before).map(|(path, _)| path).collect();
        assert_eq!(new, [&found]);
        fs::remove_dir_all(&directory).expect("a directory");
    }

    #[test]
    fn progress_is_for_a_terminal_and_finds_are_for_everybody() {
        for line in
            ["#12\tDONE   cov: 5", "INFO: Seed: 3", "\"ties-up\" # Uses: 4", "###### Recommended dictionary. ######"]
        {
            assert!(is_progress(line), "{line}");
        }
        for line in ["catalogue: m=1 s=0 x=1", "==7== ERROR: libFuzzer: deadly signal", "stat::new_units_added: 4", ""]
        {
            assert!(!is_progress(line), "{line}");
        }
    }

    #[test]
    fn the_last_words_of_the_fuzzer_are_read() {
        let mut stats = [0; 2];
        for line in [
            "#12\tDONE   cov: 5 ft: 6 corp: 7/8b exec/s: 9 rss: 30Mb",
            "stat::number_of_executed_units: 361245",
            "stat::average_exec_per_sec:     120415",
            "stat::new_units_added:          40",
        ] {
            read_stat(line, &mut stats);
        }
        assert_eq!(stats, [361_245, 120_415]);
    }
}
