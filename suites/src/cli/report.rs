//! `report`: page of a run, and index of published runs, drawn from ledgers only.

use super::ledgers::{ended, read as read_ledger};
use super::{base, print};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use tiebreak_common::called;
use tiebreak_reports::files::{self, LEDGER, REPORT, write_report};
use tiebreak_reports::html::Earlier;
use tiebreak_reports::html::index::{self, Entry, Holds};
use tiebreak_reports::read;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// `ledger.json`, or its directory. Of several ledgers, ordered by date, the last is drawn and compared with the one
    /// before it [default: tiebreak-out, compared with the latest run of the same command in reports/published]
    #[arg(value_name = "LEDGER")]
    ledgers: Vec<PathBuf>,
    /// Ledger to compare with [default: the one before the last]
    #[arg(long, value_name = "LEDGER")]
    against: Option<PathBuf>,
    /// Directory for report.html and figures/*.csv [default: directory of the last ledger]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Draw the reports of all ledgers DIR/*/ledger.json, each compared with the previous one of the same name (without the date), and
    /// DIR/index.html
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ledgers", "against", "out"])]
    index: Option<PathBuf>,
}

/// Draws the page or index, and prints its path.
pub(super) fn run(args: &Args) -> Result<()> {
    match &args.index {
        Some(directory) => draw_index(directory),
        None => draw_one(args),
    }
}

fn draw_one(args: &Args) -> Result<()> {
    let default = [PathBuf::from("tiebreak-out")];
    let paths = if args.ledgers.is_empty() { &default[..] } else { &args.ledgers[..] };
    let (last, before) = paths.split_last().expect("at least the default");
    let ledger = read_ledger(last)?;
    let mut earlier = before.iter().map(|path| ended(path)).collect::<Result<Vec<_>>>()?;
    earlier.extend(args.against.iter().map(|path| ended(path)).collect::<Result<Vec<_>>>()?);
    if args.ledgers.is_empty() && args.against.is_none() {
        earlier.extend(base::published(&ledger));
    }
    let beside = if last.is_dir() { last.as_path() } else { last.parent().unwrap_or(Path::new("")) };
    let out = args.out.as_deref().unwrap_or(beside);
    let page = write_report(out, &ledger, Earlier { runs: &earlier })?;
    print(&format!("{}\n", page.display()))
}

fn draw_index(directory: &Path) -> Result<()> {
    let entries = entries(directory)?;
    let mut lines = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(ledger) = entry.ledger() else { continue };
        let before = index::before(&entries, at).cloned();
        let page = write_report(&directory.join(&entry.directory), ledger, Earlier { runs: before.as_slice() })?;
        lines += &format!("{}\n", page.display());
    }
    let page = directory.join("index.html");
    files::write(&page, index::render(&entries).as_bytes())?;
    print(&format!("{lines}{}\n", page.display()))
}

/// Describes a result by its `README.md`. The title is the heading of `README.md`; the link leads to the report page if it exists.
fn described(path: &Path, directory: &str) -> Result<Holds> {
    let text = read::text(&path.join("README.md"), read::TABLE)?;
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(directory);
    let file = if path.join(REPORT).is_file() { REPORT } else { "README.md" };
    Ok(Holds::Other { title: format!("{directory}: {heading}"), file: file.to_owned() })
}

/// Lists the directories of published results, sorted by name.
fn entries(directory: &Path) -> Result<Vec<Entry>> {
    let cannot =
        || format!("cannot list {}; name a directory that holds one directory for each report", directory.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let Some(name) = path.file_name().filter(|_| path.is_dir()) else { continue };
        let directory = name.to_string_lossy().into_owned();
        if path.join(LEDGER).is_file() {
            entries.push(Entry { directory, holds: Holds::Run(Box::new(read_ledger(&path)?)) });
        } else if path.join("README.md").is_file() {
            entries.push(Entry { holds: described(&path, &directory)?, directory });
        }
    }
    if entries.iter().all(|entry| entry.ledger().is_none()) {
        bail!(
            "{}: none of its directories has a {LEDGER}; write one with `{} verify --out DIR`",
            directory.display(),
            called::program()
        );
    }
    entries.sort_by(|a, b| a.directory.cmp(&b.directory));
    Ok(entries)
}
