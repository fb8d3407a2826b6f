//! Shards: one mechanism for every command that can be cut into units.
//!
//! A command names its units in an order that depends on its arguments alone; shard I of N has every Nth unit, starting with the Ith, and a shard of more than
//! there are units is empty. Its file ([`journal`]) begins with the plan and has a line for each unit as it ends. [`merge`] puts the files of all shards
//! together, in the order of the units, and names what is missing or there twice with the command that makes it. What the units are together is the business of
//! the command, which makes it in the same way where one process ran them all.
//!
//! `census --space` writes chunks of its own form, which anyone can count again, and has journal and rule from here.

pub mod journal;
pub mod said;
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

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// What is cut into units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`Plan::FORMAT`].
    pub format: u32,
    /// Name of the command, such as `verify`.
    pub command: String,
    /// Its arguments, without those that say where and which shard.
    pub arguments: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// Hash of the sources of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Names of all units, of every shard, in their order.
    pub units: Vec<String>,
    /// The shard.
    pub shard: Shard,
    /// What the command needs beside its units.
    pub context: Value,
}

/// A unit that has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Its name.
    pub unit: String,
    /// How long it took, beside others.
    pub seconds: f64,
    /// What it gave, as the text of JSON: a value would not keep the order of its fields.
    pub gave: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// The first.
    Shard(Plan),
    /// Each other one.
    Done(Unit),
}

impl Line {
    fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

impl Plan {
    /// The format that this program writes.
    pub const FORMAT: u32 = 1;

    /// The units of the shard, by number.
    pub fn own(&self) -> impl Iterator<Item = usize> {
        (0..self.units.len()).filter(|unit| self.shard.has(*unit as u64))
    }

    /// The same of another shard.
    #[must_use]
    pub fn of(&self, shard: Shard) -> Self {
        Self { shard, ..self.clone() }
    }

    /// The file of the shard in a directory.
    pub fn file(&self, out: &Path) -> PathBuf {
        let Shard { index, of } = self.shard;
        out.join(format!("{}-{index}-of-{of}.jsonl", self.command))
    }

    /// The command that makes the shard, or goes on with it, with the words that start the program.
    pub fn line(&self, program: &str, out: &Path, resume: bool) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|argument| quoted(argument)).collect();
        let out = quoted(&out.display().to_string());
        let mut own = vec![format!("--shard {}", self.shard), format!("--out {out}")];
        own.extend(resume.then(|| "--resume".to_owned()));
        format!("{program} {} {}", self.command, with_options(&arguments, own).join(" "))
    }

    /// How two plans differ, with both values; empty if they are shards of one run.
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

/// Takes what a unit gave, the text of JSON, by its number and with its seconds.
pub type Sink<'a> = &'a (dyn Fn(usize, String, f64) -> Result<()> + Sync);

/// How much of a shard ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Units of this process.
    pub now: usize,
    /// Units that the file had.
    pub before: usize,
}

/// Runs the units that the file of a shard lacks: `run` is given their numbers.
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

/// The file of a shard, complete or not.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// What was to be run.
    pub plan: Plan,
    /// What has, by number.
    pub done: BTreeMap<usize, Unit>,
}

/// Reads the file of a shard; `None` if it is one of something else.
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

/// The whole lines of a file; `None` if there is none.
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

/// What files of shards are together.
#[derive(Clone, Debug)]
pub enum Merged {
    /// Everything, in the order of the units.
    Whole(Box<Plan>, Vec<Unit>),
    /// Not everything.
    Missing {
        /// The units that nobody has run.
        units: Vec<String>,
        /// What runs them.
        commands: Vec<String>,
    },
}

/// Puts the shards of one run together; an error if they are not of one run, or if two have the same unit. `alike` says how what the command keeps beside its
/// units differs in two files, if it must not.
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

/// What runs the missing units: a shard that has not ended is resumed, and the others are run, of as many as the file with the most says.
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

/// Adds options to the words of a command, in front of `--` and the words of another program.
pub fn with_options(words: &[String], options: Vec<String>) -> Vec<String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words[..end].iter().cloned().chain(options).chain(words[end..].iter().cloned()).collect()
}

/// Options that say where and how a shard runs, and change no result: with a value, and without one.
const OF_SHARD: [(&str, bool); 4] = [("--shard", true), ("--out", true), ("--jobs", true), ("--resume", false)];

/// Arguments without those of the shard.
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
