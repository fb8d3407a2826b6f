//! Shards: one mechanism for every command that can be cut into units.
//!
//! A command lists its units in an order that depends on its arguments alone. Shard I of N has every Nth unit, starting with the Ith; if N exceeds
//! the number of units, some shards are empty. The file of a shard ([`journal`]) begins with the plan and has a line for each unit that has ended.
//! [`merge`] joins the files of all shards in the order of the units. If a unit is missing or is there twice, the message has the command that runs
//! the unit. The command itself combines the results of the units, with the same code as after a run in one process.
//!
//! `census --space` writes chunks in its own format, which anyone can count again, and uses only the journal and the rule of shards.

pub mod journal;
pub mod messages;
mod shard;
pub mod shell;

use anyhow::{Context, Result, anyhow, bail};
use journal::{Journal, damaged, whole_lines};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use shard::Shard;
use shell::quoted;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// Units of a command, with the arguments that determine them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Format, [`Plan::FORMAT`].
    pub format: u32,
    /// Name of the command, such as `verify`.
    pub command: String,
    /// Arguments of the command, without the options that choose the shard and its file.
    pub arguments: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// SHA-256 of the sources of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Names of all units of the command, in order, including the units of other shards.
    pub units: Vec<String>,
    /// Shard of this file.
    pub shard: Shard,
    /// Data of the command apart from its units.
    pub context: Value,
}

/// Unit that has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Name of the unit.
    pub unit: String,
    /// Duration in seconds, while other units ran in parallel.
    pub seconds: f64,
    /// Result of the unit as JSON text, because a [`Value`] would not keep the order of fields.
    pub gave: String,
}

/// Line of the file of a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// First line.
    Shard(Plan),
    /// Every later line.
    Done(Unit),
}

impl Line {
    fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

impl Plan {
    /// Format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Returns the numbers of the shard's units.
    pub fn own(&self) -> impl Iterator<Item = usize> {
        (0..self.units.len()).filter(|unit| self.shard.has(*unit as u64))
    }

    /// Returns the plan of another shard of the same run.
    #[must_use]
    pub fn of(&self, shard: Shard) -> Self {
        Self { shard, ..self.clone() }
    }

    /// Returns the file of the shard in the directory `out`.
    pub fn file(&self, out: &Path) -> PathBuf {
        let Shard { index, of } = self.shard;
        out.join(format!("{}-{index}-of-{of}.jsonl", self.command))
    }

    /// Returns the command that runs the shard or, with `resume`, continues the run. `program` is the words that start the program.
    pub fn line(&self, program: &str, out: &Path, resume: bool) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|argument| quoted(argument)).collect();
        let out = quoted(&out.display().to_string());
        let mut own = vec![format!("--shard {}", self.shard), format!("--out {out}")];
        own.extend(resume.then(|| "--resume".to_owned()));
        format!("{program} {} {}", self.command, with_options(&arguments, own).join(" "))
    }

    /// Lists the differences of two plans with both values; empty if both are shards of one run.
    fn unlike(&self, other: &Self) -> Vec<String> {
        let sources = |plan: &Self| plan.sources.clone().unwrap_or_else(|| "not known".to_owned());
        let texts = [
            ("command", self.command.clone(), other.command.clone()),
            ("arguments", self.arguments.join(" "), other.arguments.join(" ")),
            ("version", self.version.clone(), other.version.clone()),
            ("sources", sources(self), sources(other)),
            ("units", self.units.join(", "), other.units.join(", ")),
        ];
        let unlike = texts.into_iter().filter(|(_, here, there)| here != there);
        unlike.map(|(name, here, there)| format!("{name} `{here}`, there `{there}`")).collect()
    }
}

/// Function that stores the result of a unit: number of the unit, result as JSON text, seconds.
pub type Sink<'a> = &'a (dyn Fn(usize, String, f64) -> Result<()> + Sync);

