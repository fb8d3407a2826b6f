//! The lanes file: which lanes there are and how to reach each. Written by `cargo xtask`, or by hand to plug in a worker of
//! your own.

use super::group::is_inside;
use crate::mlir::Toolchain;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

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
    /// Seconds for which the worker may be silent before it is taken for hung, where the usual ones are not right; more for
    /// large batches, as `patience.rs` has the rule.
    pub patience_seconds: Option<NonZeroU64>,
    /// A disassembler for the worker, for tests that look at the object code.
    pub objdump: Option<PathBuf>,
    /// What compiles the modules that this lane's worker runs; each is added to the command as `--module FILE`.
    pub modules: Option<Toolchain>,
}

impl Lanes {
    /// Read `path`. Refused inside a worker, whose lanes would start it again, without end.
    pub fn read(path: &Path) -> Result<Self> {
        if is_inside() {
            bail!(
                "the lanes of {} are not run: a lane's worker started this program, and its lanes could \
                 start that worker again, without end; let the worker run kernels itself, or call commands without --lanes",
                path.display()
            );
        }
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
