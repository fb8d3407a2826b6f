//! Compilers of the caller's: programs in place of those that the lanes of compiled casts use.

use crate::lane::config::Lanes;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_common::called::in_clone;
use tiebreak_common::shell::quoted;
use tiebreak_mlir::Toolchain;

/// Options that replace the programs of the lanes mlir-x86, mlir-aarch64 and mlir-aarch64-bf16, and of other lanes with `modules`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Compilers of your own, for the lanes of compiled casts")]
pub(super) struct Compilers {
    /// Program that lowers the casts of the quant dialect
    #[arg(long, value_name = "PROGRAM")]
    mlir_opt: Option<PathBuf>,
    /// Program that translates the LLVM dialect to LLVM IR
    #[arg(long, value_name = "PROGRAM")]
    mlir_translate: Option<PathBuf>,
    /// Program that optimizes LLVM IR
    #[arg(long, value_name = "PROGRAM")]
    opt: Option<PathBuf>,
    /// Program that compiles LLVM IR
    #[arg(long, value_name = "PROGRAM")]
    llc: Option<PathBuf>,
}

impl Compilers {
    fn each(&self) -> [(&'static str, Option<&Path>); 4] {
        let Self { mlir_opt, mlir_translate, opt, llc } = self;
        [("mlir-opt", mlir_opt), ("mlir-translate", mlir_translate), ("opt", opt), ("llc", llc)]
            .map(|(name, program)| (name, program.as_deref()))
    }

    fn is_given(&self) -> bool {
        self.each().iter().any(|(_, program)| program.is_some())
    }

    /// Puts the programs into every lane with compiled modules. An error names a program that does not start, or says that there is no such lane.
    pub(super) fn replace(&self, lanes: &mut Lanes) -> Result<()> {
        if !self.is_given() {
            return Ok(());
        }
        for (name, program) in self.each() {
            if let Some(program) = program {
                starts(name, program)?;
            }
        }
        let mut toolchains = lanes.lanes.iter_mut().filter_map(|entry| entry.modules.as_mut()).peekable();
        if toolchains.peek().is_none() {
            bail!("no lane of this run compiles modules; {} provides such lanes", in_clone("setup --with mlir"));
        }
        toolchains.for_each(|toolchain| self.replace_in(toolchain));
        Ok(())
    }

    fn replace_in(&self, toolchain: &mut Toolchain) {
        let Toolchain { mlir_opt, mlir_translate, opt, llc, .. } = toolchain;
        for (program, (_, own)) in [mlir_opt, mlir_translate, opt, llc].into_iter().zip(self.each()) {
            if let Some(own) = own {
                *program = own.to_owned();
            }
        }
        if let Some(version) = self.mlir_opt.as_deref().and_then(version) {
            toolchain.version = version;
        }
    }

    /// These options as a text.
    pub(super) fn written(&self) -> Option<String> {
        let word = |(name, program): (&str, Option<&Path>)| {
            Some(format!("--{name} {}", quoted(&program?.display().to_string())))
        };
        let words: Vec<String> = self.each().into_iter().filter_map(word).collect();
        self.is_given().then(|| words.join(" "))
    }
}

fn starts(name: &str, program: &Path) -> Result<()> {
    match Command::new(program).arg("--version").output() {
        Ok(run) if run.status.success() => Ok(()),
        Ok(run) => bail!(
            "--{name} {}: the program answered --version with {}, so that it is no {name}",
            program.display(),
            run.status
        ),
        Err(error) => bail!("--{name} {}: the program does not start: {error}", program.display()),
    }
}

/// The number in `LLVM version 22.1.8`.
fn version(program: &Path) -> Option<String> {
    let run = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    Some(text.split("LLVM version ").nth(1)?.split_whitespace().next()?.to_owned())
}
