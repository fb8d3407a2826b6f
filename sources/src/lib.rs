//! Sources of each program: the files of each package, and a hash of their contents. Cargo compares dates only. It therefore accepts an old build if
//! an edited file has an older date, or if another checkout uses the same target directory.
//!
//! Build scripts, `cargo xtask` and `tiebreak` link this crate: it needs the standard library and `sha2`.
//!
//! Each package's build script bakes in the hash of the files that its compiler reads, and a program prints one hash for each package (`--sources`).
//! After each build, `cargo xtask` compares these hashes with the workspace and touches the build scripts of stale packages, so that cargo compiles
//! only these packages again. Files that only tests compile are left out, so that an edit of a test rebuilds no program.

mod bake;

pub use bake::bake;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Package that a program is linked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Directory of the package, with its build script. All paths of this crate are relative to the workspace.
    pub directory: &'static str,
    /// Files and directories that the compiler reads, apart from manifest and `src`.
    others: &'static [&'static str],
}

impl Package {
    const fn new(directory: &'static str, others: &'static [&'static str]) -> Self {
        Self { directory, others }
    }

    /// Returns the files and directories that the compiler reads.
    pub fn paths(self) -> Vec<String> {
        let own = ["Cargo.toml", "src"].map(|name| format!("{}/{name}", self.directory));
        own.into_iter().chain(self.others.iter().map(|path| (*path).to_owned())).collect()
    }

    /// Returns the files of [`Package::paths`], sorted. Missing paths are left out.
    pub fn files(self, root: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for path in self.paths() {
            collect(root, Path::new(&path), &mut files)?;
        }
        files.sort();
        Ok(files)
    }

    /// Passes the paths, lengths and contents of the files to a hash function.
    pub fn feed(self, root: &Path, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        for file in self.files(root)? {
            let contents = fs::read(root.join(&file))?;
            let path = file.to_string_lossy().replace('\\', "/");
            take(format!("{path}\n{}\n", contents.len()).as_bytes());
            take(&contents);
        }
        Ok(())
    }

    /// Returns the SHA-256 of the files in hexadecimal.
    pub fn hash(self, root: &Path) -> io::Result<String> {
        let mut hash = Sha256::new();
        self.feed(root, |bytes| hash.update(bytes))?;
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Package of the kernels.
pub const IMPLS: Package = Package::new("impls", &[]);

/// Packages that a worker is linked from.
pub const WORKER: [Package; 2] = [IMPLS, Package::new("impls/worker", &[])];

/// All packages that `tiebreak` is linked from. The last package also has the manifest and lock file of the workspace.
pub const PACKAGES: [Package; 12] = [
    Package::new("oracle", &[]),
    IMPLS,
    WORKER[1],
    Package::new("shards", &[]),
    Package::new("reports", &["reports/templates"]),
    Package::new("suites/common", &["sources"]),
    Package::new("suites/memory", &[]),
    Package::new("suites/mlir", &[]),
    Package::new("suites/engine", &[]),
    Package::new("suites/ops", &["suites/ops/catalogue", "suites/ops/data"]),
    Package::new("suites/analysis", &[]),
    Package::new("suites", &["suites/templates", "Cargo.toml", "Cargo.lock"]),
];

/// Sources of the kernels of `fpm` and `requantize` and of their mutants. Recorded proofs are about these files.
pub const PROVED: Package = Package::new(
    "impls/src/fpm",
    &[
        "impls/src/contract.rs",
        "impls/src/elements.rs",
        "impls/src/fpm",
        "impls/src/instruction",
        "impls/src/mutants/fpm_directions.rs",
        "impls/src/mutants/fpm_rounding.rs",
        "impls/src/mutants/fpm_widths.rs",
        "impls/src/mutants/requantize.rs",
        "impls/src/requantize",
        "impls/src/simd",
    ],
);

/// Package of `cargo xtask`, which builds the programs.
pub const XTASK: Package = Package::new("xtask", &["shards", "sources", "fuzz/Cargo.toml"]);

/// True if a directory is a workspace of this project.
pub fn is_workspace(root: &Path) -> bool {
    ["sources/src/lib.rs", "suites/ops/src/registry.rs"].iter().all(|file| root.join(file).is_file())
}

/// Appends the files at `path`, relative to `root`, to `files`.
fn collect(root: &Path, path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let found = match fs::metadata(root.join(path)) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(root.join(path))? {
        let name = entry?.file_name();
        if !is_left_out(&name.to_string_lossy()) {
            collect(root, &path.join(name), files)?;
        }
    }
    Ok(())
}

/// True for files of editors and for tests, which no program contains. `xtask/tests/built_from.rs` checks that files of these names are tests.
fn is_left_out(name: &str) -> bool {
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let test = stem == "tests" || stem.ends_with("_tests");
    test || name.starts_with('.') || name.ends_with('~') || name.ends_with(".orig") || name.ends_with(".rej")
}
