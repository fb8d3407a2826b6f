//! The tools that are needed, what they are for, and how each system installs them.

use crate::workspace::{AARCH64, Host};
use std::collections::BTreeSet;

/// A tool that cargo does not bring along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    /// A C compiler with its library.
    Cc,
    /// Make.
    Make,
    /// M4.
    M4,
    /// The standard library of Rust for aarch64.
    Aarch64Rust,
    /// A C compiler for aarch64 with its library; it is used as a linker.
    Aarch64Cc,
    /// qemu-user.
    Qemu,
    /// A disassembler of aarch64 programs.
    Objdump,
    /// A C++ compiler.
    Cxx,
    /// `mlir-opt` and `mlir-translate`.
    Mlir,
    /// LLVM's `opt` and `llc`.
    Llvm,
    /// Routines that code of LLVM calls.
    CompilerRt,
    /// Chromium, or Chrome.
    Chromium,
    /// Node.js.
    Node,
    /// npm.
    Npm,
    /// The SMT solver z3.
    Z3,
    /// The SMT solver cvc5.
    Cvc5,
}

/// The release of LLVM whose lowering of casts is judged: earlier ones have no `--lower-quant-ops`.
pub(crate) const LLVM: &str = "22";

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    /// Debian and its relatives.
    Apt,
    /// Fedora and its relatives.
    Dnf,
    /// Arch Linux.
    Pacman,
    /// Homebrew.
    Brew,
    /// None of these.
    Unknown,
}

impl Tool {
    /// The tools that build the oracle's GMP. Nothing works without these.
    pub(crate) const BASE: [Self; 3] = [Self::Cc, Self::Make, Self::M4];
    /// The tools of the aarch64 lane where aarch64 is emulated.
    pub(crate) const EMULATION: [Self; 4] = [Self::Aarch64Rust, Self::Aarch64Cc, Self::Qemu, Self::Objdump];
    /// Those without which the lane does not run.
    pub(crate) const EMULATION_RUN: [Self; 3] = [Self::Aarch64Rust, Self::Aarch64Cc, Self::Qemu];
    /// Those without which its worker is not built.
    pub(crate) const EMULATION_BUILD: [Self; 2] = [Self::Aarch64Rust, Self::Aarch64Cc];

    /// The tools of the lanes of compiled modules, in addition to a worker.
    pub(crate) const MLIR: [Self; 3] = [Self::Mlir, Self::Llvm, Self::CompilerRt];

    /// The tools that open a report.
    pub(crate) const BROWSER: [Self; 3] = [Self::Chromium, Self::Node, Self::Npm];

    /// The tools that confirm proofs of schemes.
    pub(crate) const SOLVERS: [Self; 2] = [Self::Z3, Self::Cvc5];

