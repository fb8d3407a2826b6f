//! TOSA as lowered by the shipped compiler. The worker of `impls/shipped/tosa-mlir` compiles a function with `mlir-opt` and LLVM at its first call.

use crate::mlir::{Target, toolchain};
use crate::probe::Probe;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Returns the version of the compiler, and arguments of the worker: texts, cache, version, level of LLVM, target and tools.
pub(crate) fn words(
    workspace: &Workspace,
    probe: &Probe,
    sources: &Path,
    (target, level): (Target, u32),
) -> Result<(String, Vec<String>)> {
    let tools = toolchain(workspace, probe, target)
        .with_context(|| format!("a tool of {target:?} is missing; `cargo xtask setup --with mlir` installs it"))?;
    // All levels and targets share one directory, because they share the lowering to LLVM IR.
    let cache = workspace.target.join("tiebreak/shipped/tosa-modules");
    fs::create_dir_all(&cache).with_context(|| format!("creating {}", cache.display()))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let version = tools.version().to_owned();
    let settings = [version.clone(), level.to_string(), target.triple().to_owned()];
    let words = [text(sources), text(&cache)].into_iter().chain(settings);
    Ok((version, words.chain(tools.programs().map(text)).collect()))
}
