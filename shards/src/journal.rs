//! Journal of a shard: append-only file with a line for each unit that has ended, so that an interrupted run can continue.
//!
//! A killed process leaves at most one torn line, the last, and the unit of this line runs again. A line that could not be written whole (full disk)
//! is removed, and later writes fail. A lock on the file, released when the process ends, excludes a second process.

use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// File of a shard, open and locked.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// File, and length of its whole lines in bytes; `None` after a failed write.
    file: Mutex<(File, Option<u64>)>,
}

impl Journal {
    /// Opens and locks a file, and returns its whole lines. An existing file without `resume`, or a file in use, is an error.
    pub fn open(path: &Path, resume: bool) -> Result<(Self, String)> {
        let name = path.display();
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.with_context(|| format!("cannot write {name}"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{name} is in use by another process: wait for it, or name another file with --out")
            }
            Err(TryLockError::Error(cause)) => {
                return Err(cause)
                    .with_context(|| format!("cannot lock {name}: name a file on another disk with --out"));
            }
        }
        let mut bytes = bytes(&file, path)?;
        if !bytes.is_empty() && !resume {
            bail!("{name} exists: continue or print it with --resume, or name another file with --out");
        }
        bytes.truncate(whole_lines(&bytes));
        let text = String::from_utf8(bytes).with_context(|| damaged(path))?;
        let journal = Self { path: path.to_owned(), file: Mutex::new((file, Some(text.len() as u64))) };
        Ok((journal, text))
    }

    /// Cuts off the torn line. To be called after the caller has accepted the whole lines as lines of this run.
    pub fn begin(&self) -> Result<()> {
        let guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, length) = &*guard;
        file.set_len(length.unwrap_or_default()).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Appends a line, which must end in a line feed. After the return, the line is on disk.
    pub fn append(&self, line: &str) -> Result<()> {
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, length) = &mut *guard;
        let space = || format!("cannot write {}; free some space and continue with --resume", self.path.display());
        let Some(before) = *length else { bail!(space()) };
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        *length = written.is_ok().then_some(before + line.len() as u64);
        written.inspect_err(|_| drop(file.set_len(before))).with_context(space)
    }
}

/// Upper bound on the file of a shard, in bytes.
const LARGEST: u64 = 1 << 30;

/// Reads all bytes of a file, from its beginning. A file without an end, such as `/dev/zero`, is an error.
pub(crate) fn bytes(file: &File, path: &Path) -> Result<Vec<u8>> {
    let (mut bytes, name) = (Vec::new(), path.display());
    file.take(LARGEST + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!(
            "{name} is larger than {LARGEST} bytes, the limit of such a file, or it has no end: name another file with --out"
        );
    }
    Ok(bytes)
}

/// Returns the length of the whole lines of a file, in bytes; a torn line may follow.
pub fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Returns the message about a file that cannot be resumed, with the remedy.
pub fn damaged(path: &Path) -> String {
    format!("{} cannot be resumed: remove it, or name another file with --out", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_cut_off_and_a_second_process_is_kept_out() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("journal");
        std::fs::write(&path, "one\ntwo\nthr").expect("a file");
        assert!(Journal::open(&path, false).unwrap_err().to_string().contains("--resume"));
        let (journal, text) = Journal::open(&path, true).expect("it is free");
        assert_eq!(text, "one\ntwo\n");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "one\ntwo\nthr", "not touched yet");
        assert!(Journal::open(&path, true).unwrap_err().to_string().contains("in use by another process"));
        journal.begin().expect("it can be written");
        journal.append("three\n").expect("it can be written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "one\ntwo\nthree\n");
        drop(journal);
        assert_eq!(Journal::open(&path, true).expect("it is free again").1, "one\ntwo\nthree\n");
    }
}
