//! Installation of a library, and build of the program that drives it.

#[cfg(target_arch = "x86_64")]
use super::aarch64;
use super::{Driver, Installed, Library};
#[cfg(target_arch = "x86_64")]
use crate::cargo;
use crate::mlir::Target;
use crate::process::{self, which};
use crate::say::note;
use crate::setup;
use crate::tools::Tool;
use crate::tosa;
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

impl Library {
    /// Installs and builds the library.
    pub(super) fn provide(&self, workspace: &Workspace) -> Result<()> {
        let place = self.place(workspace);
        fs::create_dir_all(&place).with_context(|| format!("creating {}", place.display()))?;
        setup::packages(self.packages)?;
        let sources = workspace.root.join("impls/shipped").join(self.directory);
        let (version, command) = match &self.driver {
            Driver::Cxx { source, x86_64, others, linked } => {
                let flags = if Host::CURRENT.arch == "x86_64" { x86_64 } else { others };
                let program = compiled(&sources.join(source), &place, flags, linked)?;
                (version_of(self.packages[0])?, vec![text(&program)])
            }
            Driver::Cargo { library } => {
                let target = workspace.target.join("tiebreak/shipped/cargo");
                let program = rust(workspace, &sources, &target, self.directory)?;
                (pinned_crate(&sources.join("Cargo.toml"), library)?, vec![text(&program)])
            }
            Driver::Mlir { level } => {
                let probe = setup::provide(workspace, Tool::mlir(Host::CURRENT))?;
                let program = compiled(&sources.join("worker.cpp"), &place, &["-rdynamic"], "-ldl")?;
                let target = (Target::of(Host::CURRENT), *level);
                let (version, words) = tosa::words(workspace, &probe, &sources, target)?;
                (version, [vec![text(&program)], words].concat())
            }
            #[cfg(target_arch = "x86_64")]
            Driver::MlirAarch64 { level } => {
                let probe = setup::provide(workspace, &[Tool::mlir(Host::CURRENT), &[Tool::Aarch64Cc]].concat())?;
                let worker = aarch64::cxx(workspace, &sources.join("worker.cpp"), &place, (&[], "-rdynamic"))?;
                let (version, words) = tosa::words(workspace, &probe, &sources, (Target::Aarch64, *level))?;
                (version, [worker, words].concat())
            }
            Driver::System { script } => {
                let command = vec!["/usr/bin/python3".to_owned(), text(&sources.join(script))];
                (version_of(self.packages[0])?, command)
            }
            Driver::Python { script, package } => {
                let own = workspace.target.join("tiebreak/shipped/python").join(self.directory);
                let python = environment(&sources, &own)?;
                let command = vec![text(&python), text(&sources.join(script))];
                (pinned(&sources.join("requirements.txt"), package)?, command)
            }
            #[cfg(target_arch = "x86_64")]
            Driver::CxxAarch64 { source, packages, linked } => {
                let command = aarch64::cxx(workspace, &sources.join(source), &place, (packages, linked))?;
                (version_of(self.packages[0])?, command)
            }
            #[cfg(target_arch = "x86_64")]
            Driver::CargoAarch64 { library } => {
                let command = aarch64::rust(workspace, &sources, self.directory)?;
                (pinned_crate(&sources.join("Cargo.toml"), library)?, command)
            }
            #[cfg(target_arch = "x86_64")]
            Driver::PythonAarch64 { script, package, cpu } => {
                let own = workspace.target.join("tiebreak/shipped/python").join(self.directory);
                environment(&sources, &own)?;
                let command = aarch64::python(workspace, &sources.join(script), &own, cpu)?;
                (pinned(&sources.join("requirements.txt"), package)?, command)
            }
            #[cfg(target_arch = "x86_64")]
            Driver::Compiler { script, package, python, runner } => {
                let own = environment(&sources, &place)?;
                let foreign = sources.join(format!("requirements-{python}.txt"));
                install_foreign(&own, &foreign, python)?;
                let machines = machines(workspace, &sources.join(runner), &place)?;
                let command = vec![text(&own), text(&sources.join(script))];
                (pinned(&foreign, package)?, [command, machines].concat())
            }
        };
        let command = self.started.iter().map(|word| (*word).to_owned()).chain(command).collect();
        let installed = serde_json::to_string_pretty(&Installed { version, command })?;
        fs::write(self.record(workspace), installed + "\n").context("writing what was installed")?;
        note(format_args!("installed {}: {}", self.name, self.about));
        Ok(())
    }
}

