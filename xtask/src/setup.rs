//! `cargo xtask setup`: installs missing tools with `apt-get` and `rustup`, or names the command. Every command that needs tools starts with it.

use crate::browser;
use crate::gmp;
use crate::models;
use crate::npm;
use crate::probe::Probe;
use crate::process::{self, which};
use crate::say::note;
use crate::shipped::{self, Group};
use crate::tools::{self, Manager, Tool};
use crate::workspace::{AARCH64, Host, Workspace};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Arguments of `setup`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Additional tools to install
    #[arg(long, value_enum, value_name = "NAME")]
    with: Vec<Extra>,
}

/// Tools that only some lanes or tests need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Extra {
    /// MLIR and LLVM 22, for the lanes mlir-x86, mlir-aarch64 and mlir-aarch64-bf16
    Mlir,
    /// Two real models from PyPI, for the tests of `audit`; needs python3 with pip
    Models,
    /// Chromium, Node.js and the packages that drive the browser, for `cargo xtask browser`
    Browser,
    /// The SMT solvers z3 and cvc5, for `cargo xtask prove`, and clang-22 if the system has it
    Solvers,
    /// Slurm with munge, and GNU parallel, for the tests of the jobs that `cargo xtask plan` writes
    Slurm,
    /// Every library of `cargo xtask lanes` but pytorch, tvm, hhb-tvm, tosa-mlir and those for aarch64
    Shipped,
    /// Libraries for aarch64 under an emulator, for the lanes gemmlowp-aarch64, xnnpack-aarch64, onnxruntime-aarch64, ..
    #[cfg(target_arch = "x86_64")]
    ShippedAarch64,
    /// The library gemmlowp, for the lanes gemmlowp and gemmlowp-scalar
    Gemmlowp,
    /// XNNPACK, for the lane xnnpack
    Xnnpack,
    /// oneDNN, for the lanes onednn and onednn-avx2
    Onednn,
    /// ONNX Runtime from PyPI, for the lanes onnxruntime and onnxruntime-avx2
    Onnxruntime,
    /// LiteRT from PyPI, for the lane litert
    Litert,
    /// TensorFlow Lite Micro from PyPI, for the lane tflite-micro
    TfliteMicro,
    /// Debian's PyTorch, for the lane pytorch; not among the libraries of `shipped`
    Pytorch,
    /// TVM 0.27 from PyPI, for the lane tvm; not among the libraries of `shipped`
    Tvm,
    /// TVM 0.16 of the package hhb-tvm from PyPI, for the lane hhb-tvm; not among the libraries of `shipped`
    HhbTvm,
    /// TOSA as MLIR 22 lowers it, for the lanes tosa-mlir, tosa-mlir-o0 and those for aarch64; not among the libraries of `shipped`
    TosaMlir,
    /// TOSA's reference model from PyPI, for the lane tosa-reference
    TosaReference,
    /// tract-linalg from crates.io, for the lane tract
    Tract,
    /// rten-gemm from crates.io, for the lanes rten and rten-avx2
    Rten,
}

/// Names of the aarch64 emulator.
pub(crate) const QEMU: [&str; 2] = ["qemu-aarch64", "qemu-aarch64-static"];
/// Release of Debian whose own qemu (7.2) is several times slower than that of its backports (10.0).
const SLOW_QEMU: &str = "VERSION_CODENAME=bookworm";
/// Package source of the faster qemu.
const BACKPORTS: &str = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
                         http://deb.debian.org/debian bookworm-backports main\n";

/// Installs every needed tool. The exit code is 2 if a tool is still missing.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let host = Host::CURRENT;
    let with = |extra| arguments.with.contains(&extra);
    let mut needed = Tool::needed(host);
    if with(Extra::Mlir) {
        needed.extend(Tool::mlir(host));
    }
    if with(Extra::Solvers) {
        needed.extend(Tool::SOLVERS);
    }
    if with(Extra::Slurm) {
        needed.extend(Tool::ENGINES);
    }
    let mut probe = provision(&workspace, &needed);
    if with(Extra::Solvers) {
        // Separate call, because the solvers confirm proofs of schemes without clang.
        probe = provision(&workspace, &[Tool::Clang]);
    }
    if with(Extra::Browser) {
        // Separate call: if the system lacks these packages, all other tools are still installed.
        probe = provision(&workspace, &Tool::BROWSER);
        needed.extend(Tool::BROWSER);
    }
    let compiler = probe.missing(Tool::mlir(host));
    require(&probe, &needed).map_err(|error| match needed.iter().any(|tool| compiler.contains(tool)) {
        true => error.context(without_packages(&compiler, &probe)),
        false => error,
    })?;
    if with(Extra::Models) {
        models::provision(&workspace)?;
    }
    let groups: Vec<Group> = [
        (Extra::Shipped, Group::Shipped),
        #[cfg(target_arch = "x86_64")]
        (Extra::ShippedAarch64, Group::Aarch64),
    ]
    .into_iter()
    .filter_map(|(extra, group)| with(extra).then_some(group))
    .collect();
    let names: Vec<String> = arguments
        .with
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .map(|value| value.get_name().to_owned())
        .collect();
    shipped::provide(&workspace, &groups, &names)?;
    if with(Extra::Browser) {
        npm::packages(&workspace, &probe, browser::PACKAGES)?;
    }
    note("everything that is needed is there");
    Ok(ExitCode::SUCCESS)
}

