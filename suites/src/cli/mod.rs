//! Command line of `tiebreak`. `cargo xtask` forwards commands to this program.

mod atlas;
mod audit;
mod base;
mod bite;
mod bounds;
mod built;
mod case;
mod census;
mod check_type;
mod check_worker;
mod compilers;
mod date;
mod environment;
mod explain;
mod fingerprint;
mod identify;
mod installed;
mod interrupt;
mod ledgers;
mod library;
mod list;
mod network;
mod offline;
mod out_lock;
mod plan;
mod prove;
mod report;
mod rewrites;
mod schema;
mod shards;
mod space;
mod threads;
mod unfinished;
mod vectors;
mod verify;
mod worker;

use crate::lane;
use crate::parameters::SHIFTS;
use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use std::io::{ErrorKind, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use tiebreak_common::called;
use tiebreak_oracle::scheme::{Registered, Scheme};
use tiebreak_reports::drawable::escaped;
use tiebreak_reports::table::Detail;
use tiebreak_reports::table::Style;

/// Exact verification of quantized kernels: on which inputs a kernel differs from the arithmetic it promises, by how much, and
/// why.
#[derive(Debug, Parser)]
#[command(name = "tiebreak", bin_name = called::program(), version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Action,
}

impl Cli {
    /// Returns the amount of detail of a `verify` run. `None` for another command.
    pub fn detail(&self) -> Option<Result<Detail>> {
        match &self.command {
            Action::Verify(args) => Some(verify::detail(args)),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Verify kernels against the exact oracle, in every lane.
    Verify(Box<verify::Args>),
    /// Derive the largest depth and weight that each kernel allows, and run the kernel at the bound and one past it.
    Bounds(bounds::Args),
    /// List kernels with their contracts.
    Kernels(list::Args),
    /// List schemes with their steps.
    Schemes(list::Args),
    /// List the part of a plan that detects each known bug, and the parts that no bug needs. Exit code 1 if a bug is not detected.
    Mutants(bite::MutantsArgs),
    /// Inject localized faults into results, and count those that the plan detects.
    Corrupt(bite::CorruptArgs),
    /// Evaluate one case: the exact value, and the result of each scheme.
    Case(case::Args),
    /// Evaluate many cases, one a line of a file: the results of the oracle, as JSON lines. Exit code 2 if a line could not be read.
    Eval(offline::EvalArgs),
    /// Judge results of your own: cases with results, one a line of a file, a verdict a line, and causes over all lines. Exit code 1 if a line differs, 2 if a
    /// line could not be read.
    Judge(offline::JudgeArgs),
    /// Choose few test vectors of a scheme that detect the known bugs of its kernels, as a C header, JSON, CSV or Rust.
    Vectors(vectors::Args),
    /// Explain one input: every step of each scheme or kernel, the loss of each step, and the reason of a difference.
    Explain(explain::Args),
    /// Audit a model: changes of its results between runtimes, by layer and channel
    Audit(Box<audit::Args>),
    /// Compare every two schemes over all accumulators of many multipliers and shifts, and show where they agree.
    Atlas(atlas::Args),
    /// Prove that two schemes are identical, or find a difference, over all accumulators and multipliers of a shift. Exit code 1 if a shift is undecided.
    Prove(prove::Args),
    /// Verify and explain a type or an op of MLIR's quant dialect.
    CheckType(check_type::Args),
    /// Check that a worker speaks the protocol, within five seconds. Exit code 1 if it does not, with the first problem and what to do
    CheckWorker(check_worker::Args),
    /// Identify a library's rounding from sample outputs.
    Fingerprint(fingerprint::Args),
    /// Identify the scheme of each kernel of a lane or a library, by asking it. Exit code 1 if a kernel follows no scheme
    Identify(identify::Args),
    /// Count and list the accumulators on which two schemes differ; with --space, over all parameters too.
    Census(Box<census::Args>),
    /// Merge the shards of one run into what the whole run would have given. Exit code 1 if a shard is missing, which is named with its command.
    Merge(shards::MergeArgs),
    /// Plan the shards of a command: its units, their times, and the job of Slurm, GNU parallel or GitHub Actions that runs and merges them.
    Plan(plan::Args),
    /// Print a run again from its ledger.
    Show(ledgers::ShowArgs),
    /// Compare two runs by their ledgers: worse, better, new and gone results. Exit code 1 if a result is worse or gone, 2 if the runs have no plan in
    /// common.
    Diff(ledgers::DiffArgs),
    /// Draw a run as one page of HTML, from its ledger: lanes, news, uncovered inputs, kernels and figures.
    Report(report::Args),
    /// Count the values that rewrites of MLIR's quant dialect change.
    Rewrites(rewrites::Args),
    /// Print the completions of a shell: bash, elvish, fish, powershell or zsh.
    #[command(hide = true)]
    Completions(installed::CompletionsArgs),
    /// Print tiebreak.h, the interface of `verify --library`.
    Header,
    /// Print the JSON Schema of a form of `--format json`, or of ledger.json.
    Schema(schema::Args),
    /// Write manual pages.
    #[command(hide = true)]
    Man(installed::ManArgs),
    /// Run the kernels of lane `host` for another process.
    #[command(hide = true)]
    Worker(worker::Args),
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal.
    Table,
    /// JSON, for programs.
    Json,
}

/// Output format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Listing {
    /// A table for the terminal.
    Table,
    /// JSON, for programs.
    Json,
    /// CSV, for spreadsheets.
    Csv,
}

impl Format {
    /// Prints a table, or a value as indented JSON.
    fn print<J: Serialize>(self, table: impl FnOnce() -> String, json: impl FnOnce() -> J) -> Result<()> {
        print(&match self {
            Self::Table => table(),
            Self::Json => serde_json::to_string_pretty(&json())? + "\n",
        })
    }
}

impl Listing {
    /// Prints a table, a value as indented JSON, or CSV.
    fn print<J: Serialize>(
        self,
        table: impl FnOnce() -> String,
        json: impl FnOnce() -> J,
        csv: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match self {
            Self::Table => Format::Table.print(table, json),
            Self::Json => Format::Json.print(table, json),
            Self::Csv => print(&csv()?),
        }
    }
}

/// Parses an int32.
fn int32() -> impl clap::builder::TypedValueParser<Value = i32> {
    clap::value_parser!(i32).range(i64::from(i32::MIN)..=i64::from(i32::MAX))
}

/// Parses `LO:HI`.
fn interval(text: &str) -> Result<(i32, i32), String> {
    let ends = text.split_once(':').and_then(|(lo, hi)| Some((lo.parse().ok()?, hi.parse().ok()?)));
    let (lo, hi) = ends.ok_or("expected two int32, LO:HI")?;
    if lo > hi { Err(format!("{lo} is above {hi}")) } else { Ok((lo, hi)) }
}

/// Parses `A..B`, both ends included.
fn interval_of(text: &str) -> Result<RangeInclusive<i32>, String> {
    let ends =
        text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.trim_start_matches('=').parse().ok()?)));
    let (a, b) = ends.or_else(|| Some((text.parse().ok()?, text.parse().ok()?))).ok_or("expected two int32, A..B")?;
    if a > b { Err(format!("{a} is above {b}")) } else { Ok(a..=b) }
}

