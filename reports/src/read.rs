//! Reads input files within a limit, so that an endless file such as `/dev/zero` is rejected.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest file that a person writes (parameters, observations), in bytes.
pub const TABLE: u64 = 1 << 26;
/// Largest lanes file, in bytes.
pub const LANES: u64 = 1 << 20;
/// Largest model, in bytes.
pub const MODEL: u64 = 1 << 28;
/// Largest ledger or journal, in bytes.
pub const LEDGER: u64 = 1 << 30;

/// Reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The system cannot read it.
    #[error("cannot read {}: {cause}", path.display())]
    Refused {
        /// File.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// The file is larger than the limit, or has no end.
    #[error("cannot read {}: it is larger than {most} bytes, which is the limit of such a file, or it has no end; give a smaller file", path.display())]
    TooLarge {
        /// File.
        path: PathBuf,
        /// Limit, in bytes.
        most: u64,
    },
    /// The file is not text.
    #[error("cannot read {}: it is no UTF-8 text from byte {at} on", path.display())]
    NotText {
        /// File.
        path: PathBuf,
        /// Position of the first byte that is not UTF-8.
        at: usize,
    },
}

/// Returns all bytes of a file of at most `most` bytes.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    let refused = |cause| Unreadable::Refused { path: path.to_owned(), cause };
    let file = File::open(path).map_err(refused)?;
    // Devices and pipes report a length of zero, so the limit also applies to the bytes read.
    let length = file.metadata().map_err(refused)?.len();
    let mut bytes = Vec::new();
    if length <= most {
        file.take(most + 1).read_to_end(&mut bytes).map_err(refused)?;
    }
    if length.max(bytes.len() as u64) > most {
        return Err(Unreadable::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// Returns the text of a file of at most `most` bytes.
pub fn text(path: &Path, most: u64) -> Result<String, Unreadable> {
    let not_text = |cause: std::string::FromUtf8Error| {
        let at = cause.utf8_error().valid_up_to();
        Unreadable::NotText { path: path.to_owned(), at }
    };
    String::from_utf8(bytes(path, most)?).map_err(not_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_no_byte_beyond() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        std::fs::write(&path, "12345").expect("it can be written");
        assert_eq!(bytes(&path, 5).expect("it fits"), b"12345");
        assert_eq!(text(&path, 6).expect("it fits"), "12345");
        let message = bytes(&path, 4).expect_err("it is larger").to_string();
        assert!(message.contains("larger than 4 bytes") && message.contains("file"), "{message}");
        std::fs::write(&path, b"12\xff").expect("it can be written");
        let message = text(&path, 9).expect_err("it is no text").to_string();
        assert!(message.contains("no UTF-8 text from byte 2 on"), "{message}");
        let message = bytes(dir.path(), 9).expect_err("it is a directory").to_string();
        assert!(message.contains("cannot read"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_refused() {
        let message = bytes(Path::new("/dev/zero"), 1 << 20).expect_err("it has no end").to_string();
        assert!(message.contains("/dev/zero") && message.contains("1048576 bytes"), "{message}");
    }
}
