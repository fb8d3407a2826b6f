//! The lanes file: which lanes there are and how to reach each. Written by `cargo xtask`, or by hand to plug in a worker of
//! your own.

use crate::mlir::Toolchain;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use tiebreak_reports::ledger::Content;

/// The lane that needs no file.
pub const HOST: &str = "host";

/// Everything in a lanes file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lanes {
    /// Each lane.
    pub lanes: Vec<Entry>,
}

/// One lane.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name on the command line.
    pub name: String,
    /// Program and arguments of the worker.
    pub command: Option<Vec<String>>,
    /// Why there is no command.
    pub not_run: Option<String>,
    /// Seconds a batch may take before the worker is taken for hung, where the usual ones are not right.
    pub patience_seconds: Option<u64>,
    /// A disassembler for the worker, for tests that look at the object code.
    pub objdump: Option<PathBuf>,
    /// What compiles the modules that this lane's worker runs; each is added to the command as `--module FILE`.
    pub modules: Option<Toolchain>,
    /// The files that made this lane's modules, once they are compiled.
    #[serde(skip)]
    pub made_by: Vec<Content>,
}

impl Lanes {
    /// Read `path`.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!(
                "cannot read the lanes file {}; `cargo xtask verify` writes one, and `--lane host` needs none",
                path.display()
            )
        })?;
        serde_json::from_str(&text).with_context(|| {
            format!("{} is not a lanes file: {{\"lanes\":[{{\"name\":..,\"command\":[..]}}]}}", path.display())
        })
    }

    /// The lanes of a run that names none: the host, and aarch64 natively or emulated, whichever this machine has.
    pub fn default_names(&self) -> Vec<String> {
        let native = self.lanes.iter().any(|l| l.name == "aarch64-native" && l.command.is_some());
        vec![HOST.to_owned(), if native { "aarch64-native" } else { "aarch64-qemu" }.to_owned()]
    }

    /// The lanes of compiled modules, installed or not.
    pub fn compiled_names(&self) -> impl Iterator<Item = String> {
        self.lanes.iter().filter(|l| l.name.starts_with("mlir-")).map(|l| l.name.clone())
    }

    /// Every name that can be asked for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(HOST).chain(self.lanes.iter().map(|l| l.name.as_str()))
    }
}
