//! Which tools this machine has. They are looked up at every start, because that takes only a few milliseconds.

use crate::mlir::{self, Llvm, Mlir};
use crate::process::{self, which};
use crate::qemu::{self, Qemu};
use crate::rust::{self, Aarch64Rust};
use crate::tools::{Manager, Tool};
use crate::workspace::{Host, Workspace};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools that were found.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// This machine.
    pub(crate) host: Host,
    /// The package manager.
    pub(crate) manager: Manager,
    /// Whether rustup manages the Rust in use.
    pub(crate) rustup: bool,
    /// A C compiler that finds its library.
    pub(crate) cc: Option<PathBuf>,
    /// Make.
    pub(crate) make: Option<PathBuf>,
    /// M4.
    pub(crate) m4: Option<PathBuf>,
    /// Rust for aarch64.
    pub(crate) rust: Option<Aarch64Rust>,
    /// A C compiler for aarch64 that finds its library.
    pub(crate) aarch64_cc: Option<PathBuf>,
    /// The directory with the C library of aarch64, which a dynamic program needs under the emulator.
    pub(crate) aarch64_libraries: Option<PathBuf>,
    /// The emulator.
    pub(crate) qemu: Option<Qemu>,
    /// A disassembler of aarch64.
    pub(crate) objdump: Option<PathBuf>,
    /// A C++ compiler.
    pub(crate) cxx: Option<PathBuf>,
    /// MLIR's tools.
    pub(crate) mlir: Option<Mlir>,
    /// LLVM's tools.
    pub(crate) llvm: Option<Llvm>,
    /// The archive of routines for x86-64.
    pub(crate) compiler_rt: Option<PathBuf>,
    /// Chromium, or Chrome.
    pub(crate) chromium: Option<PathBuf>,
    /// Node.js, of a release that runs what drives Chromium.
    pub(crate) node: Option<Node>,
    /// npm.
    pub(crate) npm: Option<PathBuf>,
    /// The SMT solver z3.
    pub(crate) z3: Option<PathBuf>,
    /// The SMT solver cvc5.
    pub(crate) cvc5: Option<PathBuf>,
    /// Whether this CPU has aarch64's instructions of bf16 and f16.
    pub(crate) bf16: bool,
}

/// Where the cross compiler's packages put the C library of aarch64.
pub(crate) const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// What starts a dynamic program there.
const LOADER: &str = "lib/ld-linux-aarch64.so.1";

impl Probe {
    /// Looks for all tools.
    pub(crate) fn look(workspace: &Workspace) -> Result<Self> {
        let host = Host::CURRENT;
        let emulates = host.emulates_aarch64();
        Ok(Self {
            host,
            manager: manager(),
            rustup: which(&["rustup"]).is_some(),
            cc: which(&["cc", "gcc", "clang"]).filter(|cc| host.os != "linux" || has_library(cc, "crt1.o")),
            make: which(&["make", "gmake"]),
            m4: which(&["m4", "gm4"]),
            rust: rust::find(workspace, host)?,
            aarch64_cc: which(&["aarch64-linux-gnu-gcc"]).filter(|cc| emulates && has_library(cc, "libc.a")),
            aarch64_libraries: Some(PathBuf::from(AARCH64_LIBRARIES))
                .filter(|path| emulates && path.join(LOADER).is_file()),
            qemu: emulates.then(|| qemu::find(workspace)).flatten(),
            objdump: which(if host.is_aarch64() { &["objdump"] } else { &["aarch64-linux-gnu-objdump"] }),
            cxx: which(&["c++", "g++", "clang++"]),
            mlir: mlir::find_mlir(),
            llvm: mlir::find_llvm(),
            compiler_rt: mlir::find_compiler_rt(),
            chromium: which(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]),
            node: find_node(),
            npm: which(&["npm"]),
            z3: which(&["z3"]),
            cvc5: which(&["cvc5"]),
            bf16: mlir::has_bf16(),
        })
    }

    /// A description of where a tool is, or `None` if it is missing.
    pub(crate) fn found(&self, tool: Tool) -> Option<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        match tool {
            Tool::Cc => path(&self.cc),
            Tool::Make => path(&self.make),
            Tool::M4 => path(&self.m4),
            Tool::Aarch64Rust => self.rust.as_ref().map(ToString::to_string),
            Tool::Aarch64Cc => path(&self.aarch64_cc),
            Tool::Qemu => self.qemu.as_ref().map(ToString::to_string),
            Tool::Objdump => path(&self.objdump),
            Tool::Cxx => path(&self.cxx),
            Tool::Mlir => self.mlir.as_ref().map(ToString::to_string),
            Tool::Llvm => self.llvm.as_ref().map(ToString::to_string),
            Tool::CompilerRt => path(&self.compiler_rt),
            Tool::Chromium => path(&self.chromium),
            Tool::Node => self.node.as_ref().map(|node| format!("{} ({})", node.path.display(), node.version)),
            Tool::Npm => path(&self.npm),
            Tool::Z3 => path(&self.z3),
            Tool::Cvc5 => path(&self.cvc5),
        }
    }

    /// Those of `tools` that are missing.
    pub(crate) fn missing(&self, tools: &[Tool]) -> Vec<Tool> {
        tools.iter().copied().filter(|tool| self.found(*tool).is_none()).collect()
    }

    /// The command that installs a tool here.
    pub(crate) fn install(&self, tool: Tool) -> String {
        tool.install(self.manager, self.host, self.rustup)
    }

    /// `NAME is missing (PURPOSE): install it with `COMMAND``.
    pub(crate) fn complaint(&self, tool: Tool) -> String {
        format!("{} is missing ({}): install it with `{}`", tool.name(self.host), tool.purpose(), self.install(tool))
    }
}

