//! Hashes kept from run to run, so that not every run reads hundreds of megabytes of compiler.
//!
//! `hashes.json` has the hashes by path, size, inode and dates. Among the dates is ctime, which no program sets. Without this cache, hashing is half
//! of a single-case run.

use super::Stamp;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// Minimum age of a change, if the hash is to be kept: a younger file may change again with equal dates.
const SETTLED: Duration = Duration::from_secs(2);

/// Hashes kept in a directory.
#[derive(Debug)]
pub struct HashCache {
    file: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    hashes: BTreeMap<String, String>,
    changed: bool,
}

impl HashCache {
    /// Reads the hashes in `directory`. An unreadable file counts as empty.
    pub fn open(directory: &Path) -> Self {
        let file = directory.join("hashes.json");
        let hashes = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { file, state: Mutex::new(State { hashes, changed: false }) }
    }

    pub(super) fn get(&self, stamp: &Stamp) -> Option<String> {
        self.state.lock().expect("kept hashes").hashes.get(&stamp.0).cloned()
    }

    /// Keeps the hash of a file, and drops earlier hashes of the same path.
    pub(super) fn put(&self, stamp: &Stamp, path: &Path, sha256: &str, metadata: &Metadata) {
        if !settled(metadata) {
            return;
        }
        let mut state = self.state.lock().expect("kept hashes");
        let path = format!("{} ", path.display());
        state.hashes.retain(|known, _| *known == stamp.0 || !known.starts_with(&path));
        let before = state.hashes.insert(stamp.0.clone(), sha256.to_owned());
        state.changed |= before.as_deref() != Some(sha256);
    }

    /// Writes new entries atomically. A failure is ignored: it only costs time.
    pub fn save(&self) {
        let state = self.state.lock().expect("kept hashes");
        if !state.changed {
            return;
        }
        let text = serde_json::to_string_pretty(&state.hashes).expect("text by text");
        let draft = self.file.with_extension(format!("json.{}", std::process::id()));
        if fs::write(&draft, text).and_then(|()| fs::rename(&draft, &self.file)).is_err() {
            let _ = fs::remove_file(&draft);
        }
    }
}

fn settled(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt;
        let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
        Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, metadata.ctime_nsec() as u32))
    };
    #[cfg(not(unix))]
    let changed = metadata.modified().ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > SETTLED)
}
