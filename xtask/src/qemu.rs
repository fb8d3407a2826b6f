//! The emulator of the aarch64 lane: the system's, or a newer one of Debian's backports, unpacked privately.

use crate::apt::{self, Debian, PrivateApt};
use crate::process::{self, which};
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Versions from this one on are several times faster on widening adds than the one Debian 12 has.
const FAST: u32 = 9;

/// The names of the emulator. Debian's static build has the second one.
const NAMES: [&str; 2] = ["qemu-aarch64", "qemu-aarch64-static"];

/// An emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qemu {
    /// The program.
    pub(crate) path: PathBuf,
    /// The version that it prints.
    pub(crate) version: String,
}

impl fmt::Display for Qemu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.path.display(), self.version)
    }
}

impl Qemu {
    /// A program, if it runs and says its version.
    fn at(path: PathBuf) -> Result<Self> {
        let text = process::output(Command::new(&path).arg("--version"))?;
        let version = version(&text).with_context(|| format!("{} does not say its version", path.display()))?;
        Ok(Self { path, version: version.to_owned() })
    }

    fn is_fast(&self) -> bool {
        self.version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= FAST)
    }
}

/// The private emulator if there is one, otherwise the system's.
pub(crate) fn find(workspace: &Workspace) -> Option<Qemu> {
    let private = directory(workspace).join(NAMES[0]);
    let system = || which(&NAMES).and_then(|path| Qemu::at(path).ok());
    if private.is_file() { Qemu::at(private).ok().or_else(system) } else { system() }
}

/// Whether to try to install a faster emulator: there is none yet, no attempt has failed, and Debian's backports are
/// available.
pub(crate) fn wants_faster(workspace: &Workspace, host: Host, found: Option<&Qemu>) -> bool {
    let tried = failure_note(workspace).exists();
    host.arch == "x86_64" && !tried && !found.is_some_and(Qemu::is_fast) && Debian::current().is_some()
}

/// Forgets that an attempt failed.
pub(crate) fn forget_failure(workspace: &Workspace) {
    // Absent is what it should be.
    let _ = fs::remove_file(failure_note(workspace));
}

/// Unpacks the emulator of Debian's backports privately. A failure is recorded, so that later starts do not try again.
pub(crate) fn provision(workspace: &Workspace) -> Result<Qemu> {
    let attempt = fetch(workspace);
    if let Err(error) = &attempt {
        fs::write(failure_note(workspace), format!("{error:#}\n"))?;
    }
    attempt
}

fn fetch(workspace: &Workspace) -> Result<Qemu> {
    let debian = Debian::current().context("this system is not Debian")?;
    let directory = directory(workspace);
    let scratch = workspace.cross().join(format!("qemu.{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    fs::create_dir_all(&scratch)?;
    let unpacked = unpack(&debian, &scratch);
    let installed = unpacked.and_then(|program| {
        let path = directory.join(NAMES[0]);
        fs::rename(&program, &path).with_context(|| format!("moving {} to {}", program.display(), path.display()))?;
        Qemu::at(path)
    });
    fs::remove_dir_all(scratch)?;
    installed
}

/// Downloads and unpacks into `scratch`. Returns the program after a test that it runs.
fn unpack(debian: &Debian, scratch: &Path) -> Result<PathBuf> {
    let apt = PrivateApt::new(&scratch.join("apt"), &[apt::backports_source(debian)], &["amd64"])?;
    let package = format!("qemu-user/{}-backports", debian.codename);
    apt.unpack(&[package], &scratch.join("root"))?;
    let program = NAMES.iter().map(|name| scratch.join("root/usr/bin").join(name)).find(|path| path.is_file());
    let program = program.context("the package qemu-user holds no qemu-aarch64")?;
    let qemu = Qemu::at(program)?;
    if !qemu.is_fast() {
        bail!("{}-backports has qemu {}, no newer than the release", debian.codename, qemu.version);
    }
    Ok(qemu.path)
}

fn directory(workspace: &Workspace) -> PathBuf {
    workspace.cross().join("qemu")
}

fn failure_note(workspace: &Workspace) -> PathBuf {
    directory(workspace).join("not-newer.txt")
}

/// `qemu-aarch64 version 7.2.22 (Debian ...)`.
fn version(text: &str) -> Option<&str> {
    text.lines().next()?.split_whitespace().skip_while(|word| *word != "version").nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qemu(version: &str) -> Qemu {
        Qemu { path: "/q".into(), version: version.into() }
    }

    #[test]
    fn the_version_is_read_from_what_it_prints() {
        let text = "qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright";
        assert_eq!(version(text), Some("7.2.22"));
        assert_eq!(version("something else"), None);
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(qemu("10.0.2").is_fast() && !qemu("7.2.22").is_fast() && !qemu("odd").is_fast());
    }
}
