//! Shipped libraries as lanes: the installation of each, and the program in `impls/shipped` that drives it.
//!
//! A run includes such a lane only by name: `cargo xtask verify --lane gemmlowp` judges the library that the machine has installed.

#[cfg(target_arch = "x86_64")]
mod aarch64;
mod drivers;
mod libraries;

pub(crate) use libraries::LIBRARIES;

use crate::lanes::{self, Lane};
use crate::say;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Program that drives a library.
enum Driver {
    /// C++ source in the library's directory, with the compiler's arguments on x86-64 and elsewhere, and the linked libraries.
    Cxx { source: &'static str, x86_64: &'static [&'static str], others: &'static [&'static str], linked: &'static str },
    /// Rust package, a separate workspace with its lock file; its manifest pins this crate.
    Cargo { library: &'static str },
    /// Python script, in a separate environment with the packages that its `requirements.txt` pins by hash.
    Python { script: &'static str, package: &'static str },
    /// Script for Debian's Python, which finds the library in its packages.
    System { script: &'static str },
    /// Program of one of these kinds for aarch64, under the emulator. C++ sources are linked with libraries of Debian's aarch64 packages.
    #[cfg(target_arch = "x86_64")]
    CxxAarch64 { source: &'static str, packages: &'static [&'static str], linked: &'static str },
    #[cfg(target_arch = "x86_64")]
    CargoAarch64 { library: &'static str },
    #[cfg(target_arch = "x86_64")]
    PythonAarch64 { script: &'static str, package: &'static str, cpu: &'static str },
    /// C++ source that compiles functions in MLIR with the tools of the lanes of compiled casts, at a level of LLVM.
    Mlir { level: u32 },
    /// As `Mlir`, for aarch64 under the emulator; the tools are those of this machine.
    #[cfg(target_arch = "x86_64")]
    MlirAarch64 { level: u32 },
    /// Python script as above, with a C program, which the script starts for the host and, under an emulator, for aarch64. Packages for only one
    /// version of Python are in its `requirements-VERSION.txt`.
    #[cfg(target_arch = "x86_64")]
    Compiler { script: &'static str, package: &'static str, python: &'static str, runner: &'static str },
}

/// Library as a lane.
pub(crate) struct Library {
    /// Name of the lane.
    pub(crate) name: &'static str,
    /// Description of the library.
    about: &'static str,
    /// Directory in `impls/shipped`.
    pub(crate) directory: &'static str,
    /// Required Debian packages; the first is the library.
    packages: &'static [&'static str],
    driver: Driver,
    /// Words before the program: an emulator, or a setting of its environment.
    started: &'static [&'static str],
    /// Name for `setup --with`.
    group: Group,
}

/// Libraries that `setup --with` installs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// `shipped`
    Shipped,
    /// `shipped-aarch64`
    #[cfg(target_arch = "x86_64")]
    Aarch64,
    /// Only the name of the library
    Apart,
}

/// Facts on an installed library.
#[derive(Debug, Serialize, Deserialize)]
struct Installed {
    /// Version of the package.
    version: String,
    /// Command of the worker.
    command: Vec<String>,
}

impl Library {
    /// Returns the library of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.name == name)
    }

    /// Returns the build directory.
    fn place(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join("tiebreak/shipped").join(self.name)
    }

    fn record(&self, workspace: &Workspace) -> PathBuf {
        self.place(workspace).join("installed.json")
    }

    /// Returns the installed library; `None` if it is absent or a file of its command is.
    fn installed(&self, workspace: &Workspace) -> Option<Installed> {
        let text = fs::read_to_string(self.record(workspace)).ok()?;
        let installed: Installed = serde_json::from_str(&text).ok()?;
        let there = installed.command.iter().all(|word| !word.starts_with('/') || Path::new(word).exists());
        there.then_some(installed)
    }

    pub(crate) fn is_installed(&self, workspace: &Workspace) -> bool {
        self.installed(workspace).is_some()
    }

    /// Returns the command that installs the library.
    fn install(&self) -> String {
        let with = match self.group {
            #[cfg(target_arch = "x86_64")]
            Group::Aarch64 => "shipped-aarch64",
            Group::Shipped | Group::Apart => self.directory,
        };
        format!("cargo xtask setup --with {with}")
    }

    /// Returns the command of the worker; an error names the command that installs the library.
    pub(crate) fn command(&self, workspace: &Workspace) -> Result<Vec<String>> {
        let installed = self
            .installed(workspace)
            .with_context(|| format!("the lane {} is not installed; `{}` installs it", self.name, self.install()))?;
        Ok(installed.command)
    }
}

/// Installs the libraries of these groups, and named libraries of other groups.
pub(crate) fn provide(workspace: &Workspace, groups: &[Group], names: &[String]) -> Result<()> {
    let is_named = |library: &Library| match library.group {
        #[cfg(target_arch = "x86_64")]
        Group::Aarch64 => false,
        Group::Shipped | Group::Apart => names.iter().any(|name| name == library.directory),
    };
    let is_wanted = |library: &&Library| groups.contains(&library.group) || is_named(library);
    let mut wanted = LIBRARIES.iter().filter(is_wanted);
    wanted.try_for_each(|library| {
        library.provide(workspace).with_context(|| format!("{} is not installed", library.name))
    })
}

/// Returns the lanes of the libraries that a call names. For a library that is not installed, the error has the command that installs it.
pub(crate) fn named(workspace: &Workspace, lanes: &[String]) -> Result<Vec<Lane>> {
    let lane = |library: &&'static Library| {
        Ok(Lane { name: library.name, command: Some(library.command(workspace)?), ..Lane::default() })
    };
    LIBRARIES
        .iter()
        .filter(|library| lanes.iter().any(|name| name == library.name))
        .map(|library| lane(&library))
        .collect()
}

/// Returns the lanes of all installed libraries.
pub(crate) fn every(workspace: &Workspace) -> Vec<Lane> {
    let lane = |library: &Library| {
        let command = Some(library.installed(workspace)?.command);
        Some(Lane { name: library.name, command, ..Lane::default() })
    };
    LIBRARIES.iter().filter_map(lane).collect()
}

/// Arguments of `lanes`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Output format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal
    Table,
    /// JSON, for programs
    Json,
}

/// Lane in a list.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    status: String,
    version: Option<String>,
    about: String,
    install: Option<String>,
}

