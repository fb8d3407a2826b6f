//! `plan`: units of a command, their durations, the number of shards for a time limit, and a job for an existing engine.

mod jobs;
mod measured;
mod outside;

use super::{Action, Cli, Format, census, note, print, table_within};
use anyhow::{Result, bail};
use clap::Parser;
use jobs::{Engine, Job};
use measured::{Measured, Took};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use tiebreak_reports::text;
use tiebreak_shards::shell::quoted;

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = ENGINES)]
pub(super) struct Args {
    /// The command that is cut into shards, with its arguments: verify, corrupt, audit, census --space, bite or fuzz
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
    /// Duration within which every shard is to end, such as 90s, 30m or 2h: chooses the number of shards
    #[arg(long, value_name = "TIME", value_parser = duration)]
    within: Option<Duration>,
    /// Number of shards, instead of a duration
    #[arg(long, value_name = "N", conflicts_with = "within", value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// Number of units that are run, one after the other, to measure times; 0 measures nothing
    #[arg(long, value_name = "K", default_value_t = 4)]
    sample: usize,
    /// Write the job for an engine, instead of the list of units
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    engine: Option<Engine>,
    /// Directory of the job's files, relative to the directory in which the job is started
    #[arg(long, value_name = "DIR", default_value = "tiebreak-out/shards")]
    out: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Lanes file of the command
    #[arg(long, value_name = "FILE.json", hide = true)]
    lanes: Option<PathBuf>,
}

/// Note on engines, at the end of the help.
const ENGINES: &str = "\
slurm     a shell script that submits an array with one element for each shard, and a merge that depends on all of them (afterok)
parallel  a shell script for GNU parallel, with a log of jobs and three attempts for each shard, and then the merge
github    a workflow of GitHub Actions: a matrix whose jobs upload their shards, and a job that merges them

A shard uses all cores of its machine, and times are those of this machine.";

/// Parses `90s`, `30m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration: a number with s, m or h is wanted, such as 30m");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(wrong)
}

/// Plan in the form of `--format json`.
#[derive(Debug, Serialize)]
struct Planned {
    command: String,
    shards: u32,
    /// Seconds before the first unit.
    start: f64,
    /// Seconds of the longest shard. `None` if nothing was measured.
    longest_shard: Option<f64>,
    units: Vec<Listed>,
}

/// Unit of the plan.
#[derive(Debug, Serialize)]
struct Listed {
    unit: String,
    shard: u32,
    /// Duration. `None` if nothing was measured.
    seconds: Option<f64>,
    /// True if the unit was run; otherwise the duration is a mean of other units.
    measured: bool,
}

/// Prints the plan or the job.
pub(super) fn run(args: &Args) -> Result<()> {
    let Measured { units, start, command } = measured(args)?;
    let seconds: Vec<Option<f64>> = units.iter().map(|(_, took)| took.map(|took| took.seconds)).collect();
    let shards = shards(args, &seconds, start)?;
    let longest = longest(&seconds, start, shards);
    if let Some(engine) = args.engine {
        let job = Job { words: &args.words, command, shards, out: &args.out, units: units.len(), longest };
        return print(&job.text(engine)?);
    }
    let listed = |(at, (unit, took)): (usize, (String, Option<Took>))| Listed {
        unit,
        shard: at as u32 % shards + 1,
        seconds: took.map(|took| took.seconds),
        measured: took.is_some_and(|took| took.is_measured),
    };
    let line = std::iter::once(command.to_owned()).chain(args.words[1..].iter().map(|word| quoted(word)));
    let units = units.into_iter().enumerate().map(listed).collect();
    let command = line.collect::<Vec<_>>().join(" ");
    let planned = Planned { command, shards, start, longest_shard: longest, units };
    args.format.print(|| shown(&planned), || &planned)
}

