//! Messages of a shard and of a merge on standard error, one line each.

use super::{Plan, Ran};
use crate::shell::quoted;
use std::path::Path;

/// Number of missing units that the message names.
const NAMED: usize = 3;

/// Returns the lines that report how many units of a shard ran, and the file of the shard.
pub fn ran(plan: &Plan, out: &Path, ran: Ran) -> [String; 2] {
    let Ran { now, before } = ran;
    let earlier = if before > 0 { format!(", {before} before") } else { String::new() };
    let empty = if now + before == 0 { ": there are fewer units than shards" } else { "" };
    let of = units(plan.units.len());
    [
        format!("shard {}: {now} of {of} ran{earlier}{empty}", plan.shard),
        format!("file: {}", quoted(&plan.file(out).display().to_string())),
    ]
}

/// Returns the lines that report the units that no shard has run, and the commands that run them.
pub fn missing(missing: &[String], commands: &[String]) -> Vec<String> {
    let names = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if missing.len() > NAMED { ", .." } else { "" };
    let first = format!(
        "missing: {} ({names}{more}); nothing was written. Run the shards with these commands, then merge again:",
        units(missing.len())
    );
    std::iter::once(first).chain(commands.iter().map(|command| format!("  {command}"))).collect()
}

fn units(n: usize) -> String {
    format!("{n} unit{}", if n == 1 { "" } else { "s" })
}
