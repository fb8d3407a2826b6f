//! `cargo xtask bite`: counts the small changes of kernel code that `verify` detects, or of oracle code that the oracle's tests detect.
//! cargo-mutants, installed if absent, makes the changes in a copy of the package.

mod known;
mod outcome;
mod sample;
mod scratch;
mod subject;

use crate::cargo;
use crate::forward;
use crate::process;
use crate::say::{note, print};
use crate::setup;
use crate::shards::{Cut, Options};
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use known::{Known, List};
use outcome::{Ended, Tally};
use sample::Choice;
use scratch::Scratch;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;
use subject::{Part, Subject};
use tiebreak_shards::Sink;

/// Release of cargo-mutants. Another release may make other changes.
const VERSION: &str = "25.3.1";

/// Arguments of `bite`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Operation whose kernels are changed, or part of the oracle; may be repeated [default: all]
    #[arg(long)]
    op: Vec<String>,
    /// Change the oracle instead of the kernels; its own tests judge the changes
    #[arg(long, conflicts_with = "corrupt")]
    oracle: bool,
    /// Inject localized faults into results instead of changing code: `cargo xtask corrupt`
    #[arg(long, conflicts_with = "shard")]
    corrupt: bool,
    /// Number of changes of each operation, or of the whole oracle, chosen by the seed [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Seed of the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table", conflicts_with = "corrupt")]
    format: Format,
    #[command(flatten)]
    shards: Options,
}

/// Name of the command.
pub(crate) const COMMAND: &str = "bite";

/// Output format of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// Counts of each operation, and the survivors
    Table,
    /// A row for each change: operation, outcome, change
    Csv,
}

/// Row of `--format csv`.
#[derive(Debug, Serialize)]
struct Row<'a> {
    operation: &'a str,
    outcome: Ended,
    /// Name given by cargo-mutants, with line and column.
    change: &'a str,
}

/// Outcome of a change, as stored in a shard.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Gave {
    ended: Ended,
    /// Reason why the change is equivalent, if listed.
    reason: Option<String>,
}

/// Data of the table in addition to the outcomes.
#[derive(Debug, Deserialize, Serialize)]
struct Context {
    heading: String,
    format: Format,
    is_judged_by_tests: bool,
    /// Operations or parts of the oracle, with the number of their changes.
    parts: Vec<(String, usize)>,
}

/// Tries the changes. The exit code is 1 if a change goes undetected and is not listed as equivalent. `verify` never runs inputs that a kernel
/// refuses, so a change that only unit tests detect is printed and lowers the rate, but does not affect the exit code.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.corrupt {
        return corrupt(arguments);
    }
    let workspace = Workspace::locate()?;
    setup::provide(&workspace, &Tool::BASE)?;
    let program = provision(&workspace)?;
    let subject = match arguments.oracle {
        true => Subject::oracle(),
        false => Subject::kernels(cargo::build(&workspace, &[cargo::TIEBREAK])?[cargo::TIEBREAK.1].clone()),
    };
    let scratch = Scratch::write(&workspace, &subject, program)?;
    let choice = Choice { sample: arguments.sample, seed: arguments.seed };
    let campaign = Campaign::new(&workspace, &subject, subject.parts(&scratch, &choice, &arguments.op)?)?;
    let context = serde_json::to_value(campaign.context(arguments.format))?;
    let (command, options, units) = (COMMAND, &arguments.shards, campaign.units());
    let cut = Cut { command, units, seconds: None, context, options };
    match cut.run(&workspace, |pending, sink| campaign.run(&scratch, pending, sink))? {
        Some(gave) => shown(&cut.units, &cut.context, &gave),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Selected changes of some parts.
struct Campaign<'a> {
    subject: &'a Subject,
    parts: Vec<Part>,
    known: Vec<Known>,
}

impl<'a> Campaign<'a> {
    fn new(workspace: &Workspace, subject: &'a Subject, parts: Vec<Part>) -> Result<Self> {
        let list = List::read(&workspace.root.join(subject.package).join("equivalent-mutants.txt"))?;
        let known = parts.iter().map(|part| list.of(&part.every)).collect::<Result<_>>()?;
        Ok(Self { subject, parts, known })
    }