    /// Those that a host uses: x86-64 needs a library of routines, aarch64 has instructions instead.
    pub(crate) fn mlir(host: Host) -> &'static [Self] {
        if host.is_aarch64() { &Self::MLIR[..2] } else { &Self::MLIR }
    }

    /// The name that is shown.
    pub(crate) fn name(self, host: Host) -> &'static str {
        match self {
            Self::Cc => "C compiler",
            Self::Make => "make",
            Self::M4 => "m4",
            Self::Aarch64Rust => "aarch64 Rust",
            Self::Aarch64Cc => "aarch64-linux-gnu-gcc",
            Self::Qemu => "qemu-aarch64",
            Self::Objdump if host.is_aarch64() => "objdump",
            Self::Objdump => "aarch64-linux-gnu-objdump",
            Self::Cxx => "C++ compiler",
            Self::Mlir => "mlir-opt-22",
            Self::Llvm => "llc-22",
            Self::CompilerRt => "compiler-rt 22",
            Self::Chromium => "Chromium",
            Self::Node => "Node.js",
            Self::Npm => "npm",
            Self::Z3 => "z3",
            Self::Cvc5 => "cvc5",
        }
    }

    /// What it is for.
    pub(crate) fn purpose(self) -> &'static str {
        match self {
            Self::Cc => "links every program; compiles GMP for the oracle",
            Self::Make => "builds GMP for the oracle",
            Self::M4 => "GMP's build fails without it",
            Self::Aarch64Rust => "compiles the kernels for the aarch64 lane",
            Self::Aarch64Cc => "links the worker of the aarch64 lane",
            Self::Qemu => "runs the worker of the aarch64 lane",
            Self::Objdump => "shows which aarch64 instructions a kernel is made of",
            Self::Cxx => "compiles libFuzzer for `cargo xtask fuzz`",
            Self::Mlir => "lowers the casts of the lanes mlir-x86, mlir-aarch64 and mlir-aarch64-bf16",
            Self::Llvm => "compiles what mlir-opt lowered",
            Self::Chromium => "opens reports in a test",
            Self::Node => "drives Chromium in a test; of release 20 or later",
            Self::Npm => "installs what drives Chromium",
            Self::CompilerRt => "rounds to bf16 for what llc compiled for x86-64",
            Self::Z3 | Self::Cvc5 => "confirms statements of `cargo xtask prove --confirm`",
        }
    }

    /// The tools that Tiebreak needs on a host.
    pub(crate) fn needed(host: Host) -> Vec<Self> {
        let mut tools = Self::BASE.to_vec();
        if host.emulates_aarch64() {
            tools.extend(Self::EMULATION);
        } else if host.is_aarch64() {
            tools.push(Self::Objdump);
        }
        tools
    }

    /// The packages that contain it, if there are any.
    pub(crate) fn packages(self, manager: Manager, host: Host) -> &'static [&'static str] {
        use Manager::{Apt, Brew, Dnf, Pacman, Unknown};
        match (self, manager) {
            (Self::Cc, Apt) => &["gcc", "libc6-dev"],
            (Self::Cc, Dnf) => &["gcc", "glibc-devel"],
            (Self::Cc, Pacman) => &["gcc"],
            (Self::Cc, Brew) => &[],
            (Self::Make, Apt | Dnf | Pacman | Brew) => &["make"],
            (Self::M4, Apt | Dnf | Pacman | Brew) => &["m4"],
            (Self::Aarch64Cc, Apt) => &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
            (Self::Aarch64Cc, Dnf) => &["gcc-aarch64-linux-gnu", "sysroot-aarch64-fc43-glibc"],
            (Self::Aarch64Cc, Pacman) => &["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-glibc"],
            (Self::Qemu, Apt | Dnf | Pacman) => &["qemu-user"],
            (Self::Objdump, Apt | Dnf | Pacman) if host.is_aarch64() => &["binutils"],
            (Self::Objdump, Apt | Dnf) => &["binutils-aarch64-linux-gnu"],
            (Self::Objdump, Pacman) => &["aarch64-linux-gnu-binutils"],
            (Self::Cxx, Apt) => &["g++"],
            (Self::Cxx, Dnf) => &["gcc-c++"],
            (Self::Cxx, Pacman) => &["gcc"],
            (Self::Mlir, Apt) => &["mlir-22-tools"],
            (Self::Llvm, Apt) => &["llvm-22"],
            (Self::CompilerRt, Apt) => &["libclang-rt-22-dev"],
            (Self::Chromium, Apt | Dnf | Pacman) => &["chromium"],
            (Self::Node, Apt | Dnf | Pacman) => &["nodejs"],
            (Self::Node | Self::Npm, Brew) => &["node"],
            (Self::Npm, Apt | Pacman) => &["npm"],
            (Self::Npm, Dnf) => &["nodejs-npm"],
            (Self::Z3, Apt | Dnf | Pacman | Brew) => &["z3"],
            (Self::Cvc5, Apt | Dnf | Pacman | Brew) => &["cvc5"],
            (Self::Mlir | Self::Llvm | Self::CompilerRt, Dnf | Pacman | Brew)
            | (Self::Aarch64Cc | Self::Qemu | Self::Objdump | Self::Cxx | Self::Chromium, Brew)
            | (_, Unknown)
            | (Self::Aarch64Rust, _) => &[],
        }
    }

    /// The command that installs it.
    pub(crate) fn install(self, manager: Manager, host: Host, rustup: bool) -> String {
        match self {
            Self::Aarch64Rust if rustup => format!("rustup target add {AARCH64}"),
            Self::Aarch64Rust => "cargo xtask setup".to_owned(),
            Self::Mlir | Self::Llvm | Self::CompilerRt if manager == Manager::Apt => {
                "cargo xtask setup --with mlir".to_owned()
            }
            Self::Chromium | Self::Node | Self::Npm if manager == Manager::Apt => {
                "cargo xtask setup --with browser".to_owned()
            }
            Self::Z3 | Self::Cvc5 if manager == Manager::Apt => "cargo xtask setup --with solvers".to_owned(),
            Self::Cc | Self::Cxx if host.os == "macos" => "xcode-select --install".to_owned(),
            _ => manager
                .command(self.packages(manager, host))
                .unwrap_or_else(|| format!("install {} with the package manager of this system", self.name(host))),
        }
    }
}

