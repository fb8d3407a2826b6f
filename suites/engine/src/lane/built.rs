//! Workers that were built together with this program. A lane belongs to the project if such a worker runs in it. The evidence is the content of the
//! files that its process has mapped, not a statement of a worker or a lanes file.
//!
//! A worker's statements about itself, such as the ISA path `scalar`, decide texts in reports, never what is left out. The architecture is the
//! exception: a lane may be another machine, reached through `ssh`, so the worker states it. A lane with a name of the project must state the
//! architecture that the name promises.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tiebreak_common::identity::{content, find_program};
use tiebreak_reports::ledger::Role;

/// File name of the project's worker.
const WORKER: &str = "tiebreak-worker";
/// Directory of the aarch64 workers, between the target directory and the directory of the profile.
const AARCH64: &str = "aarch64/aarch64-unknown-linux-gnu";

/// Workers in the directory of the program, and aarch64 workers in the same target directory.
static BUILT: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new(""));
    // Test programs are in a subdirectory.
    let native = if beside.ends_with("deps") { beside.parent().unwrap_or(beside) } else { beside };
    let emulated = native.parent().zip(native.file_name()).map(|(target, profile)| target.join(AARCH64).join(profile));
    [Some(native.to_owned()), emulated].iter().flatten().map(|directory| directory.join(WORKER)).collect()
});

/// True if a file has the content of a worker built together with the program.
pub(super) fn is_built(file: &Path) -> bool {
    let length = |file: &Path| fs::metadata(file).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
    let hash = |file: &Path| content(file, Role::Worker, None).ok().map(|content| content.sha256);
    let Some(bytes) = length(file) else { return false };
    BUILT.iter().any(|built| {
        let is_same_file = || built.canonicalize().ok().zip(file.canonicalize().ok()).is_some_and(|(a, b)| a == b);
        length(built) == Some(bytes) && (is_same_file() || hash(built).is_some_and(|built| hash(file) == Some(built)))
    })
}

/// True if a command starts a worker of the project, directly or in an emulator.
pub(super) fn starts_built(command: &[String]) -> bool {
    let program = command.first().and_then(|program| find_program(Path::new(program)));
    program.into_iter().chain(command.iter().skip(1).map(PathBuf::from)).any(|file| is_built(&file))
}
