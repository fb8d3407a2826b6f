//! `--library` runs the caller's shared library as a lane, through the interface of `tiebreak.h`. `--program` runs a program that reads and
//! writes lines. `header` prints the interface.

use super::worker::UNUSABLE;
use crate::lane::config::{Entry, Lanes};
use crate::program;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tiebreak_common::called;
use tiebreak_common::identity::find_program;
use tiebreak_shards::shell::quoted;
use tiebreak_worker::library::{HEADER, Promise};
use tiebreak_worker::protocol::Own;

/// Names of the lanes.
pub(super) const LIBRARY: &str = "library";
const PROGRAM: &str = "program";

/// Options of a worker for the library and the program.
const OPTION: &str = "--library";
const PROGRAM_OPTION: &str = "--program";

/// Lane that runs aarch64 libraries on another machine.
const EMULATED: &str = "aarch64-qemu";

/// Operations whose lines have no types, with the domain fields that state the types.
const UNTYPED: [(&str, &[&str]); 3] =
    [("matmul", &["lhs", "rhs"]), ("conv2d", &["lhs", "rhs"]), ("qconv2d", &["lhs", "rhs", "output"])];

/// Maximum silence of a library over a batch, in seconds. A batch takes milliseconds.
const NATIVE_PATIENCE: NonZeroU64 = NonZeroU64::new(3).expect("not 0");

/// Options of `verify` that make a library or a program a lane.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A library or a program of your own")]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
    /// Scheme that the kernels promise, NAME or NAME:wrap, NAME:saturate; `tiebreak schemes` lists schemes
    #[arg(long, value_name = "NAME", requires = "place")]
    scheme: Option<String>,
    /// Kernel of this project whose contract, domain and plan the kernels have; without it, the first that promises the scheme
    #[arg(long, value_name = "KERNEL", requires = "place")]
    like: Option<String>,
    /// Name of the kernel in every report [default: file name, operation and types, such as mine-requantize-i8]
    #[arg(long, value_name = "NAME", requires = "place")]
    name: Option<String>,
    /// Part of the domain that the kernels take, such as 'shifts=[-31,0]', 'bias=false' or 'depth=[1,4096]'; may be repeated
    #[arg(long, value_name = "FIELD=JSON", requires = "place", value_parser = part)]
    domain: Vec<(String, Value)>,
}

/// Where kernels of the caller's are.
#[derive(Debug, clap::Args)]
#[group(id = "place", multiple = false)]
pub(super) struct Place {
    /// Shared library that exports functions of tiebreak.h, which `tiebreak header` prints; they run in the lane `library`
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Program that reads one case a line and writes one result a line, such as 'python3 k.py', for the operation of --op; it runs in the lane `program`
    #[arg(long, value_name = "CMD")]
    program: Option<String>,
}

impl Place {
    /// Returns the lane of the library or program, if either is given.
    pub(super) fn entry(&self, promise: &Promise, lanes: &Lanes) -> Result<Option<Entry>> {
        match (&self.library, &self.program) {
            (Some(file), _) => library(file, promise, lanes).map(Some),
            (_, Some(command)) => written_lines(command, promise, lanes).map(Some),
            _ => Ok(None),
        }
    }

    /// Fails if several kernels have these lines, and neither a kernel nor the domain states the types of the program.
    pub(super) fn states_types(&self, ops: &[String], like: Option<&str>, domain: &[(String, Value)]) -> Result<()> {
        let (Some(command), None, [op]) = (&self.program, like, ops) else { return Ok(()) };
        let Some((_, fields)) = UNTYPED.iter().find(|(untyped, _)| untyped == op) else { return Ok(()) };
        let missing = |field: &&&str| domain.iter().all(|(given, _)| given != **field);
        let missing: Vec<String> = fields.iter().filter(missing).map(|field| format!("--domain {field}=i8")).collect();
        if !missing.is_empty() {
            bail!(
                "{PROGRAM_OPTION} {}: which types does it have? A line of {op} does not state them: add {}, or --like KERNEL (`{} kernels --op {op}` lists kernels)",
                quoted(command),
                missing.join(" "),
                called::program()
            );
        }
        Ok(())
    }

    /// Formats the option as text.
    pub(super) fn written(&self) -> Option<String> {
        let library = self.library.as_ref().map(|file| format!("{OPTION} {}", quoted(&file.display().to_string())));
        library.or_else(|| Some(format!("{PROGRAM_OPTION} {}", quoted(self.program.as_ref()?))))
    }
}

/// Parses `FIELD=JSON`. A value that is not JSON is text.
pub(super) fn part(text: &str) -> Result<(String, Value), String> {
    let (field, value) = text.split_once('=').ok_or("expected FIELD=VALUE, such as shifts=[-31,0]")?;
    Ok((field.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))))
}

impl Args {
    /// Returns the library, if the caller gives a library.
    pub(super) fn file(&self) -> Option<&Path> {
        self.place.library.as_deref()
    }

    /// Returns the lane of the library or program, if either is given. `ops` are the requested operations.
    pub(super) fn lane(&self, ops: &[String], lanes: &Lanes) -> Result<Option<Entry>> {
        let Some(place) = self.place.written() else { return Ok(None) };
        if self.scheme.is_none() && self.like.is_none() {
            let whose = if self.place.library.is_some() { "do its functions" } else { "does it" };
            bail!(
                "{place}: which scheme {whose} promise? Add --scheme NAME (`{} schemes` lists them) or --like KERNEL",
                called::program()
            );
        }
        self.place.states_types(ops, self.like.as_deref(), &self.domain)?;
        let domain: Map<String, Value> = self.domain.iter().cloned().collect();
        let own = Own { scheme: self.scheme.clone(), like: self.like.clone(), domain };
        self.place.entry(&Promise { ops: ops.to_vec(), name: self.name.clone(), own }, lanes)
    }