/// Returns advice for a system without packages of this release of LLVM.
fn without_packages(missing: &[Tool], probe: &Probe) -> String {
    let packages = tools::packages(missing, Manager::Apt, probe.host).join(" ");
    format!(
        "{packages}: these packages are in Debian 12 and later with its security updates; https://apt.llvm.org has them for \
         other Debian releases and for Ubuntu; once it is a source, `cargo xtask setup --with mlir` installs them"
    )
}

/// Installs the missing tools of `wanted`, if this user may, and returns the tools found afterwards. Standard error reports failed attempts;
/// the caller decides which tools are required.
pub(crate) fn provision(workspace: &Workspace, wanted: &[Tool]) -> Probe {
    let probe = Probe::look(workspace);
    let gmp =
        gmp::wanted(workspace, probe.host).filter(|_| wanted.contains(&Tool::M4) && probe.manager == Manager::Apt);
    let faster = wanted.contains(&Tool::Qemu) && probe.host.arch == "x86_64" && wants_faster_qemu(workspace);
    let missing = probe.missing(wanted);
    if missing.is_empty() && !faster && gmp.is_none() {
        return probe;
    }
    if faster {
        let directory = workspace.cross().join("qemu");
        attempt("the faster qemu of Debian's backports", faster_qemu(&directory));
        // A failure is not repeated, because the qemu of the release runs the same programs.
        let _ = fs::write(directory.join("tried"), "");
    }
    let missing = Probe::look(workspace).missing(&missing);
    let packages = tools::packages(&missing, probe.manager, probe.host);
    if probe.manager == Manager::Apt && !packages.is_empty() {
        attempt(&packages.join(" "), install(&packages));
    }
    if missing.contains(&Tool::Aarch64Rust) {
        let mut rustup = Command::new("rustup");
        rustup.args(["target", "add", AARCH64]).env("RUSTUP_MAX_RETRIES", "0").env("RUST_BACKTRACE", "0");
        attempt("Rust's standard library for aarch64", process::output(&mut rustup).map(drop));
    }
    if let Some(place) = gmp
        && gmp::is_offered()
    {
        let taken = self::packages(&[gmp::PACKAGE]).and_then(|()| gmp::take(&place, probe.host));
        match taken {
            Ok(release) => note(format_args!("took GMP {release} of {}, so that it is not compiled", gmp::PACKAGE)),
            Err(error) => {
                note(format_args!("GMP is compiled, because that of {} is of no use: {error:#}", gmp::PACKAGE))
            }
        }
    }
    Probe::look(workspace)
}

/// Fails if a tool of `tools` is missing, and names each with the command that installs it.
pub(crate) fn require(probe: &Probe, tools: &[Tool]) -> Result<()> {
    let missing = probe.missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing.iter().map(|tool| format!("\n  {}", probe.complaint(*tool))).collect();
    bail!("these tools are missing and could not be installed from here:{}", lines.concat())
}

/// Calls [`provision`], and fails if a tool is still missing.
pub(crate) fn provide(workspace: &Workspace, tools: &[Tool]) -> Result<Probe> {
    let probe = provision(workspace, tools);
    require(&probe, tools).map(|()| probe)
}

/// Reports an attempted installation.
fn attempt(name: &str, result: Result<()>) {
    match result {
        Ok(()) => note(format_args!("installed {name}")),
        Err(error) => note(format_args!("could not install {name}: {error:#}")),
    }
}

