//! `show` and `diff`: ledgers of earlier runs.

use super::{print, style};
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiebreak_reports::files::{self, read_ledger};
use tiebreak_reports::ledger::{Ledger, Verdict};
use tiebreak_reports::table::{Detail, render, render_diff};
use tiebreak_reports::{annotations, diff, json, markdown, sarif};

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal.
    Table,
    /// JSON, for programs.
    Json,
    /// GitHub Markdown, for a comment.
    Markdown,
}

/// Output format of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// A table for the terminal.
    Table,
    /// JSON, for programs.
    Json,
    /// GitHub Markdown, complete.
    Markdown,
    /// The findings in SARIF 2.1.0.
    Sarif,
    /// The findings as annotations of GitHub Actions.
    Github,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// `ledger.json`, or its directory
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// Print the tables of all kernels, and every finding
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Shown,
}

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// `ledger.json` of the first run, or its directory
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// `ledger.json` of the second run, or its directory
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Prints an earlier run.
pub(super) fn show(args: &ShowArgs) -> Result<()> {
    let ledger = read(&args.ledger)?;
    let ops: BTreeSet<&str> = ledger.rows.iter().map(|row| &*row.op).collect();
    let detail = if args.verbose || ops.len() < 2 { Detail::Tables } else { Detail::Screen };
    match args.format {
        Shown::Table => print(&render(&ledger, detail, style())),
        Shown::Json => print(&json::render(&ledger)),
        Shown::Markdown => print(&markdown::render(&ledger)),
        Shown::Sarif => print(&sarif::render(&ledger)),
        Shown::Github => print(&annotations::render(&ledger)),
    }
}

/// Compares two runs. Returns false if the second run is worse or has lost something. Otherwise fails if no row of both runs was planned alike.
pub(super) fn compare(args: &DiffArgs) -> Result<bool> {
    let (old, new) = (ended(&args.old)?, ended(&args.new)?);
    let diff = diff::diff(&old, &new);
    match args.format {
        Format::Table => print(&render_diff(&diff, style()))?,
        Format::Json => print(&(serde_json::to_string_pretty(&diff)? + "\n"))?,
        Format::Markdown => print(&diff.markdown())?,
    }
    if let Some(why) = diff.nothing_compared().filter(|_| !diff.is_worse()) {
        bail!("the two runs have no plan in common: {why}; compare runs of one plan");
    }
    Ok(!diff.is_worse())
}

pub(super) fn read(path: &Path) -> Result<Ledger> {
    let file = if path.is_dir() { path.join(files::LEDGER) } else { path.to_owned() };
    Ok(read_ledger(&file)?)
}

/// Reads a run that ended. The losses of an unfinished run are unknown.
pub(super) fn ended(path: &Path) -> Result<Ledger> {
    let ledger = read(path)?;
    if ledger.verdict == Verdict::Unfinished {
        let why = ledger.unfinished.as_deref().unwrap_or("no reason is recorded");
        bail!("{}: the run did not end ({why}) and cannot be compared; run it again", path.display());
    }
    Ok(ledger)
}