/// Returns the units of the command with their durations.
fn measured(args: &Args) -> Result<Measured> {
    let lanes = args.lanes.iter().flat_map(|file| ["--lanes".to_owned(), file.display().to_string()]);
    let takes_lanes = matches!(args.words[0].as_str(), "verify" | "corrupt");
    let lanes = lanes.filter(|_| takes_lanes && !args.words.iter().any(|word| word.starts_with("--lanes")));
    let words = ["tiebreak".to_owned(), args.words[0].clone()].into_iter().chain(lanes);
    let words: Vec<String> = words.chain(args.words[1..].iter().cloned()).collect();
    let own = ["--shard", "--resume", "--out"];
    if let Some(word) = args.words.iter().find(|word| own.iter().any(|own| word.split('=').next() == Some(own))) {
        bail!("{word} is an option of one shard, which `plan` gives: leave it out of the command");
    }
    if let Some(command) = outside::COMMANDS.into_iter().find(|command| args.words[0] == **command) {
        return outside::measured(command, &args.words, args.sample);
    }
    match Cli::try_parse_from(words).map_err(|error| anyhow::anyhow!("{}", error.render()))?.command {
        Action::Verify(verify) => measured::verify(&verify, args.sample),
        Action::Corrupt(corrupt) => measured::corrupt(&corrupt, args.sample),
        Action::Audit(audit) => measured::audit(&audit, args.sample),
        Action::Census(census) if census::is_space(&census) => measured::census(&census, args.sample),
        Action::Census(_) => bail!("`census` without --space is one unit: it needs no shards"),
        _ => bail!("`{}` has no shards; verify, corrupt, audit, census --space, bite and fuzz have", args.words[0]),
    }
}

/// Returns the number of shards: the smallest number within the time limit, or the number of units if no number is.
fn shards(args: &Args, seconds: &[Option<f64>], start: f64) -> Result<u32> {
    let most = seconds.len().max(1) as u32;
    let Some(within) = args.within else { return Ok(args.shards.unwrap_or(most.min(USUAL))) };
    if seconds.iter().any(Option::is_none) {
        bail!("--within needs times: --sample 0 measures none");
    }
    let ends = |of: u32| longest(seconds, start, of).is_some_and(|longest| longest <= within.as_secs_f64());
    let found = (1..=most).find(|of| ends(*of));
    if found.is_none() {
        let longest = longest(seconds, start, most).unwrap_or_default();
        note(&format!(
            "no number of shards ends within {} s: the longest unit takes {} s with its start",
            within.as_secs(),
            text::seconds(longest)
        ));
    }
    Ok(found.unwrap_or(most))
}

/// Default number of shards.
const USUAL: u32 = 4;

/// Returns the seconds of the longest of `of` shards.
fn longest(seconds: &[Option<f64>], start: f64, of: u32) -> Option<f64> {
    let shard = |index: usize| seconds.iter().skip(index).step_by(of as usize).copied().sum::<Option<f64>>();
    let sums = (0..of as usize).map(shard).collect::<Option<Vec<f64>>>()?;
    Some(start + sums.into_iter().fold(0.0, f64::max))
}

fn shown(planned: &Planned) -> String {
    let rows = planned.units.iter().map(|unit| {
        let seconds = unit.seconds.map_or("not measured".to_owned(), |seconds| format!("{seconds:.2}"));
        let how = match (unit.seconds, unit.measured) {
            (None, _) => "",
            (_, true) => "measured",
            (_, false) => "as others",
        };
        vec![unit.unit.clone(), unit.shard.to_string(), seconds, how.to_owned()]
    });
    let mut text = table_within(&["unit", "shard", "seconds", ""], rows.collect(), None);
    let units = text::plural(planned.units.len(), "unit");
    let start = text::seconds(planned.start);
    text += &match planned.longest_shard {
        Some(longest) => {
            let all: f64 = planned.units.iter().filter_map(|unit| unit.seconds).sum();
            format!(
                "\n{units}, {} s in all and {start} s before the first of each shard; the longest of {} takes {} s.\n",
                text::seconds(all),
                text::plural(planned.shards as usize, "shard"),
                text::seconds(longest)
            )
        }
        None => format!("\n{units} in {}.\n", text::plural(planned.shards as usize, "shard")),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "30", "m", "-3m", "0s", "1.5h", "99999999999999999999h", "5é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_longest_shard_decides() {
        let seconds = [4.0, 1.0, 1.0, 1.0, 3.0].map(Some);
        assert_eq!(longest(&seconds, 0.5, 1), Some(10.5));
        assert_eq!(longest(&seconds, 0.5, 2), Some(8.5));
        assert_eq!(longest(&seconds, 0.5, 5), Some(4.5));
        assert_eq!(longest(&[Some(1.0), None], 0.5, 1), None);
    }
}