/// Parses `A..B` or a single shift.
fn shifts(text: &str) -> Result<RangeInclusive<i32>, String> {
    let range = interval_of(text)?;
    let inside = SHIFTS.contains(range.start()) && SHIFTS.contains(range.end());
    inside.then_some(range).ok_or_else(|| "a shift must be in -31..=31, positive = left".to_owned())
}

/// Parses a scheme of one operation, NAME or NAME:POLICY.
fn scheme<D: Registered + Send + Sync>(text: &str) -> Result<Scheme<D>, String> {
    Scheme::parse(text).map_err(|unknown| match unknown.nearest {
        Some(_) => unknown.to_string(),
        None => format!("{unknown}; `{} schemes` lists them", called::program()),
    })
}

/// Runs the program. Exit code 0: everything holds. 1: a contract is broken, or a shard is missing. 2: the call or its input is wrong.
pub fn main() -> ExitCode {
    if tiebreak_impls::sources::asked() {
        return ended(print(&built::described()).map(|()| true));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) if message.kind() == clap::error::ErrorKind::DisplayVersion => {
            return ended(print(&format!("tiebreak {}\n", installed::version())).map(|()| true));
        }
        Err(message) => return explained(&message),
    };
    if let Err(error) = interrupt::watch() {
        note(&format!("error: cannot watch for signals: {error}"));
        return ExitCode::from(2);
    }
    let result = run(cli.command);
    // End processes that a worker left in another session (`setsid`).
    lane::end_all();
    ended(result)
}

