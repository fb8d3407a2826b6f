//! Function of a proof, compiled and called in a separate process: for the differential test of its terms, and for witnesses.

use super::decide::Argument;
use super::module::Module;
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// C compiler that reads and writes LLVM IR, with the flags of the caller.
#[derive(Clone, Debug)]
pub struct Clang {
    /// Name of the program.
    pub program: String,
    /// Flags for the source, such as `-O2`.
    pub flags: Vec<String>,
}

/// Program names of clang in Debian and elsewhere, the newest first.
const NAMES: [&str; 9] =
    ["clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang", "clang-14"];

impl Clang {
    /// Returns the first clang that is installed.
    pub fn find(flags: Vec<String>) -> Option<Self> {
        let here = |name: &&&str| version(name).is_ok();
        NAMES.iter().find(here).map(|name| Self { program: (*name).to_owned(), flags })
    }

    /// Returns the first line of the version.
    pub fn version(&self) -> Result<String> {
        version(&self.program)
    }

    /// Compiles a C file to the text of LLVM IR.
    pub fn ir(&self, source: &Path) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(&self.flags).args(["-S", "-emit-llvm", "-o", "-"]).arg(source);
        String::from_utf8(output(&mut command)?).context("LLVM IR that is no UTF-8")
    }
}

fn version(program: &str) -> Result<String> {
    let text = output(Command::new(program).arg("--version"))?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned())
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{program} could not be started"))?;
    if !output.status.success() {
        bail!("{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Program that calls the function on lines of numbers.
#[derive(Debug)]
pub struct Compiled {
    _directory: TempDir,
    command: Vec<String>,
    arguments: Vec<Argument>,
}

impl Compiled {
    /// Compiles `source`, C or LLVM IR, with a program that calls `function`.
    pub fn new(clang: &Clang, source: &Path, module: &Module, function: &str, arguments: &[Argument]) -> Result<Self> {
        let directory = tempfile::tempdir().context("a directory for the compiled function")?;
        let (caller, object, program) =
            (directory.path().join("caller.c"), directory.path().join("code.o"), directory.path().join("caller"));
        fs::write(&caller, text(module, function, arguments)?)?;
        let foreign = module.target.starts_with("aarch64") && !cfg!(target_arch = "aarch64");
        let mut compile = Command::new(&clang.program);
        if foreign {
            compile.arg("--target=aarch64-linux-gnu");
        }
        let c = source.extension().is_some_and(|e| e == "c");
        compile.args(if c { clang.flags.clone() } else { vec!["-O1".to_owned(), "-Wno-override-module".to_owned()] });
        output(compile.arg("-c").arg("-o").arg(&object).arg(source))?;
        let linker = if foreign { "aarch64-linux-gnu-gcc" } else { &clang.program };
        let mut link = Command::new(linker);
        if foreign {
            link.arg("-static");
        }
        output(link.arg("-o").arg(&program).arg(&caller).arg(&object))?;
        let path = |path: PathBuf| path.display().to_string();
        let emulator = foreign.then(|| "qemu-aarch64".to_owned());
        let command = emulator.into_iter().chain([path(program)]).collect();
        Ok(Self { _directory: directory, command, arguments: arguments.to_vec() })
    }

    /// Returns the results of the function for accumulators and multipliers at one shift.
    pub fn run(&self, s: i32, inputs: &[(i32, i32)]) -> Result<Vec<i32>> {
        let mut lines = String::new();
        for (x, m) in inputs {
            for argument in &self.arguments {
                let value = match argument {
                    Argument::Accumulator => *x,
                    Argument::Multiplier => *m,
                    Argument::Shift(a, b) => a * s + b,
                    Argument::Free => 0,
                };
                // Writing to a string cannot fail.
                let _ = write!(lines, "{value} ");
            }
            lines.push('\n');
        }
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", self.command[0]))?;
        let mut pipe = child.stdin.take().context("a pipe to the compiled function")?;
        let writer = std::thread::spawn(move || pipe.write_all(lines.as_bytes()));
        let output = child.wait_with_output()?;
        // If the function ends the process, results are missing.
        let _ = writer.join();
        let text = String::from_utf8_lossy(&output.stdout);
        let results: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if results.len() != inputs.len() {
            bail!("the compiled function returned {} of {} results: {}", results.len(), inputs.len(), output.status);
        }
        Ok(results)
    }
}

/// Returns C code that reads the arguments of a call from each line and prints the result.
fn text(module: &Module, function: &str, arguments: &[Argument]) -> Result<String> {
    let body = module
        .function(function)?
        .with_context(|| format!("no function {function}; one that is `static` may have been removed"))?;
    let types: Vec<String> =
        body.parameters.iter().map(|(of, _)| Ok(format!("int{}_t", of.bits()?))).collect::<Result<_>>()?;
    let count = arguments.len();
    let values: Vec<String> = types.iter().enumerate().map(|(n, of)| format!("({of})a[{n}]")).collect();
    Ok(format!(
        "#include <inttypes.h>\n#include <stdio.h>\nint32_t code({}) __asm__(\"{function}\");\n\
         int main(void) {{\n  int64_t a[{}];\n  for (;;) {{\n    for (int n = 0; n < {count}; n++)\n      \
         if (scanf(\"%\" SCNd64, &a[n]) != 1) return 0;\n    printf(\"%\" PRId32 \"\\n\", code({}));\n    fflush(stdout);\n  }}\n}}\n",
        types.join(", "),
        count.max(1),
        values.join(", ")
    ))
}