impl Manager {
    /// The command that installs packages, to be typed by a person.
    pub(crate) fn command(self, packages: &[&str]) -> Option<String> {
        let program = match self {
            Self::Apt => "sudo apt-get install --no-install-recommends",
            Self::Dnf => "sudo dnf install",
            Self::Pacman => "sudo pacman -S",
            Self::Brew => "brew install",
            Self::Unknown => return None,
        };
        (!packages.is_empty()).then(|| format!("{program} {}", packages.join(" ")))
    }
}

/// The packages of several tools, each once, in the order of the tools.
pub(crate) fn packages(tools: &[Tool], manager: Manager, host: Host) -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    tools
        .iter()
        .flat_map(|tool| tool.packages(manager, host))
        .copied()
        .filter(|package| seen.insert(*package))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: Host = Host { arch: "x86_64", os: "linux" };
    const ARM: Host = Host { arch: "aarch64", os: "linux" };
    const MAC: Host = Host { arch: "aarch64", os: "macos" };

    #[test]
    fn a_host_that_emulates_needs_the_cross_tools_and_an_aarch64_host_none() {
        assert!(Tool::EMULATION.iter().all(|tool| Tool::needed(X86).contains(tool)));
        assert_eq!(Tool::needed(ARM), [Tool::Cc, Tool::Make, Tool::M4, Tool::Objdump]);
        assert_eq!(Tool::needed(MAC), Tool::needed(ARM));
    }

    #[test]
    fn packages_of_a_fresh_debian() {
        let found = packages(&Tool::needed(X86), Manager::Apt, X86).join(" ");
        let expected =
            "gcc libc6-dev make m4 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user binutils-aarch64-linux-gnu";
        assert_eq!(found, expected);
    }

    #[test]
    fn a_package_is_asked_for_once() {
        assert_eq!(packages(&[Tool::Cc, Tool::Cxx], Manager::Pacman, X86), ["gcc"]);
    }

    #[test]
    fn every_needed_tool_has_a_command_on_every_system() {
        for manager in [Manager::Apt, Manager::Dnf, Manager::Pacman, Manager::Brew, Manager::Unknown] {
            for host in [X86, ARM, MAC] {
                for tool in Tool::needed(host) {
                    assert!(!tool.install(manager, host, false).is_empty(), "{tool:?} {manager:?} {host:?}");
                }
            }
        }
        assert_eq!(Tool::M4.install(Manager::Apt, X86, true), "sudo apt-get install --no-install-recommends m4");
        assert_eq!(Tool::Aarch64Rust.install(Manager::Apt, X86, true), "rustup target add aarch64-unknown-linux-gnu");
    }
}
