//! Shipped compiler of the lanes `mlir-x86`, `mlir-aarch64` and `mlir-aarch64-bf16`: paths of its tools, and their description in the lanes file.

use crate::probe::{AARCH64_LIBRARIES, Probe};
use crate::process::which;
use crate::tools::{LLVM, Tool};
use crate::workspace::{Host, Workspace};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Compiler of a lane's modules, as `tiebreak` reads it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Toolchain {
    mlir_opt: PathBuf,
    mlir_translate: PathBuf,
    opt: PathBuf,
    llc: PathBuf,
    version: String,
    triple: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    features: &'static str,
    linker: PathBuf,
    archives: Vec<PathBuf>,
    cache: PathBuf,
}

impl Toolchain {
    /// Returns the version that the tools print.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the programs, in the order in which they run.
    pub(crate) fn programs(&self) -> [&Path; 5] {
        [&self.mlir_opt, &self.mlir_translate, &self.opt, &self.llc, &self.linker].map(PathBuf::as_path)
    }
}

/// Target of compiled modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// x86-64.
    X86,
    /// First version of aarch64, which has neither f16 arithmetic nor conversions to bf16.
    Aarch64,
    /// aarch64 with f16 arithmetic and conversions to bf16.
    Aarch64Bf16,
}

impl Target {
    /// Every target.
    pub(crate) const ALL: [Self; 3] = [Self::X86, Self::Aarch64, Self::Aarch64Bf16];

    /// Returns the name of the target's lane.
    pub(crate) fn lane(self) -> &'static str {
        match self {
            Self::X86 => "mlir-x86",
            Self::Aarch64 => "mlir-aarch64",
            Self::Aarch64Bf16 => "mlir-aarch64-bf16",
        }
    }

    /// Returns the target of this host's own code.
    pub(crate) fn of(host: Host) -> Self {
        if host.is_aarch64() { Self::Aarch64 } else { Self::X86 }
    }

    /// Returns LLVM's name of the target.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Self::X86 => "x86_64-unknown-linux-gnu",
            Self::Aarch64 | Self::Aarch64Bf16 => "aarch64-unknown-linux-gnu",
        }
    }

    /// Returns additional features, as LLVM names them.
    fn features(self) -> &'static str {
        match self {
            Self::X86 | Self::Aarch64 => "",
            Self::Aarch64Bf16 => "+bf16,+fullfp16",
        }
    }

    /// True if a host runs the target under an emulator.
    pub(crate) fn emulated(self, host: Host) -> bool {
        host.arch != self.arch()
    }

    /// Returns the architecture as Rust spells it.
    pub(crate) fn arch(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Aarch64 | Self::Aarch64Bf16 => "aarch64",
        }
    }
}

/// True if this CPU has the instructions of [`Target::Aarch64Bf16`]; an emulator has all of them.
pub(crate) fn has_bf16() -> bool {
    #[cfg(target_arch = "aarch64")]
    {
        std::arch::is_aarch64_feature_detected!("bf16") && std::arch::is_aarch64_feature_detected!("fp16")
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        false
    }
}

/// Returns the tools for a target, if all of them are installed.
pub(crate) fn toolchain(workspace: &Workspace, probe: &Probe, target: Target) -> Option<Toolchain> {
    let mlir = probe.found.get(&Tool::Mlir)?;
    let native = probe.host.arch == target.arch();
    let linker = probe.path(if native { Tool::Cc } else { Tool::Aarch64Cc })?.to_owned();
    let archives = match target {
        Target::X86 => vec![probe.path(Tool::CompilerRt)?.to_owned()],
        Target::Aarch64 | Target::Aarch64Bf16 => Vec::new(),
    };
    Some(Toolchain {
        mlir_opt: mlir.path.clone(),
        mlir_translate: program("mlir-translate")?,
        opt: program("opt")?,
        llc: program("llc")?,
        version: mlir.version.clone()?,
        triple: target.triple(),
        features: target.features(),
        linker,
        archives,
        cache: workspace.target.join("tiebreak/mlir"),
    })
}

