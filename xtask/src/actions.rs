//! The step `actions` of `cargo xtask test`: actionlint and the JSON Schemas of GitHub, on the workflows, on that which `plan --for github` prints, and on
//! `action.yml` (`xtask/actions/check.mjs`).

use crate::npm;
use crate::probe::Probe;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The directory of `xtask` with the list of packages.
const PACKAGES: &str = "actions";

/// What `plan --for github` prints, as a test of the suites keeps it.
const PRINTED: &str = "suites/tests/data/shards.yml";

/// The check of the action and of every workflow.
pub(crate) fn command(workspace: &Workspace, probe: &Probe) -> Result<Command> {
    let Some(node) = probe.path(Tool::Node) else { bail!("no node; `cargo xtask setup --with browser` installs it") };
    let directory = npm::packages(workspace, probe, PACKAGES)?;
    let mut command = Command::new(node);
    command.current_dir(directory).arg(workspace.root.join("xtask/actions/check.mjs"));
    command.arg(workspace.root.join("action.yml")).args(workflows(workspace)?);
    command.arg(workspace.root.join(PRINTED));
    Ok(command)
}

fn workflows(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let directory = workspace.root.join(".github/workflows");
    let entries = fs::read_dir(&directory).with_context(|| format!("reading {}", directory.display()))?;
    let mut all = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}
