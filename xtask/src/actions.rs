//! Step `actions` of `cargo xtask test`: runs actionlint and the JSON Schemas of GitHub (`xtask/actions/check.mjs`) on the workflows, on the output
//! of `plan --for github`, and on `action.yml`.

use crate::npm;
use crate::probe::Probe;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Directory of `xtask` with the list of packages.
const PACKAGES: &str = "actions";

/// Output of `plan --for github`, as kept by a test of the suites.
const PRINTED: &str = "suites/tests/data/shards.yml";

/// Returns the command that checks the action and every workflow.
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
