//! Fuzzing of one target for a number of seconds or inputs: the seeds, the fuzzer, and the outcome.

use crate::process;
use crate::say::{note, print};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Target of the fuzzing, and its options.
pub(super) struct Campaign<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) target: &'a str,
    /// Seed of the fuzzer's random numbers.
    pub(super) seed: Option<u32>,
    pub(super) until: Until,
    pub(super) kernel: Option<&'a str>,
    pub(super) arguments: &'a [OsString],
}

/// End of a campaign without a find.
#[derive(Clone, Copy)]
pub(super) enum Until {
    Seconds(u64),
    /// Ends after this number of inputs from a fixed seed, whatever the speed of the machine. The inputs still depend on the reached code, which
    /// the seeds of hash tables change a little.
    Runs(u64),
}

/// Option that keeps slow inputs on a busy machine from being finds; an endless input is still a find.
const NOT_SLOW: &str = "-report_slow_units=1200";

impl Until {
    fn arguments(self, seed: Option<u32>) -> Vec<String> {
        let (until, usual) = match self {
            Self::Seconds(seconds) => (format!("-max_total_time={seconds}"), None),
            Self::Runs(runs) => (format!("-runs={runs}"), Some(1)),
        };
        std::iter::once(until).chain(seed.or(usual).map(|seed| format!("-seed={seed}"))).collect()
    }
}

/// Outcome of a campaign, as stored in a shard.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Ended {
    /// Kernel that ran alone, if any.
    pub(super) kernel: Option<String>,
    /// Input that reproduces the find.
    pub(super) find: Option<Find>,
    pub(super) seconds: u64,
    executions: u64,
    rate: u64,
    /// Inputs that reached new code, a line each.
    kept: Vec<String>,
}

/// Input that the fuzzer wrote.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Find {
    /// Name of the file.
    name: String,
    bytes: Vec<u8>,
}

impl Campaign<'_> {
    /// Returns the target, with the seed if given.
    pub(super) fn name(&self) -> String {
        self.seed.map_or(self.target.to_owned(), |seed| format!("{} seed {seed}", self.target))
    }

    /// Fuzzes until the end or the first find. Two campaigns share no output file.
    pub(super) fn run(&self) -> Result<Ended> {
        let directory = self.workspace.target.join("tiebreak/fuzz").join(self.name().replace(' ', "-"));
        self.seeds(&directory)?;
        let (found, artifacts) = (directory.join("found"), directory.join("artifacts"));
        emptied(&found)?;
        emptied(&artifacts)?;
        let mut command = Command::new(self.binary()?);
        command.arg(&found).arg(directory.join("seeds")).args(self.kernel.map(|kernel| format!("--kernel={kernel}")));
        command.arg(joined("-dict=", &directory.join("words.dict")));
        command.arg(joined("-artifact_prefix=", &artifacts.join("")));
        command.args(self.until.arguments(self.seed)).arg("-print_final_stats=1").arg(NOT_SLOW).args(self.arguments);
        note(process::line(&command));
        let begun = Instant::now();
        let (success, stats) = watched(&mut command)?;
        let find = Find::first(&artifacts)?;
        if !success && find.is_none() {
            bail!("the fuzz target {} failed and left no input", self.target);
        }
        let (seconds, [executions, rate]) = (begun.elapsed().as_secs(), stats);
        let kept =
            if self.kernel.is_none() { self.new_lines(&found, &directory.join("kept.txt"))? } else { Vec::new() };
        Ok(Ended { kernel: self.kernel.map(str::to_owned), find, seconds, executions, rate, kept })
    }

    /// Writes the initial inputs of the campaign, and its dictionary.
    fn seeds(&self, directory: &Path) -> Result<()> {
        let (kept, mut command) = (corpus(self.workspace, self.target), harness(self.workspace));
        command.args(["seeds", self.target]).arg(directory).args(Some(&kept).filter(|kept| kept.is_file()));
        process::output(&mut command).map(drop).with_context(|| format!("the target {} has no seeds", self.target))
    }

    /// Returns the inputs that reached new code, a line each.
    fn new_lines(&self, found: &Path, file: &Path) -> Result<Vec<String>> {
        fs::write(file, "").with_context(|| format!("cannot write {}", file.display()))?;
        process::output(harness(self.workspace).args(["keep", self.target]).arg(found).arg(file))?;
        lines(file)
    }

    /// Returns the program of the target.
    fn binary(&self) -> Result<PathBuf> {
        let targets = self.workspace.root.join("fuzz/target");
        let version = process::output(Command::new(crate::workspace::rustc_program()).arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
        Ok(targets.join(host).join("release").join(self.target))
    }
}

/// Returns the file of inputs that campaigns kept, a line each.
fn corpus(workspace: &Workspace, target: &str) -> PathBuf {
    workspace.root.join("fuzz/corpus").join(target).with_extension("txt")
}

