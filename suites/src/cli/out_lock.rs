//! Lock of an output directory, so that two runs cannot mix their files. The operating system releases the lock with the process.

use super::note;
use anyhow::{Result, bail};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Locks an existing directory until the file is closed. `None` if directories cannot be locked.
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

/// Returns ` (process 4711)` if the system reports the holder of the lock.
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
