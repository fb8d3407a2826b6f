//! Compilation of a module's text to a shared object with the shipped tools, and a cache by content.

use super::toolchain::Toolchain;
use super::tools::Identity;
use anyhow::{Context, Result, bail};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use tiebreak_common::identity::hash;

/// Passes that lower casts to LLVM's dialect: first the lowering of the quant dialect, then tensors to loops over memory.
///
/// Because sizes are dynamic, the passes fill scale and zero point into buffers, and make each step of the lowering a separate loop.
const PIPELINE: &str = "builtin.module(func.func(lower-quant-ops),strip-func-quant-types,canonicalize,cse,\
    func.func(shape-to-shape-lowering),convert-shape-to-std,func.func(convert-elementwise-to-linalg),\
    linalg-fuse-elementwise-ops,canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries \
    function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,canonicalize,cse,\
    convert-bufferization-to-memref,func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,\
    lower-affine,convert-math-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,\
    convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)";

/// Input of one shared object: functions for a target, at one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'a> {
    pub(super) toolchain: &'a Toolchain,
    /// Content of the toolchain.
    pub(super) identity: &'a Identity,
    pub(super) level: u32,
    /// Text of the module in MLIR.
    pub(super) text: &'a str,
    /// Kernels of the object with their ISA paths. The worker reads both from the object.
    pub(super) kernels: &'a [(String, String)],
}

/// An object in the cache.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) file: PathBuf,
    /// True if the object was compiled now.
    pub(super) made_now: bool,
}

/// Files of an object in the cache, and the key of its inputs.
struct Place {
    object: PathBuf,
    note: PathBuf,
    key: String,
}

impl Unit<'_> {
    /// Returns the object if it is in the cache, undamaged and made by these tools.
    pub(super) fn kept(&self) -> Option<Object> {
        let Place { object, note, key } = self.place();
        let kept = self.identity.whole && is_as_made(&object, &note, &key);
        kept.then_some(Object { file: object, made_now: false })
    }

    /// Makes the object from the result of [`lower`].
    pub(super) fn make(&self, lowered: &str) -> Result<Object> {
        let Place { object, note: made, key } = self.place();
        let work = Work::new(&self.toolchain.cache)?;
        let compiled = self.compile(&work.0, lowered)?;
        let draft = work.0.join("key");
        let note = note(&compiled, &key).with_context(|| format!("reading {}", compiled.display()))?;
        fs::write(&draft, note).with_context(|| format!("writing {}", draft.display()))?;
        fs::rename(&compiled, &object).with_context(|| format!("writing {}", object.display()))?;
        fs::rename(&draft, &made).with_context(|| format!("writing {}", made.display()))?;
        Ok(Object { file: object, made_now: true })
    }

    fn place(&self) -> Place {
        let (key, cache) = (self.key(), &self.toolchain.cache);
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let arch = self.toolchain.triple.split('-').next().unwrap_or_default();
        let name = format!("{:016x}-{arch}-o{}", hasher.finish(), self.level);
        Place { object: cache.join(format!("{name}.so")), note: cache.join(format!("{name}.txt")), key }
    }

    /// Returns a text of all inputs of the object.
    fn key(&self) -> String {
        let Toolchain { version, triple, features, .. } = self.toolchain;
        let (tools, level, kernels, text) = (self.identity.text(), self.level, self.kernels, self.text);
        format!("{tools}{version} {triple} {features} -O{level} {kernels:?}\n{PIPELINE}\n{text}")
    }

    fn compile(&self, work: &Path, lowered: &str) -> Result<PathBuf> {
        let Toolchain { opt, llc, triple, features, linker, archives, .. } = self.toolchain;
        let file = |name: &str| work.join(name);
        let (level, triple, features) =
            (format!("-O{}", self.level), format!("-mtriple={triple}"), format!("-mattr={features}"));
        fs::write(file("module.ll"), lowered.to_owned() + &self.described()).context("writing the module's names")?;
        let target = [&triple, &level, &features];
        makes(Command::new(opt).args(target).arg(file("module.ll")).arg("-o"), &file("module.bc"))?;
        let code = ["-relocation-model=pic", "-filetype=obj"];
        makes(Command::new(llc).args(target).args(code).arg(file("module.bc")).arg("-o"), &file("module.o"))?;
        // Lowered code may call functions of the mathematics library, such as `rintf`.
        let mathematics = ["-Wl,--as-needed", "-lm", "-o"];
        let mut link = Command::new(linker);
        link.args(["-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic"]).arg(file("module.o")).args(archives).args(mathematics);
        makes(&mut link, &file("module.so"))?;
        Ok(file("module.so"))
    }

    /// Returns LLVM IR of constants: `tiebreak:KERNEL` has the ISA path, ended by a zero.
    fn described(&self) -> String {
        let constant = |(kernel, isa): &(String, String)| {
            format!("@\"tiebreak:{kernel}\" = constant [{} x i8] c\"{isa}\\00\"\n", isa.len() + 1)
        };
        self.kernels.iter().map(constant).collect()
    }
}

