//! `--library`: a shared library of the caller's as a lane, by the interface of `tiebreak.h`; and `header`, which prints that.

use crate::lane::config::{Entry, Lanes};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use tiebreak_common::called;
use tiebreak_common::shell::quoted;
use tiebreak_impls::library::{HEADER, Promise};
use tiebreak_impls::protocol::Own;

/// Name of the lane.
pub(super) const LANE: &str = "library";

/// The option of a worker that names the library.
pub(super) const OPTION: &str = "--library";

/// The lane that runs a library for aarch64 on another machine.
const EMULATED: &str = "aarch64-qemu";

/// Seconds for which a library may be silent over a batch: a batch takes milliseconds.
const NATIVE_PATIENCE: NonZeroU64 = NonZeroU64::new(3).expect("not 0");

/// Options of `verify` that make a library a lane.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A library of your own")]
pub(super) struct Args {
    /// Shared library that exports functions of tiebreak.h, which `tiebreak header` prints; they run in the lane `library`
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Scheme that the functions promise, NAME or NAME:wrap, NAME:saturate; `tiebreak schemes` lists schemes
    #[arg(long, value_name = "NAME", requires = "library")]
    scheme: Option<String>,
    /// Kernel of this project whose contract, domain and plan the functions have; without it, the first that promises the scheme
    #[arg(long, value_name = "KERNEL", requires = "library")]
    like: Option<String>,
    /// Name of the kernel in every report [default: file name, operation and types, such as mine-requantize-i8]
    #[arg(long, value_name = "NAME", requires = "library")]
    name: Option<String>,
    /// Part of the domain that the functions take, such as 'shifts=[-31,0]', 'bias=false' or 'depth=[1,4096]'; may be repeated
    #[arg(long, value_name = "FIELD=JSON", requires = "library", value_parser = part)]
    domain: Vec<(String, Value)>,
}

/// The value parser of `FIELD=JSON`; what is no JSON is a text.
pub(super) fn part(text: &str) -> Result<(String, Value), String> {
    let (field, value) = text.split_once('=').ok_or("expected FIELD=VALUE, such as shifts=[-31,0]")?;
    Ok((field.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))))
}

impl Args {
    /// The library, if one is given.
    pub(super) fn file(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    /// The lane of the library, if one is given. `ops` are the operations asked for, `worker` starts this program as a worker.
    pub(super) fn lane(&self, ops: &[String], lanes: &Lanes) -> Result<Option<Entry>> {
        let Some(file) = &self.library else { return Ok(None) };
        if self.scheme.is_none() && self.like.is_none() {
            bail!(
                "{OPTION} {}: which scheme do its functions promise? Add --scheme NAME (`{} schemes` lists them) or --like KERNEL",
                quoted(&file.display().to_string()),
                called::program()
            );
        }
        let domain: Map<String, Value> = self.domain.iter().cloned().collect();
        let own = Own { scheme: self.scheme.clone(), like: self.like.clone(), domain };
        entry(file, &Promise { ops: ops.to_vec(), name: self.name.clone(), own }, lanes).map(Some)
    }

    /// These options as a text.
    pub(super) fn written(&self) -> Option<String> {
        let file = self.library.as_ref()?.display().to_string();
        let mut words = vec![format!("{OPTION} {}", quoted(&file))];
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

/// The lane of a library.
pub(super) fn entry(file: &Path, promise: &Promise, lanes: &Lanes) -> Result<Entry> {
    let mut command = worker(file, lanes)?;
    command.extend([OPTION.to_owned(), file.display().to_string(), serde_json::to_string(promise)?]);
    // Emulated code may be silent for as long as any.
    let native = architecture(file)?.is_none_or(|arch| arch == std::env::consts::ARCH);
    let patience_seconds = native.then_some(NATIVE_PATIENCE);
    Ok(Entry { name: LANE.to_owned(), command: Some(command), patience_seconds, ..Entry::default() })
}

/// The command of the worker that can load the file.
fn worker(file: &Path, lanes: &Lanes) -> Result<Vec<String>> {
    let arch = architecture(file)?;
    if arch.is_none_or(|arch| arch == std::env::consts::ARCH) {
        return lanes
            .own_worker
            .clone()
            .context("the file of this program is unknown, so it cannot be started as a worker");
    }
    let (shown, arch) = (file.display(), arch.unwrap_or_default());
    let entry = lanes.lanes.iter().find(|entry| entry.name == EMULATED && arch == "aarch64");
    entry.and_then(|entry| entry.command.clone()).with_context(|| {
        format!(
            "{shown} is for {arch}, and this machine is {}; `cargo xtask verify {OPTION} ..` in a clone of the project sets up the lane {EMULATED}, which runs \
             libraries for aarch64",
            std::env::consts::ARCH
        )
    })
}

/// The architecture that an ELF file is for; `None` for a file of another format.
fn architecture(file: &Path) -> Result<Option<&'static str>> {
    let mut head = [0; 20];
    let read = File::open(file).and_then(|mut opened| opened.read_exact(&mut head));
    if let Err(error) = read {
        bail!("{OPTION} {}: {error}", file.display());
    }
    Ok(match (&head[..4], u16::from_le_bytes([head[18], head[19]])) {
        (b"\x7fELF", 62) => Some("x86_64"),
        (b"\x7fELF", 183) => Some("aarch64"),
        (b"\x7fELF", _) => Some("another architecture"),
        _ => None,
    })
}

/// `header`.
pub(super) fn header() -> Result<()> {
    super::print(HEADER)
}
