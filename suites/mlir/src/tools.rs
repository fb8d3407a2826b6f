//! Files that determine a lane's objects, by content: the tools, the libraries that they load, and the files that are linked in.
//!
//! An object is kept with the hash of all these files: the tools, the libraries that their loader finds (`ldd`), and the files that the linker starts
//! and links (`-###`, `--trace` of an empty file). A tool that is a script may start any program, so each run compiles its objects again. Programs
//! that a compiled tool starts by itself are not included.

use super::toolchain::Toolchain;
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_common::identity::{HashCache, Loaded, content, find_program, link_inputs, loaded};
use tiebreak_reports::ledger::{Content, Role};

/// Files that determine the objects of a toolchain.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// Files in the order tools, linked files, libraries; each file once.
    pub(super) files: Vec<Content>,
    /// True if `files` is complete; false if a tool is a script, which may start any program.
    pub(super) whole: bool,
}

impl Identity {
    /// Returns one line for each file. Paths and dates are left out, because they do not change the object.
    pub(super) fn text(&self) -> String {
        self.files.iter().fold(String::new(), |mut text, file| {
            let _ = writeln!(text, "{} {} {} {}", file.role.name(), file.name, file.bytes, file.sha256);
            text
        })
    }

    /// Returns the same lines for the files used before target code: `mlir-opt` and `mlir-translate`, the first two files, and all libraries.
    pub(super) fn front(&self) -> String {
        let files = self.files.iter().enumerate();
        let front = files.filter(|(at, file)| *at < 2 || file.role == Role::Library);
        Self { files: front.map(|(_, file)| file.clone()).collect(), whole: self.whole }.text()
    }
}

impl Toolchain {
    /// Identifies every file, and uses the hashes kept from earlier runs.
    pub(super) fn identity(&self) -> Result<Identity> {
        let Self { mlir_opt, mlir_translate, opt, llc, linker, archives, cache, .. } = self;
        fs::create_dir_all(cache).with_context(|| format!("creating {}", cache.display()))?;
        let kept = HashCache::open(cache);
        let mut tools = [mlir_opt, mlir_translate, opt, llc, linker]
            .map(|tool| program(tool))
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let mut whole = true;
        let mut linked = archives.clone();
        // A linker that is a script may link other files each time.
        if loaded(tools.last().expect("the linker"))? != Loaded::Unknown {
            let inputs = link_inputs(linker, cache)?;
            tools.extend(inputs.programs);
            linked.extend(inputs.linked);
        }
        let mut libraries = BTreeSet::new();
        for tool in &tools {
            match loaded(tool)? {
                Loaded::Libraries(of_tool) => libraries.extend(of_tool),
                Loaded::Unknown => whole = false,
            }
        }
        let parts = [(Role::Tool, tools), (Role::Linked, linked), (Role::Library, libraries.into_iter().collect())];
        let mut files = Vec::new();
        for (role, path) in parts.into_iter().flat_map(|(role, paths)| paths.into_iter().map(move |path| (role, path)))
        {
            let file = content(&path, role, Some(&kept))?;
            if !files.contains(&file) {
                files.push(file);
            }
        }
        kept.save();
        Ok(Identity { files, whole })
    }
}

/// Returns the file of a tool, or an error that names the command to install it.
fn program(tool: &Path) -> Result<PathBuf> {
    find_program(tool)
        .ok_or_else(|| anyhow!("{} is not there; `cargo xtask setup --with mlir` installs the tools", tool.display()))
}