/// Lowers a module to LLVM IR, which is the same for every target and level.
pub(super) fn lower(toolchain: &Toolchain, text: &str) -> Result<String> {
    let work = Work::new(&toolchain.cache)?;
    let file = |name: &str| work.0.join(name);
    fs::write(file("module.mlir"), text).with_context(|| format!("writing into {}", work.0.display()))?;
    let mut lowering = Command::new(&toolchain.mlir_opt);
    lowering.arg(format!("--pass-pipeline={PIPELINE}")).arg(file("module.mlir")).args(["--emit-bytecode", "-o"]);
    makes(&mut lowering, &file("lowered.mlirbc"))?;
    let mut translation = Command::new(&toolchain.mlir_translate);
    makes(translation.arg("--mlir-to-llvmir").arg(file("lowered.mlirbc")).arg("-o"), &file("module.ll"))?;
    fs::read_to_string(file("module.ll")).context("reading what mlir-translate wrote")
}

/// Returns the text of the note of an object: its hash, which detects damage, and its complete key, so that no hash of the key has to be trusted.
fn note(object: &Path, key: &str) -> std::io::Result<String> {
    Ok(format!("{}\n{key}", hash(object)?))
}

/// True if the object exists, is undamaged, and was made from this key.
fn is_as_made(object: &Path, made: &Path, key: &str) -> bool {
    let kept = fs::read_to_string(made);
    kept.is_ok_and(|kept| kept.ends_with(key) && note(object, key).is_ok_and(|now| now == kept))
}

/// Directory of one compilation, removed at its end.
struct Work(PathBuf);

impl Work {
    fn new(cache: &Path) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let work = cache.join(format!("work-{}-{count}", std::process::id()));
        fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
        Ok(Self(work))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // A directory that remains does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a tool with the output file as last argument, and checks that the file exists.
fn makes(command: &mut Command, file: &Path) -> Result<()> {
    run(command.arg(file))?;
    if !file.is_file() {
        let program = Path::new(command.get_program()).display();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        bail!("{program} ended without an error and did not write {name}; is it the program that it is taken for?");
    }
    Ok(())
}

/// Runs a tool. The error is the first error message of the tool.
fn run(command: &mut Command) -> Result<()> {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let install = "`cargo xtask setup --with mlir` installs the tools";
    let output = command.output().with_context(|| format!("{name} could not be started; {install}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // A linker names missing symbols before it reports its failure.
    let first = |word: &str| lines.clone().find(|line| line.contains(word));
    let complaint = first("undefined reference").or_else(|| first("error:"));
    let complaint = complaint.or_else(|| lines.next()).unwrap_or("no message");
    let complaint = complaint.split_once("error: ").map_or(complaint, |(_, described)| described);
    bail!("{name} ({}): {complaint}", output.status)
}
