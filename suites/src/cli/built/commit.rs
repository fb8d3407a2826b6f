//! Commit of the sources.
//!
//! The ledger has the commit of the built sources, because a program runs only in their workspace. The caller's variables and
//! settings for git (`GIT_DIR`, `diff.external`) do not change the commit.

use std::path::Path;
use std::process::{Command, Stdio};

/// Variables that a caller may have set for another repository, or to change the output of `git diff`.
const CALLERS: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// Returns the commit of `paths` in `root`: `COMMIT`, or `COMMIT+HASH` with a hash of later changes.
/// `None` without git, or if the repository around `root` does not track `root`.
pub(super) fn of(root: &Path, paths: &[String]) -> Option<String> {
    git(root, &["cat-file", "-e", "HEAD:./Cargo.toml"])?;
    let head = String::from_utf8(git(root, &["rev-parse", "HEAD"])?).ok()?;
    // The options override a configuration that changes the text of differences.
    let diff = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--binary", "HEAD", "--"];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut changed = git(root, &[&diff[..], &paths].concat())?;
    let new = ["ls-files", "--others", "--exclude-standard", "-z", "--"];
    changed.extend(git(root, &[&new[..], &paths].concat())?);
    let hash = if changed.is_empty() { String::new() } else { format!("+{:08x}", crc32fast::hash(&changed)) };
    Some(head.trim().to_owned() + &hash)
}

/// Returns the output of a git command.
fn git(root: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    for name in CALLERS {
        command.env_remove(name);
    }
    // Optional locks could block other git processes.
    command.env("GIT_OPTIONAL_LOCKS", "0").arg("-C").arg(root).args(arguments);
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then_some(output.stdout)
}
