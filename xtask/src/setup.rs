//! `cargo xtask setup`: installs what is missing, and says what and why. Every command that needs tools starts with it.

use crate::apt;
use crate::probe::Probe;
use crate::qemu;
use crate::rust::{self, Aarch64Rust};
use crate::tools::{self, Manager, Tool};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::ExitCode;

/// Installs everything that is needed; code 2 where something stays missing.
pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    qemu::forget_failure(&workspace);
    let needed = Tool::needed(crate::workspace::Host::CURRENT);
    require(&provision(&workspace, &needed)?, &needed)?;
    eprintln!("xtask: everything that is needed is there");
    Ok(ExitCode::SUCCESS)
}

/// Installs those of `wanted` that are missing, as far as that can be done here, and returns what there is then. Failing
/// attempts are told on standard error; the caller decides what it cannot do without.
pub(crate) fn provision(workspace: &Workspace, wanted: &[Tool]) -> Result<Probe> {
    let mut probe = Probe::look(workspace)?;
    let faster = wanted.contains(&Tool::Qemu) && qemu::wants_faster(workspace, probe.host, probe.qemu.as_ref());
    if probe.missing(wanted).is_empty() && !faster {
        return Ok(probe);
    }
    fs::create_dir_all(workspace.cross()).with_context(|| format!("creating {}", workspace.cross().display()))?;
    if faster {
        provision_qemu(workspace, &mut probe);
    }
    provision_packages(workspace, &mut probe, wanted)?;
    if wanted.contains(&Tool::Aarch64Rust) && probe.rust.is_none() {
        probe.rust = provision_rust(workspace, &probe);
    }
    Ok(probe)
}

/// Fails if one of `tools` is missing, and names each with the command that installs it.
pub(crate) fn require(probe: &Probe, tools: &[Tool]) -> Result<()> {
    let missing = probe.missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing.iter().map(|tool| format!("\n  {}", probe.complaint(*tool))).collect();
    bail!("what is missing could not be installed from here:{}", lines.concat())
}

/// A newer emulator, never at the price of the run.
fn provision_qemu(workspace: &Workspace, probe: &mut Probe) {
    let start = match &probe.qemu {
        Some(qemu) => format!("qemu {} is several times slower than newer ones", qemu.version),
        None => "qemu-aarch64 runs the worker of the aarch64 lane".to_owned(),
    };
    match qemu::provision(workspace) {
        Ok(qemu) => {
            eprintln!("xtask: unpacked Debian's newer {qemu}: {start}");
            probe.qemu = Some(qemu);
        }
        Err(error) => eprintln!("xtask: no newer qemu, the distribution's it is: {error:#}"),
    }
}

/// The system's packages for what is missing.
fn provision_packages(workspace: &Workspace, probe: &mut Probe, wanted: &[Tool]) -> Result<()> {
    let missing = probe.missing(wanted);
    let packages = tools::packages(&missing, probe.manager, probe.host);
    if packages.is_empty() || probe.manager != Manager::Apt {
        return Ok(());
    }
    eprintln!("xtask: installing packages of the system: {}", packages.join(" "));
    match apt::install(&packages) {
        Ok(()) => {
            *probe = Probe::look(workspace)?;
            for tool in missing.iter().filter(|tool| !tool.packages(probe.manager, probe.host).is_empty()) {
                let (name, packages) = (tool.name(probe.host), tool.packages(probe.manager, probe.host).join(" "));
                eprintln!("xtask: installed {name} ({packages}): {}", tool.purpose());
            }
        }
        Err(error) => eprintln!("xtask: the packages could not be installed: {error:#}"),
    }
    Ok(())
}

/// Rust for aarch64: rustup's where it can be fetched, otherwise Debian's.
fn provision_rust(workspace: &Workspace, probe: &Probe) -> Option<Aarch64Rust> {
    if probe.rustup {
        let added = rust::add_target(apt::Debian::current().is_some());
        let found = rust::find(workspace, probe.host).ok().flatten();
        match (added, found) {
            (_, Some(found)) => {
                eprintln!("xtask: rustup added {found}: {}", Tool::Aarch64Rust.purpose());
                return Some(found);
            }
            (Err(error), None) => eprintln!("xtask: rustup could not add the aarch64 target: {error:#}"),
            (Ok(()), None) => eprintln!("xtask: rustup added the aarch64 target to a toolchain that is not in use"),
        }
    }
    match rust::provision_private(workspace, probe.aarch64_cc.as_deref()) {
        Ok(private) => {
            let found = Aarch64Rust::Private(private);
            eprintln!("xtask: unpacked Debian's Rust, {found}: {}", Tool::Aarch64Rust.purpose());
            Some(found)
        }
        Err(error) => {
            eprintln!("xtask: no Rust for aarch64: {error:#}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::complete;

    #[test]
    fn everything_that_stays_missing_is_named() {
        let probe = Probe { m4: None, make: None, manager: Manager::Dnf, ..complete() };
        let error = require(&probe, &Tool::needed(probe.host)).unwrap_err().to_string();
        assert!(error.contains("make is missing") && error.contains("`sudo dnf install m4`"), "{error}");
        require(&complete(), &Tool::needed(complete().host)).expect("nothing is missing");
    }
}
