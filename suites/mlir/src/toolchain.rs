//! The programs that make a shared object of a module, as the lanes file names them.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Optimisation levels; each has its own kernel.
pub(super) const LEVELS: [u32; 2] = [0, 2];

/// What compiles modules for one lane.
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
    /// The release of these, such as `22.1.8`.
    pub version: String,
    /// LLVM's name of the target, such as `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// Features of the target beyond its usual ones, as `-mattr` takes them, such as `+bf16`.
    #[serde(default)]
    pub features: String,
    /// The C compiler that links for the target.
    pub linker: PathBuf,
    /// Archives linked in: routines of the compiler that the C compiler's own library may lack.
    #[serde(default)]
    pub archives: Vec<PathBuf>,
    /// Directory of what has been compiled.
    pub cache: PathBuf,
}

impl Toolchain {
    /// `x86-64`, `aarch64`, with features: how the target reads in an ISA path.
    fn target(&self) -> String {
        let arch = self.triple.split('-').next().unwrap_or_default().replace('_', "-");
        if self.features.is_empty() { arch } else { format!("{arch} {}", self.features) }
    }

    /// What executes, for a reader: tools, level, target and the instruction that converts f32.
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
