//! Tools of this machine. Each start of xtask looks for them, because this takes only a few milliseconds.

use crate::mlir;
use crate::process::{self, which};
use crate::setup;
use crate::tools::{Manager, Tool};
use crate::workspace::{self, AARCH64, Host, Workspace};
use clap::ValueEnum;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tools that were found.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) host: Host,
    pub(crate) manager: Manager,
    /// Path and version of each found tool.
    pub(crate) found: BTreeMap<Tool, Found>,
    /// Directory with the C library of aarch64, which a dynamic program needs under the emulator.
    pub(crate) aarch64_libraries: Option<PathBuf>,
    /// True if this CPU has aarch64's instructions for bf16 and f16.
    pub(crate) bf16: bool,
}

/// Found tool.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Version that the tool prints, if required.
    pub(crate) version: Option<String>,
}

/// Directory of the C library of aarch64 in the cross compiler's packages.
pub(crate) const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// Loader of dynamic programs in that directory.
const LOADER: &str = "lib/ld-linux-aarch64.so.1";
/// First release of Node.js that runs the driver of Chromium.
const NODE: u32 = 20;

impl Probe {
    /// Looks for all tools.
    pub(crate) fn look(workspace: &Workspace) -> Self {
        let host = Host::CURRENT;
        let found = Tool::value_variants().iter().filter_map(|tool| Some((*tool, look_for(*tool, workspace, host)?)));
        let libraries = Path::new(AARCH64_LIBRARIES);
        let has_libraries = host.emulates_aarch64() && libraries.join(LOADER).is_file();
        Self {
            host,
            manager: manager(),
            found: found.collect(),
            aarch64_libraries: has_libraries.then(|| libraries.to_owned()),
            bf16: mlir::has_bf16(),
        }
    }

    /// Returns the path of a tool, or `None` if missing.
    pub(crate) fn path(&self, tool: Tool) -> Option<&Path> {
        self.found.get(&tool).map(|found| found.path.as_path())
    }

    /// Returns path and version of a tool as text, or `None` if missing.
    pub(crate) fn described(&self, tool: Tool) -> Option<String> {
        let Found { path, version } = self.found.get(&tool)?;
        Some(version.as_ref().map_or(path.display().to_string(), |version| format!("{} ({version})", path.display())))
    }

    /// Returns the missing tools among `tools`.
    pub(crate) fn missing(&self, tools: &[Tool]) -> Vec<Tool> {
        tools.iter().copied().filter(|tool| !self.found.contains_key(tool)).collect()
    }

    /// Returns `NAME is missing (PURPOSE): install it with `COMMAND``.
    pub(crate) fn complaint(&self, tool: Tool) -> String {
        let install = tool.install(self.manager, self.host);
        format!("{} is missing ({}): install it with `{install}`", tool.name(self.host), tool.purpose())
    }
}

fn look_for(tool: Tool, workspace: &Workspace, host: Host) -> Option<Found> {
    let version = |path: &Path| process::output(Command::new(path).arg("--version")).ok();
    let emulates = host.emulates_aarch64();
    let path = match tool {
        Tool::Cc => which(&["cc", "gcc", "clang"]).filter(|cc| host.os != "linux" || has_library(cc, "crt1.o")),
        Tool::Make => which(&["make", "gmake"]),
        Tool::M4 => which(&["m4", "gm4"]),
        Tool::Aarch64Rust => aarch64_rust(),
        Tool::Aarch64Cc => which(&["aarch64-linux-gnu-gcc"]).filter(|cc| emulates && has_library(cc, "libc.a")),
        Tool::Qemu => {
            let private = setup::private_qemu(workspace);
            let path = Some(private).filter(|path| path.is_file()).or_else(|| which(&setup::QEMU))?;
            let version = version(&path).filter(|_| emulates)?.split_whitespace().nth(2)?.to_owned();
            return Some(Found { path, version: Some(version) });
        }
        Tool::Objdump => which(if host.is_aarch64() { &["objdump"] } else { &["aarch64-linux-gnu-objdump"] }),
        Tool::Cxx => which(&["c++", "g++", "clang++"]),
        Tool::Mlir => {
            let (path, _) = (mlir::program("mlir-opt")?, mlir::program("mlir-translate")?);
            let version = mlir::version(&version(&path)?)?;
            return Some(Found { path, version: Some(version) });
        }
        Tool::Llvm => mlir::program("opt").and_then(|_| mlir::program("llc")),
        Tool::CompilerRt => mlir::find_compiler_rt(),
        Tool::Chromium => which(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]),
        Tool::Node => {
            let path = which(&["node", "nodejs"])?;
            let version = version(&path)?.trim().trim_start_matches('v').to_owned();
            return is_new_enough(&version).then_some(Found { path, version: Some(version) });
        }
        Tool::Npm => which(&["npm"]),
        Tool::Z3 => which(&["z3"]),
        Tool::Cvc5 => which(&["cvc5"]),
        Tool::Clang => which(&["clang-22"]),
        Tool::Slurm => which(&["sbatch"]),
        Tool::Munge => which(&["munge"]),
        Tool::Parallel => which(&["parallel"]),
    };
    path.map(|path| Found { path, version: None })
}

