//! Programs that compile a module to a shared object, as the lanes file names them.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Optimisation levels. Each level has its own kernel.
pub(super) const LEVELS: [u32; 2] = [0, 2];

/// Tools that compile modules for one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// `mlir-opt`, which lowers the casts.
    pub mlir_opt: PathBuf,
    /// `mlir-translate`, to LLVM IR.
    pub mlir_translate: PathBuf,
    /// LLVM's `opt`.
    pub opt: PathBuf,
    /// LLVM's `llc`.
    pub llc: PathBuf,
    /// Release of the LLVM tools, such as `22.1.8`.
    pub version: String,
    /// LLVM triple of the target, such as `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// Additional features of the target, in the syntax of `-mattr`, such as `+bf16`.
    #[serde(default)]
    pub features: String,
    /// C compiler that links for the target.
    pub linker: PathBuf,
    /// Archives to link: compiler routines that the C compiler's own library may lack.
    #[serde(default)]
    pub archives: Vec<PathBuf>,
    /// Directory of compiled objects.
    pub cache: PathBuf,
}

impl Toolchain {
    /// Returns the target as text for an ISA path: `x86-64`, `aarch64`, with features.
    fn target(&self) -> String {
        let arch = self.triple.split('-').next().unwrap_or_default().replace('_', "-");
        if self.features.is_empty() { arch } else { format!("{arch} {}", self.features) }
    }

    /// Returns the ISA path, for readers: tools, level, target and the instruction that converts f32.
    pub(super) fn isa_path(&self, quantizes: bool, level: u32) -> String {
        let instruction = match (self.triple.starts_with("x86_64"), quantizes, level) {
            (true, true, 0) => "cvttss2si",
            (true, true, _) => "cvttps2dq",
            (true, false, 0) => "cvtsi2ss",
            (true, false, _) => "cvtdq2ps",
            (false, true, _) => "fcvtzs",
            (false, false, _) => "scvtf",
        };
        format!("mlir-opt {}, llc -O{level}, {}: {instruction}", self.version, self.target())
    }
}
