//! Vectors as files of a directory.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// File names and contents.
pub(super) type Files = Vec<(PathBuf, Vec<u8>)>;

/// Writes files into a directory. Creates the directory, which must be empty if it exists.
pub(super) fn write(directory: &Path, files: &Files) -> Result<()> {
    let shown = directory.display();
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{shown}: it is not empty; name another directory");
    }
    for (name, bytes) in files {
        let path = directory.join(name);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent).with_context(|| format!("{}: cannot be made", parent.display()))?;
        fs::write(&path, bytes).with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}
