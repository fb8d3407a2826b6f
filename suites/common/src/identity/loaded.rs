//! Libraries that a program loads, from the system's loader or from a running process.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Libraries of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Libraries, as the loader finds them now.
    Libraries(Vec<PathBuf>),
    /// Not known, because the program is a script, which may start any program.
    Unknown,
}

/// First bytes of an ELF file.
const ELF: [u8; 4] = *b"\x7fELF";

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok_and(|()| magic == ELF)
}

/// Returns the libraries that a program loads when it starts. The loader itself resolves search paths and `LD_LIBRARY_PATH`.
pub fn loaded(program: &Path) -> Result<Loaded> {
    if !is_elf(program) {
        return Ok(Loaded::Unknown);
    }
    // `$ORIGIN` is the directory of the file, not of a link to the file.
    let real = program.canonicalize().with_context(|| format!("reading {}", program.display()))?;
    let mut ldd = Command::new("ldd");
    let output = ldd.arg(&real).env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("asking `ldd` which libraries {} loads", real.display()))?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let is_static = [&text, &errors].iter().any(|described| described.contains("not a dynamic executable"));
        if is_static {
            return Ok(Loaded::Libraries(Vec::new()));
        }
        bail!("`ldd {}` ({}): {}", real.display(), output.status, errors.trim());
    }
    libraries(&text).map(Loaded::Libraries).with_context(|| format!("the libraries of {}", real.display()))
}

/// Parses the output of `ldd`: `libc.so.6 => /lib/libc.so.6 (0x7f)`, and the loader as `/lib64/ld.so (0x7f)`.
fn libraries(text: &str) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for line in text.lines().map(str::trim) {
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place.starts_with("not found") {
            bail!("{name} is not found");
        }
        let path = place.rsplit_once(" (0x").map_or(place, |(path, _)| path);
        // A library that the kernel provides has no file.
        if path.starts_with('/') {
            paths.push(PathBuf::from(path));
        }
    }
    Ok(paths)
}

/// Returns the programs and libraries that a running process has mapped, including those of an emulated program; empty without `/proc`.
pub fn mapped(process: u32) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let paths: BTreeSet<&str> = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
    paths.into_iter().map(PathBuf::from).filter(|path| is_elf(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ldd_prints_is_read() {
        let text = "\tlinux-vdso.so.1 (0x00007fc7237bc000)\n\tlibLLVM.so.22.1 => /lib/libLLVM.so.22.1 (0x00007fc719a00000)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007fc7237be000)\n";
        let paths = ["/lib/libLLVM.so.22.1", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(libraries(text).expect("found"), paths);
        assert_eq!(libraries("\tstatically linked\n").expect("none"), [""; 0].map(PathBuf::from));
        let lost = libraries("\tlibMLIR.so.22.1 => not found\n").expect_err("it is not there");
        assert_eq!(lost.to_string(), "libMLIR.so.22.1 is not found");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_mapped_itself() {
        let me = std::env::current_exe().expect("a path");
        let seen = mapped(std::process::id());
        assert!(seen.contains(&me.canonicalize().expect("a file")), "{seen:?}");
        let Loaded::Libraries(libraries) = loaded(&me).expect("ldd is there") else { panic!("it is no script") };
        for library in libraries {
            assert!(seen.contains(&library.canonicalize().expect("a file")), "{library:?}");
        }
    }

    #[test]
    fn a_script_may_start_anything() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("llc");
        fs::write(&file, "#!/bin/sh\nexec llc-22 \"$@\"\n").expect("a file");
        assert_eq!(loaded(&file).expect("it is read"), Loaded::Unknown);
    }
}
