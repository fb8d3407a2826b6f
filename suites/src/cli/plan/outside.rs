//! Plans for commands of `cargo xtask`. These commands list their own units. With as many shards as units, a shard is one unit.

use super::measured::{Measured, timed};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::process::Command;
use tiebreak_common::called::{in_clone, program};
use tiebreak_shards::shell::quoted;
use tiebreak_shards::{self as shards, with_options};

/// Names of the commands.
pub(super) const COMMANDS: [&str; 2] = ["bite", "fuzz"];

/// Output of the hidden option `--units`.
#[derive(Debug, Deserialize)]
struct Listed {
    units: Vec<String>,
    /// Seconds of each unit, if the arguments of the command determine them.
    seconds: Option<f64>,
}

/// Returns the units of a command. A sample runs only if the arguments do not determine the durations.
pub(super) fn measured(command: &'static str, words: &[String], sample: usize) -> Result<Measured> {
    if program() != "cargo xtask" {
        bail!("`{command}` changes or compiles the project: run {}", in_clone(&format!("plan {}", words.join(" "))));
    }
    let text = output(words, vec!["--units".to_owned()])?;
    let listed: Listed = serde_json::from_str(&text).with_context(|| format!("`{command} --units` lists no units"))?;
    let of = listed.units.len();
    let units = match listed.seconds {
        Some(seconds) => {
            let took = super::Took { seconds, is_measured: false };
            listed.units.into_iter().map(|unit| (unit, Some(took))).collect()
        }
        None => timed(listed.units, sample, |at| one(words, at, of))?,
    };
    Ok(Measured { units, start: 0.0, command })
}

/// Runs one unit and returns its seconds.
fn one(words: &[String], at: usize, of: usize) -> Result<f64> {
    let out = std::env::temp_dir().join(format!("tiebreak-plan-{}-{at}", std::process::id()));
    output(words, vec![format!("--shard={}/{of}", at + 1), format!("--out={}", out.display())])?;
    let file = out.join(format!("{}-{}-of-{of}.jsonl", words[0], at + 1));
    let part = shards::read(&file)?.with_context(|| format!("{} is not the file of a shard", file.display()))?;
    std::fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    let unit = part.done.values().next().with_context(|| format!("{} has no unit", file.display()))?;
    Ok(unit.seconds)
}

/// Returns the output of a `cargo xtask` command.
fn output(words: &[String], options: Vec<String>) -> Result<String> {
    let all = with_options(words, options);
    let line = all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = command.arg("xtask").args(&all).stderr(std::process::Stdio::inherit()).output();
    let output = output.with_context(|| format!("`cargo xtask {line}` could not be started"))?;
    if !output.status.success() {
        bail!("`cargo xtask {line}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`cargo xtask {line}` printed no text"))
}