/// Lists every lane: those of the project, as of the last build, and libraries.
pub(crate) fn list(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let mut all: Vec<Listed> = lanes::described(&workspace)
        .into_iter()
        .map(|[name, status, about, install]| Listed { name, status, version: None, about, install: Some(install) })
        .collect();
    all.extend(LIBRARIES.iter().map(|library| {
        let installed = library.installed(&workspace);
        Listed {
            name: library.name.to_owned(),
            status: if installed.is_some() { "installed" } else { "not installed" }.to_owned(),
            version: installed.map(|installed| installed.version),
            about: library.about.to_owned(),
            install: Some(library.install()),
        }
    }));
    let text = match arguments.format {
        Format::Json => serde_json::to_string_pretty(&all)? + "\n",
        Format::Table => all.iter().map(Listed::line).collect(),
    };
    say::print(text).map(|()| ExitCode::SUCCESS)
}

impl Listed {
    fn line(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let install = self.install.iter().filter(|_| self.status != "installed").map(|command| format!("; {command}"));
        format!("{:<18} {}{version}: {}{}\n", self.name, self.status, self.about, install.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::drivers::{pinned, pinned_crate};
    use super::*;

    /// A library without a pinned version could change between two runs of one commit.
    #[test]
    fn each_library_has_its_sources_and_python_its_hashes() {
        let root = crate::workspace::own_root();
        for library in LIBRARIES {
            let sources = root.join("impls/shipped").join(library.directory);
            match &library.driver {
                Driver::Mlir { .. } => assert!(sources.join("worker.cpp").is_file(), "{}", library.name),
                #[cfg(target_arch = "x86_64")]
                Driver::MlirAarch64 { .. } => assert!(sources.join("worker.cpp").is_file(), "{}", library.name),
                Driver::Cxx { source, .. } | Driver::System { script: source } => {
                    assert!(sources.join(source).is_file(), "{}", library.name);
                }
                #[cfg(target_arch = "x86_64")]
                Driver::CxxAarch64 { source, .. } => assert!(sources.join(source).is_file(), "{}", library.name),
                #[cfg(target_arch = "x86_64")]
                Driver::CargoAarch64 { library } => assert!(pinned_crate(&sources.join("Cargo.toml"), library).is_ok()),
                #[cfg(target_arch = "x86_64")]
                Driver::PythonAarch64 { script, .. } => assert!(sources.join(script).is_file(), "{}", library.name),
                Driver::Cargo { library } => {
                    assert!(pinned_crate(&sources.join("Cargo.toml"), library).is_ok());
                    assert!(sources.join("Cargo.lock").is_file(), "{library}");
                }
                Driver::Python { script, package } => {
                    assert!(sources.join(script).is_file(), "{}", library.name);
                    assert!(pinned(&sources.join("requirements.txt"), package).is_ok());
                    assert_hashes(&sources.join("requirements.txt"));
                }
                #[cfg(target_arch = "x86_64")]
                Driver::Compiler { script, package, python, runner } => {
                    assert!(sources.join(script).is_file() && sources.join(runner).is_file(), "{}", library.name);
                    let foreign = sources.join(format!("requirements-{python}.txt"));
                    assert!(pinned(&foreign, package).is_ok());
                    assert_hashes(&foreign);
                    assert_hashes(&sources.join("requirements.txt"));
                }
            }
        }
    }

    /// Checks that each line of a requirements file with a version also has a hash.
    #[track_caller]
    fn assert_hashes(requirements: &Path) {
        let text = fs::read_to_string(requirements).expect("requirements");
        let lines = || text.lines().filter(|line| line.contains("=="));
        assert!(lines().count() > 0 && lines().all(|line| line.contains("--hash=sha256:")), "{text}");
    }

    #[test]
    fn a_lane_that_is_not_installed_is_refused_with_the_command_that_installs_it() {
        let target = std::env::temp_dir().join(format!("tiebreak-shipped-{}", std::process::id()));
        let workspace = Workspace { root: crate::workspace::own_root(), target };
        let error = named(&workspace, &["gemmlowp-scalar".to_owned()]).expect_err("nothing is installed there");
        assert!(error.to_string().contains("cargo xtask setup --with gemmlowp"), "{error}");
        assert!(named(&workspace, &["host".to_owned()]).expect("no library").is_empty());
    }
}
