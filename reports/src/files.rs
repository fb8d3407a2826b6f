//! The output directory: `ledger.json`, `report.html` with `figures/*.csv`, `mismatches.csv`, `summary.md`, `details.md`, `junit.xml` and
//! `findings.sarif`.
//!
//! All contents are made first, written under temporary names and renamed last. A reader never sees half a file, and a full disk does not
//! destroy the files of an earlier run. Each run also writes all files, without a verdict, when it begins, so that the files of an earlier
//! run are not mistaken for its own.

use crate::drawable;
use crate::html::{self, Earlier, csv::DIRECTORY};
use crate::ledger::FigureKind;
use crate::ledger::{Against, FORMAT, Ledger, Mismatch, OLDEST};
use crate::read::{self, Unreadable};
use crate::{json, junit, markdown, sarif, summary, text};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// File with the whole ledger.
pub const LEDGER: &str = "ledger.json";
/// Page for a reader; a directory next to it has the CSV files of its figures.
pub const REPORT: &str = "report.html";
/// File with every kept mismatch.
pub const MISMATCHES: &str = "mismatches.csv";
/// File for a reviewer, no larger than a comment.
pub const SUMMARY: &str = "summary.md";
/// Complete file for a reviewer.
pub const DETAILS: &str = "details.md";
/// File for a build server.
pub const JUNIT: &str = "junit.xml";
/// File for a code host that shows findings next to the lines of a change.
pub const SARIF: &str = "findings.sarif";

/// Columns of [`MISMATCHES`].
pub const MISMATCH_COLUMNS: [&str; 10] =
    ["op", "kernel", "lane", "against", "scheme", "case", "got", "expected", "class", "command"];

/// Every file of the directory, except those of figures.
const FILES: [&str; 7] = [LEDGER, REPORT, MISMATCHES, SUMMARY, DETAILS, JUNIT, SARIF];

/// Reason why the output directory cannot be written. The text includes the cause, so every way to show the error shows the cause.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The directory does not exist and cannot be created.
    #[error("cannot create the output directory {}: {cause}; name another with --out DIR", dir.display())]
    Create {
        /// Directory.
        dir: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// A file of the directory cannot be written.
    #[error("cannot write {}: {cause}; make room or permit it there, or name another directory with --out DIR", path.display())]
    Write {
        /// File.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// A directory has the name of a file.
    #[error("cannot write {}: a directory has that name; move it away, or name another directory with --out DIR", path.display())]
    Occupied {
        /// Path of the directory.
        path: PathBuf,
    },
}

/// Creates the directory and checks that files can be written there, before hours of work. Existing contents are kept.
pub fn check_writable(dir: &Path) -> Result<(), WriteError> {
    create(dir)?;
    if let Some(path) = FILES.map(|name| dir.join(name)).into_iter().find(|path| path.is_dir()) {
        return Err(WriteError::Occupied { path });
    }
    Staged::new(&dir.join(LEDGER), b"").map(drop)
}

/// Writes a file under a temporary name and renames it. A reader sees either the whole new file or the old one.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    create(path.parent().unwrap_or(Path::new("")))?;
    Staged::new(path, contents)?.publish()
}

/// Writes all files or no file, unless a rename fails after another one. The page and the summary compare the run with earlier runs.
pub fn write_all(dir: &Path, ledger: &Ledger, mismatches: &[Mismatch], earlier: Earlier<'_>) -> Result<(), WriteError> {
    create(dir)?;
    // Every file draws the same texts, so that they are checked once.
    let drawn = &*drawable::ledger(ledger);
    let large = || {
        let mut staged = page(dir, drawn, earlier)?;
        staged.push(Staged::new(&dir.join(MISMATCHES), &mismatches_csv(mismatches))?);
        Ok(staged)
    };
    let small = || {
        Ok([
            Staged::new(&dir.join(LEDGER), json::pretty(ledger).as_bytes())?,
            Staged::new(&dir.join(SUMMARY), summary::drawn(drawn, earlier).as_bytes())?,
            Staged::new(&dir.join(DETAILS), markdown::drawn(drawn).as_bytes())?,
            Staged::new(&dir.join(JUNIT), junit::drawn(drawn).as_bytes())?,
            Staged::new(&dir.join(SARIF), sarif::drawn(drawn).as_bytes())?,
        ])
    };
    // After a run all other cores are idle.
    let (large, small) = std::thread::scope(|scope| {
        let large = scope.spawn(large);
        let small = small();
        (large.join().expect("making files does not panic"), small)
    });
    let (large, small): (Vec<Staged>, [Staged; 5]) = (large?, small?);
    for file in large.into_iter().chain(small) {
        file.publish()?;
    }
    clear_figures(dir, ledger);
    Ok(())
}

/// Writes the page of a ledger, compared with earlier runs, and the CSV files of its figures. Returns the path of the page.
pub fn write_report(dir: &Path, ledger: &Ledger, earlier: Earlier<'_>) -> Result<PathBuf, WriteError> {
    create(dir)?;
    for file in page(dir, &drawable::ledger(ledger), earlier)? {
        file.publish()?;
    }
    clear_figures(dir, ledger);
    Ok(dir.join(REPORT))
}

