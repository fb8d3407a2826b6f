//! Compilers of the caller, for the lanes of compiled casts, or for a new lane if there is no such lane.

use crate::lane::config::{Entry, Lanes};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_common::identity::find_program;
use tiebreak_mlir::Toolchain;
use tiebreak_shards::shell::quoted;

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

    /// Puts the programs into every lane with compiled modules, or adds such a lane for this machine. Returns the names of the lanes.
    /// Fails if a program is missing or does not start.
    pub(super) fn replace(&self, lanes: &mut Lanes) -> Result<Vec<String>> {
        if !self.is_given() {
            return Ok(Vec::new());
        }
        for (name, program) in self.each() {
            if let Some(program) = program {
                starts(name, program)?;
            }
        }
        let compiles = |entry: &&mut Entry| entry.modules.is_some();
        if !lanes.lanes.iter().any(|entry| entry.modules.is_some()) {
            let own = self.own_lane(lanes)?;
            lanes.lanes.retain(|entry| entry.name != own.name);
            lanes.lanes.push(own);
        }
        let replaced = lanes.lanes.iter_mut().filter(compiles).map(|entry| {
            entry.modules.iter_mut().for_each(|toolchain| self.replace_in(toolchain));
            entry.name.clone()
        });
        Ok(replaced.collect())
    }

    /// Returns the lane that compiles for this machine and runs the compiled code in this program as a worker.
    fn own_lane(&self, lanes: &Lanes) -> Result<Entry> {
        let (name, triple) = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => ("mlir-x86", "x86_64-unknown-linux-gnu"),
            ("linux", "aarch64") => ("mlir-aarch64", "aarch64-unknown-linux-gnu"),
            (os, arch) => bail!("compiled casts run on Linux, on x86-64 and aarch64; this machine is {os}, {arch}"),
        };
        let command = lanes
            .own_worker
            .clone()
            .context("the file of this program is unknown, so it cannot be started as a worker")?;
        let mlir_opt = self.found("mlir-opt", self.mlir_opt.as_deref())?;
        let version = version(&mlir_opt).with_context(|| {
            format!("--mlir-opt {}: --version prints no version of LLVM; is it an mlir-opt?", mlir_opt.display())
        })?;
        let modules = Toolchain {
            mlir_translate: self.found("mlir-translate", self.mlir_translate.as_deref())?,
            opt: self.found("opt", self.opt.as_deref())?,
            llc: self.found("llc", self.llc.as_deref())?,
            version,
            triple: triple.to_owned(),
            features: String::new(),
            linker: find_program(Path::new("cc")).context("there is no C compiler `cc`, which links the modules")?,
            archives: Vec::new(),
            cache: cache()
                .context("HOME is not set, so that there is no place for compiled modules; set XDG_CACHE_HOME")?,
            mlir_opt,
        };
        let programs = [&modules.llc, &modules.opt, &modules.mlir_translate, &modules.mlir_opt];
        let archives = programs.into_iter().find_map(|program| routines(program)).into_iter().collect();
        let modules = Toolchain { archives, ..modules };
        Ok(Entry { name: name.to_owned(), command: Some(command), modules: Some(modules), ..Entry::default() })
    }

    /// Returns the given program. Otherwise searches the directories of the other given programs, then PATH, first with mlir-opt's major version.
    fn found(&self, name: &str, given: Option<&Path>) -> Result<PathBuf> {
        if let Some(program) = given {
            return find_program(program)
                .with_context(|| format!("--{name} {}: there is no such program", program.display()));
        }
        let others = self.each().into_iter().filter_map(|(other, program)| Some((other, find_program(program?)?)));
        let beside = others.flat_map(|(other, program)| siblings(name, other, &program));
        let release = self.mlir_opt.as_deref().and_then(version);
        let major = release.iter().flat_map(|release| release.split('.').next());
        let candidates = beside.chain(major.map(|major| format!("{name}-{major}").into())).chain([name.into()]);
        let tried: Vec<PathBuf> = candidates.collect();
        tried.iter().find_map(|program| find_program(program)).with_context(|| {
            let tried = tried.iter().map(|program| program.display().to_string()).collect::<Vec<_>>().join(", ");
            format!("there is no {name} (tried {tried}); name it by --{name}")
        })
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

    /// Formats these options as text.
    pub(super) fn written(&self) -> Option<String> {
        let word = |(name, program): (&str, Option<&Path>)| {
            Some(format!("--{name} {}", quoted(&program?.display().to_string())))
        };
        let words: Vec<String> = self.each().into_iter().filter_map(word).collect();
        self.is_given().then(|| words.join(" "))
    }
}

/// Returns the paths of a program in the same build as `program`: `mlir-translate-22` in the directory of `mlir-opt-22`, or `mlir-translate`.
fn siblings(name: &str, other: &str, program: &Path) -> Vec<PathBuf> {
    let suffix = program.file_name().and_then(|file| file.to_str()?.strip_prefix(other)).unwrap_or_default();
    let names = [format!("{name}{suffix}"), name.to_owned()];
    program.parent().into_iter().flat_map(|directory| names.iter().map(|name| directory.join(name))).collect()
}

/// Returns the compiler-rt library of an LLVM build, for routines that the C compiler's own library may lack.
fn routines(program: &Path) -> Option<PathBuf> {
    let arch = std::env::consts::ARCH;
    let release = program.canonicalize().ok()?.parent()?.parent()?.join("lib/clang");
    let versions = std::fs::read_dir(release).ok()?.flatten();
    let files = versions.flat_map(|version| {
        let lib = version.path().join("lib");
        [format!("linux/libclang_rt.builtins-{arch}.a"), format!("{arch}-unknown-linux-gnu/libclang_rt.builtins.a")]
            .map(|file| lib.join(file))
    });
    files.into_iter().find(|file| file.is_file())
}

/// Returns the directory of compiled modules, according to the XDG Base Directory Specification.
fn cache() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let place = given.or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    Some(place.join("tiebreak/mlir"))
}

fn starts(name: &str, program: &Path) -> Result<()> {
    if program.is_dir() {
        bail!("--{name} {}: it is a directory; name the program in it", program.display());
    }
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

/// Returns the number in `LLVM version 22.1.8`.
fn version(program: &Path) -> Option<String> {
    let run = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    Some(text.split("LLVM version ").nth(1)?.split_whitespace().next()?.to_owned())
}
