//! The commit of sources.
//!
//! The commit in a ledger is that of the built sources, since a program runs only beside them. The caller's variables and
//! settings for git (`GIT_DIR`, `diff.external`) do not change it.

use std::path::Path;
use std::process::{Command, Stdio};

/// What a caller may have set for another repository, or for git to show differences otherwise.
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

/// The commit of what is in `root` at `paths`: `COMMIT`, or `COMMIT+HASH` with a hash of what was changed since. Nothing where git is not there, or where
/// the repository around `root` does not have it.
pub(super) fn of(root: &Path, paths: &[String]) -> Option<String> {
    git(root, &["cat-file", "-e", "HEAD:./Cargo.toml"])?;
    let head = String::from_utf8(git(root, &["rev-parse", "HEAD"])?).ok()?;
    // Whatever the configuration says: only the differences themselves.
    let diff = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--binary", "HEAD", "--"];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut changed = git(root, &[&diff[..], &paths].concat())?;
    let new = ["ls-files", "--others", "--exclude-standard", "-z", "--"];
    changed.extend(git(root, &[&new[..], &paths].concat())?);
    let hash = if changed.is_empty() { String::new() } else { format!("+{:08x}", crc32fast::hash(&changed)) };
    Some(head.trim().to_owned() + &hash)
}

/// What a command of git prints.
fn git(root: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    for name in CALLERS {
        command.env_remove(name);
    }
    // It is asked beside others that may write.
    command.env("GIT_OPTIONAL_LOCKS", "0").arg("-C").arg(root).args(arguments);
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then_some(output.stdout)
}
