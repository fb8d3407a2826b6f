//! Commands that reproduce a row of a page if the ledger has no witness with a command.

use crate::ledger::Ledger;
use tiebreak_shards::shell::quoted;

/// Options for the output and display of a run, which do not affect results.
const ELSEWHERE: [&str; 3] = ["--out", "--format", "--base"];

/// Returns the command of the run, narrowed by options that the command does not yet have.
pub(super) fn narrowed(ledger: &Ledger, options: &[(&str, &str)]) -> String {
    let own = words(&ledger.command);
    let mut command: Vec<String> = Vec::new();
    let mut skipped = false;
    for word in &own {
        let name = word.split('=').next().unwrap_or(word);
        // True if this word is the value of an omitted option.
        let is_value = std::mem::take(&mut skipped);
        if ELSEWHERE.contains(&name) {
            skipped = !word.contains('=');
        } else if !is_value {
            command.push((*word).to_owned());
        }
    }
    let has = |option: &str| own.iter().any(|word| word.split('=').next() == Some(option));
    for (option, value) in options.iter().filter(|(option, value)| !value.is_empty() && !has(option)) {
        command.push(format!("{option} {}", quoted(value)));
    }
    crate::text::one_line(&command.join(" "))
}

/// Returns the words before `verify` in the command of the run: `cargo xtask` or `tiebreak`.
pub(super) fn program(ledger: &Ledger) -> &str {
    let command = &ledger.command;
    command.split_once(" verify").map_or("tiebreak", |(program, _)| program)
}

/// Splits a command into words, each with its quotes.
fn words(command: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let words = command.split(|c| {
        is_quoted ^= c == '\'';
        c == ' ' && !is_quoted
    });
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_runs_as_the_whole_did() {
        let table = [
            ("cargo xtask verify", "cargo xtask verify --op dot --kernel '; rm $x'"),
            ("cargo xtask verify --op dot --seed 7", "cargo xtask verify --op dot --seed 7 --kernel '; rm $x'"),
            ("cargo xtask verify --op=dot", "cargo xtask verify --op=dot --kernel '; rm $x'"),
            (
                "cargo xtask verify --lanes 'my lanes.json' --out 'a b' --format=json --effort quick",
                "cargo xtask verify --lanes 'my lanes.json' --effort quick --op dot --kernel '; rm $x'",
            ),
        ];
        for (command, expected) in table {
            let ledger = Ledger { command: command.into(), ..Ledger::default() };
            assert_eq!(narrowed(&ledger, &[("--op", "dot"), ("--kernel", "; rm $x"), ("--lane", "")]), expected);
        }
    }
}
