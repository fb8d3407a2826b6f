//! Packages of npm for checks, pinned by the hashes of a `package-lock.json`.

use crate::probe::Probe;
use crate::process;
use crate::say::note;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Files that npm reads: the list of packages, and their hashes.
const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Returns the directory of the packages listed in `xtask/NAME`, and installs them if they are absent or differ.
pub(crate) fn packages(workspace: &Workspace, probe: &Probe, name: &str) -> Result<PathBuf> {
    let Some(npm) = probe.path(Tool::Npm) else { bail!("no npm; `cargo xtask setup --with browser` installs it") };
    let (lists, directory) = (workspace.root.join("xtask").join(name), workspace.target.join(name));
    let same = |list: &str| {
        let [wanted, there] = [&lists, &directory].map(|directory| fs::read(directory.join(list)));
        wanted.ok().is_some_and(|wanted| there.is_ok_and(|there| there == wanted))
    };
    // npm writes this file last, so it marks a complete installation.
    if LISTS.iter().all(|list| same(list)) && directory.join("node_modules/.package-lock.json").is_file() {
        return Ok(directory);
    }
    fs::create_dir_all(&directory).with_context(|| format!("creating {}", directory.display()))?;
    for list in LISTS {
        fs::copy(lists.join(list), directory.join(list))?;
    }
    note(format_args!("installing the packages of xtask/{name} into {}", directory.display()));
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    process::output(Command::new(npm).args(arguments).current_dir(&directory))?;
    Ok(directory)
}