/// Installs absent packages of Debian or Ubuntu. Other systems must already have their content.
pub(crate) fn packages(wanted: &[&'static str]) -> Result<()> {
    let absent = |package: &&str| process::output(Command::new("dpkg-query").args(["--status", package])).is_err();
    if which(&["apt-get"]).is_none() {
        return Ok(());
    }
    let absent: Vec<&str> = wanted.iter().copied().filter(|package| absent(package)).collect();
    if absent.is_empty() {
        return Ok(());
    }
    install(&absent).with_context(|| format!("`sudo apt-get install {}` installs what is absent", absent.join(" ")))?;
    note(format_args!("installed {}", absent.join(" ")));
    Ok(())
}

/// Installs packages of Debian or Ubuntu. Needs root, or sudo without a password.
fn install(packages: &[&str]) -> Result<()> {
    let is_root = process::output(Command::new("id").arg("-u"))?.trim() == "0";
    let sudo: &[&str] = if is_root { &["env"] } else { &["sudo", "-n", "env"] };
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(sudo[0]);
        command.args(&sudo[1..]).args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=600"]);
        process::output(command.args(arguments)).map(drop)
    };
    let wanted = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    // The package lists of a fresh machine are absent or old. `update` downloads them if the first attempt fails.
    apt(&wanted).or_else(|_| apt(&["update"]).and_then(|()| apt(&wanted)))
}

/// Returns the path at which [`faster_qemu`] puts the emulator.
pub(crate) fn private_qemu(workspace: &Workspace) -> PathBuf {
    workspace.cross().join("qemu").join(QEMU[0])
}

fn wants_faster_qemu(workspace: &Workspace) -> bool {
    let private = private_qemu(workspace);
    let is_slow = || fs::read_to_string("/etc/os-release").is_ok_and(|text| text.contains(SLOW_QEMU));
    !private.is_file() && !private.with_file_name("tried").exists() && which(&["dpkg-deb"]).is_some() && is_slow()
}

/// Unpacks the emulator of Debian's backports, a static program, without changes to the system.
fn faster_qemu(directory: &Path) -> Result<()> {
    let scratch = directory.join(format!("scratch.{}", std::process::id()));
    for sub in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(scratch.join(sub)).with_context(|| format!("creating {}/{sub}", scratch.display()))?;
    }
    let made = unpack_qemu(&scratch, &directory.join(QEMU[0]));
    fs::remove_dir_all(&scratch).with_context(|| format!("removing {}", scratch.display()))?;
    made
}

fn unpack_qemu(scratch: &Path, program: &Path) -> Result<()> {
    fs::write(scratch.join("sources.list"), BACKPORTS)?;
    let own = |key: &str, file: &str| format!("{key}={}", scratch.join(file).display());
    let options = [
        own("Dir::Etc::sourcelist", "sources.list"),
        "Dir::Etc::sourceparts=-".to_owned(),
        own("Dir::State::lists", "lists"),
        own("Dir::Cache", "cache"),
        "APT::Sandbox::User=root".to_owned(),
        "Acquire::http::Timeout=20".to_owned(),
    ];
    for arguments in [&["update"][..], &["download", "qemu-user"]] {
        let mut apt = Command::new("apt-get");
        apt.current_dir(scratch).arg("-qq").args(options.iter().flat_map(|option| ["-o", option])).args(arguments);
        process::output(&mut apt)?;
    }
    let debs = fs::read_dir(scratch)?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let deb = debs.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    process::output(Command::new("dpkg-deb").arg("-x").arg(deb.context("no package came")?).arg(scratch))?;
    let unpacked = scratch.join("usr/bin").join(QEMU[0]);
    process::output(Command::new(&unpacked).arg("--version"))?;
    fs::rename(&unpacked, program).with_context(|| format!("moving {} to {}", unpacked.display(), program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::complete;

    /// A library is installed by the name of its directory, which `provide` compares with the words of `--with`.
    #[test]
    fn each_library_can_be_named() {
        for library in shipped::LIBRARIES {
            let named = Extra::from_str(library.directory, false);
            assert!(named.is_ok(), "--with {} is unknown", library.directory);
        }
    }

    #[test]
    fn a_system_without_the_packages_is_told_where_they_are() {
        let probe = complete().without(&[Tool::Mlir, Tool::CompilerRt]);
        let text = without_packages(&probe.missing(Tool::mlir(probe.host)), &probe);
        assert!(
            text.starts_with("mlir-22-tools libclang-rt-22-dev: ") && text.contains("https://apt.llvm.org"),
            "{text}"
        );
    }

    #[test]
    fn everything_that_stays_missing_is_named() {
        let probe = Probe { manager: Manager::Dnf, ..complete().without(&[Tool::M4, Tool::Make]) };
        let error = require(&probe, &Tool::needed(probe.host)).unwrap_err().to_string();
        assert!(error.contains("make is missing") && error.contains("`sudo dnf install m4`"), "{error}");
        require(&complete(), &Tool::needed(complete().host)).expect("nothing is missing");
    }
}
