//! Workspace and its sources, for the tests that read them.

use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// Collects every `.rs` file below a directory.
pub(crate) fn sources(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, out),
            false => out.extend(Some(path).filter(|path| path.extension().is_some_and(|e| e == "rs"))),
        }
    }
}