/// Returns the reason why a lane of compiled modules cannot run here, if any.
pub(crate) fn why_not(probe: &Probe, target: Target) -> Option<String> {
    let host = probe.host;
    if host.os != "linux" {
        return Some(format!("its shared objects run on Linux; this host is {}", host.os));
    }
    if host.arch != target.arch() && !(target != Target::X86 && host.emulates_aarch64()) {
        return Some(format!("the host is {}; this lane needs an {} host", host.arch, target.arch()));
    }
    if target == Target::Aarch64Bf16 && host.is_aarch64() && !probe.bf16 {
        return Some("this CPU has no instructions of bf16 (FEAT_BF16) or of f16 (FEAT_FP16)".to_owned());
    }
    let mut tools = Tool::mlir(host).to_vec();
    if target.emulated(host) {
        tools.extend(Tool::EMULATION_RUN);
    }
    let missing: Vec<String> = probe.missing(&tools).into_iter().map(|tool| probe.complaint(tool)).collect();
    if missing.is_empty() && target.emulated(host) && probe.aarch64_libraries.is_none() {
        return Some(format!("{AARCH64_LIBRARIES} has no C library of aarch64, which its dynamic worker needs"));
    }
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Finds a program of LLVM's release: its name ends with the release's number, or it is in the release's directory.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    which(&[&format!("{name}-{LLVM}")]).or_else(|| {
        let file = Path::new("/usr/lib").join(format!("llvm-{LLVM}/bin/{name}"));
        file.is_file().then_some(file)
    })
}

/// Finds the library of routines that belongs to the tools.
pub(crate) fn find_compiler_rt() -> Option<PathBuf> {
    let tools = program("llc")?.canonicalize().ok()?;
    let release = tools.parent()?.parent()?;
    let file = release.join(format!("lib/clang/{LLVM}/lib/linux/libclang_rt.builtins-x86_64.a"));
    file.is_file().then_some(file)
}

/// Returns the number in `Debian LLVM version 22.1.8`.
pub(crate) fn version(text: &str) -> Option<String> {
    let after = text.split("LLVM version ").nth(1)?;
    Some(after.split_whitespace().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::{aarch64, complete};

    #[test]
    fn the_version_is_found_in_what_the_tools_print() {
        let text = "Debian LLVM version 22.1.8\n  Optimized build.\n";
        assert_eq!(version(text).as_deref(), Some("22.1.8"));
        assert_eq!(version("no version"), None);
    }

    #[test]
    fn each_host_runs_what_it_can() {
        assert_eq!(why_not(&complete(), Target::X86), None);
        assert_eq!(why_not(&complete(), Target::Aarch64), None);
        assert_eq!(why_not(&complete(), Target::Aarch64Bf16), None);
        assert_eq!(why_not(&aarch64(), Target::Aarch64), None);
        assert_eq!(why_not(&aarch64(), Target::Aarch64Bf16), None);
        let reason = why_not(&aarch64(), Target::X86).expect("an aarch64 host emulates no x86");
        assert_eq!(reason, "the host is aarch64; this lane needs an x86_64 host");
    }

    #[test]
    fn what_is_missing_comes_with_its_command() {
        let reason = why_not(&complete().without(&[Tool::Mlir]), Target::X86).expect("it is missing");
        assert!(reason.starts_with("mlir-opt-22 is missing"), "{reason}");
        assert!(reason.ends_with("install it with `cargo xtask setup --with mlir`"), "{reason}");
        assert_eq!(why_not(&complete().without(&[Tool::Qemu]), Target::X86), None);
        for target in [Target::Aarch64, Target::Aarch64Bf16] {
            assert!(why_not(&complete().without(&[Tool::Qemu]), target).is_some());
        }
    }

    #[test]
    fn a_cpu_without_bf16_says_so() {
        let old = Probe { bf16: false, ..aarch64() };
        assert_eq!(why_not(&old, Target::Aarch64), None);
        let reason = why_not(&old, Target::Aarch64Bf16).expect("it has no such instructions");
        assert!(reason.contains("FEAT_BF16"), "{reason}");
        // The emulator has the instructions.
        assert_eq!(why_not(&Probe { bf16: false, ..complete() }, Target::Aarch64Bf16), None);
    }
}