/// Makes the page of a ledger whose texts are drawable, and the CSV files of its figures.
fn page(dir: &Path, ledger: &Ledger, earlier: Earlier<'_>) -> Result<Vec<Staged>, WriteError> {
    let mut staged = vec![Staged::new(&dir.join(REPORT), html::drawn(ledger, earlier).as_bytes())?];
    for (name, contents) in html::csv::files(ledger) {
        create(&dir.join(DIRECTORY))?;
        staged.push(Staged::new(&dir.join(DIRECTORY).join(name), &contents)?);
    }
    Ok(staged)
}

/// Removes figures of an earlier run that this run lacks, because a reader would take them for figures of this run.
fn clear_figures(dir: &Path, ledger: &Ledger) {
    let gone = FigureKind::ALL.into_iter().filter(|kind| !ledger.figures.iter().any(|figure| figure.kind == *kind));
    for kind in gone {
        // The file usually does not exist.
        let _ = fs::remove_file(dir.join(DIRECTORY).join(html::csv::name(kind)));
    }
    // The removal fails if the directory still contains files, as intended.
    let _ = fs::remove_dir(dir.join(DIRECTORY));
}

/// Creates the directory unless it exists. An empty path is the current directory.
pub fn create(dir: &Path) -> Result<(), WriteError> {
    if dir.as_os_str().is_empty() {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(|cause| WriteError::Create { dir: dir.to_owned(), cause })
}

/// Returns the mismatches as CSV with a header, sorted by operation, kernel, lane and comparison. Mismatches that are equal in
/// these keep their order, the simplest case first.
fn mismatches_csv(mismatches: &[Mismatch]) -> Vec<u8> {
    let mut sorted: Vec<_> = mismatches.iter().collect();
    sorted.sort_by_key(|m| (&m.op, &m.kernel, &m.lane, m.against));
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(MISMATCH_COLUMNS).expect("written to memory");
    for mismatch in sorted {
        writer.write_record(record(mismatch)).expect("written to memory, as many columns each");
    }
    writer.into_inner().expect("written to memory")
}

fn record(mismatch: &Mismatch) -> [String; 10] {
    let m = mismatch.clone();
    let against = match m.against {
        Against::Contract => "contract",
        Against::Reference => "reference",
    };
    let [got, expected] = [&m.got, &m.expected].map(|value| value.to_string());
    let cells = [m.op, m.kernel, m.lane, against.to_owned(), m.scheme, m.case, got, expected, m.class, m.command];
    cells.map(|cell| drawable::escaped(&cell).into_owned())
}

/// File with a temporary name in its final directory; dropping removes the file unless it was published.
struct Staged {
    temporary: PathBuf,
    path: PathBuf,
}

impl Staged {
    fn new(path: &Path, contents: &[u8]) -> Result<Self, WriteError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let staged = Self { temporary, path: path.to_owned() };
        match staged.fill(contents) {
            Ok(()) => Ok(staged),
            Err(cause) => Err(staged.error(cause)),
        }
    }

    fn fill(&self, contents: &[u8]) -> io::Result<()> {
        let mut file = fs::File::create(&self.temporary)?;
        file.write_all(contents)?;
        file.sync_all()
    }

    fn publish(self) -> Result<(), WriteError> {
        fs::rename(&self.temporary, &self.path).map_err(|cause| self.error(cause))
    }

    fn error(&self, cause: io::Error) -> WriteError {
        let path = self.path.clone();
        if path.is_dir() { WriteError::Occupied { path } } else { WriteError::Write { path, cause } }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // A published file, or one that was never created, needs no removal. A failure here cannot be reported.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Reason why a ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] Unreadable),
    /// The file is not JSON, or not the JSON of a ledger.
    #[error("{} is not a ledger of format {FORMAT}: {cause}; write it again with `verify --out DIR`", path.display())]
    Malformed {
        /// File.
        path: PathBuf,
        /// Error, with line and column.
        cause: serde_json::Error,
    },
    /// Counts that are too large for any run.
    #[error("{} has counts that add up to more than 2^63, as those of no run do; write it again with `verify --out DIR`", path.display())]
    Sums {
        /// File.
        path: PathBuf,
    },
    /// One field contradicts another.
    #[error("{} contradicts itself: {what}; no run writes such a ledger: write it again with `verify --out DIR`", path.display())]
    Contradiction {
        /// File.
        path: PathBuf,
        /// The two fields, and how they disagree.
        what: String,
    },
    /// The ledger has a format unknown to this program.
    #[error("{} has ledger format {found}, and this program reads formats {OLDEST} to {FORMAT}; use the version of tiebreak that wrote it", path.display())]
    Format {
        /// File.
        path: PathBuf,
        /// Format of the file.
        found: u64,
    },
}

/// Reads a ledger. The format is checked first, so that another format is not reported as malformed.
pub fn read_ledger(path: &Path) -> Result<Ledger, ReadError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: u64,
    }
    let malformed = |cause| ReadError::Malformed { path: path.to_owned(), cause };
    let text = read::text(path, read::LEDGER)?;
    let head: Head = serde_json::from_str(&text).map_err(malformed)?;
    if !(u64::from(OLDEST)..=u64::from(FORMAT)).contains(&head.format) {
        return Err(ReadError::Format { path: path.to_owned(), found: head.format });
    }
    let ledger: Ledger = serde_json::from_str(&text).map_err(malformed)?;
    if !ledger.adds_up() {
        return Err(ReadError::Sums { path: path.to_owned() });
    }
    if let Some(what) = ledger.contradiction() {
        return Err(ReadError::Contradiction { path: path.to_owned(), what: text::one_line(&what) });
    }
    Ok(ledger)
}