    fn context(&self, format: Format) -> Context {
        Context {
            format,
            heading: self.subject.heading.to_owned(),
            is_judged_by_tests: self.subject.is_judged_by_tests(),
            parts: self.parts.iter().map(|part| (part.name.clone(), part.every.len())).collect(),
        }
    }

    /// Returns the units: one for each change, after the name of its part.
    fn units(&self) -> Vec<String> {
        let of = |part: &Part| part.chosen.iter().map(|change| format!("{} {change}", part.name)).collect::<Vec<_>>();
        self.parts.iter().flat_map(of).collect()
    }

    /// Tries the pending changes, a batch of a part at a time.
    fn run(&self, scratch: &Scratch, pending: &[usize], sink: Sink<'_>) -> Result<()> {
        if !pending.is_empty() {
            self.subject.holds(scratch)?;
        }
        let mut first = 0;
        for (part, known) in self.parts.iter().zip(&self.known) {
            let own = first..first + part.chosen.len();
            let here: Vec<usize> = pending.iter().copied().filter(|at| own.contains(at)).collect();
            note(format_args!("{}: {} of {} changes", part.name, here.len(), part.every.len()));
            for some in here.chunks(BATCH) {
                let (begun, changes) = (Instant::now(), some.iter().map(|at| part.chosen[at - first].clone()));
                let ended: BTreeMap<_, _> =
                    self.subject.judge(scratch, &part.name, &changes.collect::<Vec<_>>())?.into_iter().collect();
                let seconds = begun.elapsed().as_secs_f64() / some.len() as f64;
                for at in some {
                    let change = &part.chosen[at - first];
                    let reason = known.reason(change).map(str::to_owned);
                    let ended = *ended.get(change).with_context(|| format!("nothing judged {change}"))?;
                    sink(*at, serde_json::to_string(&Gave { ended, reason })?, seconds)?;
                }
            }
            first = own.end;
        }
        Ok(())
    }
}

/// Prints the table of the changes, and the survivors. The exit code is 1 if a change goes undetected.
pub(crate) fn shown(units: &[String], context: &Value, gave: &[String]) -> Result<ExitCode> {
    let context: Context = serde_json::from_value(context.clone()).context("a shard of bite without its parts")?;
    let mut tried: BTreeMap<&str, Vec<(String, Gave)>> = BTreeMap::new();
    for (unit, gave) in units.iter().zip(gave) {
        let (part, change) = unit.split_once(' ').context("a change without its part")?;
        let gave = serde_json::from_str(gave).with_context(|| format!("the unit `{unit}` is damaged"))?;
        tried.entry(part).or_default().push((change.to_owned(), gave));
    }
    let tally = |(part, every): &(String, usize)| {
        let tried = tried.remove(&**part).unwrap_or_default().into_iter();
        let tried = tried.map(|(change, gave)| (change, gave.ended, gave.reason)).collect();
        Tally::new(part.clone(), *every, tried, context.is_judged_by_tests)
    };
    let tallies: Vec<Tally> = context.parts.iter().map(tally).collect();
    match context.format {
        Format::Table => print(page(&context.heading, &tallies))?,
        Format::Csv => print(rows(&tallies)?)?,
    }
    Ok(ExitCode::from(u8::from(tallies.iter().any(|tally| tally.missed() > 0))))
}

/// Number of changes after which outcomes are stored.
const BATCH: usize = 16;

/// Runs `tiebreak corrupt` in place of this program.
fn corrupt(arguments: &Arguments) -> Result<ExitCode> {
    let mut line = vec![format!("--seed={}", arguments.seed)];
    line.extend(arguments.op.iter().map(|op| format!("--op={op}")));
    line.extend(arguments.sample.map(|sample| format!("--sample={sample}")));
    let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
    let corrupt = forward::FORWARDED.iter().find(|known| known.name == "corrupt").expect("it is forwarded");
    forward::run(corrupt, &line)
}

