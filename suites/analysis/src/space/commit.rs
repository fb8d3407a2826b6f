//! Which sources counted.

use std::process::Command;

/// The commit of the sources that this program was built from, `COMMIT`, or `COMMIT+HASH` with a hash of what was changed since.
/// Nothing where git or the repository is not there.
pub fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let head = String::from_utf8(git(&["rev-parse", "HEAD"])?).ok()?;
    let changed = git(&["diff", "HEAD", "--", "../oracle", "../reports", "../suites", "../Cargo.lock"])?;
    let hash = if changed.is_empty() { String::new() } else { format!("+{:08x}", crc32fast::hash(&changed)) };
    Some(head.trim().to_owned() + &hash)
}
