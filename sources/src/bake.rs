//! What every build script does: gives its crate the hash of what the crate is built from.

use crate::{PACKAGES, PROVED, XTASK, is_workspace};
use std::path::{Path, PathBuf};

/// Sets `TIEBREAK_SOURCES`, the hash; `TIEBREAK_PROVED_SOURCES` for `impls`, that of what recorded proofs are about; `TIEBREAK_WORKSPACE`, where the sources are; and `TIEBREAK_PROGRAMS`, where programs are written. A package from a
/// registry belongs to no workspace, and gets none of them.
///
/// # Panics
/// If the directory is that of no package, or its files cannot be read.
pub fn bake(directory: &str) {
    let mut known = PACKAGES.into_iter().chain([XTASK]);
    let package = known.find(|package| package.directory == directory).expect("a package of the list");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.ancestors().nth(Path::new(directory).components().count());
    let Some(root) = root.filter(|root| is_workspace(root)) else { return };
    let hash = package.hash(root).expect("the sources can be read");
    println!("cargo::rustc-env=TIEBREAK_SOURCES={hash}");
    if directory == "impls" {
        println!("cargo::rustc-env=TIEBREAK_PROVED_SOURCES={}", PROVED.hash(root).expect("the sources can be read"));
    }
    println!("cargo::rustc-env=TIEBREAK_WORKSPACE={}", root.display());
    // It is PROGRAMS/build/PACKAGE-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    if let Some(programs) = out.ancestors().nth(3) {
        println!("cargo::rustc-env=TIEBREAK_PROGRAMS={}", programs.display());
    }
    for file in package.files(root).expect("the sources can be read") {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
}