/// Returns the requested parts, or all parts.
fn select(what: &str, all: Vec<String>, asked: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = asked.iter().find(|op| !all.contains(op)) {
        bail!("there is no {what} `{unknown}`; there are: {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|op| asked.is_empty() || asked.contains(op)).collect())
}

/// Returns the path of cargo-mutants of [`VERSION`], and installs it if absent.
fn provision(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target.join(format!("cargo-mutants-{VERSION}"));
    let program = directory.join("bin").join(format!("cargo-mutants{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        note(format_args!("installing cargo-mutants {VERSION} into {}: it makes the changes", directory.display()));
        let mut command = workspace.cargo();
        command.env_remove("CARGO_TARGET_DIR");
        command
            .args(["install", "cargo-mutants", "--version", VERSION, "--locked", "--debug", "--root"])
            .arg(&directory);
        process::output(&mut command)?;
    }
    let text = process::output(Command::new(&program).args(["mutants", "--version"]))?;
    if !text.trim().ends_with(VERSION) {
        bail!("{} is {}, not {VERSION}: remove {}", program.display(), text.trim(), directory.display());
    }
    Ok(program)
}

/// Returns a CSV row for every tried change.
fn rows(tallies: &[Tally]) -> Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for tally in tallies {
        for (change, outcome) in tally.each() {
            csv.serialize(Row { operation: &tally.op, outcome, change })?;
        }
    }
    Ok(String::from_utf8(csv.into_inner().context("the rows are complete")?)?)
}

/// Returns the table, with a row of sums if there are several parts, and each survivor below it.
fn page(heading: &str, tallies: &[Tally]) -> String {
    let mut text = format!(
        "{heading:<12} {:>8} {:>6} {:>7} {:>9} {:>10} {:>10} {:>10} {:>7} {:>9}\n",
        "changes", "tried", "verify", "tests", "timed out", "not viable", "equivalent", "missed", "kill rate"
    );
    let all = Tally::of(tallies);
    for tally in tallies.iter().chain(all.as_ref().filter(|_| tallies.len() > 1)) {
        let count = |ended: Ended| tally.count(ended);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<12} {:>8} {:>6} {:>7} {:>9} {:>10} {:>10} {:>10} {:>7} {:>9}",
            tally.op,
            tally.every,
            tally.tried(),
            count(Ended::Verify),
            count(Ended::Tests),
            count(Ended::TimedOut),
            count(Ended::NotViable),
            count(Ended::Equivalent),
            count(Ended::Missed),
            tally.rate()
        );
    }
    for tally in tallies {
        for (name, ended) in tally.survivors() {
            let by = if ended == Ended::Tests { "only unit tests see" } else { "nothing sees" };
            let _ = writeln!(text, "{}: {by} {name}", tally.op);
        }
        for (name, reason) in tally.equivalent() {
            let _ = writeln!(text, "{}: equivalent, {name}: {reason}", tally.op);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_operation_is_refused_with_the_names_of_all() {
        let all = || vec!["add".to_owned(), "mul".to_owned()];
        assert_eq!(select("operation", all(), &[]).expect("all"), all());
        assert_eq!(select("operation", all(), &["mul".to_owned()]).expect("one"), ["mul"]);
        let error = select("operation", all(), &["sub".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no operation `sub`; there are: add, mul");
    }

    #[test]
    fn a_table_of_several_ends_with_all_of_them() {
        let tally =
            |op: &str, ended| Tally::new(op.to_owned(), 3, vec![(format!("{op}.rs:1:1: change"), ended, None)], true);
        let text = page("part", &[tally("add", Ended::Tests), tally("mul", Ended::Missed)]);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines[1..=3],
            ["add 3 1 0 1 0 0 0 0 100.0 %", "mul 3 1 0 0 0 0 0 1 0.0 %", "all 6 2 0 1 0 0 0 1 50.0 %"]
        );
        assert_eq!(lines[4..], ["mul: nothing sees mul.rs:1:1: change"]);
        assert_eq!(page("part", &[tally("add", Ended::Tests)]).lines().count(), 2);
    }
}
