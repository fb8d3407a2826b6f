//! Environment of a run: date, machine, sources and tools.

use super::command;
use super::table::{Cell, Row, Table};
use crate::ledger::Ledger;
use crate::text;

/// Returns the facts beneath the verdict.
pub(super) fn facts(ledger: &Ledger) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(environment) = &ledger.environment {
        facts.push(("date", environment.date.clone()));
        facts.extend(environment.commit.as_ref().map(|commit| ("commit", short(commit))));
    }
    facts.extend([("effort", ledger.effort.clone()), ("seed", ledger.seed.to_string())]);
    facts.into_iter().map(|(name, value)| (name, text::one_line(&value))).collect()
}

/// Returns twelve digits of a commit, and a mark if the sources have changed since.
pub(super) fn short(commit: &str) -> String {
    let (commit, changed) = commit.split_once('+').map_or((commit, ""), |(commit, _)| (commit, ", changed since"));
    format!("{}{changed}", commit.chars().take(12).collect::<String>())
}

/// Returns every fact about the run.
pub(super) fn all(ledger: &Ledger) -> Vec<(&'static str, String)> {
    let mut all = vec![("program", format!("tiebreak {}, ledger format {}", ledger.version, ledger.format))];
    match &ledger.environment {
        None => all.push(("machine", "not recorded in ledgers before format 4".to_owned())),
        Some(environment) => {
            let commit = environment
                .commit
                .as_deref()
                .unwrap_or("not known: git gave no commit, or the program is installed elsewhere");
            let cpu = environment.cpu.as_deref().unwrap_or("unknown to the system");
            all.push(("commit", commit.to_owned()));
            all.extend(environment.sources.iter().map(|sources| ("sources", sources.clone())));
            all.push(("date", environment.date.clone()));
            all.push(("system", environment.system.clone()));
            all.push(("processor", format!("{cpu}, {}", text::plural(environment.threads as usize, "thread"))));
        }
    }
    let facts = [("effort", ledger.effort.clone()), ("seed", ledger.seed.to_string())];
    all.extend(facts);
    all.push(("time", format!("{} s", text::seconds(ledger.seconds))));
    all.into_iter().map(|(name, value)| (name, text::one_line(&value))).collect()
}

/// Table of the files that take part in the code of a lane.
pub(super) fn tools(ledger: &Ledger) -> Option<Table> {
    let mut table =
        Table::new("tools", "Files of the lanes' code, by content", &["lane", "purpose", "file", "#bytes", "SHA-256"]);
    for (i, lane) in ledger.lanes.iter().enumerate() {
        table.rows.extend(lane.files.iter().enumerate().map(|(j, file)| Row {
            cells: vec![
                Cell::text(&lane.name),
                Cell::text(file.role.name()),
                Cell::text(&file.name),
                Cell::count(file.bytes, format!("/lanes/{i}/files/{j}/bytes")),
                Cell::text(&file.sha256).class("code"),
            ],
            command: command::narrowed(ledger, &[("--lane", &lane.name)]),
            ..Row::default()
        }));
    }
    table.filled()
}
