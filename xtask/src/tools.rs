//! Needed tools, with their purposes and packages.

use crate::workspace::{AARCH64, Host};
use clap::ValueEnum;

/// Tool that cargo does not install.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Tool {
    Cc,
    Make,
    M4,
    /// Standard library of Rust for aarch64.
    Aarch64Rust,
    /// C compiler for aarch64 with its library, used as a linker.
    Aarch64Cc,
    Qemu,
    Objdump,
    Cxx,
    /// `mlir-opt` and `mlir-translate`.
    Mlir,
    /// LLVM's `opt` and `llc`.
    Llvm,
    CompilerRt,
    Chromium,
    Node,
    Npm,
    Z3,
    Cvc5,
    Clang,
    Slurm,
    Munge,
    Parallel,
}

/// Name, purpose, and the packages of apt, dnf, pacman and brew; no package if empty.
type Row = (&'static str, &'static str, [&'static str; 4]);

/// Release of LLVM whose lowering of casts is judged; earlier releases have no `--lower-quant-ops`.
pub(crate) const LLVM: &str = "22";

/// Package manager, in the order of the columns of [`Row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    Apt,
    Dnf,
    Pacman,
    Brew,
    /// Another manager, or none.
    Unknown,
}

impl Tool {
    /// Tools that build the oracle's GMP. Every command needs them.
    pub(crate) const BASE: [Self; 3] = [Self::Cc, Self::Make, Self::M4];
    /// Tools of the tests that run every printed command: they compile libraries in C and C++, and prove code.
    pub(crate) const TESTS: [Self; 3] = [Self::Cxx, Self::Z3, Self::Cvc5];
    /// Tools of the aarch64 lane on a host that emulates aarch64.
    pub(crate) const EMULATION: [Self; 4] = [Self::Aarch64Rust, Self::Aarch64Cc, Self::Qemu, Self::Objdump];
    /// Tools without which the lane does not run.
    pub(crate) const EMULATION_RUN: [Self; 3] = [Self::Aarch64Rust, Self::Aarch64Cc, Self::Qemu];
    /// Tools without which the worker of the lane is not built.
    pub(crate) const EMULATION_BUILD: [Self; 2] = [Self::Aarch64Rust, Self::Aarch64Cc];
    /// Tools that check workflows.
    pub(crate) const NODE: [Self; 2] = [Self::Node, Self::Npm];
    /// Tools that open a report.
    pub(crate) const BROWSER: [Self; 3] = [Self::Chromium, Self::Node, Self::Npm];
    /// Tools that confirm proofs of schemes.
    pub(crate) const SOLVERS: [Self; 2] = [Self::Z3, Self::Cvc5];

    /// Engines that run shards in tests.
    pub(crate) const ENGINES: [Self; 3] = [Self::Slurm, Self::Munge, Self::Parallel];

    /// Returns the tools of the lanes of compiled modules. x86-64 needs a library of routines; aarch64 has instructions instead.
    pub(crate) fn mlir(host: Host) -> &'static [Self] {
        if host.is_aarch64() { &[Self::Mlir, Self::Llvm] } else { &[Self::Mlir, Self::Llvm, Self::CompilerRt] }
    }

    /// Returns the tools that Tiebreak needs on a host.
    pub(crate) fn needed(host: Host) -> Vec<Self> {
        let lane: &[Self] = match host {
            _ if host.emulates_aarch64() => &Self::EMULATION,
            _ if host.is_aarch64() => &[Self::Objdump],
            _ => &[],
        };
        [&Self::BASE, lane].concat()
    }

    fn row(self, host: Host) -> Row {
        let everywhere = |package| [package; 4];
        let linux = |package| [package, package, package, ""];
        match self {
            Self::Cc => (
                "C compiler",
                "links every program; compiles GMP for the oracle",
                ["gcc libc6-dev", "gcc glibc-devel", "gcc", ""],
            ),
            Self::Make => ("make", "builds GMP for the oracle", everywhere("make")),
            Self::M4 => ("m4", "GMP's build fails without it", everywhere("m4")),
            Self::Aarch64Rust => ("aarch64 Rust", "compiles the kernels for the aarch64 lane", everywhere("")),
            Self::Aarch64Cc => (
                "aarch64-linux-gnu-gcc",
                "links the worker of the aarch64 lane",
                [
                    "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
                    "gcc-aarch64-linux-gnu sysroot-aarch64-fc43-glibc",
                    "aarch64-linux-gnu-gcc aarch64-linux-gnu-glibc",
                    "",
                ],
            ),
            Self::Qemu => ("qemu-aarch64", "runs the worker of the aarch64 lane", linux("qemu-user")),
            Self::Objdump => {
                let purpose = "shows which aarch64 instructions a kernel is made of";
                let cross =
                    ["binutils-aarch64-linux-gnu", "binutils-aarch64-linux-gnu", "aarch64-linux-gnu-binutils", ""];
                match host.is_aarch64() {
                    true => ("objdump", purpose, linux("binutils")),
                    false => ("aarch64-linux-gnu-objdump", purpose, cross),
                }
            }
            Self::Cxx => (
                "C++ compiler",
                "compiles libFuzzer for `cargo xtask fuzz`, and libraries in tests",
                ["g++", "gcc-c++", "gcc", ""],
            ),
            Self::Mlir => (
                "mlir-opt-22",
                "lowers the casts of the lanes mlir-x86, mlir-aarch64 and mlir-aarch64-bf16",
                ["mlir-22-tools", "", "", ""],
            ),
            Self::Llvm => ("llc-22", "compiles what mlir-opt lowered", ["llvm-22", "", "", ""]),
            Self::CompilerRt => (
                "compiler-rt 22",
                "rounds to bf16 for what llc compiled for x86-64",
                ["libclang-rt-22-dev", "", "", ""],
            ),
            Self::Chromium => ("Chromium", "opens reports in a test", linux("chromium")),
            Self::Node => (
                "Node.js",
                "checks workflows and drives Chromium in tests; of release 20 or later",
                ["nodejs", "nodejs", "nodejs", "node"],
            ),
            Self::Npm => {
                ("npm", "installs what checks workflows and drives Chromium", ["npm", "nodejs-npm", "npm", "node"])
            }
            Self::Slurm => {
                ("Slurm", "runs shards in a test, on a private cluster", ["slurm-wlm", "", "slurm-llnl", ""])
            }
            Self::Munge => ("munge", "authenticates the daemons of that cluster", ["munge", "munge", "munge", ""]),
            Self::Parallel => ("GNU parallel", "runs shards in a test", everywhere("parallel")),
            Self::Z3 => ("z3", "confirms statements of `cargo xtask prove --confirm`", everywhere("z3")),
            Self::Clang => {
                ("clang-22", "makes LLVM IR of C for `cargo xtask prove --c`", ["clang-22", "clang", "clang", "llvm"])
            }
            Self::Cvc5 => ("cvc5", "confirms statements of `cargo xtask prove --confirm`", everywhere("cvc5")),
        }
    }

    /// Returns the displayed name.
    pub(crate) fn name(self, host: Host) -> &'static str {
        self.row(host).0
    }

    /// Returns the purpose.
    pub(crate) fn purpose(self) -> &'static str {
        self.row(Host::CURRENT).1
    }

    /// Returns the command that installs the tool.
    pub(crate) fn install(self, manager: Manager, host: Host) -> String {
        let with = |name| format!("cargo xtask setup --with {name}");
        match self {
            Self::Aarch64Rust => format!("rustup target add {AARCH64}"),
            Self::Mlir | Self::Llvm | Self::CompilerRt if manager == Manager::Apt => with("mlir"),
            Self::Chromium | Self::Node | Self::Npm if manager == Manager::Apt => with("browser"),
            Self::Z3 | Self::Cvc5 | Self::Clang if manager == Manager::Apt => with("solvers"),
            Self::Cc | Self::Cxx if host.os == "macos" => "xcode-select --install".to_owned(),
            _ => manager
                .command(&packages(&[self], manager, host))
                .unwrap_or_else(|| format!("install {} with the package manager of this system", self.name(host))),
        }
    }
}

