//! Common part of all build scripts: gives a crate the hash of its sources.

use crate::{PACKAGES, PROVED, XTASK, is_workspace};
use std::path::{Path, PathBuf};

/// Sets environment variables for the crate: `TIEBREAK_SOURCES`, the hash of its sources; `TIEBREAK_PROVED_SOURCES` (`impls` only), the hash of the
/// sources that recorded proofs are about; `TIEBREAK_WORKSPACE`, the path of the workspace; and `TIEBREAK_PROGRAMS`, the directory where cargo writes
/// programs. Sets no variable for a package from a registry, because it belongs to no workspace.
///
/// # Panics
/// If the directory is not a package of the list, or its files cannot be read.
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
    // `OUT_DIR` is PROGRAMS/build/PACKAGE-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    if let Some(programs) = out.ancestors().nth(3) {
        println!("cargo::rustc-env=TIEBREAK_PROGRAMS={}", programs.display());
    }
    for file in package.files(root).expect("the sources can be read") {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
}