/// Returns the directory of Rust's standard library for aarch64. After an interrupted installation, the directory has no library.
fn aarch64_rust() -> Option<PathBuf> {
    let sysroot = process::output(Command::new(workspace::rustc_program()).args(["--print", "sysroot"])).ok()?;
    let target = Path::new(sysroot.trim()).join("lib/rustlib").join(AARCH64);
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    let mut entries = fs::read_dir(target.join("lib")).ok()?.flatten();
    entries.any(|entry| entry.file_name().to_str().is_some_and(is_std)).then_some(target)
}

fn is_new_enough(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= NODE)
}

/// Returns the package manager of this system.
fn manager() -> Manager {
    let known =
        [("apt-get", Manager::Apt), ("dnf", Manager::Dnf), ("pacman", Manager::Pacman), ("brew", Manager::Brew)];
    known.into_iter().find(|(name, _)| which(&[name]).is_some()).map_or(Manager::Unknown, |(_, manager)| manager)
}

/// True if a C compiler knows the path of a file of the C library. Otherwise the compiler prints only the name.
fn has_library(cc: &Path, file: &str) -> bool {
    let answer = process::output(Command::new(cc).arg(format!("-print-file-name={file}")));
    answer.is_ok_and(|answer| Path::new(answer.trim()).is_absolute())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    impl Probe {
        /// Returns the same machine without some tools.
        pub(crate) fn without(mut self, tools: &[Tool]) -> Self {
            self.found.retain(|tool, _| !tools.contains(tool));
            self
        }
    }

    /// x86-64 Debian with every tool but a C++ compiler.
    pub(crate) fn complete() -> Probe {
        let host = Host { arch: "x86_64", os: "linux" };
        let found = |tool: Tool| {
            let (path, version) = match tool {
                Tool::Qemu => ("/t/cross/qemu/qemu-aarch64".to_owned(), Some("10.0.2".to_owned())),
                _ => (format!("/usr/bin/{}", tool.name(host)), None),
            };
            (tool, Found { path: path.into(), version })
        };
        Probe {
            host,
            manager: Manager::Apt,
            found: Tool::value_variants().iter().copied().filter(|tool| *tool != Tool::Cxx).map(found).collect(),
            aarch64_libraries: Some(AARCH64_LIBRARIES.into()),
            bf16: false,
        }
    }

    /// aarch64 Debian with every tool.
    pub(crate) fn aarch64() -> Probe {
        let host = Host { arch: "aarch64", os: "linux" };
        let probe = complete().without(&[Tool::Aarch64Cc, Tool::Qemu]);
        Probe { host, aarch64_libraries: None, bf16: true, ..probe }
    }

    #[test]
    fn what_is_missing_is_named_with_its_purpose_and_command() {
        let probe = complete().without(&[Tool::M4, Tool::Qemu]);
        assert_eq!(probe.missing(&Tool::needed(probe.host)), [Tool::M4, Tool::Qemu]);
        let expected = "m4 is missing (GMP's build fails without it): install it with \
                        `sudo apt-get install --no-install-recommends m4`";
        assert_eq!(probe.complaint(Tool::M4), expected);
    }

    #[test]
    fn an_old_node_is_none() {
        assert!(is_new_enough("20.0.0") && is_new_enough("24.1.0"));
        assert!(!is_new_enough("18.20.4") && !is_new_enough("") && !is_new_enough("x.1"));
    }

    #[test]
    fn a_complete_machine_misses_nothing() {
        for probe in [complete(), aarch64()] {
            assert_eq!(probe.missing(&Tool::needed(probe.host)), []);
        }
    }
}