/// Number of units that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Units that this process ran.
    pub now: usize,
    /// Units that were in the file already.
    pub before: usize,
}

/// Runs the units that are missing in the file of a shard; `run` gets their numbers.
pub fn run(plan: &Plan, out: &Path, resume: bool, run: impl FnOnce(&[usize], Sink<'_>) -> Result<()>) -> Result<Ran> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let path = plan.file(out);
    let (journal, text) = Journal::open(&path, resume)?;
    let part = parsed(&path, &text).with_context(|| damaged(&path))?;
    if let Some(part) = &part {
        let unlike = plan.unlike(&part.plan);
        if !unlike.is_empty() {
            bail!(
                "{} belongs to another run: {}; give the arguments of that run, or name another directory with --out",
                path.display(),
                unlike.join("; ")
            );
        }
    }
    journal.begin()?;
    if part.is_none() {
        journal.append(&Line::Shard(plan.clone()).text()?)?;
    }
    let done = part.map(|part| part.done).unwrap_or_default();
    let pending: Vec<usize> = plan.own().filter(|unit| !done.contains_key(unit)).collect();
    let ended = |at: usize, gave: String, seconds: f64| {
        journal.append(&Line::Done(Unit { unit: plan.units[at].clone(), seconds, gave }).text()?)
    };
    if !pending.is_empty() {
        run(&pending, &ended)?;
    }
    Ok(Ran { now: pending.len(), before: done.len() })
}

/// File of a shard, complete or not.
#[derive(Clone, Debug)]
pub struct Part {
    /// Path of the file.
    pub path: PathBuf,
    /// Plan in the first line.
    pub plan: Plan,
    /// Units that have run, by number.
    pub done: BTreeMap<usize, Unit>,
}

/// Reads the file of a shard; `None` if the file has another format.
pub fn read(path: &Path) -> Result<Option<Part>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut bytes = journal::bytes(&file, path)?;
    bytes.truncate(whole_lines(&bytes));
    let named = || format!("{} is not the file of a shard", path.display());
    let text = std::str::from_utf8(&bytes).with_context(named)?;
    if !text.starts_with("{\"shard\":") {
        return Ok(None);
    }
    parsed(path, text).with_context(|| format!("{} cannot be merged", path.display()))
}

/// Parses the whole lines of a file; `None` if the file has no line.
fn parsed(path: &Path, text: &str) -> Result<Option<Part>> {
    let mut part: Option<Part> = None;
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let at = i + 1;
        let line = serde_json::from_str(line).with_context(|| format!("line {at} is damaged"))?;
        match (line, &mut part) {
            (Line::Shard(plan), None) if plan.format != Plan::FORMAT => bail!(
                "it has format {}, and this program reads format {}; use the version of tiebreak that wrote it",
                plan.format,
                Plan::FORMAT
            ),
            (Line::Shard(plan), None) => {
                places = plan.own().map(|unit| (plan.units[unit].clone(), unit)).collect();
                part = Some(Part { path: path.to_owned(), plan, done: BTreeMap::new() });
            }
            (Line::Done(unit), Some(part)) => {
                let Some(place) = places.remove(&unit.unit) else {
                    bail!("line {at} has the unit `{}`, which is not of its shard or there twice", unit.unit)
                };
                part.done.insert(place, unit);
            }
            _ => bail!("line {at} is not where it belongs"),
        }
    }
    Ok(part)
}

/// Result of a merge.
#[derive(Clone, Debug)]
pub enum Merged {
    /// Plan and all units, in the order of the units.
    Whole(Box<Plan>, Vec<Unit>),
    /// Some units have not run.
    Missing {
        /// Names of the missing units.
        units: Vec<String>,
        /// Commands that run the missing units.
        commands: Vec<String>,
    },
}

