//! LLVM IR of one element of each fpm kernel, for `cargo xtask prove --kernels`: `impls` with the feature `elements`, for the host and for aarch64.
//!
//! The host's IR is compiled with a larger inlining limit, so that no part of the batch loop remains around the element. For aarch64, the shipped
//! functions are called, and the proof follows the calls.

use crate::process;
use crate::say::note;
use crate::workspace::{AARCH64, Workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// Writes both files, and returns the options with their names and with the file of earlier proved rows.
pub(crate) fn options(workspace: &Workspace) -> Result<Vec<String>> {
    let directory = workspace.root.join("target/tiebreak/prove");
    fs::create_dir_all(&directory).with_context(|| format!("creating {}", directory.display()))?;
    let mut options = vec!["--kept".to_owned(), directory.join("kept.jsonl").display().to_string()];
    for target in [None, Some(AARCH64)] {
        let file = directory.join(format!("elements-{}.ll", target.unwrap_or("host")));
        emit(workspace, target, &file)?;
        options.extend(["--elements".to_owned(), file.display().to_string()]);
    }
    Ok(options)
}

fn emit(workspace: &Workspace, target: Option<&str>, file: &Path) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["rustc", "--quiet", "--release", "--package", "tiebreak-impls", "--lib", "--features", "elements"]);
    command.arg("--target-dir").arg(workspace.root.join("target/tiebreak/prove"));
    if let Some(target) = target {
        command.args(["--target", target]);
    }
    command.arg("--").arg(format!("--emit=llvm-ir={}", file.display()));
    if target.is_none() {
        command.arg("-Cllvm-args=-inline-threshold=2000");
    }
    note(format!("making the LLVM IR of the kernels for {}", target.unwrap_or("this host")));
    let status = process::status(&mut command)?;
    if !status.success() {
        bail!("{} was not made: {status}", file.display());
    }
    Ok(())
}