/// Node.js.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The program.
    pub(crate) path: PathBuf,
    /// Such as `20.20.2`.
    pub(crate) version: String,
}

/// The first release of Node.js that what drives Chromium runs on.
const NODE: u32 = 20;

/// Node.js, unless it is too old.
fn find_node() -> Option<Node> {
    let path = which(&["node", "nodejs"])?;
    let version = process::output(Command::new(&path).arg("--version")).ok()?;
    let version = version.trim().trim_start_matches('v').to_owned();
    is_new_enough(&version).then_some(Node { path, version })
}

fn is_new_enough(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= NODE)
}

/// The package manager of this system.
fn manager() -> Manager {
    let known =
        [("apt-get", Manager::Apt), ("dnf", Manager::Dnf), ("pacman", Manager::Pacman), ("brew", Manager::Brew)];
    known.into_iter().find(|(name, _)| which(&[name]).is_some()).map_or(Manager::Unknown, |(_, manager)| manager)
}

/// Whether a C compiler knows the path of a file of the C library. If not, it prints only the name.
fn has_library(cc: &Path, file: &str) -> bool {
    let answer = process::output(Command::new(cc).arg(format!("-print-file-name={file}")));
    answer.is_ok_and(|answer| Path::new(answer.trim()).is_absolute())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An x86-64 Debian that has everything.
    pub(crate) fn complete() -> Probe {
        let path = |path: &str| Some(PathBuf::from(path));
        Probe {
            host: Host { arch: "x86_64", os: "linux" },
            manager: Manager::Apt,
            rustup: true,
            cc: path("/usr/bin/cc"),
            make: path("/usr/bin/make"),
            m4: path("/usr/bin/m4"),
            rust: Some(Aarch64Rust::Installed("/rust/lib/rustlib/aarch64-unknown-linux-gnu".into())),
            aarch64_cc: path("/usr/bin/aarch64-linux-gnu-gcc"),
            aarch64_libraries: path(AARCH64_LIBRARIES),
            qemu: Some(Qemu { path: "/t/cross/qemu/qemu-aarch64".into(), version: "10.0.2".into() }),
            objdump: path("/usr/bin/aarch64-linux-gnu-objdump"),
            cxx: None,
            mlir: Some(Mlir {
                opt: "/usr/bin/mlir-opt-22".into(),
                translate: "/usr/bin/mlir-translate-22".into(),
                version: "22.1.8".into(),
            }),
            llvm: Some(Llvm { opt: "/usr/bin/opt-22".into(), llc: "/usr/bin/llc-22".into() }),
            compiler_rt: path("/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.builtins-x86_64.a"),
            chromium: path("/usr/bin/chromium"),
            node: Some(Node { path: "/usr/bin/node".into(), version: "20.20.2".into() }),
            npm: path("/usr/bin/npm"),
            z3: path("/usr/bin/z3"),
            cvc5: path("/usr/bin/cvc5"),
            bf16: false,
        }
    }

    /// A Debian on aarch64 that has everything.
    pub(crate) fn aarch64() -> Probe {
        let host = Host { arch: "aarch64", os: "linux" };
        let objdump = Some("/usr/bin/objdump".into());
        Probe {
            host,
            objdump,
            rust: Some(Aarch64Rust::Host),
            aarch64_cc: None,
            aarch64_libraries: None,
            qemu: None,
            bf16: true,
            ..complete()
        }
    }

    #[test]
    fn what_is_missing_is_named_with_its_purpose_and_command() {
        let probe = Probe { m4: None, qemu: None, ..complete() };
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