/// Merges the shards of one run. Files of different runs, or a unit in two files, are an error. `alike` lists the differences between the contexts of
/// two files that exclude a merge.
pub fn merge(parts: Vec<Part>, program: &str, alike: impl Fn(&Value, &Value) -> Vec<String>) -> Result<Merged> {
    let first = parts.first().ok_or(anyhow!("nothing to merge"))?.clone();
    let mut owners: BTreeMap<usize, &Part> = BTreeMap::new();
    for part in &parts {
        let (here, there) = (part.path.display(), first.path.display());
        let unlike = part.plan.unlike(&first.plan);
        if !unlike.is_empty() {
            bail!("{here} and {there} are not of one run: {here} has {}", unlike.join("; "));
        }
        let unlike = alike(&part.plan.context, &first.plan.context);
        if !unlike.is_empty() {
            let again = part.plan.line(program, directory(&part.path), false);
            bail!("{here} and {there} do not go together: {}; `{again}` makes the first", unlike.join("; "));
        }
        for unit in part.done.keys() {
            if let Some(other) = owners.insert(*unit, part) {
                bail!(
                    "{here} (shard {}) and {} (shard {}) overlap: both have the unit `{}`; leave one out; `{}` makes the first",
                    part.plan.shard,
                    other.path.display(),
                    other.plan.shard,
                    part.plan.units[*unit],
                    part.plan.line(program, directory(&part.path), false)
                );
            }
        }
    }
    let missing: Vec<usize> = (0..first.plan.units.len()).filter(|unit| !owners.contains_key(unit)).collect();
    if !missing.is_empty() {
        let units = missing.iter().map(|unit| first.plan.units[*unit].clone()).collect();
        return Ok(Merged::Missing { units, commands: commands(&parts, &missing, program) });
    }
    let all: BTreeMap<usize, Unit> = parts.into_iter().flat_map(|part| part.done).collect();
    Ok(Merged::Whole(Box::new(first.plan), all.into_values().collect()))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the commands that run the missing units: unfinished shards are resumed, and absent shards, by the largest `of` in the files, are run.
fn commands(parts: &[Part], missing: &[usize], program: &str) -> Vec<String> {
    let of = parts.iter().map(|part| part.plan.shard.of).max().unwrap_or(1);
    let (mut resumed, mut others) = (BTreeSet::new(), BTreeSet::new());
    for unit in missing {
        match parts.iter().position(|part| part.plan.shard.has(*unit as u64)) {
            Some(part) => _ = resumed.insert(part),
            None => _ = others.insert(Shard::with(*unit as u64, of).index),
        }
    }
    let resumed = resumed.into_iter().map(|at| parts[at].plan.line(program, directory(&parts[at].path), true));
    let first = &parts[0];
    let others =
        others.into_iter().map(|index| first.plan.of(Shard { index, of }).line(program, directory(&first.path), false));
    resumed.chain(others).collect()
}

/// Inserts options into the words of a command, before `--` and the words of another program.
pub fn with_options(words: &[String], options: Vec<String>) -> Vec<String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words[..end].iter().cloned().chain(options).chain(words[end..].iter().cloned()).collect()
}

/// Options that choose a shard, its file and its threads, and change no result. `true` if the option takes a value.
const OF_SHARD: [(&str, bool); 4] = [("--shard", true), ("--out", true), ("--jobs", true), ("--resume", false)];

/// Returns the arguments without the options of a shard: `--shard`, `--out`, `--jobs` and `--resume`.
pub fn without_shard(arguments: &[String]) -> Vec<String> {
    let (mut out, mut rest) = (Vec::new(), arguments.iter());
    while let Some(argument) = rest.next() {
        let option = OF_SHARD.iter().find(|(name, _)| argument == name);
        let joined = OF_SHARD.iter().any(|(name, has_value)| {
            *has_value && argument.strip_prefix(name).is_some_and(|value| value.starts_with('='))
        });
        match option {
            Some((_, true)) => drop(rest.next()),
            Some((_, false)) => {}
            None if joined => {}
            None => out.push(argument.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests;
