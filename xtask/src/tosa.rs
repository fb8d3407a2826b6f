//! TOSA as the shipped compiler lowers it: the functions of `impls/shipped/tosa-mlir`, compiled by `mlir-opt` and LLVM, and linked with the worker there.

use crate::mlir::program;
use crate::process::{self, which};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes from TOSA to LLVM's dialect; `{}` stands for the options of `tosa-to-arith`.
const PIPELINE: &str = "builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,\
    tosa-to-arith{include-apply-rescale=true {}},tosa-to-tensor),canonicalize,cse,linalg-fuse-elementwise-ops,\
    one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},\
    buffer-deallocation-pipeline,canonicalize,cse,convert-bufferization-to-memref,func.func(convert-linalg-to-loops),\
    convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-arith-to-llvm,finalize-memref-to-llvm,\
    convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)";

/// Rescalings that the worker has: rounding, type of the results, and whether it is unsigned.
const RESCALINGS: [(&str, u32, bool); 4] =
    [("single", 8, false), ("double", 8, false), ("double", 8, true), ("single", 16, false)];

/// The functions of a module, of the texts in `sources`.
struct Texts {
    scale: String,
    rescale: String,
    matmul: String,
}

impl Texts {
    fn read(sources: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = sources.join(name);
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
        };
        Ok(Self { scale: text("apply_scale.mlir")?, rescale: text("rescale.mlir")?, matmul: text("matmul.mlir")? })
    }

    fn scaling(&self, rounding: &str, suffix: &str) -> String {
        let name = format!("@apply_scale_{rounding}{suffix}");
        self.scale.replace("@NAME", &name).replace("= ROUNDING", &format!("= {}_ROUND", rounding.to_uppercase()))
    }

    fn rescaling(&self, (rounding, bits, unsigned): (&str, u32, bool)) -> String {
        let name = format!("@rescale_{rounding}_{}{bits}", if unsigned { 'u' } else { 'i' });
        self.rescale
            .replace("@NAME", &name)
            .replace("= ROUNDING", &format!("= {}_ROUND", rounding.to_uppercase()))
            .replace("= UNSIGNED", &format!("= {unsigned}"))
            .replace("xTYPE", &format!("xi{bits}"))
    }

    /// Everything, with products of 64 bits.
    fn wide(&self) -> String {
        let scalings = ["single", "double"].map(|rounding| self.scaling(rounding, "")).concat();
        scalings + &RESCALINGS.map(|one| self.rescaling(one)).concat() + &self.matmul
    }

    /// The scalings, with products in two halves of 32 bits.
    fn halves(&self) -> String {
        ["single", "double"].map(|rounding| self.scaling(rounding, "_32")).concat()
    }
}

/// Builds the worker at a level of LLVM.
pub(crate) fn built(sources: &Path, place: &Path, level: u32) -> Result<PathBuf> {
    let Some(compiler) = which(&["c++", "g++", "clang++"]) else {
        bail!("no compiler of C++ is on the search path; install one, such as `sudo apt-get install g++`");
    };
    let texts = Texts::read(sources)?;
    let wide = object(place, "wide", &texts.wide(), "", level)?;
    let halves = object(place, "halves", &texts.halves(), "use-32-bit=true", level)?;
    let worker = place.join("worker");
    let mut command = Command::new(compiler);
    command.args(["-O2", "-std=c++17", &format!("-DLEVEL=\"-O{level}\"")]).arg(sources.join("worker.cpp"));
    process::output(command.args([&wide, &halves]).arg("-o").arg(&worker)).context("building the worker of TOSA")?;
    Ok(worker)
}

/// One module as an object.
fn object(place: &Path, name: &str, text: &str, options: &str, level: u32) -> Result<PathBuf> {
    let file = |extension: &str| place.join(format!("{name}.{extension}"));
    let tool = |name: &str| {
        let found =
            program(name).with_context(|| format!("{name} is missing; `cargo xtask setup --with mlir` installs it"));
        found.map(Command::new)
    };
    fs::write(file("mlir"), text).with_context(|| format!("writing {}", file("mlir").display()))?;
    let passes = format!("--pass-pipeline={}", PIPELINE.replace("{}", options));
    let level = format!("-O{level}");
    process::output(tool("mlir-opt")?.args([&passes, "--emit-bytecode"]).arg(file("mlir")).arg("-o").arg(file("low")))?;
    process::output(tool("mlir-translate")?.arg("--mlir-to-llvmir").arg(file("low")).arg("-o").arg(file("ll")))?;
    process::output(tool("opt")?.arg(&level).arg(file("ll")).arg("-o").arg(file("bc")))?;
    let llc = [level.as_str(), "-relocation-model=pic", "-filetype=obj"];
    process::output(tool("llc")?.args(llc).arg(file("bc")).arg("-o").arg(file("o")))?;
    Ok(file("o"))
}
