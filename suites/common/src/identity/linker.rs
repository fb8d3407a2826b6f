//! Files that a C compiler uses to link: the programs that it starts, and the files that it links into every output.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs that a linker starts, and files that it links into every shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkInputs {
    pub programs: Vec<PathBuf>,
    pub linked: Vec<PathBuf>,
}

/// Links an empty file, and returns the programs and files of this link. Temporary files are written to the directory `work`.
pub fn link_inputs(linker: &Path, work: &Path) -> Result<LinkInputs> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let nothing = work.join(format!("nothing-{}-{count}.so", std::process::id()));
    let inputs = linking(linker, &nothing);
    // After a failed link, the file does not exist.
    let _ = std::fs::remove_file(&nothing);
    inputs
}

fn linking(linker: &Path, nothing: &Path) -> Result<LinkInputs> {
    let shared = |described: &[&str]| {
        let mut command = Command::new(linker);
        // An empty file is an empty linker script.
        command.args(["-shared", "-o"]).arg(nothing).arg("/dev/null").args(described);
        output(&mut command)
    };
    // `-###` prints the programs that would be started, with their arguments, on standard error. Their lines begin with a space.
    let plan = shared(&["-###"])?;
    let plan = String::from_utf8_lossy(&plan.stderr).into_owned();
    let mut programs: BTreeSet<PathBuf> =
        plan.lines().filter(|line| line.starts_with(' ')).flat_map(words).filter(|path| path.is_file()).collect();
    programs.extend(named(linker, "ld")?);
    let trace = shared(&["-Wl,--trace"])?;
    let trace = String::from_utf8_lossy(&trace.stdout).into_owned();
    let linked: BTreeSet<PathBuf> = trace.lines().map(PathBuf::from).filter(|path| path.is_file()).collect();
    let programs = programs.into_iter().filter(|path| !linked.contains(path)).collect();
    Ok(LinkInputs { programs, linked: linked.into_iter().collect() })
}

/// Returns the absolute paths in a command line, whatever option they belong to.
fn words(text: &str) -> impl Iterator<Item = PathBuf> {
    let bare = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    text.split_whitespace().map(bare).filter_map(|word| word.find('/').map(|at| PathBuf::from(&word[at..])))
}

/// Returns the path at which the compiler finds one of its programs.
fn named(linker: &Path, program: &str) -> Result<Option<PathBuf>> {
    let described = output(Command::new(linker).arg(format!("-print-prog-name={program}")))?;
    let described = String::from_utf8_lossy(&described.stdout).trim().to_owned();
    Ok(super::find_program(Path::new(&described)))
}

fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("asking {name} what it links with"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!(
            "asking {name} what it links with ({}): {}",
            output.status,
            errors.lines().last().unwrap_or("no message")
        );
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_linker_of_a_compiler_is_found() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let found = link_inputs(Path::new("cc"), dir.path()).expect("a C compiler is there, which Rust links by");
        let has = |paths: &[PathBuf], ends: &str| paths.iter().any(|path| path.to_string_lossy().ends_with(ends));
        assert!(has(&found.programs, "/ld"), "{found:?}");
        assert!(has(&found.linked, "/crti.o") && has(&found.linked, "libc.so.6"), "{found:?}");
    }
}
