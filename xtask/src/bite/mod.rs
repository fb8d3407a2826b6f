//! `cargo xtask bite`: how many small changes of a kernel's code does `verify` convict, and how many of the oracle's do its tests? The changes are
//! those of cargo-mutants, which is installed where it is absent. They are made in a copy of the package.

mod known;
mod outcome;
mod record;
mod sample;
mod scratch;
mod subject;

use crate::cargo;
use crate::forward;
use crate::process;
use crate::say::{note, print};
use crate::setup;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use clap::Args;
use known::List;
use outcome::{Ended, Tally};
use record::Record;
use sample::Choice;
use scratch::Scratch;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use subject::Subject;

/// The release of cargo-mutants: another one may make other changes.
const VERSION: &str = "25.3.1";

/// The arguments of `bite`.
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
    /// Part I of N parts of the changes, such as 1/4
    #[arg(long, value_name = "I/N", value_parser = sample::shard)]
    shard: Option<(u32, u32)>,
    /// CSV file that keeps the outcome of each change: a change in the file is counted and not tried again
    #[arg(long, value_name = "FILE.csv", conflicts_with = "corrupt")]
    outcomes: Option<PathBuf>,
}

/// Tries the changes. Exit code 1 if nothing sees one that is not listed as equivalent. Of what a kernel refuses `verify` asks nothing, so that a
/// change that only unit tests see is printed, and lowers the rate, but fails nothing.
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
    let tallies = tried(&workspace, &subject, &scratch, arguments)?;
    print(format_args!("{}", page(subject.heading, &tallies)))?;
    Ok(ExitCode::from(u8::from(tallies.iter().any(|tally| tally.missed() > 0))))
}

/// What became of the changes of each part.
fn tried(workspace: &Workspace, subject: &Subject, scratch: &Scratch, arguments: &Arguments) -> Result<Vec<Tally>> {
    let list = List::read(&workspace.root.join(subject.package).join("equivalent-mutants.txt"))?;
    let mut record = Record::open(arguments.outcomes.clone())?;
    let choice = Choice { sample: arguments.sample, seed: arguments.seed, shard: arguments.shard };
    let mut tallies = Vec::new();
    let mut is_first = true;
    for part in subject.parts(scratch, &choice, &arguments.op)? {
        let (op, every) = (part.name, part.every);
        let known = list.of(&every)?;
        record.keep(&op, &every);
        let chosen: Vec<String> = part.chosen.into_iter().filter(|change| record.of(&op, change).is_none()).collect();
        note(format_args!("{op}: {} of {} changes", chosen.len(), every.len()));
        for some in chosen.chunks(BATCH) {
            if std::mem::take(&mut is_first) {
                subject.holds(scratch)?;
            }
            record.add(&op, &subject.judge(scratch, &op, some)?)?;
        }
        let tried = every.iter().filter_map(|change| Some((change.clone(), record.of(&op, change)?))).collect();
        tallies.push(Tally::new(op, every.len(), tried, &known, subject.is_judged_by_tests()));
    }
    Ok(tallies)
}

/// Changes after which what became of them is kept.
const BATCH: usize = 16;

/// Becomes `tiebreak corrupt`.
fn corrupt(arguments: &Arguments) -> Result<ExitCode> {
    let mut line = vec![format!("--seed={}", arguments.seed)];
    line.extend(arguments.op.iter().map(|op| format!("--op={op}")));
    line.extend(arguments.sample.map(|sample| format!("--sample={sample}")));
    let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
    let corrupt = forward::FORWARDED.iter().find(|known| known.name == "corrupt").expect("it is forwarded");
    forward::run(corrupt, &line)
}

/// Those that were asked for, or all.
fn select(what: &str, all: Vec<String>, asked: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = asked.iter().find(|op| !all.contains(op)) {
        bail!("there is no {what} `{unknown}`; there are: {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|op| asked.is_empty() || asked.contains(op)).collect())
}

/// cargo-mutants of [`VERSION`], installed if it is not there yet.
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

/// The table, with a row of all where there are several, and below it each survivor.
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
    use super::known::Known;
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
        let tally = |op: &str, ended| {
            Tally::new(op.to_owned(), 3, vec![(format!("{op}.rs:1:1: change"), ended)], &Known::default(), true)
        };
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
