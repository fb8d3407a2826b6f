//! Places: the workspace, its target directory, and the machine of the build.

use crate::process;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rust target of the aarch64 lanes.
pub(crate) const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// Machine that xtask runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// `x86_64`, `aarch64`, ...
    pub(crate) arch: &'static str,
    /// `linux`, `macos`, ...
    pub(crate) os: &'static str,
}

impl Host {
    /// Machine that this program was built for.
    pub(crate) const CURRENT: Self = Self { arch: std::env::consts::ARCH, os: std::env::consts::OS };

    /// True if aarch64 instructions run here without emulation.
    pub(crate) fn is_aarch64(self) -> bool {
        self.arch == "aarch64"
    }

    /// True if aarch64 programs can run here under qemu-user.
    pub(crate) fn emulates_aarch64(self) -> bool {
        self.os == "linux" && !self.is_aarch64()
    }
}

/// Workspace and its target directory.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    /// Directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Directory that cargo builds into.
    pub(crate) target: PathBuf,
}

/// Part of `cargo metadata` that is read here.
#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

impl Workspace {
    /// Locates the workspace with `cargo metadata`.
    pub(crate) fn locate() -> Result<Self> {
        let mut command = cargo_program();
        command
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
            .arg(manifest_directory().join("Cargo.toml"));
        let text = process::output(&mut command).context("asking cargo where the workspace is")?;
        let metadata: Metadata = serde_json::from_str(&text).context("`cargo metadata` printed what it should not")?;
        Ok(Self { root: metadata.workspace_root, target: metadata.target_directory })
    }

    /// Returns cargo, in the workspace's root and for the host.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo_program();
        command.current_dir(&self.root).env_remove("CARGO_BUILD_TARGET").env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Returns the directory for files of the cross build.
    pub(crate) fn cross(&self) -> PathBuf {
        self.target.join("cross")
    }

    /// Returns the target directory of the cross build. It is separate because the compiler may differ.
    pub(crate) fn aarch64_target(&self) -> PathBuf {
        self.target.join("aarch64")
    }
}

/// Returns the cargo that started this program, otherwise the one on the path.
pub(crate) fn cargo_program() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the compiler that cargo uses: `RUSTC`, the one next to the cargo that started this program, or the one on the path.
pub(crate) fn rustc_program() -> PathBuf {
    let beside = || Some(Path::new(&std::env::var_os("CARGO")?).with_file_name("rustc")).filter(|path| path.is_file());
    std::env::var_os("RUSTC").map(PathBuf::from).or_else(beside).unwrap_or_else(|| "rustc".into())
}

/// Returns the root of the workspace, without a call of cargo.
pub(crate) fn own_root() -> PathBuf {
    let manifest = manifest_directory();
    manifest.parent().map_or(manifest.clone(), Path::to_owned)
}

/// Returns the directory of xtask's manifest, from cargo at run time, because the workspace may have moved.
fn manifest_directory() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}
