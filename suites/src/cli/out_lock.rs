//! The lock of an output directory: of two runs into one, the files would be of both. It is the system's own, and ends with its process.

use super::note;
use anyhow::{Result, bail};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Locks a directory that is there, for as long as the file is open. `None` where directories cannot be locked.
pub(super) fn take(out: &Path) -> Result<Option<File>> {
    let named = if out.as_os_str().is_empty() { Path::new(".") } else { out };
    let locked = File::open(named).map_err(TryLockError::Error).and_then(|directory| {
        directory.try_lock()?;
        Ok(directory)
    });
    match locked {
        Ok(directory) => Ok(Some(directory)),
        Err(TryLockError::WouldBlock) => bail!(
            "another run writes to {}{}: wait for its end, or name another directory with --out DIR",
            named.display(),
            holder(named)
        ),
        Err(TryLockError::Error(cause)) => {
            note(&format!(
                "cannot lock {} ({cause}): a second run into this directory would not be noticed",
                named.display()
            ));
            Ok(None)
        }
    }
}

/// ` (process 4711)`, where the system says who holds the lock.
#[cfg(target_os = "linux")]
fn holder(directory: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let found = || {
        let inode = std::fs::metadata(directory).ok()?.ino();
        let locks = procfs::locks().ok()?;
        let lock = locks.into_iter().find(|lock| lock.inode == inode && lock.lock_type == procfs::LockType::FLock)?;
        Some(format!(" (process {})", lock.pid?))
    };
    found().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn holder(_directory: &Path) -> String {
    String::new()
}
