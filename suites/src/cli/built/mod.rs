//! Sources that this program was built from, compared with the sources in its workspace. Cargo compares only dates, so a program of
//! older sources could report `holds` for kernels that have changed since.
//!
//! A program that is called directly refuses to run (exit code 2) if the sources in its workspace differ. A program in the directory of
//! its build belongs to the workspace of the current directory, other programs to the workspace around their own directory. A program
//! that is installed elsewhere has no workspace: it runs, and its ledger has the hash of its sources (`environment.sources`) and no commit.

mod commit;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tiebreak_common::parallel;
use tiebreak_common::sources::{PACKAGES, Package, is_workspace};
use tiebreak_impls::sources::WORKSPACE;

/// Directory to which the build of this program writes programs.
const PROGRAMS: Option<&str> = option_env!("TIEBREAK_PROGRAMS");

/// Packages linked into this program, with the hash of their sources at compile time.
const BUILT: [(&str, Option<&str>); PACKAGES.len()] = [
    ("oracle", tiebreak_oracle::SOURCES),
    ("impls", tiebreak_impls::sources::SOURCES),
    ("impls/worker", tiebreak_worker::SOURCES),
    ("shards", tiebreak_shards::SOURCES),
    ("reports", tiebreak_reports::SOURCES),
    ("suites/common", tiebreak_common::SOURCES),
    ("suites/memory", tiebreak_memory::SOURCES),
    ("suites/mlir", tiebreak_mlir::SOURCES),
    ("suites/engine", tiebreak_engine::SOURCES),
    ("suites/ops", tiebreak_ops::SOURCES),
    ("suites/analysis", tiebreak_analysis::SOURCES),
    ("suites", option_env!("TIEBREAK_SOURCES")),
];

/// Workspace with the sources of this program. `None` for a program that is installed elsewhere.
static CHECKED: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Answers `tiebreak --sources`.
pub(super) fn described() -> String {
    tiebreak_impls::sources::described(&BUILT)
}

/// Returns a hash of the hashes of all packages. `None` if a package has no hash.
pub(super) fn sources() -> Option<String> {
    let mut lines = String::new();
    for (package, hash) in BUILT {
        writeln!(lines, "{package} {}", hash?).expect("written to memory");
    }
    Some(hexadecimal(Sha256::digest(lines)))
}

/// Returns the commit of the sources of this program, with a hash of later changes. [`check`] must have found the sources unchanged.
pub(super) fn commit() -> Option<String> {
    let root = CHECKED.get()?.as_deref()?;
    let paths: Vec<String> = PACKAGES.into_iter().flat_map(Package::paths).collect();
    commit::of(root, &paths)
}

/// Fails if the sources in the workspace differ from the built sources. A program that is installed elsewhere has no workspace and passes.
pub(super) fn check() -> Result<()> {
    let root = workspace(&Place::here());
    if let Some(root) = &root {
        let stale = stale(root)?;
        if !stale.is_empty() {
            bail!("{}", refusal(root, &stale));
        }
    }
    // Only the first result is kept.
    let _ = CHECKED.set(root);
    Ok(())
}

/// Location of a program, and of its call.
struct Place {
    /// Directory of the program.
    program: Option<PathBuf>,
    /// Current directory.
    current: Option<PathBuf>,
    /// Directory to which the build of the program writes programs.
    written: Option<PathBuf>,
    /// Workspace of the build.
    home: Option<PathBuf>,
}

impl Place {
    fn here() -> Self {
        let real = |path: &Path| path.canonicalize().ok();
        let program = std::env::current_exe().ok().and_then(|program| real(&program));
        Self {
            program: program.and_then(|program| Some(program.parent()?.to_owned())),
            current: std::env::current_dir().ok(),
            written: PROGRAMS.and_then(|programs| real(Path::new(programs))),
            home: WORKSPACE.map(PathBuf::from),
        }
    }
}

/// Returns the workspace whose sources the program must match. For a program in the directory of its build, this is the workspace around
/// the current directory, or else the workspace of the build. For other programs (a moved target directory), it is the workspace around the program.
fn workspace(place: &Place) -> Option<PathBuf> {
    let around = |directory: &Option<PathBuf>| {
        directory.as_deref()?.ancestors().find(|directory| is_workspace(directory)).map(Path::to_owned)
    };
    let written_here = place.program.is_some() && place.program == place.written;
    if written_here {
        around(&place.current).or_else(|| place.home.clone().filter(|home| is_workspace(home)))
    } else {
        around(&place.program)
    }
}

/// Returns the packages whose sources have changed since the build.
fn stale(root: &Path) -> Result<Vec<&'static str>> {
    let hash = |package: &Package| -> Result<String> {
        let mut hash = Sha256::new();
        package.feed(root, |bytes| hash.update(bytes)).with_context(|| {
            format!(
                "cannot read the sources of {}, which this program was built from",
                root.join(package.directory).display()
            )
        })?;
        Ok(hexadecimal(hash.finalize()))
    };
    let now = parallel::try_map(&PACKAGES, hash)?;
    let known = |package: &str| BUILT.into_iter().find(|(name, _)| *name == package).and_then(|(_, hash)| hash);
    let pairs = PACKAGES.into_iter().zip(now).map(|(package, now)| (package.directory, now));
    Ok(pairs
        .filter(|(package, now)| known(package).is_some_and(|built| built != now))
        .map(|(package, _)| package)
        .collect())
}

fn refusal(root: &Path, stale: &[&str]) -> String {
    let root = root.display();
    let built_in = WORKSPACE
        .filter(|home| Path::new(home) != Path::new(&root.to_string()))
        .map_or(String::new(), |home| format!(" It was built in {home}."));
    let scripts: Vec<String> = stale.iter().map(|package| format!("{package}/build.rs")).collect();
    format!(
        "this program is not built from the sources in {root}: sources of {} have changed.{built_in} Call it by `cargo xtask`, which builds it again; or run \
         `touch {}` in {root}, and build it there",
        stale.join(", "),
        scripts.join(" ")
    )
}

fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
