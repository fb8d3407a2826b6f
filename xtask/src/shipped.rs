//! Libraries that people ship, as lanes: how each is installed, and the program in `impls/shipped` that drives it.
//!
//! A lane of this list is not a part of a run that does not name it: `cargo xtask verify --lane gemmlowp` judges the library that the machine has installed.

#[cfg(target_arch = "x86_64")]
use crate::cargo;
use crate::lanes::{self, Lane};
use crate::process::{self, which};
use crate::say::{self, note};
use crate::setup;
use crate::tools::Tool;
use crate::tosa;
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The program that drives a library.
enum Driver {
    /// A source of C++ in the library's directory, with the compiler's arguments on x86-64 and elsewhere, and what it is linked with.
    Cxx { source: &'static str, x86_64: &'static [&'static str], others: &'static [&'static str], linked: &'static str },
    /// A package of Rust, a workspace of its own with its lock file; its manifest pins this crate.
    Cargo { library: &'static str },
    /// A script for Python, in an environment of its own with what its `requirements.txt` pins by hash.
    Python { script: &'static str, package: &'static str },
    /// A script for Debian's Python, which finds the library in its packages.
    System { script: &'static str },
    /// Functions in MLIR, compiled by the tools of the lanes of compiled casts at a level of LLVM, and linked with a source of C++.
    Mlir { level: u32 },
    /// A script for Python as above, with a program in C, which the script starts for the host and, under an emulator, for aarch64. What the library has
    /// for one version of Python alone is in its `requirements-VERSION.txt`.
    #[cfg(target_arch = "x86_64")]
    Compiler { script: &'static str, package: &'static str, python: &'static str, runner: &'static str },
}

/// A library as a lane.
pub(crate) struct Library {
    /// Name of the lane.
    pub(crate) name: &'static str,
    /// What is driven.
    about: &'static str,
    /// Directory in `impls/shipped`.
    directory: &'static str,
    /// Packages of Debian that it needs; the first is the library.
    packages: &'static [&'static str],
    driver: Driver,
    /// What starts the program, if it is not started by itself: an emulator, or a setting of its environment.
    started: &'static [&'static str],
    /// Whether `setup --with shipped` installs it with the others.
    with_others: bool,
}

/// Every library, in the order of lists.
pub(crate) const LIBRARIES: &[Library] = &[
    Library {
        name: "gemmlowp",
        about: "gemmlowp with the vectors of the machine: output stages, fixed-point functions, GEMM",
        directory: "gemmlowp",
        packages: &["libgemmlowp-dev", "nlohmann-json3-dev", "g++"],
        driver: Driver::Cxx { source: "worker.cpp", x86_64: &["-msse4.1"], others: &[], linked: "-lpthread" },
        started: &[],
        with_others: true,
    },
    Library {
        name: "gemmlowp-scalar",
        about: "gemmlowp without vectors",
        directory: "gemmlowp",
        packages: &["libgemmlowp-dev", "nlohmann-json3-dev", "g++"],
        driver: Driver::Cxx {
            source: "worker.cpp",
            x86_64: &["-DGEMMLOWP_ALLOW_SLOW_SCALAR_FALLBACK"],
            others: &["-DGEMMLOWP_ALLOW_SLOW_SCALAR_FALLBACK", "-U__ARM_NEON", "-U__ARM_NEON__"],
            linked: "-lpthread",
        },
        started: &[],
        with_others: true,
    },
    Library {
        name: "xnnpack",
        about: "XNNPACK's operators that convert, add and multiply, as its library chooses them for this CPU",
        directory: "xnnpack",
        packages: &["libxnnpack-dev", "libpthreadpool-dev", "nlohmann-json3-dev", "g++"],
        driver: Driver::Cxx { source: "worker.cpp", x86_64: &[], others: &[], linked: "-lXNNPACK" },
        started: &[],
        with_others: true,
    },
    Library {
        name: "onednn",
        about: "oneDNN: int8 matrix products and convolutions",
        directory: "onednn",
        packages: &["libdnnl-dev", "nlohmann-json3-dev", "g++"],
        driver: Driver::Cxx { source: "worker.cpp", x86_64: &[], others: &[], linked: "-ldnnl" },
        started: &[],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "onednn-avx2",
        about: "the same without instructions beyond AVX2",
        directory: "onednn",
        packages: &["libdnnl-dev", "nlohmann-json3-dev", "g++"],
        driver: Driver::Cxx { source: "worker.cpp", x86_64: &[], others: &[], linked: "-ldnnl" },
        started: &["env", "ONEDNN_MAX_CPU_ISA=AVX2"],
        with_others: true,
    },
    Library {
        name: "onnxruntime",
        about: "ONNX Runtime's CPU kernels: QuantizeLinear, DequantizeLinear, MatMulInteger, QLinearAdd, QLinearMul",
        directory: "onnxruntime",
        packages: &["python3", "python3-venv"],
        driver: Driver::Python { script: "worker.py", package: "onnxruntime" },
        started: &[],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "onnxruntime-avx2",
        about: "the same on an emulated CPU that has AVX2 and no VNNI, for which ONNX Runtime chooses other kernels",
        directory: "onnxruntime",
        packages: &["python3", "python3-venv", "qemu-user"],
        driver: Driver::Python { script: "worker.py", package: "onnxruntime" },
        started: &["qemu-x86_64", "-cpu", "Haswell-noTSX"],
        with_others: true,
    },
    Library {
        name: "litert",
        about: "LiteRT's operators with the reference kernels, the optimized ones and XNNPACK: CONV_2D, FULLY_CONNECTED, QUANTIZE, ADD, ..",
        directory: "litert",
        packages: &["python3", "python3-venv"],
        driver: Driver::Python { script: "worker.py", package: "ai-edge-litert" },
        started: &[],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "tflite-micro",
        about: "TensorFlow Lite Micro's kernels of the same operators",
        directory: "tflite-micro",
        packages: &["python3", "python3-venv"],
        driver: Driver::Python { script: "worker.py", package: "tflite-micro" },
        started: &[],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "tvm",
        about: "TVM 0.27: topi.fixed_point_multiply, and the same per axis",
        directory: "tvm",
        packages: &["python3", "python3-venv"],
        driver: Driver::Python { script: "worker.py", package: "apache-tvm" },
        started: &[],
        with_others: false,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "hhb-tvm",
        about: "TVM 0.16 for aarch64 under an emulator, with the Arm rule for qmuls and the Arm GEMM kernels, and for x86-64",
        directory: "hhb-tvm",
        packages: &["python3", "python3-venv", "gcc", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        driver: Driver::Compiler { script: "worker.py", package: "hhb-tvm", python: "3.10", runner: "runner.c" },
        started: &[],
        with_others: false,
    },
    Library {
        name: "tract",
        about: "tract-linalg: Scaler, the same scaling in its matrix kernels, their int8 products",
        directory: "tract",
        packages: &[],
        driver: Driver::Cargo { library: "tract-linalg" },
        started: &[],
        with_others: true,
    },
    Library {
        name: "rten",
        about: "rten-gemm: the u8 x s8 matrix product, as the library chooses its code for this CPU",
        directory: "rten",
        packages: &[],
        driver: Driver::Cargo { library: "rten-gemm" },
        started: &[],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "rten-avx2",
        about: "the same on an emulated CPU that has AVX2 and no VNNI",
        directory: "rten",
        packages: &["qemu-user"],
        driver: Driver::Cargo { library: "rten-gemm" },
        started: &["qemu-x86_64", "-cpu", "Haswell-noTSX"],
        with_others: true,
    },
    #[cfg(target_arch = "x86_64")]
    Library {
        name: "tosa-reference",
        about: "TOSA's reference model: RESCALE, MATMUL, CONV2D, AVG_POOL2D, MAX_POOL2D",
        directory: "tosa-reference",
        packages: &["python3", "python3-venv"],
        driver: Driver::Python { script: "worker.py", package: "tosa-tools" },
        started: &[],
        with_others: true,
    },
    Library {
        name: "pytorch",
        about: "PyTorch's quantized tensors: quantize, dequantize, add, mul, average and maximum pools in both layouts",
        directory: "pytorch",
        packages: &["python3-torch", "python3-numpy"],
        driver: Driver::System { script: "worker.py" },
        started: &[],
        with_others: false,
    },
    Library {
        name: "tosa-mlir",
        about: "TOSA as MLIR 22 lowers it and LLVM compiles it at -O2: apply_scale, rescale, matmul",
        directory: "tosa-mlir",
        packages: &["nlohmann-json3-dev", "g++"],
        driver: Driver::Mlir { level: 2 },
        started: &[],
        with_others: false,
    },
    Library {
        name: "tosa-mlir-o0",
        about: "the same at -O0",
        directory: "tosa-mlir",
        packages: &["nlohmann-json3-dev", "g++"],
        driver: Driver::Mlir { level: 0 },
        started: &[],
        with_others: false,
    },
];

/// What is known of an installed library.
#[derive(Debug, Serialize, Deserialize)]
struct Installed {
    /// Version of the package.
    version: String,
    /// Command of the worker.
    command: Vec<String>,
}

impl Library {
    /// The library of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.name == name)
    }

    /// Where it is built.
    fn place(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join("tiebreak/shipped").join(self.name)
    }

    fn record(&self, workspace: &Workspace) -> PathBuf {
        self.place(workspace).join("installed.json")
    }

    /// What is installed, unless it is absent or its program was built from another source.
    fn installed(&self, workspace: &Workspace) -> Option<Installed> {
        let text = fs::read_to_string(self.record(workspace)).ok()?;
        let installed: Installed = serde_json::from_str(&text).ok()?;
        let there = installed.command.iter().all(|word| !word.starts_with('/') || Path::new(word).exists());
        there.then_some(installed)
    }

    pub(crate) fn is_installed(&self, workspace: &Workspace) -> bool {
        self.installed(workspace).is_some()
    }

    /// The command of its worker; an error names the command that installs it.
    pub(crate) fn command(&self, workspace: &Workspace) -> Result<Vec<String>> {
        let installed = self.installed(workspace).with_context(|| {
            let with = self.directory;
            format!("the lane {} is not installed; `cargo xtask setup --with {with}` installs it", self.name)
        })?;
        Ok(installed.command)
    }

    /// Installs and builds it.
    fn provide(&self, workspace: &Workspace) -> Result<()> {
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
                let version = probe.found.get(&Tool::Mlir).and_then(|tool| tool.version.clone());
                (version.unwrap_or_default(), vec![text(&tosa::built(&sources, &place, *level)?)])
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

/// Builds a worker in C++.
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

/// Builds a worker in Rust from what its lock file pins; cargo refuses packages with other hashes.
fn rust(workspace: &Workspace, sources: &Path, target: &Path, directory: &str) -> Result<PathBuf> {
    let mut command = workspace.cargo();
    command.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]).arg(sources.join("Cargo.toml"));
    process::output(command.arg("--target-dir").arg(target))
        .with_context(|| format!("building {}", sources.display()))?;
    Ok(target.join("release").join(format!("shipped-{directory}")))
}

/// Version of a crate that a manifest pins.
fn pinned_crate(manifest: &Path, library: &str) -> Result<String> {
    let text = fs::read_to_string(manifest).with_context(|| format!("reading {}", manifest.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix(library)?.strip_prefix(" = \"=")?.strip_suffix('"'));
    version.map(str::to_owned).with_context(|| format!("{} does not pin {library}", manifest.display()))
}

/// An environment of Python with the packages that a library pins; pip refuses files with other hashes.
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

/// Installs packages of another version of Python, of which only the extensions in C are lost.
#[cfg(target_arch = "x86_64")]
fn install_foreign(python: &Path, requirements: &Path, version: &str) -> Result<()> {
    let asked = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let packages =
        process::output(Command::new(python).args(["-c", asked])).context("asking Python for its packages")?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    install.args(["--upgrade", "--python-version", version, "--implementation=cp", "--target"]).arg(packages.trim());
    process::output(install.arg("--requirement").arg(requirements)).context("fetching packages from PyPI").map(drop)
}

/// Builds the program that runs modules, for aarch64 and for the host. Returns for each the linker of modules and the program with its emulator,
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

/// Version of a package of Debian.
fn version_of(package: &str) -> Result<String> {
    let shown = process::output(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", package]));
    Ok(shown.unwrap_or_else(|_| "of an unknown version".to_owned()))
}

/// Version that a file of requirements pins.
fn pinned(requirements: &Path, package: &str) -> Result<String> {
    let text = fs::read_to_string(requirements).with_context(|| format!("reading {}", requirements.display()))?;
    let version =
        text.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("==")?.split_whitespace().next());
    version.map(str::to_owned).with_context(|| format!("{} does not pin {package}", requirements.display()))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Installs the libraries of these names, or all.
pub(crate) fn provide(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let is_wanted = |library: &&Library| match names {
        [] => library.with_others,
        _ => names.contains(&library.directory),
    };
    let mut wanted = LIBRARIES.iter().filter(is_wanted);
    wanted.try_for_each(|library| {
        library.provide(workspace).with_context(|| format!("{} is not installed", library.name))
    })
}

/// The lanes of the libraries that a call names. A library that is not installed is an error, with the command that installs it.
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

/// The lanes of all libraries that are installed.
pub(crate) fn every(workspace: &Workspace) -> Vec<Lane> {
    let lane = |library: &Library| {
        let command = Some(library.installed(workspace)?.command);
        Some(Lane { name: library.name, command, ..Lane::default() })
    };
    LIBRARIES.iter().filter_map(lane).collect()
}

/// The arguments of `lanes`.
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

/// A lane as a list has it.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    status: String,
    version: Option<String>,
    about: String,
    install: Option<String>,
}

/// Lists every lane: those of the project, as the last build found them, and libraries.
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
            install: Some(format!("cargo xtask setup --with {}", library.directory)),
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
    use super::*;

    /// A library without a pinned version could change between two runs of one commit.
    #[test]
    fn each_library_has_its_sources_and_python_its_hashes() {
        let root = crate::workspace::own_root();
        for library in LIBRARIES {
            let sources = root.join("impls/shipped").join(library.directory);
            match &library.driver {
                Driver::Mlir { .. } => assert!(sources.join("worker.cpp").is_file(), "{}", library.name),
                Driver::Cxx { source, .. } | Driver::System { script: source } => {
                    assert!(sources.join(source).is_file(), "{}", library.name);
                }
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

    /// Each line of a file of requirements that pins a version pins its files too.
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