/// Runs a command. Returns true if everything holds.
fn run(action: Action) -> Result<bool> {
    // `verify` marks its files before these checks.
    if !matches!(action, Action::Verify(_)) {
        threads::start(None)?;
        built::check()?;
    }
    match action {
        Action::Verify(args) => verify::run(&args),
        Action::Bounds(args) => bounds::run(&args),
        Action::Kernels(args) => list::kernels(&args).map(|()| true),
        Action::Schemes(args) => list::schemes(&args).map(|()| true),
        Action::Mutants(args) => bite::mutants(&args),
        Action::Corrupt(args) => bite::corrupt(&args).map(|()| true),
        Action::Case(args) => case::run(&args).map(|()| true),
        Action::Eval(args) => offline::eval(&args).map(|()| true),
        Action::Judge(args) => offline::judge(&args),
        Action::Audit(args) => audit::run(&args),
        Action::Atlas(args) => atlas::run(&args).map(|()| true),
        Action::Prove(args) => prove::run(&args),
        Action::Vectors(args) => vectors::run(&args).map(|()| true),
        Action::Explain(args) => explain::run(&args).map(|()| true),
        Action::Census(args) => census::run(&args).map(|()| true),
        Action::CheckType(args) => check_type::run(&args),
        Action::CheckWorker(args) => check_worker::run(&args),
        Action::Show(args) => ledgers::show(&args).map(|()| true),
        Action::Diff(args) => ledgers::compare(&args),
        Action::Report(args) => report::run(&args).map(|()| true),
        Action::Fingerprint(args) => fingerprint::run(&args),
        Action::Identify(args) => identify::run(&args),
        Action::Merge(args) => shards::merge(&args),
        Action::Plan(args) => plan::run(&args).map(|()| true),
        Action::Rewrites(args) => rewrites::run(&args).map(|()| true),
        Action::Completions(args) => installed::completions(&args).map(|()| true),
        Action::Header => library::header().map(|()| true),
        Action::Schema(args) => schema::run(&args).map(|()| true),
        Action::Man(args) => installed::man(&args).map(|()| true),
        Action::Worker(args) => worker::run(&args).map(|()| true),
    }
}

fn ended(result: Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Prints help, or the error of a call. Help that could not be printed is an error.
fn explained(message: &clap::Error) -> ExitCode {
    match message.print() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => ExitCode::from(2),
        _ => ExitCode::from(message.exit_code() as u8),
    }
}

/// Writes to standard output. A reader that closes the pipe early is not an error.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("cannot write to standard output"))
        }
        _ => Ok(()),
    }
}

/// Writes lines to standard error and ignores write errors. The text is escaped, because errors can quote files and workers.
fn note(text: &str) {
    let lines: Vec<_> = text.lines().map(escaped).collect();
    let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
}

/// Formats a JSON value without quotes around text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Width of a table without a terminal, for example in a build log or a pager.
const WIDTH_ELSEWHERE: u16 = 120;

fn style() -> Style {
    let colour = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let width = terminal_size::terminal_size().map_or(WIDTH_ELSEWHERE, |(width, _)| width.0);
    Style { colour, width: Some(width) }
}

/// Formats rows as a list without separator lines.
fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    table_within(header, rows, terminal_size::terminal_size().map(|(width, _)| width.0))
}

/// Formats rows as a list of at most that width.
fn table_within(header: &[&str], rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::TableStyle::new()).set_header(header.to_vec()).add_rows(rows);
    if let Some(width) = width {
        table.set_width(width).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Formats rows as CSV.
fn csv_of<R>(header: impl IntoIterator<Item = impl AsRef<[u8]>>, rows: impl IntoIterator<Item = R>) -> Result<String>
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(header)?;
    rows.into_iter().try_for_each(|row| out.write_record(row))?;
    Ok(String::from_utf8(out.into_inner()?)?)
}
