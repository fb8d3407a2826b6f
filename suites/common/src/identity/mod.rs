//! Identity of a lane's code, by content: the SHA-256 of a file identifies it, not its version, date or name.

mod kept;
mod linker;
mod loaded;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use tiebreak_reports::ledger::{Content, Role};

pub use kept::HashCache;
pub use linker::link_inputs;
pub use loaded::mapped;
pub use loaded::{Loaded, loaded};

/// Bytes read at a time.
const BLOCK: usize = 1 << 20;

/// Path, inode, size and dates of a file. Every write or replacement changes at least the ctime, which no program sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Stamp(String);

/// Hashes of files that this process has read.
static KNOWN: LazyLock<Mutex<HashMap<Stamp, String>>> = LazyLock::new(Mutex::default);

impl Stamp {
    fn of(path: &Path, metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt;
            let inode = format!("{}:{}", metadata.dev(), metadata.ino());
            (
                inode,
                format!(
                    "{}.{:09} {}.{:09}",
                    metadata.mtime(),
                    metadata.mtime_nsec(),
                    metadata.ctime(),
                    metadata.ctime_nsec()
                ),
            )
        };
        #[cfg(not(unix))]
        let (inode, changed) = (String::new(), format!("{:?}", metadata.modified().ok()));
        Self(format!("{} {inode} {} {changed}", path.display(), metadata.len()))
    }
}

/// Identifies a file by its content. The file is read once per process, and not at all if `kept` has its hash.
pub fn content(path: &Path, role: Role, kept: Option<&HashCache>) -> Result<Content> {
    let reading = || format!("reading {}", path.display());
    let metadata = fs::metadata(path).with_context(reading)?;
    let stamp = Stamp::of(path, &metadata);
    let known = KNOWN.lock().expect("hashes").get(&stamp).cloned().or_else(|| kept?.get(&stamp));
    let sha256 = match known {
        Some(sha256) => sha256,
        None => hash(path).with_context(reading)?,
    };
    if let Some(kept) = kept {
        kept.put(&stamp, path, &sha256, &metadata);
    }
    KNOWN.lock().expect("hashes").insert(stamp, sha256.clone());
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(Content { role, name, bytes: metadata.len(), sha256 })
}

/// Computes the SHA-256 of a file, in hexadecimal as `sha256sum` prints it.
pub fn hash(path: &Path) -> std::io::Result<String> {
    let mut file = BufReader::with_capacity(BLOCK, File::open(path)?);
    let (mut hasher, mut block) = (Sha256::new(), vec![0; BLOCK]);
    loop {
        match file.read(&mut block)? {
            0 => break,
            n => hasher.update(&block[..n]),
        }
    }
    Ok(hexadecimal(hasher))
}

/// Computes the SHA-256 of bytes, in hexadecimal.
pub fn hash_bytes(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Finds the file of a program, by its path or along `PATH`; `None` if there is no such file.
pub fn find_program(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let directories = env::var_os("PATH")?;
    env::split_paths(&directories).map(|directory| directory.join(program)).find(|file| file.is_file())
}

/// Identifies the command of a worker by content: its program, the files among its arguments, and the libraries that the running worker had mapped.
/// Files for which `left_out` is true are omitted.
pub fn of_worker(
    command: &[String],
    mapped: &[PathBuf],
    left_out: impl Fn(&Path) -> bool,
    kept: Option<&HashCache>,
) -> Vec<Content> {
    let program = command.first().and_then(|program| find_program(Path::new(program)));
    let arguments = command.iter().skip(1).map(PathBuf::from).filter(|path| path.is_file());
    let named: Vec<PathBuf> = program.into_iter().chain(arguments).filter(|path| !left_out(path)).collect();
    let real: Vec<PathBuf> = named.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let libraries = mapped.iter().filter(|path| !real.contains(path) && !left_out(path));
    let of = |role| move |path: &PathBuf| content(path, role, kept).ok();
    named.iter().filter_map(of(Role::Worker)).chain(libraries.filter_map(of(Role::Library))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value is that of `printf abc | sha256sum`, FIPS 180-4.
    #[test]
    fn the_hash_is_that_of_sha256sum() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("abc");
        fs::write(&file, "abc").expect("a file");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&file).expect("it is read"), expected);
        let seen = content(&file, Role::Tool, None).expect("it is read");
        assert_eq!((seen.name.as_str(), seen.bytes, seen.sha256.as_str()), ("abc", 3, expected));
    }

    /// With the same name and size, and its modification time set back, a file with other content has another hash.
    #[test]
    #[cfg(unix)]
    fn a_file_replaced_at_its_old_date_is_read_again() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let kept = HashCache::open(dir.path());
        let file = dir.path().join("tool");
        fs::write(&file, "addf").expect("a file");
        let modified = fs::metadata(&file).and_then(|m| m.modified()).expect("a date");
        let first = content(&file, Role::Tool, Some(&kept)).expect("it is read");
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "subf").expect("a file");
        File::options().write(true).open(&file).and_then(|f| f.set_modified(modified)).expect("dated back");
        let second = content(&file, Role::Tool, Some(&kept)).expect("it is read");
        assert_eq!(first.bytes, second.bytes);
        assert_ne!(first.sha256, second.sha256);
    }
}
