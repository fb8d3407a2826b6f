//! Which sources counted.

use std::process::Command;

/// What a census is counted by.
const COUNTED_BY: [&str; 4] = ["../oracle", "../reports", "../suites", "../Cargo.lock"];

/// The commit of the sources that a census is counted by; see [`commit_of`].
pub fn commit() -> Option<String> {
    commit_of(&COUNTED_BY)
}

/// The commit that the workspace of this program has checked out now, which is not asked of the program itself: `COMMIT`, or `COMMIT+HASH` with a hash of what was changed since in
/// `paths`, which are relative to `suites`. Nothing where git or the repository is not there.
pub fn commit_of(paths: &[&str]) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .args(arguments)
            .output()
            .ok()?;
        output.status.success().then_some(output.stdout)
    };
    let head = String::from_utf8(git(&["rev-parse", "HEAD"])?).ok()?;
    let changed = git(&[&["diff", "HEAD", "--"][..], paths].concat())?;
    let hash = if changed.is_empty() { String::new() } else { format!("+{:08x}", crc32fast::hash(&changed)) };
    Some(head.trim().to_owned() + &hash)
}