/// Adds the kept inputs of a campaign to the corpus, and returns its new size.
pub(super) fn keep(workspace: &Workspace, target: &str, ended: &Ended) -> Result<usize> {
    if ended.kernel.is_some() {
        return Ok(0);
    }
    let path = corpus(workspace, target);
    let mut all: BTreeSet<String> = if path.is_file() { lines(&path)?.into_iter().collect() } else { BTreeSet::new() };
    all.extend(ended.kept.iter().cloned());
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::create_dir_all(path.parent().context("a corpus is in a directory")?)
        .and_then(|()| fs::write(&path, text))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(all.len())
}

fn lines(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

impl Ended {
    /// Describes the campaign in a few words.
    pub(super) fn short(&self) -> String {
        let end = if self.find.is_some() { "with a find" } else { "without a find" };
        format!("{} executions in {} s, {end}", self.executions, self.seconds)
    }

    /// Describes the campaign in a line, after its name.
    pub(super) fn row(&self, kept: usize) -> String {
        let Self { find, seconds, executions, rate, .. } = self;
        let end = if find.is_some() { "with a find" } else { "without a find" };
        format!("{seconds:>7} {executions:>12} {rate:>12} {kept:>6}  {end}")
    }
}

impl Find {
    /// Returns the first input in a directory.
    fn first(directory: &Path) -> Result<Option<Self>> {
        let unreadable = || format!("cannot read {}", directory.display());
        let entries = fs::read_dir(directory).with_context(unreadable)?.collect::<Result<Vec<_>, _>>();
        let Some(path) = entries.with_context(unreadable)?.into_iter().map(|entry| entry.path()).min() else {
            return Ok(None);
        };
        let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Some(Self { name, bytes }))
    }

    /// Keeps the input, and prints the line for the catalogue and the commands that reproduce the find.
    pub(super) fn report(&self, workspace: &Workspace, target: &str, kernel: Option<&str>) -> Result<()> {
        let directory = workspace.root.join("fuzz/artifacts").join(target);
        let artifact = directory.join(&self.name);
        fs::create_dir_all(&directory)
            .and_then(|()| fs::write(&artifact, &self.bytes))
            .with_context(|| format!("cannot write {}", artifact.display()))?;
        let mut command = harness(workspace);
        command.args(["show", target]).arg(&artifact).args(kernel.map(|kernel| format!("--kernel={kernel}")));
        if process::status(&mut command)?.success() {
            print(format_args!(
                "{target}: {} is right when it is judged alone: too slow or too large for the fuzzer, or not the same each time\n",
                artifact.display()
            ))?;
        }
        Ok(())
    }
}

/// Returns the command of the program that handles seeds and lines, and judges inputs.
pub(super) fn harness(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--release", "--package", "tiebreak", "--example", "fuzzing", "--"]);
    command
}

/// Returns cargo for cargo-fuzz, which has a separate target directory.
pub(super) fn cargo(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.env_remove("CARGO_TARGET_DIR").env("RUSTC_BOOTSTRAP", "1");
    command
}

/// Runs the fuzzer and passes on its messages. Returns true if there is no find, the number of executions, and executions for each second.
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
            // A failure to write to standard error is ignored.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }
    Ok((child.wait()?.success(), stats))
}

/// True for libFuzzer's progress and dictionary suggestions: thousands of lines, useful only on a terminal.
fn is_progress(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("INFO:") || (line.starts_with('"') && line.contains("\" # Uses: "))
}

/// Parses a line of libFuzzer's final statistics.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A known bug of an earlier campaign could not be found again in the same tree.
    #[test]
    fn an_input_that_is_found_again_is_a_find() {
        let directory = std::env::temp_dir().join(format!("tiebreak-fuzz-{}", std::process::id()));
        for _ in 0..2 {
            emptied(&directory).expect("a directory");
            assert!(Find::first(&directory).expect("it is empty").is_none());
            for (name, bytes) in [("crash-2", "other"), ("crash-1", "found")] {
                fs::write(directory.join(name), bytes).expect("a file");
            }
            let find = Find::first(&directory).expect("two files").expect("a find");
            assert_eq!((&*find.name, &*find.bytes), ("crash-1", &b"found"[..]));
        }
        fs::remove_dir_all(&directory).expect("a directory");
    }

    #[test]
    fn a_campaign_of_a_number_of_inputs_has_a_fixed_seed() {
        assert_eq!(Until::Runs(5).arguments(None), ["-runs=5", "-seed=1"]);
        assert_eq!(Until::Runs(5).arguments(Some(3)), ["-runs=5", "-seed=3"]);
        assert_eq!(Until::Seconds(5).arguments(None), ["-max_total_time=5"]);
        assert_eq!(Until::Seconds(5).arguments(Some(2)), ["-max_total_time=5", "-seed=2"]);
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
