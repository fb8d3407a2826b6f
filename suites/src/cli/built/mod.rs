//! What this program was built from, and whether that is what its workspace holds now: cargo compares dates alone, and a program that other sources made
//! would say `holds` of kernels that nobody has any more.
//!
//! A program that is called directly refuses to run (exit code 2) if its workspace has other sources. In the directory of
//! its build, it belongs to the workspace that it is called in; elsewhere to the workspace that it was built in. A program
//! that is installed elsewhere has no workspace: it runs, and its ledger has the hash of its sources
//! (`environment.sources`) and no commit.

mod commit;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tiebreak_common::parallel;
use tiebreak_common::sources::{PACKAGES, Package, is_workspace};
use tiebreak_impls::sources::WORKSPACE;

/// Where programs are written by the build that made this one.
const PROGRAMS: Option<&str> = option_env!("TIEBREAK_PROGRAMS");

/// The packages that this program is linked from, each with the hash that it was compiled with.
const BUILT: [(&str, Option<&str>); PACKAGES.len()] = [
    ("oracle", tiebreak_oracle::SOURCES),
    ("impls", tiebreak_impls::sources::SOURCES),
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

/// The workspace that holds what this program was built from; none of a program that is installed elsewhere.
static CHECKED: OnceLock<Option<PathBuf>> = OnceLock::new();

/// The answer to `tiebreak --sources`.
pub(super) fn described() -> String {
    tiebreak_impls::sources::described(&BUILT)
}

/// A hash over those of all packages; none where one of them has none.
pub(super) fn sources() -> Option<String> {
    let mut lines = String::new();
    for (package, hash) in BUILT {
        writeln!(lines, "{package} {}", hash?).expect("written to memory");
    }
    Some(hexadecimal(Sha256::digest(lines)))
}

/// The commit of what this program was built from, with a hash of what was changed since. Where [`check`] found the sources as they were when they were
/// built, it is that of the workspace.
pub(super) fn commit() -> Option<String> {
    let root = CHECKED.get()?.as_deref()?;
    let paths: Vec<String> = PACKAGES.into_iter().flat_map(Package::paths).collect();
    commit::of(root, &paths)
}

/// Refuses to go on with a program that is not built from what its workspace holds. One that is installed elsewhere has no workspace.
pub(super) fn check() -> Result<()> {
    let root = workspace(&Place::here());
    if let Some(root) = &root {
        let stale = stale(root)?;
        if !stale.is_empty() {
            bail!("{}", refusal(root, &stale));
        }
    }
    // The first answer stands.
    let _ = CHECKED.set(root);
    Ok(())
}

/// Where a program is, and where it is called.
struct Place {
    /// Its directory.
    program: Option<PathBuf>,
    /// The current one.
    current: Option<PathBuf>,
    /// Where the build that made it writes programs.
    written: Option<PathBuf>,
    /// The workspace of that build.
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

/// The workspace that a program must be built from. A program where its build wrote it stands for the workspace that it is called in, and elsewhere for the
/// one that it was built in; where a whole target directory was moved, for the one around it.
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

/// The packages whose sources are others now.
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