impl Manager {
    /// Returns the command that installs packages, to be typed by a person.
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

/// Returns the packages of several tools, each once, in the order of the tools.
pub(crate) fn packages(tools: &[Tool], manager: Manager, host: Host) -> Vec<&'static str> {
    let mut packages = Vec::new();
    for tool in tools {
        let names = tool.row(host).2.get(manager as usize).copied().unwrap_or_default();
        for package in names.split_whitespace() {
            if !packages.contains(&package) {
                packages.push(package);
            }
        }
    }
    packages
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
        assert_eq!(packages(&[Tool::Cc, Tool::Cxx], Manager::Pacman, X86), ["gcc"], "each package once");
    }

    #[test]
    fn every_needed_tool_has_a_command_on_every_system() {
        for manager in [Manager::Apt, Manager::Dnf, Manager::Pacman, Manager::Brew, Manager::Unknown] {
            for host in [X86, ARM, MAC] {
                for tool in Tool::needed(host) {
                    assert!(!tool.install(manager, host).is_empty(), "{tool:?} {manager:?} {host:?}");
                }
            }
        }
        assert_eq!(Tool::M4.install(Manager::Apt, X86), "sudo apt-get install --no-install-recommends m4");
        assert_eq!(Tool::Aarch64Rust.install(Manager::Apt, X86), "rustup target add aarch64-unknown-linux-gnu");
    }
}
