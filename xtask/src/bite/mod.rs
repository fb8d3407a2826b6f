//! `cargo xtask bite`: how many small changes of a kernel's code does `verify` convict? The changes are those of cargo-mutants, which is installed
//! where it is absent. They are made in a copy of `impls`, whose worker `verify` runs as a lane.

mod known;
mod outcome;
mod record;
mod scratch;

use crate::cargo;
use crate::forward;
use crate::process;
use crate::say::{note, print};
use crate::setup;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use clap::Args;
use known::Known;
use outcome::{Ended, Tally};
use record::Record;
use scratch::Scratch;
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The release of cargo-mutants: another one may make other changes.
const VERSION: &str = "25.3.1";

/// The arguments of `bite`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Operation whose kernels are changed; may be repeated [default: all]
    #[arg(long)]
    op: Vec<String>,
    /// Change what the kernels answer, in one place each, in place of their code: `cargo xtask corrupt`
    #[arg(long, conflicts_with = "shard")]
    corrupt: bool,
    /// How many changes of each operation are tried, chosen by the seed [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Seed of the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The part I of N parts of the changes, such as 1/4
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// CSV that keeps what became of each change: those in it are counted and not tried again
    #[arg(long, value_name = "FILE.csv", conflicts_with = "corrupt")]
    outcomes: Option<PathBuf>,
}

/// `I/N`, with I from 1 to N.
fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "it is I/N, such as 1/4, with I from 1 to N".to_owned())
}

/// Tries the changes. Exit code 1 if one survives that is not listed as equivalent.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.corrupt {
        return corrupt(arguments);
    }
    let workspace = Workspace::locate()?;
    let probe = setup::provision(&workspace, &Tool::BASE)?;
    if let [missing, ..] = probe.missing(&Tool::BASE)[..] {
        bail!("{}", probe.complaint(missing));
    }
    let program = provision(&workspace)?;
    let tiebreak = cargo::build(&workspace, &[cargo::TIEBREAK])?[cargo::TIEBREAK.1].clone();
    let scratch = Scratch::write(&workspace, program, tiebreak)?;
    let known = Known::read(&workspace.root.join("impls/equivalent-mutants.txt"))?;
    let mut record = Record::open(arguments.outcomes.clone())?;
    let mut tallies = Vec::new();
    let mut is_first = true;
    for op in select(scratch.operations()?, &arguments.op)? {
        let every = scratch.list(&op)?;
        record.keep(&op, &every);
        let chosen: Vec<String> =
            choose(&every, arguments).into_iter().filter(|change| record.of(&op, change).is_none()).collect();
        note(format_args!("{op}: {} of {} changes", chosen.len(), every.len()));
        for some in chosen.chunks(BATCH) {
            if std::mem::take(&mut is_first) {
                scratch.holds()?;
            }
            record.add(&op, &scratch.judge(&op, some)?)?;
        }
        let tried = every.iter().filter_map(|change| Some((change.clone(), record.of(&op, change)?))).collect();
        tallies.push(Tally::new(op, every.len(), tried, &known));
    }
    print(format_args!("{}", page(&tallies)))?;
    let survivors: usize = tallies.iter().map(|tally| tally.survivors().count()).sum();
    Ok(ExitCode::from(u8::from(survivors > 0)))
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

/// The operations that were asked for, or all.
fn select(all: Vec<String>, asked: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = asked.iter().find(|op| !all.contains(op)) {
        bail!("there is no operation `{unknown}`; there are: {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|op| asked.is_empty() || asked.contains(op)).collect())
}

/// The changes that are tried, in their order: those of the sample, and of these the shard's.
fn choose(every: &[String], arguments: &Arguments) -> Vec<String> {
    let mut drawn: Vec<(u64, usize)> =
        every.iter().enumerate().map(|(i, name)| (draw(arguments.seed, name), i)).collect();
    drawn.sort_unstable();
    drawn.truncate(arguments.sample.map_or(usize::MAX, |n| n as usize));
    let mut places: Vec<usize> = drawn.into_iter().map(|(_, i)| i).collect();
    places.sort_unstable();
    let (part, parts) = arguments.shard.unwrap_or((1, 1));
    let here = places.into_iter().enumerate().filter(|(i, _)| *i as u32 % parts == part - 1);
    here.map(|(_, place)| every[place].clone()).collect()
}

/// A number that depends on the seed and on the name of a change alone.
fn draw(seed: u64, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    hasher.finish()
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

/// The table, and below it each survivor.
fn page(tallies: &[Tally]) -> String {
    let mut text = format!(
        "{:<12} {:>8} {:>6} {:>7} {:>9} {:>10} {:>10} {:>10} {:>7} {:>9}\n",
        "operation",
        "changes",
        "tried",
        "verify",
        "tests",
        "timed out",
        "not viable",
        "equivalent",
        "missed",
        "kill rate"
    );
    for tally in tallies {
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

    fn arguments(sample: Option<u32>, seed: u64, shard: Option<(u32, u32)>) -> Arguments {
        Arguments { op: Vec::new(), corrupt: false, sample, seed, shard, outcomes: None }
    }

    fn names() -> Vec<String> {
        (0..50).map(|i| format!("change {i}")).collect()
    }

    #[test]
    fn a_sample_depends_on_its_seed_and_on_nothing_else() {
        let of = |seed| choose(&names(), &arguments(Some(9), seed, None));
        assert_eq!((of(1).len(), of(1)), (9, of(1)));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn shards_are_a_partition_of_the_sample() {
        let whole = choose(&names(), &arguments(Some(20), 3, None));
        let mut parts: Vec<String> =
            (1..=3).flat_map(|i| choose(&names(), &arguments(Some(20), 3, Some((i, 3))))).collect();
        parts.sort_by_key(|name| names().iter().position(|n| n == name));
        assert_eq!(parts, whole);
    }

    #[test]
    fn a_shard_is_one_of_its_number() {
        assert_eq!(shard("2/4"), Ok((2, 4)));
        for wrong in ["0/4", "5/4", "4", "a/b", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_operation_is_refused_with_the_names_of_all() {
        let all = || vec!["add".to_owned(), "mul".to_owned()];
        assert_eq!(select(all(), &[]).expect("all"), all());
        assert_eq!(select(all(), &["mul".to_owned()]).expect("one"), ["mul"]);
        let error = select(all(), &["sub".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no operation `sub`; there are: add, mul");
    }
}
