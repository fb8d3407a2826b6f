//! Libraries for aarch64 on another machine: their programs run under the emulator. Debian's aarch64 packages are unpacked below `target`; the
//! system's packages are unchanged.

use super::drivers::{text, wheels};
use crate::cargo;
use crate::probe::Probe;
use crate::process;
use crate::setup;
use crate::tools::Tool;
use crate::workspace::{AARCH64, Workspace};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Platforms of the wheels that run on the C library of Debian 12.
const PLATFORMS: [&str; 4] =
    ["manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"];

/// Builds a C++ worker with the compiler for aarch64, and links the libraries of packages. Returns the worker's command.
pub(super) fn cxx(
    workspace: &Workspace,
    source: &Path,
    place: &Path,
    (packages, linked): (&[&str], &str),
) -> Result<Vec<String>> {
    let probe = setup::provision(workspace, &[Tool::Qemu]);
    let program = place.join("worker");
    let mut build = Command::new("aarch64-linux-gnu-g++");
    // Headers of this machine's packages come last, because its C library has other headers.
    build.args(["-O2", "-std=c++17", "-idirafter", "/usr/include", "-idirafter", "/usr/include/gemmlowp"]);
    build.arg(source).arg("-o").arg(&program);
    let root = (!packages.is_empty()).then(|| unpacked(workspace, packages)).transpose()?;
    if let Some(root) = &root {
        let libraries = text(&root.join("usr/lib/aarch64-linux-gnu"));
        build.args([format!("-L{libraries}"), format!("-Wl,-rpath-link,{libraries}")]);
    }
    process::output(build.arg(linked)).with_context(|| format!("building {} for aarch64", source.display()))?;
    Ok([emulator(&probe, root.as_deref(), cargo::CPU)?, vec![text(&program)]].concat())
}

/// Builds a Rust worker from the versions in its lock file. Returns its command.
pub(super) fn rust(workspace: &Workspace, sources: &Path, directory: &str) -> Result<Vec<String>> {
    let probe = setup::provide(workspace, &Tool::EMULATION_RUN)?;
    let target = workspace.target.join("tiebreak/shipped/cargo");
    let mut command = workspace.cargo();
    command.args(["build", "--release", "--locked", "--quiet", "--target", AARCH64, "--manifest-path"]);
    command.arg(sources.join("Cargo.toml")).arg("--target-dir").arg(&target);
    if let Some(linker) = probe.path(Tool::Aarch64Cc) {
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", linker);
        command.env("CC_aarch64_unknown_linux_gnu", linker);
    }
    process::output(&mut command).with_context(|| format!("building {} for aarch64", sources.display()))?;
    let program = target.join(AARCH64).join("release").join(format!("shipped-{directory}"));
    Ok([emulator(&probe, None, cargo::CPU)?, vec![text(&program)]].concat())
}

/// Downloads Python and the wheels that a library pins by hash. Returns the command of its script.
pub(super) fn python(workspace: &Workspace, script: &Path, own: &Path, cpu: &str) -> Result<Vec<String>> {
    let probe = setup::provision(workspace, &[Tool::Qemu]);
    let root = unpacked(workspace, &["python3-minimal", "libpython3-stdlib", "libstdc++6"])?;
    let python = root.join("usr/bin/python3");
    let name = fs::read_link(&python).context("the package python3-minimal has no python3")?;
    let version = name.to_string_lossy().trim_start_matches("python").to_owned();
    let packages = own.join("packages-aarch64");
    wheels(&own.join("venv/bin/python"), &script.with_file_name("requirements.txt"), &version, &PLATFORMS, &packages)?;
    let found = vec!["env".to_owned(), format!("PYTHONPATH={}", text(&packages))];
    let program = vec![text(&root.join("usr/bin").join(name)), text(script)];
    Ok([found, emulator(&probe, Some(&root), cpu)?, program].concat())
}

/// Returns the emulator's command line for a CPU, with the libraries of `root`, or those of the compiler.
fn emulator(probe: &Probe, root: Option<&Path>, cpu: &str) -> Result<Vec<String>> {
    let qemu = probe.path(Tool::Qemu).context("no emulator of aarch64; `cargo xtask setup` installs one")?;
    Ok(match root {
        None => cargo::emulator(probe, qemu),
        Some(root) => {
            vec![text(qemu), "-cpu".to_owned(), cpu.to_owned(), "-L".to_owned(), text(root)]
        }
    })
}

/// Downloads and unpacks aarch64 packages with all dependencies. apt checks their signatures, with separate package lists below `target`.
fn unpacked(workspace: &Workspace, packages: &[&str]) -> Result<PathBuf> {
    let place = workspace.target.join("tiebreak/shipped/aarch64");
    let (lists, archives, root) = (place.join("lists"), place.join("archives"), place.join("root"));
    for directory in [lists.join("partial"), archives.join("partial"), root.join("usr/lib")] {
        fs::create_dir_all(&directory).with_context(|| format!("creating {}", directory.display()))?;
    }
    // No package is installed there, so apt downloads all dependencies.
    let status = place.join("status");
    fs::write(&status, "").context("writing an empty list of packages")?;
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        let own = [("Dir::State::lists", &lists), ("Dir::State::status", &status), ("Dir::Cache::archives", &archives)];
        command.args(own.map(|(key, path)| format!("-o{key}={}", text(path))));
        command.args(["-oAPT::Architecture=arm64", "-oAPT::Architectures=arm64", "-oDebug::NoLocking=1"]);
        command.args(["-oDir::Cache::pkgcache=", "-oDir::Cache::srcpkgcache=", "-oAPT::Sandbox::User="]);
        process::output(command.args(["--quiet", "--yes", "--no-install-recommends"]).args(words))
            .context("fetching packages for arm64 with apt-get; the sources of the system must have that architecture")
    };
    apt(&["update"])?;
    apt(&[&["--download-only", "install"], packages].concat())?;
    // `lib` must be the same directory, because the loader of programs is in `/lib`.
    if !root.join("lib").exists() {
        #[cfg(unix)]
        std::os::unix::fs::symlink("usr/lib", root.join("lib")).context("linking lib to usr/lib")?;
    }
    for file in fs::read_dir(&archives).context("reading the fetched packages")? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            process::output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&root))
                .with_context(|| format!("unpacking {}", file.display()))?;
        }
    }
    Ok(root)
}
