//! Rust for aarch64: that of the toolchain in use if it has the target, otherwise Debian's Rust, unpacked privately.

use crate::apt::{self, Debian, PrivateApt};
use crate::process;
use crate::workspace::{self, AARCH64, Host, Workspace};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How aarch64 programs are compiled here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Aarch64Rust {
    /// The host is aarch64: there is no cross build.
    Host,
    /// The toolchain in use has the target, here.
    Installed(PathBuf),
    /// Debian's Rust.
    Private(Private),
}

/// Debian's Rust, unpacked privately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Private {
    directory: PathBuf,
    version: String,
}

impl Private {
    /// The compiler.
    pub(crate) fn rustc(&self) -> PathBuf {
        self.directory.join("bin/rustc")
    }

    /// The documentation tool, without which tests in documentation do not run.
    pub(crate) fn rustdoc(&self) -> PathBuf {
        self.directory.join("bin/rustdoc")
    }

    /// The linter that goes with the compiler.
    pub(crate) fn clippy_driver(&self) -> PathBuf {
        self.directory.join("bin/clippy-driver")
    }
}

impl fmt::Display for Aarch64Rust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => formatter.write_str("the host's own"),
            Self::Installed(path) => write!(formatter, "{}", path.display()),
            Self::Private(private) => write!(formatter, "{} ({})", private.rustc().display(), private.version),
        }
    }
}

/// The Rust for aarch64 that this machine has.
pub(crate) fn find(workspace: &Workspace, host: Host) -> Result<Option<Aarch64Rust>> {
    if host.is_aarch64() {
        return Ok(Some(Aarch64Rust::Host));
    }
    let sysroot = process::output(Command::new(workspace::rustc_program()).args(["--print", "sysroot"]))?;
    let target = Path::new(sysroot.trim()).join("lib/rustlib").join(AARCH64);
    if has_standard_library(&target) {
        return Ok(Some(Aarch64Rust::Installed(target)));
    }
    Ok(find_private(workspace).map(Aarch64Rust::Private))
}

/// Whether a target's directory holds a standard library; after an interrupted installation it does not.
fn has_standard_library(target: &Path) -> bool {
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    let entries = fs::read_dir(target.join("lib")).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(is_std))
}

fn find_private(workspace: &Workspace) -> Option<Private> {
    let directory = private_directory(workspace);
    let version = fs::read_to_string(directory.join("version")).ok()?.trim().to_owned();
    Some(Private { directory, version })
}

fn private_directory(workspace: &Workspace) -> PathBuf {
    workspace.cross().join("rust")
}

/// Adds the target with rustup. This must fail quickly without a network, because Debian's Rust is an alternative.
pub(crate) fn add_target(has_other_way: bool) -> Result<()> {
    let limit = Duration::from_secs(if has_other_way { 60 } else { 600 });
    let mut command = Command::new("rustup");
    command.args(["target", "add", AARCH64]).env("RUSTUP_MAX_RETRIES", "0").env("RUST_BACKTRACE", "0");
    process::output_within(&mut command, limit).map(drop)
}