/// Builds a C++ worker.
fn compiled(source: &Path, place: &Path, flags: &[&str], linked: &str) -> Result<PathBuf> {
    let Some(compiler) = which(&["c++", "g++", "clang++"]) else {
        bail!("no compiler of C++ is on the search path; install one, such as `sudo apt-get install g++`");
    };
    let program = place.join("worker");
    let mut command = Command::new(compiler);
    command.args(["-O2", "-std=c++17", "-I/usr/include/gemmlowp"]).args(flags).arg(source).arg("-o").arg(&program);
    process::output(command.arg(linked)).with_context(|| format!("building {}", source.display()))?;
    Ok(program)
}

/// Builds a Rust worker from the versions in its lock file; cargo rejects packages with other hashes.
fn rust(workspace: &Workspace, sources: &Path, target: &Path, directory: &str) -> Result<PathBuf> {
    let mut command = workspace.cargo();
    command.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]).arg(sources.join("Cargo.toml"));
    process::output(command.arg("--target-dir").arg(target))
        .with_context(|| format!("building {}", sources.display()))?;
    Ok(target.join("release").join(format!("shipped-{directory}")))
}

/// Returns the version of a crate that a manifest pins.
pub(super) fn pinned_crate(manifest: &Path, library: &str) -> Result<String> {
    let text = fs::read_to_string(manifest).with_context(|| format!("reading {}", manifest.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix(library)?.strip_prefix(" = \"=")?.strip_suffix('"'));
    version.map(str::to_owned).with_context(|| format!("{} does not pin {library}", manifest.display()))
}

/// Creates a Python environment with the packages that a library pins; pip rejects files with other hashes.
fn environment(sources: &Path, place: &Path) -> Result<PathBuf> {
    let Some(python) = which(&["python3", "python"]) else {
        bail!("no python3 is on the search path; install it, such as `sudo apt-get install python3-venv`");
    };
    let environment = place.join("venv");
    process::output(Command::new(python).args(["-m", "venv"]).arg(&environment))
        .context("making an environment of Python; `sudo apt-get install python3-venv` installs what it needs")?;
    let own = environment.join("bin/python");
    let mut install = Command::new(&own);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    process::output(install.arg("--requirement").arg(sources.join("requirements.txt")))
        .context("fetching packages from PyPI")?;
    Ok(own)
}

/// Installs packages of another version of Python, of which only the C extensions are lost.
#[cfg(target_arch = "x86_64")]
fn install_foreign(python: &Path, requirements: &Path, version: &str) -> Result<()> {
    let asked = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let packages =
        process::output(Command::new(python).args(["-c", asked])).context("asking Python for its packages")?;
    wheels(python, requirements, version, &[], Path::new(packages.trim()))
}

/// Installs wheels for a version of Python and some platforms (the machine's if empty) into a directory.
#[cfg(target_arch = "x86_64")]
pub(super) fn wheels(
    python: &Path,
    requirements: &Path,
    version: &str,
    platforms: &[&str],
    target: &Path,
) -> Result<()> {
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    install.args(platforms.iter().flat_map(|platform| ["--platform", platform]));
    install.args(["--upgrade", "--python-version", version, "--implementation=cp", "--target"]).arg(target);
    process::output(install.arg("--requirement").arg(requirements)).context("fetching packages from PyPI").map(drop)
}

/// Builds the program that runs modules, for aarch64 and for the host. Returns the module linker and the program with its emulator, for each,
/// as JSON.
#[cfg(target_arch = "x86_64")]
fn machines(workspace: &Workspace, runner: &Path, place: &Path) -> Result<Vec<String>> {
    let probe = setup::provision(workspace, &[Tool::Qemu]);
    let qemu = probe.path(Tool::Qemu).context("no emulator of aarch64; `cargo xtask setup` installs one")?;
    let emulator = cargo::emulator(&probe, qemu);
    let machine = |prefix: &str, emulator: Vec<String>| {
        let program = place.join(format!("{prefix}runner"));
        let mut build = Command::new(format!("{prefix}gcc"));
        build.args(["-O2", "-rdynamic"]).arg(runner).arg("-o").arg(&program).arg("-ldl");
        process::output(&mut build).with_context(|| format!("building {}", runner.display()))?;
        let words = (format!("{prefix}ld"), [emulator, vec![text(&program)]].concat());
        serde_json::to_string(&words).context("writing the command of the runner")
    };
    Ok(vec![machine("aarch64-linux-gnu-", emulator)?, machine("", Vec::new())?])
}

/// Returns the version of a Debian package.
fn version_of(package: &str) -> Result<String> {
    let shown = process::output(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", package]));
    Ok(shown.unwrap_or_else(|_| "of an unknown version".to_owned()))
}

/// Returns the version that a requirements file pins.
pub(super) fn pinned(requirements: &Path, package: &str) -> Result<String> {
    let text = fs::read_to_string(requirements).with_context(|| format!("reading {}", requirements.display()))?;
    let version =
        text.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("==")?.split_whitespace().next());
    version.map(str::to_owned).with_context(|| format!("{} does not pin {package}", requirements.display()))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