    /// Formats these options as text.
    pub(super) fn written(&self) -> Option<String> {
        let mut words = vec![self.place.written()?];
        let one =
            |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name} {}", quoted(value)));
        words.extend(one("scheme", &self.scheme));
        words.extend(one("like", &self.like));
        words.extend(one("name", &self.name));
        words.extend(
            self.domain.iter().map(|(field, value)| format!("--domain {}", quoted(&format!("{field}={value}")))),
        );
        Some(words.join(" "))
    }
}

/// Returns the lane of a library.
fn library(file: &Path, promise: &Promise, lanes: &Lanes) -> Result<Entry> {
    let mut command = worker(file, lanes)?;
    command.extend([OPTION.to_owned(), file.display().to_string(), serde_json::to_string(promise)?]);
    // Emulated code keeps the usual time limit.
    let native = architecture(file)?.is_none_or(|arch| arch == std::env::consts::ARCH);
    if native && let Some(reason) = unusable(&command)? {
        bail!("{OPTION} {reason}");
    }
    let patience_seconds = native.then_some(NATIVE_PATIENCE);
    Ok(Entry { name: LIBRARY.to_owned(), command: Some(command), patience_seconds, ..Entry::default() })
}

/// Returns the lane of a program of lines. The program's words are arguments of the worker, so that files among them are identified.
fn written_lines(line: &str, promise: &Promise, lanes: &Lanes) -> Result<Entry> {
    let shown = quoted(line);
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.with_context(|| {
        format!("{PROGRAM_OPTION} {shown}: write the program and its arguments as a shell takes them, such as 'python3 k.py'")
    })?;
    let names = program::OPS.join(", ");
    match &promise.ops[..] {
        [op] if program::OPS.contains(&op.as_str()) => {}
        [op] => {
            bail!("{PROGRAM_OPTION} {shown}: a program has no lines for {op}; operations that have lines are {names}")
        }
        _ => bail!("{PROGRAM_OPTION} {shown}: which operation does it have? Name one by --op, of {names}"),
    }
    if find_program(Path::new(&words[0])).is_none() {
        bail!("{PROGRAM_OPTION} {shown}: there is no program `{}`; name one with its directory or in PATH", words[0]);
    }
    let mut command = own_worker(lanes)?;
    command.extend([PROGRAM_OPTION.to_owned(), serde_json::to_string(promise)?, "--".to_owned()]);
    command.extend(words);
    Ok(Entry { name: PROGRAM.to_owned(), command: Some(command), ..Entry::default() })
}

/// Returns the command that starts this program as a worker.
fn own_worker(lanes: &Lanes) -> Result<Vec<String>> {
    lanes.own_worker.clone().context("the file of this program is unknown, so it cannot be started as a worker")
}

/// Returns the command of the worker that can load the file.
fn worker(file: &Path, lanes: &Lanes) -> Result<Vec<String>> {
    let arch = architecture(file)?;
    if arch.is_none_or(|arch| arch == std::env::consts::ARCH) {
        return own_worker(lanes);
    }
    let (shown, arch) = (file.display(), arch.unwrap_or_default());
    let entry = lanes.lanes.iter().find(|entry| entry.name == EMULATED && arch == "aarch64");
    entry.and_then(|entry| entry.command.clone()).with_context(|| {
        format!(
            "{shown} is for {arch}, and this machine is {}; `cargo xtask verify {OPTION} ..` in a clone of the project sets up the lane {EMULATED}, which runs \
             libraries for aarch64; without a clone, a program that reads and writes lines runs under an emulator: {PROGRAM_OPTION} 'qemu-{arch} -L \
             /usr/{arch}-linux-gnu ./k'",
            std::env::consts::ARCH
        )
    })
}

/// Starts a worker without requests and returns its reason if no run can judge the library. Other faults at load time are left to the run.
fn unusable(command: &[String]) -> Result<Option<String>> {
    let mut worker = Command::new(&command[0]);
    worker.args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut worker = worker.spawn().context("starting a worker")?;
    let begun = Instant::now();
    let status = loop {
        match worker.try_wait()? {
            Some(status) => break Some(status),
            None if begun.elapsed() > LOADING => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        worker.kill()?;
        worker.wait()?;
        return Ok(None);
    }
    if status.and_then(|status| status.code()) != Some(UNUSABLE) {
        return Ok(None);
    }
    let mut text = String::new();
    worker.stderr.take().context("the worker's messages")?.read_to_string(&mut text)?;
    let last = text.lines().last().unwrap_or_default();
    Ok(Some(last.strip_prefix("error: ").unwrap_or(last).to_owned()))
}

/// Time for a library to load before a run judges it.
const LOADING: Duration = Duration::from_secs(2);

/// Returns the architecture of an ELF file. `None` for other formats.
fn architecture(file: &Path) -> Result<Option<&'static str>> {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|opened| opened.take(20).read_to_end(&mut head));
    if let Err(error) = read {
        bail!("{OPTION} {}: {error}", file.display());
    }
    // Pad short files, which then match no format.
    head.resize(20, 0);
    if cfg!(target_os = "linux") && !head.starts_with(b"\x7fELF") {
        bail!("{OPTION} {}: it is no shared library; compile it with -shared -fPIC", file.display());
    }
    Ok(match (&head[..4], u16::from_le_bytes([head[18], head[19]])) {
        (b"\x7fELF", 62) => Some("x86_64"),
        (b"\x7fELF", 183) => Some("aarch64"),
        (b"\x7fELF", _) => Some("another architecture"),
        _ => None,
    })
}

/// Prints `tiebreak.h`.
pub(super) fn header() -> Result<()> {
    super::print(HEADER)
}