/// Unpacks Debian's Rust privately, and keeps it only if it compiles a program for aarch64.
pub(crate) fn provision_private(workspace: &Workspace, linker: Option<&Path>) -> Result<Private> {
    let debian = Debian::current().context("this system is not Debian, whose Rust is the other way")?;
    if Host::CURRENT.arch != "x86_64" {
        bail!("Debian's Rust is unpacked on x86-64 only; this host is {}", Host::CURRENT.arch);
    }
    let scratch = workspace.cross().join(format!("rust.{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let made = unpack(&debian, &scratch, linker).and_then(|()| keep(&scratch, &private_directory(workspace)));
    if made.is_err() {
        fs::remove_dir_all(&scratch)?;
    }
    made?;
    find_private(workspace).context("Debian's Rust was unpacked, and yet is not there")
}

/// Moves the result to its final place, unless another process was first.
fn keep(scratch: &Path, directory: &Path) -> Result<()> {
    if directory.join("version").is_file() {
        return fs::remove_dir_all(scratch).context("removing what another process had made already");
    }
    fs::rename(scratch, directory).with_context(|| format!("moving {} to {}", scratch.display(), directory.display()))
}

fn unpack(debian: &Debian, scratch: &Path, linker: Option<&Path>) -> Result<()> {
    let sysroot = scratch.join("sysroot");
    let apt_directory = scratch.join("apt");
    let apt = PrivateApt::new(&apt_directory, &apt::release_sources(debian), &["amd64", "arm64"])?;
    let version = apt.candidate("rustc-web")?;
    let minor = new_enough(&version, env!("CARGO_PKG_RUST_VERSION"))?;
    let library = format!("libstd-rust-web-{minor}");
    apt.unpack(&packages(&library, &version), &sysroot)?;
    // Its LLVM: with what that needs in turn, where the system does not have it.
    for package in apt.dependencies(&format!("{library}={version}"))?.iter().filter(|name| name.starts_with("libllvm"))
    {
        apt.unpack_with_dependencies(package, &sysroot)?;
    }
    fs::remove_dir_all(apt_directory)?;
    for tool in ["rustc", "rustdoc", "clippy-driver"] {
        if sysroot.join("usr/bin").join(tool).is_file() {
            write_wrapper(scratch, tool)?;
        }
    }
    check(scratch, linker)?;
    fs::write(scratch.join("version"), format!("rustc-web {version}\n")).map_err(Into::into)
}

/// The packages of Debian's Rust of one version: compiler, linter, and the standard libraries of host and aarch64.
fn packages(library: &str, version: &str) -> Vec<String> {
    let names = [
        "rustc-web:amd64",
        &format!("{library}:amd64"),
        "libstd-rust-web-dev:amd64",
        "libstd-rust-web-dev:arm64",
        "rust-web-clippy:amd64",
    ];
    names.iter().map(|name| format!("{name}={version}")).collect()
}

/// The `1.96` of `1.96.0+dfsg1-1~deb12u2`, if that is at least `minimum`.
fn new_enough(version: &str, minimum: &str) -> Result<String> {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let found = numbers(version).with_context(|| format!("Debian's Rust has the odd version {version}"))?;
    if numbers(minimum).is_some_and(|minimum| found < minimum) {
        bail!("Debian's Rust is {version}, and at least {minimum} is needed");
    }
    Ok(format!("{}.{}", found.0, found.1))
}

/// A script that runs a tool with the libraries that were unpacked with it. It locates itself, so that the directory can be moved.
fn write_wrapper(directory: &Path, tool: &str) -> Result<()> {
    let script = format!(
        "#!/bin/sh\nD=${{0%/*}}/../sysroot\nL=$D/usr/lib/x86_64-linux-gnu:$D/lib/x86_64-linux-gnu\n\
         LD_LIBRARY_PATH=$L${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}} exec \"$D/usr/bin/{tool}\" \"$@\"\n"
    );
    let bin = directory.join("bin");
    fs::create_dir_all(&bin)?;
    let path = bin.join(tool);
    fs::write(&path, script)?;
    process::output(Command::new("chmod").arg("+x").arg(path)).map(drop)
}

/// Compiles a program, and links it if there is a linker.
fn check(directory: &Path, linker: Option<&Path>) -> Result<()> {
    let source = directory.join("check.rs");
    fs::write(&source, "fn main() { println!(\"ok\"); }\n")?;
    let mut command = Command::new(directory.join("bin/rustc"));
    command.args(["--target", AARCH64, "-o"]).arg(directory.join("check")).arg(&source);
    match linker {
        Some(linker) => command.arg("-C").arg(format!("linker={}", linker.display())),
        None => command.args(["--emit", "obj"]),
    };
    process::output(&mut command).context("Debian's Rust was unpacked and does not compile a program for aarch64")?;
    fs::remove_file(source)?;
    fs::remove_file(directory.join("check")).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_too_old_is_refused() {
        assert_eq!(new_enough("1.96.0+dfsg1-1~deb12u2", "1.95").expect("new enough"), "1.96");
        let error = new_enough("1.85.0+dfsg3-1", "1.95").unwrap_err().to_string();
        assert_eq!(error, "Debian's Rust is 1.85.0+dfsg3-1, and at least 1.95 is needed");
        assert!(new_enough("odd", "1.95").is_err());
    }

    #[test]
    fn every_package_is_of_the_same_version() {
        let packages = packages("libstd-rust-web-1.96", "1.96.0-1");
        assert!(packages.iter().all(|package| package.ends_with("=1.96.0-1")), "{packages:?}");
        assert!(packages.contains(&"libstd-rust-web-dev:arm64=1.96.0-1".to_owned()));
    }
}
