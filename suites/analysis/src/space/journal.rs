//! What is counted so far, on disk: a line a chunk, in the order in which they end.
//!
//! A line holds its own checksum, and is written as one. Where the program or the machine ends in the middle, the last line is
//! not whole, and its chunk is counted again. A lock on the file, which goes with the process, keeps a second one out.

use super::check;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tiebreak_reports::read::LEDGER;
use tiebreak_reports::space::{Chunk, Line, Place, Plan};

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// CRC-32 of the line it holds, as it is written.
    crc: String,
    /// The line of a ledger.
    line: Line,
}

/// The journal of a run, open and locked.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// What a journal holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What is to be counted.
    pub plan: Plan,
    /// What is counted, in the order of the file.
    pub chunks: Vec<Chunk>,
    /// Length of the whole lines, in bytes; after them may be one that is not whole.
    whole: usize,
}

/// Where the journal of a ledger lies: beside it.
pub fn path(ledger: &Path) -> PathBuf {
    let mut name = OsString::from(ledger.file_name().unwrap_or_default());
    name.push(".journal");
    ledger.with_file_name(name)
}

/// The ledger that a journal becomes.
pub fn ledger_of(journal: &Path) -> PathBuf {
    journal.with_extension("")
}

/// The text of an entry.
fn render(line: &Line) -> String {
    let text = tiebreak_reports::space::render(line);
    let text = text.trim_end();
    format!("{{\"crc\":\"{:08x}\",\"line\":{text}}}\n", crc32fast::hash(text.as_bytes()))
}

/// An entry, if it is whole: written again it is the same text.
fn whole(text: &str) -> Option<Line> {
    let entry: Entry = serde_json::from_str(text).ok()?;
    (render(&entry.line) == text).then_some(entry.line)
}

/// Reads a journal. Nothing where not even its first line is whole.
pub fn read(bytes: &[u8]) -> Result<Option<Contents>> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut contents: Option<Contents> = None;
    let mut seen = HashSet::new();
    let mut places: HashSet<Place> = HashSet::new();
    for (i, bytes) in lines.iter().enumerate() {
        let line = std::str::from_utf8(bytes).ok().and_then(whole);
        match (line, &mut contents) {
            (Some(Line::Plan(plan)), None) => {
                check(&plan)?;
                places.extend(plan.places());
                contents = Some(Contents { plan, chunks: Vec::new(), whole: 0 });
            }
            (Some(Line::Chunk(chunk)), Some(contents)) => {
                if !places.contains(&chunk.place) || !seen.insert(chunk.place) {
                    bail!("line {} counts {:?}, which is not of its plan or counted twice", i + 1, chunk.place);
                }
                chunk.possible().with_context(|| format!("line {}", i + 1))?;
                contents.chunks.push(chunk);
            }
            (None, _) if i + 1 == lines.len() => break,
            _ => bail!("line {} is damaged, and it is not the last one", i + 1),
        }
        if let Some(contents) = &mut contents {
            contents.whole += bytes.len();
        }
    }
    Ok(contents)
}

impl Journal {
    /// Opens the journal of a ledger, with the chunks that are counted; a new one where there is none. One that is there is an
    /// error unless `resume` is set, and so is one of another plan, and one in use.
    pub fn open(ledger: &Path, plan: &Plan, resume: bool) -> Result<(Self, Vec<Chunk>)> {
        let path = path(ledger);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.with_context(|| format!("cannot write the journal {}", path.display()))?;
        lock(&file, &path)?;
        let mut journal = Self { file, path };
        let mut bytes = Vec::new();
        let all = (&journal.file).take(LEDGER + 1).read_to_end(&mut bytes);
        all.with_context(|| format!("cannot read {}", journal.path.display()))?;
        if bytes.len() as u64 > LEDGER {
            bail!("{} is larger than {LEDGER} bytes: name another file with --out", journal.path.display());
        }
        if !bytes.is_empty() && !resume {
            bail!(
                "the journal {} of an interrupted run exists: continue it with --resume, or name another file with --out",
                journal.path.display()
            );
        }
        let damaged =
            || format!("{} cannot be resumed: remove it, or name another file with --out", journal.path.display());
        let chunks = match read(&bytes).with_context(damaged)? {
            Some(contents) => {
                same(&contents.plan, plan, &journal.path)?;
                journal.cut(contents.whole)?;
                contents.chunks
            }
            None => {
                journal.cut(0)?;
                journal.write(Line::Plan(plan.clone()))?;
                Vec::new()
            }
        };
        Ok((journal, chunks))
    }

    /// Adds a chunk. Once this returns, it is on disk.
    pub fn add(&mut self, chunk: &Chunk) -> Result<()> {
        self.write(Line::Chunk(chunk.clone()))
    }

    /// Removes the file: everything is in the ledger.
    pub fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }

    fn write(&mut self, line: Line) -> Result<()> {
        let text = render(&line);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.with_context(|| {
            format!("cannot write {}; free some space and continue with --resume", self.path.display())
        })
    }

    /// Continues after `length` bytes, and drops the rest.
    fn cut(&mut self, length: usize) -> Result<()> {
        let cut = self.file.set_len(length as u64).and_then(|()| self.file.seek(SeekFrom::Start(length as u64)));
        cut.map(drop).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            bail!("{} is in use by another process: wait for it, or name another file with --out", path.display())
        }
        Err(TryLockError::Error(cause)) => Err(cause)
            .with_context(|| format!("cannot lock {}: name a file on another disk with --out", path.display())),
    }
}

/// Checks that the journal belongs to the requested run.
pub(super) fn same(begun: &Plan, asked: &Plan, path: &Path) -> Result<()> {
    let mut unlike = asked.unlike(begun);
    if begun.shard != asked.shard {
        let said = |plan: &Plan| plan.shard.map_or("none".to_owned(), |shard| shard.to_string());
        unlike.push(format!("shard {} is {} there", said(asked), said(begun)));
    }
    if unlike.is_empty() {
        return Ok(());
    }
    bail!(
        "{} belongs to another run: {}; give the arguments of that run, or name another file with --out",
        path.display(),
        unlike.join(", ")
    )
}
